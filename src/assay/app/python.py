"""What do ``assay.load_test_set`` and ``assay.evaluate`` do with a name?

They look for a test set where every other surface does: in the workspace of the settings
(``ASSAY_HOME``, ``assay.yaml``), then among the shipped sets. A judge is one of those settings.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from assay.app.engine import judge_of
from assay.app.layout import Layout
from assay.evaluation import evaluate as evaluation
from assay.model.testset import TestSet
from assay.settings import configure
from assay.testsets import load
from assay.testsets.rules import KnownIds

P = ParamSpec("P")
R = TypeVar("R")


def load_test_set(
    name: str | os.PathLike[str],
    *,
    folder: Path | None = None,
    lenient: bool | None = None,
    known_ids: KnownIds | None = None,
    grades: str | None = None,
) -> TestSet:
    """The test set of a name or path; every problem of the file is in the error.

    ``folder`` is where names are looked for first; the workspace's ``testsets/`` by default.
    ``grades`` says how grades of another scale become 0 to 3: its highest (``"10"``), or a mapping
    (``"0-1=0,2-5=1,6-8=2,9-10=3"``).
    """
    place = Layout(configure().home).test_sets if folder is None else folder
    return load.load_test_set(
        name, folder=place, lenient=lenient, known_ids=known_ids, grades=grades
    )


def _with_names(evaluate: Callable[P, R]) -> Callable[P, R]:
    """The function, given the test set and the judge that names mean in this workspace."""
    signature = inspect.signature(evaluate)

    @wraps(evaluate)
    def resolved(*arguments: P.args, **options: P.kwargs) -> R:
        given = signature.bind(*arguments, **options)
        name = given.arguments["test_set"]
        if not isinstance(name, TestSet):
            test_set = given.arguments["test_set"] = load_test_set(name)
            if test_set.held_out is not None and given.arguments.get("part") is None:
                given.arguments["part"] = "evaluation"  # who names a set does not mean all of it
        if (judge := given.arguments.get("judge")) is not None:
            given.arguments["judge"] = judge_of(configure(), judge)
        return evaluate(*given.args, **given.kwargs)

    return resolved


evaluate = _with_names(evaluation.evaluate)
