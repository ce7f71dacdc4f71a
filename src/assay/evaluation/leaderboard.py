"""How good are many runs, by the same judgments?"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.errors import AssayError, InputError, MissingFileError
from assay.evaluation.score import log_alarms, score_quietly
from assay.evaluation.scores import Scores
from assay.measures.parse import parse_measures
from assay.model.tabular import Records, Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from assay.hits.qrels import QrelsInput
    from assay.hits.run import RunInput
    from assay.measures.base import Measure

RunsInput: TypeAlias = "Mapping[str, RunInput] | Sequence[str | os.PathLike[str]]"


@dataclass(frozen=True, slots=True)
class Leaderboard(Tabular):
    """What each run scored, in the order given; ``failed`` says why others could not be scored."""

    scores: Mapping[str, Scores]
    failed: Mapping[str, AssayError]

    def __getitem__(self, name: str) -> Scores:
        return self.scores[name]

    def __iter__(self) -> Iterator[Scores]:
        return iter(self.scores.values())

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self, *, intervals: bool = False, per_query: bool = False) -> dict[str, Any]:
        """JSON-ready: ``runs`` as ``Scores`` writes them, and what failed."""
        return {
            "runs": [s.to_dict(intervals=intervals, per_query=per_query) for s in self],
            "failed": [failure(name, problem) for name, problem in self.failed.items()],
        }

    def records(self) -> Records:
        """A row for each run, a column for each measure."""
        return Records.of(
            ({"run": name, **{str(m): one[m] for m in one}} for name, one in self.scores.items()),
            notes=[f"{name}: {problem}" for name, problem in self.failed.items()],
        )

    def __str__(self) -> str:
        return "\n".join([*map(str, self), *(f"{n}: {p}" for n, p in self.failed.items())])


def failure(name: str, problem: AssayError) -> dict[str, Any]:
    """Why a run could not be scored, JSON-ready."""
    return {"run": name, "code": problem.code, "error": problem.message, "hint": problem.hint}


def score_many(
    qrels: QrelsInput,
    runs: RunsInput,
    measures: str | Iterable[str | Measure] | None = None,
    *,
    strict: bool = False,
    quiet: bool = False,
    progress: Callable[[str, int, int | None], None] | None = None,
    **options: Any,
) -> Leaderboard:
    """Score many runs: ``assay.score_many("qrels.txt", ["runs/*.trec"], "nDCG@10 MAP")``.

    ``runs`` are paths and patterns, or any runs by name. The judgments are read once, and so they
    are where ``qrels`` is what ``assay.load_qrels`` returned. A run that cannot be read is named in
    ``failed`` and leaves the others alone; with ``strict`` its error is raised. What looks like a
    mistake is logged unless ``quiet``. ``options`` are those of ``assay.score``; ``progress`` is
    also given the run's name.
    """
    from assay.hits.qrels import load_qrels

    named = runs if isinstance(runs, Mapping) else named_files(runs)
    judgments, asked = load_qrels(qrels), parse_measures(measures) if measures else None
    scores: dict[str, Scores] = {}
    failed: dict[str, AssayError] = {}
    for name, run in named.items():
        told = None if progress is None else partial(progress, name)
        try:
            scores[name] = score_quietly(judgments, run, asked, name=name, progress=told, **options)
        except (InputError, MissingFileError) as problem:
            if strict:
                raise
            failed[name] = problem
        else:
            if not quiet:
                log_alarms(scores[name])
    return Leaderboard(scores, failed)


def named_files(files: Sequence[str | os.PathLike[str]]) -> dict[str, str]:
    """Files by their names: whole paths where two are alike, numbers where one comes twice.

    A pattern such as ``runs/*.trec`` stands for the files that match it, in the order of their
    names.
    """
    found = [file for given in files for file in _matching(os.fspath(given))]
    names = [os.path.basename(file) or file for file in found]
    if len(set(names)) < len(set(found)):
        names = list(found)
    seen: Counter[str] = Counter()
    named: dict[str, str] = {}
    for name, file in zip(names, found, strict=True):
        seen[name] += 1
        named[name if seen[name] == 1 else f"{name} ({seen[name]})"] = file
    return named


def _matching(file: str) -> list[str]:
    """The files that a pattern matches; a path that is no pattern, or is there, is itself."""
    if glob.escape(file) == file or os.path.exists(file):
        return [file]
    found = sorted(path for path in glob.glob(file, recursive=True) if os.path.isfile(path))
    if not found:
        raise MissingFileError(f"no file matches {file!r}", hint="check the pattern")
    return found
