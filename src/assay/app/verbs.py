"""Which verbs does a workspace have in Python alike, here or behind a service?

``Workspace`` and ``assay.client.Client`` inherit them. Each makes the request value that every
surface makes, and calls the one function of ``assay.app`` for it.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from assay.app.engine import Progress, silent
from assay.app.statistics import USUAL, Measures, Statistics
from assay.model.run_store import BASELINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.app.comparison import AbTest, Compared
    from assay.app.corpus import DocumentsWritten
    from assay.app.evaluation import Evaluated, EvaluationProgress
    from assay.app.evaluation_request import EvaluationRequest
    from assay.app.interface import Assay
    from assay.app.run_view import RunView
    from assay.evaluation.gate import GateReport
    from assay.evaluation.history import History, HistoryOptions
    from assay.evaluation.result import EvaluationResult
    from assay.model.judges import GivenJudge
    from assay.model.ranking import MatchName
    from assay.model.testset import TestSet
    from assay.search.changes import SearchChanges


class Verbs:
    """Add a data frame; evaluate, compare, test, gate, and look at runs."""

    @abstractmethod
    def carry_out(
        self, request: EvaluationRequest, progress: EvaluationProgress | None = None
    ) -> Evaluated:
        """Run a test set as a request says, and keep the run."""

    def add_frame(
        self: Assay,
        frame: Any,
        *,
        text: str | Sequence[str],
        id: str,  # noqa: A002 - the word that users know
        title: str = "",
        profile: str = "auto",
        keep_going: bool = False,
        progress: Progress = silent,
    ) -> DocumentsWritten:
        """Store a data frame, a document per row; the columns that are not named are metadata."""
        from assay.app.rows import Fields, renamed

        rows = renamed(frame, Fields(id, text, title))
        return self.add(rows, profile=profile, keep_going=keep_going, progress=progress)

    def evaluate(
        self,
        test_set: TestSet | str | os.PathLike[str],
        progress: EvaluationProgress | None = None,
        *,
        measures: str | None = None,
        name: str = "",
        tags: Sequence[str] = (),
        part: Literal["evaluation", "holdout", "all"] | None = None,
        answers: bool = False,
        system: Any = None,
        judge: str | GivenJudge | None = None,
        use_cache: bool = True,
        **changes: Unpack[SearchChanges],
    ) -> EvaluationResult:
        """Run a test set and keep the run, or find that it was run before.

        ``test_set`` is a name, a path or a value. ``changes`` are options of the search. ``part``
        is a side of the held-out split, evaluation by default. ``answers`` also answers each query
        and judges the answers; ``judge`` reads them claim by claim (words, entailment, an address,
        module:function, a function of kind, text and passage, or a ``Judge``). ``system`` is
        another engine to evaluate instead of our search: whatever ``assay.evaluate`` takes,
        module:function or an address. ``carry_out`` takes what an ``EvaluationRequest`` says beyond
        that.
        """
        from assay.app.evaluation_request import asked_for

        request = asked_for(
            test_set,
            options=changes,
            measures=measures,
            name=name,
            tags=tuple(tags),
            part=part,
            answers=answers,
            retriever=system,
            **({"judge": judge} if isinstance(judge, str) else {"own_judge": judge}),
            use_cache=use_cache,
        )
        return self.carry_out(request, progress).result

    def show(
        self: Assay,
        run: str = "latest",
        *,
        measures: Measures = (),
        match: MatchName | None = None,
        per_component: bool = False,
        waterfall: bool = False,
        statistics: Statistics = USUAL,
    ) -> RunView:
        """Score a stored run; what its components did, and where documents were lost, on request.

        What is not given is as the run was scored when it was made.
        """
        from assay.app import run_view

        return run_view.show(
            self,
            run,
            measures=measures,
            match=match,
            per_component=per_component,
            waterfall=waterfall,
            statistics=statistics,
        )

    def history(
        self: Assay,
        test_set: str,
        *,
        measures: Measures = (),
        options: HistoryOptions | None = None,
        limit: int = 20,
    ) -> History:
        """The newest complete runs of a test set, in series that can be compared."""
        from assay.app import runs

        return runs.history(self, test_set, measures=measures, options=options, limit=limit)

    def compare(
        self: Assay,
        a: str,
        b: str = "latest",
        *,
        measures: Measures = (),
        strict_chunker_version: bool = False,
    ) -> Compared:
        """Set run b beside run a: deltas, and wins and losses per query."""
        from assay.app import comparison

        request = comparison.CompareRequest(a, b, measures, strict_chunker_version)
        return comparison.compare(self, request)

    def ab(
        self: Assay,
        a: str,
        b: str = "latest",
        *,
        test_set: str | None = None,
        measures: Measures = (),
        strict_chunker_version: bool = False,
        by_group: bool = False,
        latency_repeats: int | None = None,
        statistics: Statistics = USUAL,
        progress: Progress = silent,
    ) -> AbTest:
        """Test b against a: differences, p-values, intervals, latency, a verdict.

        A side is a stored run, or a configuration (a file, a saved one, or a line of options such
        as ``rerank=on``), which is run on ``test_set`` first. ``latency_repeats`` is how often both
        are timed in turn; without it, configurations are timed and stored runs are not.
        """
        from assay.app import comparison

        sides = comparison.side(self, a, test_set), comparison.side(self, b, test_set)
        request = comparison.AbRequest(
            sides[0].run_id,
            sides[1].run_id,
            measures,
            strict_chunker_version,
            by_group,
            latency_repeats,
            statistics,
        )
        return comparison.ab(self, request, sides=sides, progress=progress)

    def gate(
        self: Assay,
        baseline: str | Path = BASELINE,
        current: str | Path = "latest",
        *,
        limits: str | Sequence[str] = (),
        non_inferiority: bool = False,
        latency_repeats: int = 0,
        statistics: Statistics = USUAL,
        progress: Progress = silent,
    ) -> GateReport:
        """Say whether a run may replace its baseline; either is a stored run or a file of figures.

        ``limits`` such as ``Recall@10=5%`` or ``latency_p95=20%`` replace the usual one; with
        ``latency_repeats`` both configurations are timed in turn.
        """
        from assay.app import gate

        named = gate.run_or_file(self, baseline) if isinstance(baseline, str) else baseline
        request = gate.GateRequest(
            baseline=named,
            current=gate.run_or_file(self, current) if isinstance(current, str) else current,
            limits=tuple(limits.split()) if isinstance(limits, str) else tuple(limits),
            non_inferiority=non_inferiority,
            latency_repeats=latency_repeats,
            statistics=statistics,
        )
        return gate.gate(self, request, progress)
