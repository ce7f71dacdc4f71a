"""How does each tool score the same files, dicts and frames?

Every tool computes the same nine measures and returns their means under our names. ``load`` imports
what a user of the tool imports; the three other methods do the work that is timed. A tool that has
no reader for an input converts it the way its users do, inside the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from bench.workloads import Workload

Values: TypeAlias = dict[str, float]
RunDict: TypeAlias = dict[str, dict[str, float]]
QrelsDict: TypeAlias = dict[str, dict[str, int]]

OURS = "nDCG(gain=linear)@10 MRR Recall@{5,10,100} MAP P@{5,10} Success@5"
AS_TREC_EVAL: Any = {"undefined": "zero", "score_dtype": "float32"}
NAMES = ("nDCG@10", "MRR", "R@5", "R@10", "R@100", "MAP", "P@5", "P@10", "Success@5")
TREC = (
    *("ndcg_cut_10", "recip_rank", "recall_5", "recall_10", "recall_100"),
    *("map", "P_5", "P_10", "success_5"),
)
IR_MEASURES = ("nDCG@10", "RR", "R@5", "R@10", "R@100", "AP", "P@5", "P@10", "Success@5")
RANX = (
    *("ndcg@10", "mrr", "recall@5", "recall@10", "recall@100"),
    *("map", "precision@5", "precision@10", "hit_rate@5"),
)


class Tool(Protocol):
    """What the worker calls; ``frame_library`` makes the frames that the tool is given.

    What takes more than files also has ``dicts`` and ``frames``, which get judgments and a run.
    """

    frame_library: str

    def load(self, source: str) -> None: ...
    def files(self, workload: Workload) -> Values: ...


class Assay:
    """Ours. polars is loaded on first use, so for files its import is part of the work.

    What ``assay.score`` itself loads on first use counts as import, as it does for the others.
    """

    frame_library = "polars"

    def load(self, source: str) -> None:
        import assay
        import assay.hits.qrels
        import assay.hits.run

        self._score = assay.score
        if source == "frames":
            import polars as pl

            pl.DataFrame({"a": [0]})

    def _means(self, qrels: Any, run: Any) -> Values:
        scores = self._score(qrels, run, OURS, undefined="zero")
        means = [scores[measure] for measure in scores.measures]
        return dict(zip(NAMES, (m for m in means if m is not None), strict=True))

    def files(self, workload: Workload) -> Values:
        return self._means(workload.qrels, workload.run)

    def dicts(self, qrels: QrelsDict, run: RunDict) -> Values:
        return self._means(qrels, run)

    def frames(self, qrels: Any, run: Any) -> Values:
        return self._means(qrels, run)

    def many(self, workload: Workload) -> Values:
        import assay

        board = assay.score_many(workload.qrels, workload.runs, OURS, **AS_TREC_EVAL)
        assert not board.failed
        return _overall([[scores[m] or 0.0 for m in scores.measures] for scores in board])


class AssayAnew(Assay):
    """Ours, reading the judgments for every run."""

    def many(self, workload: Workload) -> Values:
        rows = []
        for run in workload.runs:
            scores = self._score(workload.qrels, run, OURS, **AS_TREC_EVAL)
            rows.append([scores[m] or 0.0 for m in scores.measures])
        return _overall(rows)


class AssayCommand(Assay):
    """Ours as a shell starts it, once for all runs."""

    def load(self, source: str) -> None:
        """The command imports for itself."""

    def many(self, workload: Workload) -> Values:
        import json
        import os
        import subprocess
        import sys

        program = os.path.join(os.path.dirname(sys.executable), "assay")
        options = ["-m", OURS, "--undefined", "zero", "--score-dtype", "float32", "--json"]
        command = [program, "score", workload.qrels, *workload.runs, *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows = [list(run["metrics"].values()) for run in json.loads(done.stdout)["runs"]]
        return _overall(rows)


def _overall(rows: list[list[float]]) -> Values:
    """The mean of each measure over all runs."""
    columns = zip(*rows, strict=True)
    means = (sum(column) / len(column) for column in columns)
    return dict(zip(NAMES, means, strict=True))


class AssayPandas(Assay):
    """Ours, given the pandas frame that the others get."""

    frame_library = "pandas"


class AssayArrays(Assay):
    """Ours, as where no C compiler was found: array operations alone."""

    def load(self, source: str) -> None:
        super().load(source)

        from assay import compiled

        compiled.library = lambda: None  # type: ignore[assignment]


class PytrecEval:
    """The C code of trec_eval behind its Python binding, with the binding's own file reader."""

    frame_library = "pandas"

    def load(self, source: str) -> None:
        import pytrec_eval

        self._module = pytrec_eval

    def files(self, workload: Workload) -> Values:
        with open(workload.qrels) as lines:
            qrels = self._module.parse_qrel(lines)
        with open(workload.run) as lines:
            run = self._module.parse_run(lines)
        return self.dicts(qrels, run)

    def dicts(self, qrels: QrelsDict, run: RunDict) -> Values:
        return self._means(self._module.RelevanceEvaluator(qrels, set(TREC)), run)

    def _means(self, evaluator: Any, run: RunDict) -> Values:
        found = evaluator.evaluate(run)
        mean = self._module.compute_aggregated_measure
        return {
            name: mean(measure, [query[measure] for query in found.values()])
            for name, measure in zip(NAMES, TREC, strict=True)
        }

    def many(self, workload: Workload) -> Values:
        with open(workload.qrels) as lines:
            qrels = self._module.parse_qrel(lines)
        evaluator = self._module.RelevanceEvaluator(qrels, set(TREC))
        rows = []
        for path in workload.runs:
            with open(path) as lines:
                run = self._module.parse_run(lines)
            rows.append(list(self._means(evaluator, run).values()))
        return _overall(rows)

    def frames(self, qrels: Any, run: Any) -> Values:
        return self.dicts(_grouped(qrels, "relevance"), _grouped(run, "score"))


def _grouped(frame: Any, value: str) -> dict[str, dict[str, Any]]:
    groups = frame.groupby("query_id")
    return {query: dict(zip(g["doc_id"], g[value], strict=True)) for query, g in groups}


class PytrecEvalLists(PytrecEval):
    """The same with the fastest conversion that we found: columns become lists first."""

    def frames(self, qrels: Any, run: Any) -> Values:
        return self.dicts(_grouped_lists(qrels, "relevance"), _grouped_lists(run, "score"))


def _grouped_lists(frame: Any, value: str) -> dict[str, dict[str, Any]]:
    return {
        query: dict(zip(g["doc_id"].tolist(), g[value].tolist(), strict=True))
        for query, g in frame.groupby("query_id", sort=False)
    }


class IrMeasures:
    """It takes files, dicts and pandas frames as they are."""

    frame_library = "pandas"

    def load(self, source: str) -> None:
        import ir_measures

        self._module = ir_measures
        self._measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]

    def _means(self, qrels: Any, run: Any) -> Values:
        found = self._module.calc_aggregate(self._measures, qrels, run)
        return {n: float(found[m]) for n, m in zip(NAMES, self._measures, strict=True)}

    def files(self, workload: Workload) -> Values:
        read = self._module
        return self._means(read.read_trec_qrels(workload.qrels), read.read_trec_run(workload.run))

    def dicts(self, qrels: QrelsDict, run: RunDict) -> Values:
        return self._means(qrels, run)

    def frames(self, qrels: Any, run: Any) -> Values:
        return self._means(qrels, run)


class Ranx:
    """It compiles with numba on first use; its cache is filled before the clock starts.

    ``from_df`` refuses pandas' own text columns, so they are turned into objects first.
    """

    frame_library = "pandas"

    def load(self, source: str) -> None:
        import ranx

        self._module = ranx

    def _means(self, qrels: Any, run: Any) -> Values:
        found = self._module.evaluate(qrels, run, list(RANX))
        return {name: float(found[measure]) for name, measure in zip(NAMES, RANX, strict=True)}

    def files(self, workload: Workload) -> Values:
        qrels = self._module.Qrels.from_file(workload.qrels, kind="trec")
        return self._means(qrels, self._module.Run.from_file(workload.run, kind="trec"))

    def dicts(self, qrels: QrelsDict, run: RunDict) -> Values:
        return self._means(self._module.Qrels(qrels), self._module.Run(run))

    def frames(self, qrels: Any, run: Any) -> Values:
        text = {"query_id": object, "doc_id": object}
        names = {"q_id_col": "query_id", "doc_id_col": "doc_id"}
        judged = self._module.Qrels.from_df(qrels.astype(text), score_col="relevance", **names)
        return self._means(judged, self._module.Run.from_df(run.astype(text), **names))


class FilesOnly:
    """The part of a tool that reads files and nothing else."""

    frame_library = "none"

    def load(self, source: str) -> None:
        """Nothing to import."""


class TrecEval(FilesOnly):
    """The original program, where one is installed."""

    def files(self, workload: Workload) -> Values:
        return self._means(workload.qrels, workload.run)

    def many(self, workload: Workload) -> Values:
        return _overall([list(self._means(workload.qrels, run).values()) for run in workload.runs])

    def _means(self, qrels: str, run: str) -> Values:
        import subprocess

        wanted = ["ndcg_cut.10", "recip_rank", "recall.5,10,100", "map", "P.5,10", "success.5"]
        options = [part for measure in wanted for part in ("-m", measure)]
        command = ["trec_eval", "-c", *options, qrels, run]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = {line.split()[0]: float(line.split()[2]) for line in lines.splitlines()}
        return {name: found[measure] for name, measure in zip(NAMES, TREC, strict=True)}


class PolarsParse(FilesOnly):
    """The bare parse: polars reads the three columns that count, in one call."""

    def load(self, source: str) -> None:
        import polars as pl

        self._read, self._float, self._text = pl.read_csv, pl.Float64, pl.String

    def files(self, workload: Workload) -> Values:
        text, names = self._text, ("query", "q0", "doc", "rank", "score", "tag")
        schema = {name: self._float if name == "score" else text for name in names}
        frame = self._read(
            workload.run, has_header=False, separator=" ", columns=[0, 2, 4], schema=schema
        )
        assert len(frame) == workload.rows
        return {}


class PythonLoop(FilesOnly):
    """The bare parse of plain Python: split every line and keep nothing."""

    def files(self, workload: Workload) -> Values:
        with open(workload.run) as lines:
            for line in lines:
                line.split()
        return {}


TOOLS: dict[str, type[Tool]] = {
    "assay": Assay,
    "assay, pandas frame": AssayPandas,
    "assay, nothing compiled": AssayArrays,
    "assay, judgments read for each run": AssayAnew,
    "assay score, the command": AssayCommand,
    "trec_eval": TrecEval,
    "pytrec_eval": PytrecEval,
    "pytrec_eval, lists": PytrecEvalLists,
    "ir_measures": IrMeasures,
    "ranx": Ranx,
    "bare parse, polars": PolarsParse,
    "bare parse, Python": PythonLoop,
}


def tools_for(source: str) -> list[str]:
    """The tools that are measured for files, dicts or frames."""
    from shutil import which

    shared = ["assay", "pytrec_eval", "ir_measures", "ranx"]
    if source == "files":
        original = ["trec_eval"] if which("trec_eval") else []
        ours = [shared[0], "assay, nothing compiled"]
        return [*ours, *shared[1:], *original, "bare parse, polars", "bare parse, Python"]
    if source == "frames":
        ours = ["assay", "assay, nothing compiled", "assay, pandas frame"]
        return [*ours, "pytrec_eval", "pytrec_eval, lists", *shared[2:]]
    return shared
