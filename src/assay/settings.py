"""How is assay set up here, and where does each value come from?

``Settings`` is the one typed class of settings: command line, environment, ``assay.yaml`` and the
documentation are made from its fields. A flag wins over the environment, the environment over the
nearest ``assay.yaml`` upwards, the file over the default; ``origins`` says for every setting who
decided. An empty variable counts as unset. What could run code or give secrets away holds from a
file only if the user named it or trusts it (``trust.py``). The options of a search are described in
``search/request.py`` and have their defaults here under the same names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from assay import limits
from assay.encode.catalog import DEFAULT_ENCODERS
from assay.errors import AssayError, ConfigError, MissingFileError, UsageError
from assay.evaluation.defaults import SCORE_MEASURES
from assay.model.ranking import CHUNK_SEPARATOR
from assay.model.sampling import Sampling
from assay.options import (
    Choice,
    Kind,
    Maybe,
    NamedCode,
    Names,
    Option,
    PathName,
    Real,
    Switch,
    Text,
    Weights,
    WeightsBy,
    Whole,
)
from assay.plain_file import read_plain
from assay.search.request import (
    BUILT_IN_SYNONYMS,
    COMPONENTS,
    RETRIEVAL_OPTIONS,
    SearchOptions,
    check_components,
)
from assay.trust import is_trusted

if TYPE_CHECKING:
    from assay.strict_yaml import Node, ScalarNode

CONFIG_FILE = "assay.yaml"
CONFIG_VARIABLE = "ASSAY_CONFIG"
"""The variable that names the file to read instead of the nearest ``assay.yaml``."""
WORKSPACE_FOLDER = ".assay"
OF_TESTS = frozenset({"ASSAY_SHARED_DATA"})
"""Variables with our prefix that other programs than assay read."""
_ADDRESS = re.compile(r"(?:^|(?<=\s))(?=[A-Za-z][A-Za-z0-9+.-]*://)")
_USER = re.compile(r"(?P<user>://[^/:]*:)(?:[^?]*@|[^@]*@)", re.DOTALL)
_PARAMETER = re.compile(
    r"(?P<name>[?&;\s](?=[^=?&;\s]*(?:pass|pwd|secret|token|key))[^=?&;\s]*+=)[^&;#\s]*+",
    re.IGNORECASE,
)
_TAKEN = ("answer", "boosts", "fusion", "hybrid", "rerank", "reranker", "total")
"""What a component may not be called: runs and timings use these words."""
_STRUCTURED = Names | NamedCode | Weights | WeightsBy
"""What a file may also write as a list or mapping."""
_SECRET = Text(ends="\r\n")
_RUNS_CODE = "can run code"
_IS_SENT_TO = "says where queries, documents and keys are sent"
_NAMES_KEY = "says which variable is sent as a key"
_IS_WRITTEN = "says which file is written"
_INDEX = Text(r"[a-z0-9][a-z0-9_-]{0,99}", "small letters, digits, - and _, 100 at most")
_INTERVAL = Text(r"-1|[0-9]{1,6}(ms|s|m|h|d)", "a time such as 1s or 500ms, or -1")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its default and every source of it are text, which ``kind`` reads.

    ``changes_results`` says whether ``config_hash`` covers it. A secret comes from the environment
    only and is never shown. ``guard`` says what harm the setting could do where somebody else wrote
    it; with ``guard_addresses`` only addresses can.
    """

    name: str
    kind: Kind
    default: str
    help: str
    changes_results: bool = True
    secret: bool = False
    guard: str = ""
    guard_addresses: bool = False

    def is_guarded(self, text: str) -> bool:
        """Whether this value holds from a file only if the user trusts it."""
        if not self.guard or text == self.default:
            return False
        return "://" in text if self.guard_addresses else True

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return _variable(self.name)

    @property
    def flag(self) -> str:
        """The command line option that sets it."""
        return f"--{self.name.replace('_', '-')}"


def _setting(
    kind: Kind,
    default: str,
    help: str,  # noqa: A002 - the word of every command line
    *,
    changes_results: bool = True,
    secret: bool = False,
    guard: str = "",
    guard_addresses: bool = False,
) -> Any:
    about = Setting(
        "",
        kind,
        default,
        help,
        changes_results,
        secret,
        guard=guard,
        guard_addresses=guard_addresses,
    )
    return field(metadata={"setting": about})


def _service(kind: Kind, default: str, line: str, *, secret: bool = False, guard: str = "") -> Any:
    """A setting that decides who is answered, where and when, but never what the answer is."""
    return _setting(kind, default, line, changes_results=False, secret=secret, guard=guard)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Settings:
    """Every setting with its value; None where there is none."""

    home: Path = _service(
        PathName("folder"), ".assay", "workspace folder; unless set, the nearest .assay upwards"
    )
    measures: str = _setting(
        Text(),
        SCORE_MEASURES,
        "measures that assay score computes where none are named",
    )
    confidence: float = _setting(
        Real(0, 1, open_ends=True), "0.95", "confidence level of every interval"
    )
    resamples: int = _setting(
        Whole(1, limits.MAX_RESAMPLES),
        "10000",
        "resamples of bootstrap intervals and randomization tests",
    )
    seed: int = _setting(Whole(0, 2**63 - 1), "42", "seed of every random choice")
    ci_method: Literal["bca", "percentile"] = _setting(
        Choice(("bca", "percentile")), "bca", "how bootstrap intervals are computed"
    )
    alpha: float = _setting(Real(0, 1, open_ends=True), "0.05", "significance level of tests")
    margin: float = _setting(
        Real(0, 1), "0.01", "difference up to which two runs count as equivalent"
    )
    chunk_separator: str = _setting(
        Text(ends="", form="1 to 40 characters", most=40),
        CHUNK_SEPARATOR,
        "what separates document and chunk in the ids of chunks",
    )
    dense_model: str | None = _setting(
        Maybe(Text()),
        DEFAULT_ENCODERS[0],
        "dense model by name, folder or address (http+openai:URL#MODEL); none for no dense",
        guard=_IS_SENT_TO,
        guard_addresses=True,
    )
    splade_model: str | None = _setting(
        Maybe(Text()),
        DEFAULT_ENCODERS[1],
        "sparse model by name or folder; none for no sparse",
        guard=_IS_SENT_TO,
        guard_addresses=True,
    )
    dense_key_variable: str | None = _service(
        Maybe(Text()),
        "none",
        "variable that holds the key of a dense model behind an address",
        guard=_NAMES_KEY,
    )
    reranker_key_variable: str | None = _service(
        Maybe(Text()),
        "none",
        "variable that holds the key of a reranker behind an address",
        guard=_NAMES_KEY,
    )
    database: str = _service(
        Text(),
        "sqlite",
        "where documents and runs are kept: sqlite (a file in the workspace) or postgresql://...",
        guard=_IS_SENT_TO,
    )
    graph_from: int = _setting(
        Whole(1, 10**9),
        "200000",
        "chunks up to which dense search is exact; beyond, a graph is used",
    )
    models: Path | None = _service(
        Maybe(PathName("folder"), none=("auto",)),
        "auto",
        "folder of models that all workspaces share; auto means in the user's caches",
    )
    threads: int = _service(
        Whole(0, limits.MAX_ENCODE_THREADS), "0", "threads that encode; 0 means one per core"
    )
    color: Literal["auto", "always", "never"] = _service(
        Choice(("auto", "always", "never")),
        "auto",
        "colored output; auto means on a terminal, unless NO_COLOR is set",
    )
    debug: bool = _service(
        Switch(lenient=True), "off", "show the traceback of an unexpected failure"
    )
    engine: Literal["embedded", "opensearch"] = _setting(
        Choice(("embedded", "opensearch")),
        "embedded",
        "where the index lives: in the workspace, or on an OpenSearch cluster",
    )
    opensearch_url: str | None = _service(
        Maybe(Text()), "none", "nodes of the cluster, with blanks between them", guard=_IS_SENT_TO
    )
    opensearch_user: str | None = _service(
        Maybe(_SECRET, none=()), "", "user at the cluster", secret=True
    )
    opensearch_password: str | None = _service(
        Maybe(_SECRET, none=()), "", "password of that user", secret=True
    )
    opensearch_api_key: str | None = _service(
        Maybe(_SECRET, none=()),
        "",
        "API key at the cluster, instead of user and password",
        secret=True,
    )
    opensearch_ca: Path | None = _service(
        Maybe(PathName("file")),
        "none",
        "certificates that sign those of the nodes",
        guard=_IS_SENT_TO,
    )
    opensearch_prefix: str = _service(_INDEX, "assay", "name of the alias, and how indexes begin")
    opensearch_shards: int = _service(Whole(1, 1_024), "1", "shards of a new index")
    opensearch_replicas: int = _service(Whole(0, 16), "1", "copies of each shard")
    opensearch_refresh: str = _service(_INTERVAL, "1s", "when new chunks become searchable")
    search: SearchOptions
    own_components: Mapping[str, str] = _setting(
        NamedCode((*COMPONENTS, *_TAKEN)),
        "none",
        "components of your own, each with the factory that builds it: labels=my_search:labels",
        guard=_RUNS_CODE,
    )
    lexicon: Path | None = _setting(
        Maybe(PathName("file")), "none", "phrases of your own that tell what a query asks for"
    )
    synonyms: Path | str | None = _setting(
        Maybe(PathName("file", word=BUILT_IN_SYNONYMS)),
        BUILT_IN_SYNONYMS,
        "synonyms that are added to queries: those of assay, of a file, or none",
    )
    answerer: str = _setting(
        Text(),
        "extractive",
        "who answers: extractive, the address of an OpenAI-compatible service, module:function",
        guard=_RUNS_CODE,
    )
    answer_model: str | None = _setting(Maybe(Text()), "none", "model that answers at that address")
    answer_key_variable: str = _service(
        Text(), "OPENAI_API_KEY", "variable that holds the key of the address", guard=_NAMES_KEY
    )
    answer_seconds: float = _service(Real(0.01, 3_600), "60", "time in which an answerer answers")
    judge: str = _setting(
        Text(),
        "entailment",
        "who judges answers: entailment, words, an OpenAI-compatible address, module:function",
        guard=_RUNS_CODE,
    )
    judge_model: str | None = _setting(Maybe(Text()), "none", "model that judges at that address")
    judge_key_variable: str = _service(
        Text(), "OPENAI_API_KEY", "variable that holds the key of that address", guard=_NAMES_KEY
    )
    judge_prompts: Path | None = _setting(
        Maybe(PathName("folder")), "none", "folder with support.txt and relevance.txt of your own"
    )
    judge_seconds: float = _service(Real(0.01, 3_600), "60", "time in which a judge replies")
    judge_concurrency: int = _service(
        Whole(1, limits.MAX_CONCURRENCY), "4", "replies that a judge is asked for at the same time"
    )
    host: str = _service(Text(), "127.0.0.1", "address that assay serve listens on")
    port: int = _service(Whole(0, 65_535), "8321", "port of assay serve; 0 takes a free one")
    allowed_hosts: str = _service(
        Text(),
        "localhost 127.0.0.1 [::1]",
        "names under which the service may be addressed, beside its own",
    )
    search_slots: int = _service(
        Whole(0, 1_024), "0", "searches at the same time; 0 means one for every two cores"
    )
    search_queue: int = _service(
        Whole(0, 100_000), "64", "searches of a burst that may wait for a slot, per slot"
    )
    evaluation_slots: int = _service(Whole(1, 64), "1", "evaluations at the same time")
    rate_limit: int = _service(
        Whole(0, 10_000_000), "0", "requests a minute per key; 0 means no limit"
    )
    request_seconds: float = _service(
        Real(0.01, 3_600), "30", "time in which a request is answered"
    )
    shutdown_seconds: float = _service(
        Real(0, 3_600), "20", "time that running requests get to finish"
    )
    log_level: Literal["debug", "info", "warning", "error"] = _service(
        Choice(("debug", "info", "warning", "error")),
        "info",
        "what assay serve logs; info has a line for every request",
    )
    log_format: Literal["json", "text"] = _service(
        Choice(("json", "text")), "json", "lines of that log: JSON objects, or key=value for people"
    )
    query_log: Literal["off", "counts", "text"] = _service(
        Choice(("off", "counts", "text")),
        "off",
        "what is kept of searches: nothing, all but the words, or scrubbed words too",
    )
    query_log_days: int = _service(
        Whole(1, 3_650), "90", "days after which logged queries are deleted"
    )
    query_log_rows: int = _service(
        Whole(1, 100_000_000), "1000000", "logged queries that are kept at most"
    )
    schedule: str | None = _service(
        Maybe(Text()),
        "none",
        "evaluations by the clock: 'minute hour day month weekday TEST_SET', joined by ';'",
    )
    metrics_textfile: Path | None = _service(
        Maybe(PathName("file")),
        "none",
        "file that gets the figures of each run, for the textfile collector of Prometheus",
        guard=_IS_WRITTEN,
    )
    pushgateway: str | None = _service(
        Maybe(Text()), "none", "address of a Pushgateway that gets the figures", guard=_IS_SENT_TO
    )
    metrics_test_set: str | None = _service(
        Maybe(Text()),
        "none",
        "test sets whose runs set the gauges, with blanks between them; none means those of the "
        "schedule, else those that load by name, else the one that was run first",
    )
    metrics_part: str | None = _service(
        Maybe(Choice(("evaluation", "holdout", "all", "overall", "patient", "clinician"))),
        "none",
        "part whose runs set the gauges; none means everything but what is held out",
    )
    metrics_configuration: str | None = _service(
        Maybe(Text()),
        "none",
        "saved configuration whose runs set the gauges, or another engine (module:function, an "
        "address); none means the search as it is set up here",
        guard=_RUNS_CODE,
    )
    metrics_match: Literal["exact", "doc", "span"] = _service(
        Choice(("exact", "doc", "span")),
        "exact",
        "rule by which the runs that set the gauges are scored",
    )
    server: str | None = _service(
        Maybe(Text()), "none", "address of a service that commands talk to", guard=_IS_SENT_TO
    )
    api_key: str | None = _service(Maybe(_SECRET, none=()), "", "key for that service", secret=True)
    origins: Mapping[str, str] = field(compare=False)

    def __repr__(self) -> str:
        """Without secrets, since tracebacks and logs show it."""
        return (
            f"Settings({', '.join(f'{name}={value!r}' for name, value in self.as_dict().items())})"
        )

    @property
    def sampling(self) -> Sampling:
        """How intervals are drawn."""
        return Sampling(self.ci_method, self.confidence, self.resamples, self.seed)

    def value(self, name: str) -> Any:
        """The value of a setting by its name."""
        if name in _OF_SEARCH:
            return getattr(self.search, name)
        return getattr(self, name)

    def as_dict(self) -> dict[str, Any]:
        """Name and plain value of every setting, in the order of the table; no secrets."""
        return {
            name: _without_secret(row, _plain(self.value(name))) for name, row in SETTINGS.items()
        }

    def as_text(self) -> dict[str, str]:
        """The same as people write it in ``assay.yaml``."""
        return {
            name: _without_secret(row, row.kind.write(self.value(name))) or "none"
            for name, row in SETTINGS.items()
        }

    def canonical_json(self) -> str:
        """The settings that can change a result: sorted keys, no blanks, ASCII only.

        Of a setting that names a file, what the file says counts, not where it lies. A setting that
        came later counts where it was chosen, so that older hashes stay what they are.
        """
        values = self.as_dict()
        chosen = {
            name: _content(value) if isinstance(value := self.value(name), Path) else values[name]
            for name, row in SETTINGS.items()
            if row.changes_results
            and (name not in _LATER or self.value(name) != row.kind.read(row.default))
        }
        return json.dumps(chosen, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def config_hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal digits."""
        return hashlib.sha256(self.canonical_json().encode("ascii")).hexdigest()


_LATER = (
    *("group_by", "collapse", "chunk_separator", "type_weights", "own_components"),
    "rerank_share",
)


def _table() -> dict[str, Setting]:
    """Every setting by its name; those of a search stand where ``search`` does."""
    rows: list[Setting] = []
    for one in fields(Settings):
        if one.name == "search":
            rows += _OF_SEARCH.values()
        elif "setting" in one.metadata:
            rows.append(replace(one.metadata["setting"], name=one.name))
    return {row.name: row for row in rows}


_OF_SEARCH = {
    name: Setting(
        name,
        one.kind,
        one.kind.write(one.default),
        one.help[0].lower() + one.help[1:].rstrip("."),
        one.changes_results,
        guard=_IS_SENT_TO if name == "reranker" else "",
        guard_addresses=name == "reranker",
    )
    for name, one in RETRIEVAL_OPTIONS.items()
    if one.setting
}
SETTINGS: dict[str, Setting] = _table()


def overriding(row: Setting) -> Option:
    """The option of a command or request that wins over a setting; None leaves it as it is."""
    text = f"{row.help[0].upper()}{row.help[1:]}."
    return Option(row.name, row.name, Maybe(row.kind, none=()), None, text)


def configure(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    file: Path | None = None,
) -> Settings:
    """Every setting as seen from a folder; a flag that is ``None`` was not given.

    Flags are values, or text as people write it. A ``file`` is read instead of the nearest
    ``assay.yaml``, and is trusted since it was named.
    """
    base = _working_folder() if folder is None else folder.absolute()
    variables = os.environ if environ is None else environ
    given = {_known(name): value for name, value in (flags or {}).items() if value is not None}
    named = _named_file(file, variables, base)
    path = named or _nearest_upwards(base, CONFIG_FILE, os.path.lexists)
    written = _read_file(path) if path else {}
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, row in SETTINGS.items():
        values[name], origins[name] = (
            _from_flag(row, given.get(name), base)
            or _from_environment(row, variables, base)
            or _from_file(row, written.get(name), path)
            or _default(row, base)
        )
    if path is not None and named is None:
        _refuse_untrusted(path, written, origins, variables)
    return Settings(
        **{name: value for name, value in values.items() if name not in _OF_SEARCH},
        search=_search(values, origins),
        origins=MappingProxyType(origins),
    )


def guarded_settings(path: Path) -> dict[str, str]:
    """What a file says that holds only if the user trusts it: the text of each such setting."""
    return _guarded(_read_file(path))


def nearest_file(folder: Path | None = None) -> Path | None:
    """The ``assay.yaml`` that holds in a folder."""
    base = _working_folder() if folder is None else folder.absolute()
    return _nearest_upwards(base, CONFIG_FILE, os.path.lexists)


def _guarded(written: Mapping[str, ScalarNode]) -> dict[str, str]:
    return {n: node.text for n, node in written.items() if SETTINGS[n].is_guarded(node.text)}


def _named_file(file: Path | None, environ: Mapping[str, str], base: Path) -> Path | None:
    """The file that the user named, by flag or variable; one that is not there is an error."""
    text = environ.get(CONFIG_VARIABLE, "")
    named = file or (Path(text) if text else None)
    if named is None:
        return None
    if not (base / named).is_file():
        whose = "--config" if file else CONFIG_VARIABLE
        raise MissingFileError(f"{named}: there is no such file", hint=f"{whose} names it")
    return base / named


def _refuse_untrusted(
    path: Path,
    written: Mapping[str, ScalarNode],
    origins: Mapping[str, str],
    environ: Mapping[str, str],
) -> None:
    """Refuse a file that sets what could do harm, unless the user trusts it."""
    guarded = _guarded(written)
    held = [name for name in guarded if origins[name].startswith("file ")]
    if not held or is_trusted(path, guarded, environ):
        return
    first = SETTINGS[held[0]]
    place = f"{path}:{written[first.name].line}"
    raise ConfigError(
        f"{place}: {first.name} {first.guard}, and this file is not trusted",
        hint=f"if you trust whoever wrote it: assay config trust; or set {first.env} yourself",
    )


def _search(values: Mapping[str, Any], origins: Mapping[str, str]) -> SearchOptions:
    """The options of a search as configured; a component without a model is not asked."""
    models = {"splade": values["splade_model"], "dense": values["dense_model"]}
    wanted = values["components"]
    if origins["components"] == "default":
        wanted = (*wanted, *values["own_components"])
    present = tuple(name for name in wanted if models.get(name, "") is not None)
    if not present:
        raise ConfigError(
            f"{_place(origins['components'])}: none of them has a model: {', '.join(wanted)}",
            hint="name another component, or its model: dense_model, splade_model",
        )
    chosen = {name: values[name] for name in _OF_SEARCH}
    try:
        options = SearchOptions(
            **{**chosen, "components": present}, synonyms=values["synonyms"] is not None
        )
        check_components(options, values["own_components"])
        return options
    except UsageError as problem:  # each value is allowed: only those of components must fit others
        about = re.split(r"\W", problem.message)[0]
        where = _place(origins[about if about in origins else "weights"])
        raise ConfigError(f"{where}: {problem.message}", hint=problem.hint) from None


def _place(origin: str) -> str:
    """Where a value was set, from what ``origins`` says of it."""
    return origin.partition(" ")[2] or origin


def unknown_variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Variables that look like settings and are none, each with the name it resembles."""
    known = {_variable(name) for name in SETTINGS} | OF_TESTS | {CONFIG_VARIABLE}
    others = sorted(name for name in environ if name.startswith("ASSAY_") and name not in known)
    guesses = {name: _nearest(name.removeprefix("ASSAY_").lower(), SETTINGS) for name in others}
    return {name: SETTINGS[guess].env if guess else None for name, guess in guesses.items()}


_Found = tuple[Any, str] | None


def _variable(name: str) -> str:
    return f"ASSAY_{name.upper()}"


def _known(name: str) -> str:
    """The name of a setting; an unknown one is refused."""
    if name not in SETTINGS:
        raise ConfigError(f"{name} is not a setting", hint=_suggestion(name))
    return name


def _suggestion(word: str) -> str:
    guess = _nearest(word, SETTINGS)
    listing = f"known settings: {', '.join(SETTINGS)}"
    return f"did you mean {guess}? {listing}" if guess else listing


def _nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like the given one, if any does."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1)), None)


def _from_flag(row: Setting, given: object, folder: Path) -> _Found:
    if given is None:
        return None
    return _checked(row, given, row.flag, folder), f"flag {row.flag}"


def _from_environment(row: Setting, environ: Mapping[str, str], folder: Path) -> _Found:
    text = environ.get(row.env)
    return (_checked(row, text, row.env, folder), f"env {row.env}") if text else None


def _from_file(row: Setting, node: ScalarNode | None, path: Path | None) -> _Found:
    if node is None or path is None:
        return None
    place = f"{path}:{node.line}"
    if row.secret:
        raise ConfigError(
            f"{place}: {row.name} is a secret and must not stand in a file", hint=f"set {row.env}"
        )
    if row.kind.numeric and node.quoted:
        shown = f'"{node.text}"'
        raise _refused(row, shown, f"{place}: {row.name}", "leave the quotes out")
    return _checked(row, node.text, f"{place}: {row.name}", path.parent), f"file {place}"


def _default(row: Setting, folder: Path) -> tuple[Any, str]:
    if row.name != "home":
        return (row.kind.read(row.default) if row.default else None), "default"
    found = _nearest_upwards(folder, WORKSPACE_FOLDER, os.path.isdir)
    if found is not None:
        return found, "default (nearest .assay)"
    return folder / row.default, "default"


def _checked(row: Setting, given: object, subject: str, base: Path) -> Any:
    """The value; a relative path counts from the folder of whoever wrote it."""
    try:
        value = row.kind.read(given) if isinstance(given, str) else row.kind.accept(given)
    except ValueError:
        shown = "what was given" if row.secret else mask(repr(given))
        raise _refused(row, shown, subject) from None
    return base / value if isinstance(value, Path) else value


def _refused(row: Setting, shown: str, subject: str, hint: str | None = None) -> ConfigError:
    short = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return ConfigError(f"{subject} must be {row.kind.form}, not {short}", hint=hint or row.help)


def _nearest_upwards(folder: Path, name: str, is_wanted: Callable[[Path], bool]) -> Path | None:
    """The nearest entry of that name in a folder or one of its parents."""
    places = (parent / name for parent in (folder, *folder.parents))
    return next((place for place in places if is_wanted(place)), None)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise MissingFileError(
            "the current folder no longer exists", hint="cd to another"
        ) from error


def _read_file(path: Path) -> dict[str, ScalarNode]:
    """The settings that a configuration file names."""
    from assay.strict_yaml import MappingNode, load_yaml

    root = load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES)
    if root is None:
        return {}
    if not isinstance(root, MappingNode):
        raise ConfigError(f"{path}:{root.line}: the file must hold lines such as 'seed: 42'")
    found: dict[str, ScalarNode] = {}
    for key, node in root.entries:
        found[key.text] = _entry(path, key, node)
    return found


def _entry(path: Path, key: ScalarNode, node: Node) -> ScalarNode:
    from assay.strict_yaml import ScalarNode, one_line

    row = SETTINGS.get(key.text)
    if row is None:
        raise ConfigError(
            f"{path}:{key.line}: {key.text!r} is not a setting", hint=_suggestion(key.text)
        )
    if isinstance(node, ScalarNode):
        return node
    if not isinstance(row.kind, _STRUCTURED):
        raise ConfigError(f"{path}:{key.line}: {key.text} must be a single value")
    return ScalarNode(one_line(node), key.line)


def _without_secret(row: Setting, value: Any) -> Any:
    """The value, stars where it is secret or holds a password."""
    if row.secret:
        return "***" if value else None
    return mask(value) if isinstance(value, str) else value


def mask(text: str) -> str:
    """The text with stars for the passwords of the addresses in it.

    A password may hold what should have been escaped: the user part ends at the last ``@`` before
    a ``?``, or at the first one behind it. Rather is too much hidden than too little.
    """
    addresses = (_USER.sub(r"\g<user>***@", part, count=1) for part in _ADDRESS.split(text))
    return _PARAMETER.sub(r"\g<name>***", "".join(addresses))


def _content(path: Path) -> str:
    """A checksum of the file; its name where it cannot be read, which a search then refuses."""
    try:
        data = read_plain(path, limits.MAX_SYNONYM_BYTES)
    except AssayError:
        return str(path)
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
