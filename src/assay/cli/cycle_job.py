"""What do the commands of the refresh cycle do?"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from assay import limits
from assay.annotation.exchange import read_grades
from assay.annotation.sample_file import read_sample
from assay.app.desk import desk
from assay.app.pools import Pool, hole_queries, open_round, pool_holes, pool_queries
from assay.app.workspace import Workspace
from assay.cli.testset_job import load_here
from assay.errors import MissingFileError, UsageError
from assay.model.annotation import Purpose, Round
from assay.render.annotation import LABEL_STUDIO_VIEW, tasks_csv, tasks_label_studio
from assay.settings import Settings
from assay.testsets.save import write_text

FORMS = {"csv": tasks_csv, "label-studio": tasks_label_studio}


def pool_and_open(
    workspace: Workspace,
    name: str,
    path: Path | None,
    *,
    annotators: str | None,
    round_id: str | None,
    depth: int,
    runs: int,
    seed: int,
) -> tuple[Pool, Round | None]:
    """Pool a sample, or the holes of the set, and open a round where two people are named."""
    test_set = load_here(workspace.settings, name)
    pair = None if annotators is None else _pair(annotators)
    if path is None:
        queries, purpose = hole_queries(test_set), Purpose.HOLES
        found = pool_holes(workspace, test_set, depth=depth, runs=runs)
    else:
        queries, purpose = read_sample(_bytes(path), str(path)), Purpose.REFRESH
        found = pool_queries(workspace, queries, depth=depth, runs=runs)
    if pair is None:
        return found, None
    held = open_round(
        workspace,
        test_set,
        queries,
        found,
        round_id=round_id or f"{test_set.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}",
        annotators=pair,
        purpose=purpose,
        seed=seed,
        source={} if path is None else {"queries": path.name, **_draw(queries[0].origin)},
    )
    return found, held


def export_to(
    config: Settings, round_id: str, annotator: str, form: str, output: Path
) -> tuple[list[Path], int]:
    """Write the tasks of an annotator; Label Studio gets its view beside them."""
    if form not in FORMS:
        raise UsageError(f"there is no form {form!r:.40}", hint=", ".join(FORMS))
    with Workspace(config) as workspace:
        workspace.require()
        at = desk(workspace.annotations, round_id)
        tasks = at.tasks(annotator)
        said = {one.key: one for one in at.store.grades(at.held.round_id, annotator)}
    write_text(output, FORMS[form](tasks, said))
    if form == "csv":
        return [output], len(tasks)
    view = output.with_suffix(".view.xml")
    write_text(view, LABEL_STUDIO_VIEW)
    return [output, view], len(tasks)


def import_from(
    config: Settings, round_id: str, annotator: str, path: Path
) -> tuple[int, int, int]:
    """Enter the grades of a file; how many there were, are now, and will be."""
    said = read_grades(_bytes(path), str(path))
    with Workspace(config) as workspace:
        workspace.require()
        at = desk(workspace.annotations, round_id)
        count = at.enter(annotator, said)
        progress = at.progress(annotator)
    return count, progress.done, progress.total


def _pair(text: str) -> tuple[str, str]:
    names = [name for name in re.split(r"[,\s]+", text.strip()) if name]
    if len(names) != 2:
        raise UsageError(
            f"--annotators names {len(names)} people", hint="exactly two judge, as in ann,bob"
        )
    return names[0], names[1]


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise MissingFileError(f"there is no file {str(path)!r:.200}", hint="check the path")
    with path.open("rb") as file:
        return file.read(limits.MAX_YAML_BYTES + 1)


def _draw(origin: object) -> dict[str, object]:
    known = origin if isinstance(origin, dict) else {}
    return {name: known[name] for name in ("strategy", "seed") if name in known}
