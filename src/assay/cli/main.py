"""What happens between typing ``assay ...`` and the exit code?

How to add a command:

1. Write ``assay/cli/<noun>.py``. A single command is a function named ``command`` with typer's
   annotations; a noun with several verbs is ``app = group("One line.")`` from ``assay.cli.lazy``
   with ``@app.command("verb")`` functions. Its first docstring line is its help in listings.
2. Add a row to ``COMMANDS`` below with the same line, which ``assay --help`` shows without
   importing the module (``module:function`` where one file has two commands). A test compares the
   two.
3. Take ``json_output: JsonFlag = False`` (``assay.cli.options``) and answer with ``emit_json`` then
   (``assay.cli.console``). Data goes to stdout, notes to stderr.
4. Work on ``connected(ctx)`` (``assay.cli.connection``), and ``--server`` works; what needs this
   machine takes ``configuration(ctx)`` (``assay.cli.options``), which refuses it.
5. Raise an ``AssayError`` for whatever the user can put right; ``return`` an exit code where it is
   not 0. Import heavy packages inside the function. Leave ``from __future__ import annotations``
   out, since typer reads the annotations when the command runs.

Exit codes: 0 done, 1 error, 2 usage or input, 3 gate failed, 4 inconclusive or degraded,
130 interrupted, 141 the reader of stdout went away.
"""

import os
import sys
from collections.abc import Sequence

from assay import garbage
from assay.cli import streams
from assay.cli.lazy import Entry
from assay.errors import AssayError

COMMANDS: tuple[Entry, ...] = (
    Entry(
        "demo",
        "assay.cli.demo",
        "Show what assay does, on examples that ship with it.",
    ),
    Entry(
        "score",
        "assay.cli.score",
        "Score runs against judgments, side by side or against the first.",
    ),
    Entry("classify", "assay.cli.classify", "Measure yes/no decisions from labels and scores."),
    Entry(
        "measures",
        "assay.cli.measures",
        "List every measure, and which figure of other tools it equals.",
    ),
    Entry(
        "ingest", "assay.cli.ingest", "Read documents into the workspace and make them searchable."
    ),
    Entry(
        "encode",
        "assay.cli.encode",
        "Encode documents into vectors for another workspace.",
    ),
    Entry(
        "search",
        "assay.cli.search",
        "Search documents, with every score explained.",
    ),
    Entry(
        "index",
        "assay.cli.index",
        "Look at the index, check it, update it or rebuild it.",
    ),
    Entry("corpus", "assay.cli.corpus", "Look at stored documents, or delete them."),
    Entry("eval", "assay.cli.eval", "Run test sets, keep the runs, look at them and compare them."),
    Entry(
        "schedule",
        "assay.cli.schedule",
        "List, add and remove scheduled evaluations.",
    ),
    Entry(
        "models", "assay.cli.models", "List, pull and check the models that turn text into vectors."
    ),
    Entry(
        "answer",
        "assay.cli.answer",
        "Answer a question from the corpus, with sources, or say why not.",
    ),
    Entry("testset", "assay.cli.testset", "Check, split, compare, convert and refresh test sets."),
    Entry(
        "annotate",
        "assay.cli.annotate",
        "Judge passages by keyboard; stop and resume at any time.",
    ),
    Entry("judge", "assay.cli.judge", "Check automatic judges of answers against people."),
    Entry("serve", "assay.cli.serve", "Serve search and evaluation over HTTP."),
    Entry(
        "mcp",
        "assay.cli.mcp",
        "Serve search, answers and evaluation to an assistant (MCP).",
    ),
    Entry("keys", "assay.cli.keys", "Create, list and revoke the keys of the HTTP service."),
    Entry("doctor", "assay.cli.doctor", "Check models, disk, store and index, and say what to do."),
    Entry(
        "backup",
        "assay.cli.backup:backup",
        "Copy the workspace into one checked file, while it is in use.",
    ),
    Entry(
        "restore",
        "assay.cli.backup:restore",
        "Restore a backup into a new workspace, after checking it.",
    ),
    Entry("config", "assay.cli.config", "Show settings and limits; trust a configuration file."),
)

ERROR, USAGE, INTERRUPTED, CLOSED_PIPE = 1, 2, 130, 141
EVERYWHERE = {
    "--home": "FOLDER",
    "--config": "FILE",
    "--server": "ADDRESS",
    "--color": "never",
}  # of all commands
IN_QUOTES = {"query", "question", "when"}  # arguments of several words


def main() -> None:
    """Entry point of the ``assay`` command."""
    garbage.for_command()
    streams.prepare()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing but an exit code comes out."""
    as_json = "--json" in arguments
    try:
        code = _dispatch(arguments)
        streams.flush()
    except BrokenPipeError:
        streams.silence()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        code = INTERRUPTED
    except AssayError as error:
        return _fail(error.code, error.message, error.hint, error.exit_code, as_json)
    except ImportError as error:
        return _fail_to_import(error, as_json)
    except Exception as error:
        if not _is_interruption(error):
            return _fail_unexpectedly(error, as_json)
        code = INTERRUPTED
    if code == INTERRUPTED:
        streams.complain("interrupted")
    return code


def _is_interruption(error: BaseException | None) -> bool:
    """Python 3.11 wraps what is raised while a class is made, Ctrl-C included."""
    return isinstance(error, KeyboardInterrupt) or (
        error is not None and _is_interruption(error.__cause__)
    )


def _dispatch(arguments: Sequence[str]) -> int:
    """Let typer parse and call; its ways of ending all become an exit code."""
    from assay.cli.lazy import build

    try:
        result = build(COMMANDS).main(list(arguments), prog_name="assay", standalone_mode=False)
    except SystemExit as done:
        if isinstance(done.__context__, BrokenPipeError):
            raise done.__context__ from None
        result = done.code
    return result if isinstance(result, int) else 0


def _fail(code: str, message: str, hint: str | None, exit_code: int, as_json: bool) -> int:
    """Say what went wrong on stderr, as text or as one JSON object."""
    if as_json:
        import json

        report = {"error": {"code": code, "message": message, "hint": hint}}
        streams.complain(json.dumps(report))
    else:
        streams.complain(f"error: {message}")
        if hint:
            streams.complain(f"hint: {hint}")
    return exit_code


def _fail_to_import(error: ImportError, as_json: bool) -> int:
    """Report a package that an extra would have brought, or an import that should not fail."""
    from assay.extras import explained

    lack = explained(error)
    if lack is None:
        return _fail_unexpectedly(error, as_json)
    _trace()
    return _fail(lack.code, lack.message, lack.hint, lack.exit_code, as_json)


def _fail_unexpectedly(error: Exception, as_json: bool) -> int:
    """Report what is not an ``AssayError``: typer's refusals, the system's errors, and defects."""
    if callable(explain := getattr(error, "format_message", None)):  # typer, whatever its release
        return _fail("usage", explain(), _help_hint(error), USAGE, as_json)
    if type(error).__name__ == "Abort":  # a prompt that was left by Ctrl-C or end of input
        streams.complain("interrupted")
        return INTERRUPTED
    _trace()
    if isinstance(error, OSError):
        streams.silence_if_broken()
    return _fail(*_explained(error), as_json)


def _explained(error: Exception) -> tuple[str, str, str | None, int]:
    """The code, message, hint and exit code of an error that nobody foresaw at its place."""
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return "system", f"{place}{error.strerror or error}", None, ERROR
    if isinstance(error, MemoryError):
        return "memory", "not enough memory", "use smaller inputs", ERROR
    if isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
        return "usage", "what was typed is not UTF-8", "is the terminal set to UTF-8?", USAGE
    if isinstance(error, OverflowError) and ("timestamp" in str(error) or "date" in str(error)):
        hint = "set the clock; Python reckons with the years 1678 to 2261"
        return "system", "the clock of this machine is wrong", hint, ERROR
    message = f"assay failed unexpectedly: {type(error).__name__}: {error}"
    hint = "please report this with the traceback that ASSAY_DEBUG=1 shows"
    return "internal", message, hint, ERROR


def _in_brackets(text: str) -> str:
    return text.partition(" (")[2].removesuffix(")")


def _help_hint(error: Exception) -> str | None:
    context = getattr(error, "ctx", None)
    if context and (option := getattr(error, "option_name", None)) in EVERYWHERE:
        verb = context.command_path.removeprefix("assay ")
        return f"{option} goes before the command: assay {option} {EVERYWHERE[option]} {verb} ..."
    if context and "extra argument" in str(error):
        options = {name for one in context.command.params for name in one.opts}
        if "--testset" in options:
            return f"a test set is given with -t: {context.command_path} -t NAME"
        for one in context.command.params:
            if one.name in IN_QUOTES:
                text = f"{context.params.get(one.name)} {_in_brackets(str(error))}"
                return f'put it in quotes: {context.command_path} "{text}"'
    return f"{context.command_path} --help shows what is possible" if context else None


def _trace() -> None:
    if _debug():
        import traceback

        streams.complain(traceback.format_exc().rstrip())


def _debug() -> bool:
    """The setting ``debug``; its variable is read by itself, since settings may be what failed."""
    from assay.settings import SETTINGS, configure

    if text := os.environ.get("ASSAY_DEBUG", ""):
        return bool(SETTINGS["debug"].kind.read(text))
    try:
        return configure().debug
    except (AssayError, OSError):
        return False
