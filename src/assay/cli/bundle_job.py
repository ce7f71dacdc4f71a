"""How is a bundle of reported numbers written and checked?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.reports import write_file
from assay.errors import AssayError, FormatError, MissingFileError
from assay.evaluation import bundle
from assay.evaluation.report import parse_targets, run_report
from assay.evaluation.sampling import Sampling
from assay.render.report_text import run_markdown

if TYPE_CHECKING:
    from assay.app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Checked:
    """How many numbers were computed again, and what is wrong with the bundle."""

    metrics: int
    problems: list[str]


def write_bundle(
    workspace: Workspace,
    refs: Sequence[str],
    measures: str | None,
    sampling: Sampling,
    folder: Path,
) -> list[str]:
    """The master file, a report on each run, and the manifest; the names of the files."""
    runs = [workspace.stored_run(ref) for ref in dict.fromkeys(refs)]
    recipe = bundle.usual_recipe(runs, sampling)
    if measures is not None:
        recipe = bundle.Recipe(measures, sampling)
    files = {bundle.MASTER: bundle.as_text(bundle.master(runs, recipe)).encode()}
    for run in runs:
        report = run_report(run, targets=parse_targets(), sampling=recipe.sampling)
        files[f"report-{run.name}.md"] = run_markdown(report).encode()
    for name, content in files.items():
        write_file(folder / name, content.decode())
    write_file(folder / bundle.MANIFEST, bundle.manifest(files))
    return [*files, bundle.MANIFEST]


def check_bundle(workspace: Workspace, folder: Path) -> Checked:
    """Check the files against the manifest, and the numbers against the runs."""
    problems = _damaged(folder)
    stated = _master(folder)
    try:
        recipe = bundle.Recipe.from_dict(stated["recipe"])
        names = list(stated["runs"])
        form = stated["form"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(
            f"not a bundle of ours: {error}", source=str(folder / bundle.MASTER)
        ) from None
    if form not in bundle.FORMS:
        raise FormatError(
            f"a bundle of form {form!r:.40}, and this version knows {bundle.FORMS}",
            source=str(folder / bundle.MASTER),
            hint="check it with the version that wrote it, or a newer one",
        )
    runs = []
    for name in names:
        try:
            runs.append(workspace.stored_run(name))
        except AssayError as error:
            problems.append(f"the run {name} cannot be read: {error.message}")
    if len(runs) < len(names):
        return Checked(0, problems)
    computed = json.loads(bundle.as_text(bundle.master(runs, recipe, form)))
    problems += bundle.differences(stated, computed)
    return Checked(len(computed["metrics"]), problems)


def _damaged(folder: Path) -> list[str]:
    stated = bundle.read_manifest(_text(folder / bundle.MANIFEST))
    there = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    found = [
        f"{name} is not in the manifest" for name in sorted(there - {bundle.MANIFEST, *stated})
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
    place = folder / bundle.MASTER
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
