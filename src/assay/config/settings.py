"""Which settings exist, what values may they take, and what is each for?

``SETTINGS`` is the one table behind the command line, the environment, ``assay.yaml`` and the
documentation. Every source hands over text; the kind of a setting turns it into a checked value.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from assay import limits

Value = str | int | float | Path

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_WEIGHT = r"\s*[a-z0-9]{1,20}\s*=\s*(?:\d{1,9}(?:\.\d{0,12})?|\.\d{1,12})\s*"
_REAL = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?")


class Kind(Protocol):
    """What a setting may hold: a description for people and a reader of text."""

    numeric: ClassVar[bool]

    @property
    def form(self) -> str:
        """The allowed values, as the end of the sentence "must be ..."."""

    def read(self, text: str) -> Value:
        """The value that the text stands for; ``ValueError`` where it is not allowed."""


@dataclass(frozen=True, slots=True)
class Text:
    """Any text that is not blank, or one of a ``pattern`` that ``form`` puts into words."""

    pattern: str = r"(?s).*\S.*"
    form: str = "text that is not blank"
    numeric: ClassVar[bool] = False

    def read(self, text: str) -> str:
        """The text, if it is allowed."""
        if not re.fullmatch(self.pattern, text.strip()):
            raise ValueError(text)
        return text.strip()


_INDEX = Text(r"[a-z0-9][a-z0-9_-]{0,99}", "small letters, digits, - and _, 100 at most")
_INTERVAL = Text(r"-1|\d{1,6}(ms|s|m|h|d)", "a time such as 1s or 500ms, or -1")


@dataclass(frozen=True, slots=True)
class Folder:
    """A path to a folder; a leading ``~`` means the user's home."""

    numeric: ClassVar[bool] = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return "the path of a folder"

    def read(self, text: str) -> Path:
        """The text as a path."""
        if not text.strip() or "\0" in text:
            raise ValueError(text)
        try:
            return Path(text).expanduser()
        except RuntimeError as error:  # "~" where the machine knows no home
            raise ValueError(text) from error


@dataclass(frozen=True, slots=True)
class OptionalFile:
    """A path to a file, or the word ``none``."""

    numeric: ClassVar[bool] = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return "the path of a file, or none"

    def read(self, text: str) -> Path | str:
        """The text as a path, or ``none``."""
        return "none" if text.strip() == "none" else Folder().read(text)


@dataclass(frozen=True, slots=True)
class Choice:
    """One word out of a closed list."""

    options: tuple[str, ...]
    numeric: ClassVar[bool] = False

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return " or ".join((", ".join(self.options[:-1]), self.options[-1]))

    def read(self, text: str) -> str:
        """The text, if it is allowed."""
        if text not in self.options:
            raise ValueError(text)
        return text


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a closed range, written in plain digits."""

    low: int
    high: int
    numeric: ClassVar[bool] = True

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> int:
        """The text as an integer."""
        if not _WHOLE.fullmatch(text) or not self.low <= int(text) <= self.high:
            raise ValueError(text)
        return int(text)


@dataclass(frozen=True, slots=True)
class Real:
    """A finite decimal number in a range; ``open_ends`` leaves the two borders out."""

    low: float
    high: float
    open_ends: bool = False
    numeric: ClassVar[bool] = True

    @property
    def form(self) -> str:
        """The allowed values, in words."""
        joint = "strictly between" if self.open_ends else "between"
        return f"a number {joint} {self.low:g} and {self.high:g}"

    def read(self, text: str) -> float:
        """The text as a float."""
        value = float(text) if _REAL.fullmatch(text) else math.nan
        inside = self.low < value < self.high if self.open_ends else self.low <= value <= self.high
        if not inside:
            raise ValueError(text)
        return value


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table. ``changes_results`` says whether ``config_hash`` covers it."""

    name: str
    kind: Kind
    default: str
    help: str
    changes_results: bool = True

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return f"ASSAY_{self.name.upper()}"

    @property
    def flag(self) -> str:
        """The command line option that sets it."""
        return f"--{self.name.replace('_', '-')}"


def _service(name: str, kind: Kind, default: str, line: str) -> Setting:
    """A row of the service: it decides who is answered and when, never what the answer is."""
    return Setting(name, kind, default, line, changes_results=False)


_ENGINE_ROWS = (
    Setting(
        "engine",
        Choice(("embedded", "opensearch")),
        "embedded",
        "where the index lives: in the workspace, or on an OpenSearch cluster",
    ),
    _service("opensearch_url", Text(), "none", "nodes of the cluster, with blanks between them"),
    _service("opensearch_prefix", _INDEX, "assay", "name of the alias, and how indexes begin"),
    _service("opensearch_shards", Whole(1, 1_024), "1", "shards of a new index"),
    _service("opensearch_replicas", Whole(0, 16), "1", "copies of each shard"),
    _service("opensearch_refresh", _INTERVAL, "1s", "when new chunks become searchable"),
)

_SERVICE_ROWS = (
    _service("host", Text(), "127.0.0.1", "address that assay serve listens on"),
    _service("port", Whole(0, 65_535), "8321", "port of assay serve; 0 takes a free one"),
    _service(
        "allowed_hosts",
        Text(),
        "localhost 127.0.0.1 [::1]",
        "names under which the service may be addressed, beside its own",
    ),
    _service(
        "search_slots",
        Whole(0, 1_024),
        "0",
        "searches at the same time; 0 means one for every two cores",
    ),
    _service(
        "search_queue",
        Whole(0, 100_000),
        "8",
        "searches of a burst that may wait for a slot, per slot",
    ),
    _service("evaluation_slots", Whole(1, 64), "1", "evaluations at the same time"),
    _service(
        "rate_limit", Whole(0, 10_000_000), "0", "requests a minute per key; 0 means no limit"
    ),
    _service("request_seconds", Real(0.01, 3_600), "30", "time in which a request is answered"),
    _service("shutdown_seconds", Real(0, 3_600), "20", "time that running requests get to finish"),
    _service(
        "query_log",
        Choice(("off", "counts", "text")),
        "off",
        "what is kept of searches: nothing, all but the words, or scrubbed words too",
    ),
    _service(
        "query_log_days", Whole(1, 3_650), "90", "days after which logged queries are deleted"
    ),
    _service(
        "query_log_rows", Whole(1, 100_000_000), "1000000", "logged queries that are kept at most"
    ),
    _service(
        "schedule",
        Text(),
        "none",
        "evaluations by the clock: 'minute hour day month weekday TEST_SET', joined by ';'",
    ),
    _service(
        "metrics_textfile",
        Text(),
        "none",
        "file that gets the figures of each run, for the textfile collector of Prometheus",
    ),
    _service("pushgateway", Text(), "none", "address of a Pushgateway that gets the figures"),
    _service("server", Text(), "none", "address of a service that commands talk to"),
)

ON_OFF = Choice(("on", "off"))

_ANSWER_ROWS = (
    Setting(
        "answerer",
        Text(),
        "extractive",
        "who answers: extractive, the address of an OpenAI-compatible service, module:function",
    ),
    Setting("answer_model", Text(), "none", "model that answers at that address"),
    _service(
        "answer_key_variable",
        Text(),
        "OPENAI_API_KEY",
        "variable that holds the key of the address",
    ),
    _service("answer_seconds", Real(0.01, 3_600), "60", "time in which a service answers"),
)

_SEARCH_ROWS = (
    Setting(
        "components",
        Text(),
        "bm25,splade,dense",
        "components that search asks, of bm25, splade and dense",
    ),
    Setting("fusion", Choice(("rrf", "weighted")), "rrf", "how the components' lists become one"),
    Setting("rrf_k", Whole(1, limits.MAX_RRF_K), "60", "the constant of reciprocal rank fusion"),
    Setting(
        "weights",
        Text(rf"default|{_WEIGHT}(?:,{_WEIGHT})*", "default, or as in bm25=0.3,dense=0.7"),
        "default",
        "what each component counts, as in bm25=0.3,splade=0.2,dense=0.5",
    ),
    Setting("per_type_weights", ON_OFF, "off", "weights by the type of each query"),
    Setting(
        "normalization",
        Choice(("min-max", "z-score", "dbsf")),
        "min-max",
        "how weighted fusion makes scores comparable",
    ),
    Setting("depth", Whole(1, limits.MAX_DEPTH), "100", "candidates that each component gives"),
    Setting("boosts", ON_OFF, "on", "lift the tables and sections that a query asks for"),
    Setting(
        "lexicon", OptionalFile(), "none", "phrases of your own that tell what a query asks for"
    ),
    Setting("synonyms", OptionalFile(), "none", "file of synonyms that are added to queries"),
    Setting("rerank", ON_OFF, "off", "let a cross-encoder order the best candidates"),
    Setting(
        "reranker",
        Text(),
        "BAAI/bge-reranker-base",
        "cross-encoder; this one needs a GPU, ms-marco-minilm-l12-v2 does not",
    ),
    Setting(
        "rerank_timeout_ms",
        Real(0, limits.MAX_TIMEOUT_MS),
        "0",
        "milliseconds that reranking may take; 0 for 200 on a GPU and 2000 without",
        changes_results=False,
    ),
    Setting(
        "component_timeout_ms",
        Real(1, limits.MAX_TIMEOUT_MS),
        "300",
        "milliseconds that each component may take",
        changes_results=False,
    ),
)

_ROWS = (
    Setting(
        "home",
        Folder(),
        ".assay",
        "workspace folder; unless set, the nearest .assay upwards",
        changes_results=False,
    ),
    Setting(
        "measures",
        Text(),
        "nDCG@10 RR@10 Recall@{5,10,20}",
        "measures that are computed where a command names none",
    ),
    Setting("confidence", Real(0, 1, open_ends=True), "0.95", "confidence level of every interval"),
    Setting(
        "resamples",
        Whole(1, limits.MAX_RESAMPLES),
        "10000",
        "resamples of bootstrap intervals and randomization tests",
    ),
    Setting("seed", Whole(0, 2**63 - 1), "42", "seed of every random choice"),
    Setting(
        "ci_method", Choice(("bca", "percentile")), "bca", "how bootstrap intervals are computed"
    ),
    Setting("alpha", Real(0, 1, open_ends=True), "0.05", "significance level of tests"),
    Setting("margin", Real(0, 1), "0.01", "difference up to which two runs count as equivalent"),
    Setting(
        "dense_model",
        Text(),
        "bge-small-en-v1.5",
        "dense model by name or folder; none for no dense",
    ),
    Setting(
        "splade_model", Text(), "splade-tiny", "SPLADE model by name or folder; none for no SPLADE"
    ),
    Setting(
        "database",
        Text(),
        "sqlite",
        "where documents and runs are kept: sqlite (a file in the workspace) or postgresql://...",
        changes_results=False,
    ),
    Setting(
        "graph_from",
        Whole(1, 10**9),
        "200000",
        "chunks up to which dense search is exact; beyond, a graph is used",
    ),
    Setting(
        "models",
        Text(),
        "auto",
        "folder of models that all workspaces share; auto means in the user's caches",
        changes_results=False,
    ),
    Setting(
        "threads",
        Whole(0, limits.MAX_ENCODE_THREADS),
        "0",
        "threads that encode; 0 means one per core",
        changes_results=False,
    ),
    Setting(
        "color",
        Choice(("auto", "always", "never")),
        "auto",
        "colored output; auto means on a terminal, unless NO_COLOR is set",
        changes_results=False,
    ),
    *_ENGINE_ROWS,
    *_SEARCH_ROWS,
    *_ANSWER_ROWS,
    *_SERVICE_ROWS,
)

SETTINGS: dict[str, Setting] = {row.name: row for row in _ROWS}
