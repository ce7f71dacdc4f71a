"""Which questions does a person bring, in whatever form they have them?

A text file has one question on each line; blank lines and lines that begin with ``#`` are left out.
CSV, TSV, JSON lines, JSON and parquet have a column ``query`` or ``question``; YAML is a list, or a
test set without judgments. Ids and types are kept where they are given. A question that was made
from the corpus says so (``synthetic``: the passage it was made from) and keeps saying so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from assay import limits
from assay.errors import FormatError, LimitError, Problem, ProblemsError
from assay.ingest.facts import plain_name
from assay.model.annotation import SYNTHETIC, RoundQuery
from assay.model.document import ID_FORM
from assay.model.testset import QueryType
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, parse_yaml
from assay.testsets.rows import QUERY_ID, QUERY_TEXT, ROW_ID, Row, is_rows, rows_of

KINDS = ", ".join(QueryType)
_HINT = "one question on each line, or a column query"


def read_questions(data: bytes, source: str) -> tuple[RoundQuery, ...]:
    """The questions of a file; all problems are listed at once."""
    if len(data) > limits.MAX_YAML_BYTES:
        raise LimitError(f"{source} is larger than {limits.MAX_YAML_BYTES:,} bytes")
    problems: list[Problem] = []
    found: dict[str, RoundQuery] = {}
    texts: dict[str, str] = {}
    for row in _rows(data, source):
        query = _question(row, len(found) + 1)
        if isinstance(query, str):
            problems.append(Problem(query, source, row.line, hint=_HINT))
            continue
        words = query.query_text.casefold()
        if words in texts:  # asked again, as in a log
            continue
        if query.query_id in found:
            problems.append(Problem(f"{query.query_id} appears twice", source, row.line))
        found[query.query_id] = query
        texts[words] = query.query_id
        if len(found) > limits.MAX_TEST_SET_QUERIES:
            raise LimitError(f"{source}: more than {limits.MAX_TEST_SET_QUERIES:,} questions")
    if not found and not problems:
        problems.append(Problem("no question", source, None, hint=_HINT))
    if problems:
        raise ProblemsError(source, problems)
    return tuple(found.values())


def question_rows(questions: Iterable[RoundQuery]) -> list[dict[str, Any]]:
    """Questions as rows of JSON, which ``read_questions`` reads again."""
    return [
        {
            "query_id": query.query_id,
            "query_text": query.query_text,
            "query_type": query.query_type,
            **query.origin,
        }
        for query in questions
    ]


def _rows(data: bytes, source: str) -> Iterator[Row]:
    suffix = PurePath(source).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _yaml(data, source)
    if suffix == ".json" or is_rows(data, source):
        return rows_of(data, source)
    return _lines(data, source)


def _lines(data: bytes, source: str) -> Iterator[Row]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        try:
            text = line.decode().strip()
        except UnicodeDecodeError:
            raise FormatError(
                "not UTF-8", source=source, line=number, hint="save it as UTF-8"
            ) from None
        if text and not text.startswith("#"):
            yield Row({"query": text}, number, source)


def _yaml(data: bytes, source: str) -> Iterator[Row]:
    root = parse_yaml(data, source=source, max_items=limits.MAX_TEST_SET_QUERIES)
    listed = root.get("queries") if isinstance(root, MappingNode) else root
    if not isinstance(listed, SequenceNode):
        raise FormatError("no list of questions", source=source, hint="a list, or queries: [...]")
    for node in listed.items:
        yield Row(_cells(node), node.line, source)


def _cells(node: Node) -> Mapping[str, Any]:
    if isinstance(node, ScalarNode):
        return {"query": node.text}
    if not isinstance(node, MappingNode):
        return {}
    return {
        plain_name(key.text): value.text
        for key, value in node.entries
        if isinstance(value, ScalarNode)
    }


def _question(row: Row, number: int) -> RoundQuery | str:
    """A question, or what is wrong with it."""
    text = row.first(QUERY_TEXT)
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if not words:
        return "no question here"
    if len(words) > limits.MAX_QUERY_CHARS or not words.isprintable():
        return f"the question is longer than {limits.MAX_QUERY_CHARS:,} characters, or not text"
    given = row.first((*QUERY_ID, *ROW_ID))
    name = f"q{number:03}" if given is None else str(given)
    if not ID_FORM.fullmatch(name):
        return f"the query_id {name!r:.60} is not allowed"
    kind = row.first(("querytype",))
    if kind is not None and kind not in list(QueryType):
        return f"{name}: the query_type is one of {KINDS}"
    origin: dict[str, Any] = {}
    if (passage := row.first((SYNTHETIC,))) is not None:
        origin = {SYNTHETIC: str(passage)}
        if (made := row.first(("madeby",))) is not None:
            origin["made_by"] = str(made)
    return RoundQuery(name, words, None if kind is None else QueryType(kind), origin)
