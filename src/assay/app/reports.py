"""What can be handed on about stored runs: a report, or a bundle that anybody can verify?"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.statistics import USUAL, Measures, Statistics, as_text
from assay.durable import write_atomically
from assay.errors import (
    AssayError,
    FormatError,
    MissingFileError,
    UsageError,
)
from assay.evaluation import bundle as bundles
from assay.evaluation.defaults import (
    REPORT_MEASURES,
    WORKFLOW_MEASURES,
)
from assay.evaluation.insights import parse_targets, usual_targets
from assay.evaluation.report import RunReport, report_measures, run_report
from assay.measures.parse import parse_measures
from assay.render.report_text import content_markdown

if TYPE_CHECKING:
    from assay.app.interface import Assay


def report(
    assay: Assay,
    run: str = "latest",
    *,
    measures: Measures = (),
    workflow: bool = False,
    targets: Sequence[str] = (),
    statistics: Statistics = USUAL,
) -> RunReport:
    """Tables, breakdowns, insights and worst queries of one run.

    ``workflow`` chooses the measures of the workflow report. ``targets`` such as ``P@5>0.65`` or
    ``P@5>=0.65`` are held against the run beside the usual ones; their measures are computed, too.
    """
    assay.require()
    stored = assay.stored_run(run)
    usual = report_measures(stored, WORKFLOW_MEASURES if workflow else REPORT_MEASURES)
    asked = parse_targets(targets)
    held = {target.measure: target for target in (*usual_targets(), *asked)}
    return run_report(
        stored,
        tuple(dict.fromkeys([*parse_measures(measures or usual), *(one.measure for one in asked)])),
        targets=tuple(held.values()),
        sampling=statistics.drawn_as(stored.info.scoring.sampling),
    )


def bundle(
    assay: Assay,
    refs: Sequence[str],
    folder: Path,
    *,
    measures: Measures = (),
    statistics: Statistics = USUAL,
) -> tuple[str, ...]:
    """Write the master file, a report on each run, and the manifest; the names of the files.

    Each run is scored by its own rule, and its intervals are drawn as they were, unless
    ``statistics`` says otherwise.
    """
    assay.require()
    runs = [assay.stored_run(ref) for ref in dict.fromkeys(refs)]
    for run in runs:
        if run.incomplete is not None:
            raise UsageError(
                f"{run.incomplete}, but a bundle holds only complete runs",
                hint="assay eval run --resume continues it",
            )
    sampling = None
    if statistics != USUAL:
        sampling = statistics.drawn_as(runs[0].info.scoring.sampling)
    recipe = bundles.usual_recipe(runs, sampling)
    if measures:
        recipe = replace(recipe, measures=as_text(measures))
    master = bundles.master(runs, recipe)
    files = {bundles.MASTER: bundles.as_text(master).encode(), **_reports(master)}
    files[bundles.MANIFEST] = bundles.manifest(files).encode()
    for name, content in files.items():
        write_atomically(folder / name, content)
    return tuple(files)


def _reports(master: Mapping[str, Any]) -> dict[str, bytes]:
    """The reports of a bundle, written from its master file and nothing else."""
    return {
        bundles.report_name(run_id): content_markdown(bundles.content_of(master, run_id)).encode()
        for run_id in master["runs"]
    }


@dataclass(frozen=True, slots=True)
class BundleCheck:
    """How many numbers of a bundle were computed again, and what is wrong with it.

    ``unchecked`` names the files whose numbers nothing vouches for.
    """

    metrics: int
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything is as the bundle says."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "ok": self.ok,
            "metrics": self.metrics,
            "problems": list(self.problems),
            "unchecked": list(self.unchecked),
        }


def verify_bundle(assay: Assay, folder: Path) -> BundleCheck:
    """Check the files against the manifest and the master file, and that against the runs."""
    assay.require()
    problems, unchecked = _damaged(folder), list[str]()
    stated = _master(folder)
    try:
        recipe = bundles.Recipe.from_dict(stated["recipe"])
        names = list(stated["runs"])
        form = stated["form"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"not a bundle of ours: {error}", source=str(folder / bundles.MASTER)
        ) from None
    if form not in bundles.FORMS:
        raise FormatError(
            f"a bundle of form {form!r:.40}, and this version knows {bundles.FORMS}",
            source=str(folder / bundles.MASTER),
            hint="check it with the version that wrote it, or a newer one",
        )
    if form == bundles.FORM:
        problems += _other_numbers(folder, stated)
    elif recipe.sampling is None:
        raise FormatError(
            f"not a bundle of ours: form {form} says how intervals were drawn",
            source=str(folder / bundles.MASTER),
        )
    else:
        unchecked = [
            f"{path.name} was not checked: in a bundle of form {form}, numbers of reports do not "
            f"come from {bundles.MASTER}; write it again with assay eval bundle"
            for path in sorted(folder.glob(bundles.report_name("*")))
        ]
    runs = []
    for name in names:
        try:
            runs.append(assay.stored_run(name))
        except AssayError as error:
            problems.append(f"the run {name} cannot be read: {error.message}")
    if len(runs) < len(names):
        return BundleCheck(0, tuple(problems), tuple(unchecked))
    computed = json.loads(bundles.as_text(bundles.master(runs, recipe, form)))
    problems += bundles.differences(stated, computed)
    return BundleCheck(len(computed["metrics"]), tuple(problems), tuple(unchecked))


def _other_numbers(folder: Path, stated: Mapping[str, Any]) -> list[str]:
    """Every line of every report that does not follow from the master file, and foreign files."""
    try:
        reports = _reports(stated)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssayError) as error:
        return [f"no report can be written from {bundles.MASTER}: {type(error).__name__} {error}"]
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    found = [
        f"{name} is not a file of this bundle, and its numbers cannot be checked"
        for name in sorted(there - {bundles.MASTER, bundles.MANIFEST, *reports})
    ]
    for name, content in reports.items():
        if name not in there:
            found.append(f"{name} is missing")
        elif (written := (folder / name).read_bytes()) != content:
            found += _line_differences(name, written.decode(errors="replace"), content.decode())
    return found


def _line_differences(name: str, written: str, expected: str) -> list[str]:
    """What stands in a report, and what the master file says instead, line by line."""
    lines, due = written.splitlines(), expected.splitlines()
    matcher = difflib.SequenceMatcher(None, lines, due, autojunk=False)
    found = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        said, meant = " / ".join(lines[a:b]), " / ".join(due[c:d])
        found.append(f"{name}:{a + 1}: {said[:100]!r} where {bundles.MASTER} says {meant[:100]!r}")
    return found or [f"{name} differs from what {bundles.MASTER} says in its blanks"]


def _damaged(folder: Path) -> list[str]:
    stated = bundles.read_manifest(_text(folder / bundles.MANIFEST))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    found = [
        f"{name} is not in the manifest" for name in sorted(there - {bundles.MANIFEST, *stated})
    ]
    for name, checksum in stated.items():
        if "/" in name or name.startswith("."):
            found.append(f"the manifest names {name!r:.80}, which is not a file of a bundle")
            continue
        try:
            content = (folder / name).read_bytes()
        except OSError as error:
            found.append(f"{name}: {error.strerror}")
            continue
        if hashlib.sha256(content).hexdigest() != checksum:
            found.append(f"{name} is not the file that the manifest was written for")
    return found


def _master(folder: Path) -> dict[str, Any]:
    place = folder / bundles.MASTER
    try:
        content = json.loads(_text(place))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", source=str(place)) from None
    if not isinstance(content, dict):
        raise FormatError("not a JSON object", source=str(place))
    return content


def _text(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingFileError(
            f"{place}: {error.strerror}", hint="assay eval bundle writes one"
        ) from None
    except UnicodeDecodeError:
        raise FormatError("not UTF-8 text", source=str(place)) from None
