"""What do the reference pages say? They are read off the code: ``python -m docs.generate``.

Commands and Python come from their declarations, settings, limits, measures and errors from their
tables, HTTP from the OpenAPI document, Prometheus from the registry. ``--check`` writes nothing and
fails where a page is not what the code says; a test does the same.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "pages" / "reference"
HEAD = "<!-- Written by docs/generate.py: change the code, then run make docs-reference. -->\n"
SHOWN_VALUES = 8
WIDE = 80

Rows = Iterable[tuple[str, ...]]


def table(header: tuple[str, ...], rows: Rows) -> str:
    """A Markdown table; bars and line breaks of cells are made harmless."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines) + "\n"


def code(text: object) -> str:
    """Text as it is typed."""
    return f"`{text}`" if str(text) else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    """Docstrings mark code with two backticks, Markdown with one; angle brackets are no markup."""
    return re.sub(r"``(.+?)``", r"`\1`", text).replace("<", "&lt;")


def commands_page() -> str:
    """Every command with its arguments and options."""
    from assay.cli.lazy import load
    from assay.cli.main import COMMANDS

    parts = [
        "# Commands\n",
        "Every command takes `--json`: data goes to stdout, notes and progress to stderr. "
        "Global options come before the command: `assay --home FOLDER search ...`.\n",
        table(
            ("command", "what it does"),
            ((f"[`assay {one.name}`](#assay-{one.name})", one.help) for one in COMMANDS),
        ),
    ]
    for entry in COMMANDS:
        command = load(entry)
        parts.append(_command(command, f"assay {entry.name}", "##"))
        verbs: dict[str, Any] = getattr(command, "commands", {})
        parts += [_command(one, f"assay {entry.name} {verb}", "###") for verb, one in verbs.items()]
    return "\n".join(parts)


def _command(command: Any, path: str, level: str) -> str:
    import typer

    ctx = typer.Context(command, info_name=path)
    usage = " ".join((path, *command.collect_usage_pieces(ctx)))
    records = [
        record for param in command.get_params(ctx) if (record := param.get_help_record(ctx))
    ]
    rows = [(code(left), _plain(right)) for left, right in records if "--help" not in left]
    parts = [f"{level} {path}\n", _plain(command.help or "") + "\n"]
    if rows:
        parts += [f"```text\n{usage}\n```\n", table(("option", "meaning"), rows)]
    return "\n".join(parts)


def configuration_page() -> str:
    """Every setting."""
    from assay.settings import SETTINGS

    rows = [
        (
            code(one.name),
            "secret" if one.secret else code(one.default),
            one.help,
            one.kind.form,
            _yes(one.changes_results),
            ("addresses" if one.guard_addresses else "yes") if one.guard else "",
        )
        for one in SETTINGS.values()
    ]
    return "\n".join(
        (
            "# Settings\n",
            "A flag wins over the environment (`ASSAY_` and the name in upper case, as in "
            "`ASSAY_RRF_K=30`), which wins over the nearest `assay.yaml`, which wins over the "
            "default. `assay config show --origin` shows where each value comes from.\n",
            "*Results* marks the settings that can change a result; `assay config hash` covers "
            "these. Secrets come from the environment only and are never shown. Settings marked "
            "*trusted* are read from a file only if the file was named (`--config FILE`, "
            "`ASSAY_CONFIG`) or trusted (`assay config trust`), since they could run code, leak "
            "secrets or write files.\n",
            table(("setting", "default", "meaning", "allowed", "results", "trusted"), rows),
        )
    )


def limits_page() -> str:
    """Every cap."""
    from assay import limits

    rows = [(code(one.name), f"{one.default:,}", one.help) for one in limits.TABLE]
    return "\n".join(
        (
            "# Limits\n",
            "Anything larger is refused by the name of its limit, never truncated or ignored. "
            "`assay config limits` lists the same.\n",
            table(("limit", "value", "applies to"), rows),
        )
    )


def measures_page() -> str:
    """Every measure with its parameters."""
    from assay.measures.catalog import DEFINITIONS
    from assay.measures.elsewhere import ELSEWHERE
    from assay.render.measures import measures_json

    parts = [
        "# Measures\n",
        "A measure is written the same way everywhere: `nDCG@10`, `nDCG(gain=linear)@10`, "
        "`Recall@{5,10,20}` for several cutoffs at once. In JSON, `nDCG@10` is `ndcg_at_10`.\n",
    ]
    for family in dict.fromkeys(one.family for one in DEFINITIONS):
        rows = [
            (
                code(one["form"]),
                _plain(one["help"]),
                _parameters(one["parameters"]),
                ", ".join(map(code, one["aliases"])),
                code(one["key"]),
            )
            for one in measures_json()
            if one["family"] == family.value
        ]
        header = ("measure", "meaning", "parameters", "also", "in JSON")
        parts += [f"## Measures of {family.value}s\n", table(header, rows)]
    same = [
        (one.tool, code(one.theirs), code(one.ours) if one.ours else "—", _plain(one.remark))
        for one in ELSEWHERE
    ]
    parts += [
        "## The same figure elsewhere\n",
        "The same name can mean different formulas: `nDCG@10` has exponential gain here and linear "
        "gain in most other tools. With binary judgments they are equal.\n",
        table(("tool", "its figure", "here", "remark"), same),
    ]
    return "\n".join(parts)


def _parameters(found: dict[str, dict[str, Any]]) -> str:
    return "; ".join(
        f"`{name}={one['default']}` {one['help']}"
        + (f" ({', '.join(one['choices'])})" if one["choices"] else "")
        for name, one in found.items()
    )


def errors_page() -> str:
    """Every error with its code, HTTP status and exit code."""
    from assay.errors import AssayError

    rows = [
        (code(one.code), str(one.http_status), str(one.exit_code), _first(one))
        for one in _tree(AssayError)
    ]
    return "\n".join(
        (
            "# Errors and exit codes\n",
            "An error says what happened, where, and what to do next. With `--json` it is one "
            'object on stderr: `{"error": {"code", "message", "hint"}}`. Over HTTP it is '
            "`application/problem+json` with the same code and a `request_id`.\n",
            table(
                ("exit code", "meaning"),
                (
                    ("0", "done"),
                    ("1", "an error"),
                    ("2", "wrong usage or input"),
                    ("3", "a check failed: the gate, or numbers that no longer hold"),
                    ("4", "inconclusive or degraded: part of the system did not answer"),
                    ("130", "interrupted"),
                    ("141", "the reader of stdout went away"),
                ),
            ),
            table(("code", "HTTP", "exit", "meaning"), rows),
        )
    )


def _tree(kind: type[Any]) -> Iterator[type[Any]]:
    """A class and those below it that bring a code of their own, as they stand in errors.py."""
    if "code" in vars(kind):
        yield kind
    for one in kind.__subclasses__():
        if one.__module__ == "assay.errors":
            yield from _tree(one)


def _first(kind: type[Any]) -> str:
    return _plain((kind.__doc__ or "").split("\n\n")[0])


def metrics_page() -> str:
    """Every metric that Prometheus can read."""
    from assay.app.prometheus import families
    from assay.http.metrics import Metrics

    found = [*Metrics().registry.collect(), *families(())]
    rows = []
    for one in sorted(found, key=lambda family: family.name):
        name = f"{one.name}_total" if one.type == "counter" else one.name
        labels = _labels(one.samples) or ", ".join(map(code, getattr(one, "_labelnames", ())))
        rows.append((code(name), one.type, labels, one.documentation))
    return "\n".join(
        (
            "# Prometheus metrics\n",
            "`GET /metrics` of `assay serve`. Labels come from closed sets, so that no request "
            "can make a new series. Gauges of quality are read from the store: they are there "
            "after a restart, and follow runs of the command line.\n",
            table(("metric", "kind", "labels", "meaning"), rows),
        )
    )


def _labels(samples: Iterable[Any]) -> str:
    values: dict[str, dict[str, None]] = {}
    for sample in samples:
        for name, value in sample.labels.items():
            if name != "le":
                values.setdefault(name, {})[value] = None
    few = {name: list(all_of) for name, all_of in values.items() if name != "route"}
    said = [f"{code(name)}: {', '.join(some[:SHOWN_VALUES])}" for name, some in sorted(few.items())]
    return "; ".join([*said, *(["`route`"] if "route" in values else [])])


def http_page() -> str:
    """Every route, from the OpenAPI document."""
    from fastapi import FastAPI

    from assay.http.reference import document, operations
    from assay.http.routes import ROUTERS
    from assay.version import __version__

    app = FastAPI(title="Assay", version=__version__)
    for router in ROUTERS:
        app.include_router(router)
    parts = [
        "# HTTP\n",
        "`assay serve` has the same reference with forms to try it at `/docs`, and the OpenAPI "
        "3.1 document at `/openapi.json`. Errors: [one shape](errors.md) for every route.\n",
    ]
    for noun, routes in operations(document(app)):
        parts.append(f"## {noun.capitalize()}\n")
        parts += [_route(one) for one in routes]
    return "\n".join(parts)


def _route(one: dict[str, Any]) -> str:
    answers = ", ".join(f"{status} {_plain(about)}" for status, about in one["answers"])
    parts = [f"### {one['method']} {one['path']}\n", f"{_plain(one['line'])}\n"]
    if one["parameters"]:
        rows = [
            (
                code(part["name"]) + (" (required)" if part["required"] else ""),
                part["kind"],
                "" if part["default"] is None else code(part["default"]),
                _plain(part["about"]),
            )
            for part in one["parameters"]
        ]
        parts.append(table(("parameter", "kind", "default", "meaning"), rows))
    if one["body"]:
        parts.append(f"```json\n{one['body']}\n```\n")
    return "\n".join([*parts, f"Answers: {answers}.\n"])


def python_page() -> str:
    """Every public name of Python."""
    import assay
    from assay import mlflow, opentelemetry, plots, pytest
    from assay.client import Client
    from assay.model.run_store import RunLibrary
    from assay.search.request import SEARCH_OPTIONS

    public = {name: getattr(assay, name) for name in ("open", *assay.__all__)}
    kinds = {name: one for name, one in public.items() if inspect.isclass(one)}
    functions = {
        name: one for name, one in public.items() if callable(one) and not inspect.isclass(one)
    }
    both = [name for name in dir(Client) if _is_verb(assay.Workspace, name)]
    options = [
        (
            code(one.name),
            _default(one.default),
            _plain(one.kind.form),
            _plain(one.help),
        )
        for one in SEARCH_OPTIONS.values()
    ]
    return "\n".join(
        (
            "# Python\n",
            "Everything is typed: an option that does not exist, as in `search(fusin=...)`, fails "
            "under mypy, and by name when the program runs. `assay.open()` gives a `Workspace`, "
            "`assay.Client(address)` a service with the same verbs and the same values.\n",
            "## Functions\n",
            *(_function(f"assay.{name}", one) for name, one in sorted(functions.items())),
            "## Verbs of a workspace and of a service\n",
            *(_function(name, _member(assay.Workspace, name)) for name in both),
            "## Runs of a workspace or a service\n",
            *(_function(f"runs.{name}", vars(RunLibrary)[name]) for name in _own(RunLibrary)),
            "## Verbs of a workspace alone\n",
            *(_function(name, _member(assay.Workspace, name)) for name in ("ingest", "asearch")),
            "## Options of a search\n",
            "Of `search`, `why`, `answer` and `evaluate`, as keywords; `assay.SearchChanges` is "
            "their type.\n",
            table(("option", "default", "allowed", "meaning"), options),
            "## Values\n",
            "Results have `to_frame()` (polars where it is installed, otherwise pandas, or the one "
            "that is named), `to_dict()`, and a table that notebooks show.\n",
            *(_value(name, one) for name, one in sorted(kinds.items())),
            *(part for module in (plots, mlflow, opentelemetry) for part in _module(module)),
            "## assay.pytest\n",
            f"{_plain(_prose(pytest.__doc__))}\n",
            table(
                ("argument of the marker", "default"),
                (
                    (code(f"{one.name}: {one.type}"), _usual(one))
                    for one in dataclasses.fields(pytest.Wanted)
                ),
            ),
        )
    )


def _is_verb(kind: type[Any], name: str) -> bool:
    """Whether a public name is something that can be asked for; plumbing is left out."""
    hidden = {"carry_out", "settings", "require", "archived", "present", "stored_run", "timings"}
    return not name.startswith("_") and name not in hidden and hasattr(kind, name)


def _own(kind: type[Any]) -> list[str]:
    """The public functions that a class states itself."""
    return [name for name, one in vars(kind).items() if inspect.isfunction(one) and name[0] != "_"]


def _member(kind: type[Any], name: str) -> Any:
    return inspect.getattr_static(kind, name)


def _function(name: str, function: Any) -> str:
    """A name as it is called, and what it does; a property is a name alone."""
    about = _plain(_prose(inspect.getdoc(function) or ""))
    if not callable(function):
        return f"### {name}\n\n{about}\n"
    return f"### {name}\n\n```text\n{name}{_signature(function)}\n```\n\n{about}\n"


def _signature(function: Callable[..., Any]) -> str:
    """The parameters as they are written, one on a line where they are many."""
    found = inspect.signature(function)
    shown, starred = [], False
    for one in found.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = "*" * {"VAR_POSITIONAL": 1, "VAR_KEYWORD": 2}.get(one.kind.name, 0)
        usual = "" if one.default is one.empty else f" = {_default(one.default, bare=True)}"
        shown.append(f"{stars}{one.name}: {one.annotation}{usual}")
    returned = f" -> {found.return_annotation}"
    line = f"({', '.join(shown)}){returned}"
    if len(line) <= WIDE:
        return line
    return "(\n" + "".join(f"    {one},\n" for one in shown) + f"){returned}"


def _value(name: str, kind: type[Any]) -> str:
    """A class with its fields."""
    about = _plain(_prose(inspect.getdoc(kind) or ""))
    parts = [f"### assay.{name}\n", f"{about}\n"]
    if issubclass(kind, enum.Enum):
        parts.append(f"One of {', '.join(code(one.value) for one in kind)}.\n")
    elif dataclasses.is_dataclass(kind):
        listed = [
            (code(one.name), code(one.type))
            for one in dataclasses.fields(kind)
            if not one.name.startswith("_")
        ]
        parts.append(table(("field", "type"), listed))
    return "\n".join(parts)


def _module(module: Any) -> list[str]:
    """The functions of a module."""
    own = {
        name: one
        for name, one in vars(module).items()
        if inspect.isfunction(one)
        and one.__module__ == module.__name__
        and not name.startswith("_")
    }
    return [
        f"## {module.__name__}\n",
        f"{_plain(_prose(module.__doc__))}\n",
        *(_function(f"{module.__name__}.{name}", one) for name, one in own.items()),
    ]


def _prose(text: str | None) -> str:
    """A docstring without its examples."""
    kept = [
        part for part in (text or "").split("\n\n") if not part.lstrip().startswith((">>>", "@"))
    ]
    return "\n\n".join(" ".join(part.split()) for part in kept)


def _usual(one: dataclasses.Field[Any]) -> str:
    if one.default is not dataclasses.MISSING:
        return _default(one.default)
    made = one.default_factory
    return "required" if made is dataclasses.MISSING else _default(made())


def _default(value: object, *, bare: bool = False) -> str:
    """A default as a program writes it."""
    if isinstance(value, enum.Enum):
        value = value.value
    if inspect.isfunction(value) or dataclasses.is_dataclass(value):
        written = getattr(value, "__name__", type(value).__name__ + "()")
    else:
        written = repr(value)
    return written if bare else code(written)


def _yes(flag: bool) -> str:
    return "yes" if flag else ""


PAGES: dict[str, Callable[[], str]] = {
    "commands": commands_page,
    "configuration": configuration_page,
    "errors": errors_page,
    "http": http_page,
    "limits": limits_page,
    "measures": measures_page,
    "metrics": metrics_page,
    "python": python_page,
}


def page(name: str) -> str:
    """The text of one page."""
    return f"{HEAD}\n{PAGES[name]().rstrip()}\n"


def stale() -> list[str]:
    """The pages whose file is not what the code says now."""
    return [
        name
        for name in PAGES
        if not (file := FOLDER / f"{name}.md").exists()
        or file.read_text(encoding="utf-8") != page(name)
    ]


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    old = stale()
    if "--check" in arguments:
        sys.stderr.writelines(f"{FOLDER / name}.md is stale\n" for name in old)
        return 1 if old else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in old:
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
        sys.stdout.write(f"wrote {FOLDER / name}.md\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
