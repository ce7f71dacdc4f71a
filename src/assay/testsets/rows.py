"""How are queries and judgments read from rows, as Quepid, ragas, MTEB and people have them?

A row is a query with its relevant documents (ids, ids with grades, or objects that have both), or
one judgment: a query, a document and a grade, or whether it is relevant. A query may have a
reference answer, with or without documents, and ``expect`` says where refusing is right. Rows come
as CSV, TSV, JSON lines, JSON or parquet.
Names of columns are compared without case, blanks and signs, so that ``Query Text`` is
``query_text``; those that are not known are left out with a warning. Queries without an id are
numbered in the order in which they appear.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import FormatError, LimitError
from assay.ingest.facts import plain_name
from assay.ingest.tabular import PARQUET_MAGIC, TEXTUAL, head_names, parquet_rows, separated_rows
from assay.model.answers import Expect
from assay.model.testset import GoldenQuery, Judgment
from assay.plural import counted
from assay.strict_json import values
from assay.testsets.draft import DraftQuery, DraftSet

LINES = (".jsonl", ".ndjson")
SUFFIXES = (*LINES, *sorted(TEXTUAL), ".parquet")
QUERY_TEXT = ("querytext", "query", "question", "userinput", "searchterm", "text", "input")
QUERY_ID = ("queryid", "qid", "topicid")
ROW_ID = ("id",)  # of a query where a row is one; of a judgment it says nothing
RELEVANT = (
    "relevantdocs",
    "relevantdocids",
    "relevantids",
    "relevant",
    "expecteddocids",
    "expectedids",
    "referencecontextids",
    "docids",
    "documentids",
    "positiveids",
    "positivepassages",
    "positives",
    "goldids",
    "judgments",
    "qrels",
)
DOCUMENT = ("docid", "documentid", "corpusid", "docno", "chunkid", "passageid", "doc", "document")
GRADE = ("rating", "grade", "relevance", "score", "judgment", "judgement", "label", "rel")
WHETHER = ("relevant", "isrelevant")
RANK = frozenset({"rank", "position", "docposition"})  # of results, such as a snapshot of Quepid
"""What holds a grade beside a document: yes or no, true or false, or a number."""
GROUP = ("group",)
SYNTHETIC = ("synthetic",)
EXPECT = ("expect",)
REFERENCE = (
    "reference",
    "referenceanswer",
    "groundtruth",
    "groundtruths",
    "expectedoutput",
    "expectedanswer",
    "idealanswer",
)
CONTEXTS = frozenset({"referencecontexts", "contexts", "groundtruthcontexts"})
_TRUTH = {"true": 1, "yes": 1, "false": 0, "no": 0}
_SPLIT = re.compile(r"[\s,;|]+")
_HINT = (
    "a row has a query (query, question, user_input ...) and its documents (relevant_docs, "
    "reference_context_ids ...) or a right answer (reference, ground_truth ...), or a query, a "
    "document (docid) and a rating"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row under plain names; ``place`` is the file, with the row of parquet.

    ``written`` are the names as the file has them.
    """

    cells: Mapping[str, Any]
    line: int | None
    place: str
    written: tuple[str, ...] = ()

    def first(self, names: Iterable[str]) -> Any:
        """The first of these cells that is filled."""
        return next((v for name in names if (v := self.cells.get(name)) not in (None, "")), None)


@dataclass(slots=True)
class _Query:
    """What rows said of one query."""

    text: str
    line: int | None
    grades: dict[str, int] = field(default_factory=dict)
    group: str | None = None
    synthetic: str | None = None
    reference: str | None = None
    expect: Expect = Expect.EVIDENCE


def looks_like_rows(names: Iterable[object]) -> bool:
    """Whether columns of these names hold queries and documents."""
    known = {plain_name(str(name)) for name in names}
    asks = known & {*QUERY_TEXT, *QUERY_ID}
    return bool(asks and known & {*RELEVANT, *DOCUMENT, *CONTEXTS, *REFERENCE})


def is_rows(data: bytes, source: str) -> bool:
    """Whether these bytes are rows: by the suffix of their file, else by how they begin."""
    if source.endswith(SUFFIXES) or data.startswith(PARQUET_MAGIC):
        return True
    if source.endswith((".yaml", ".yml", ".json")):
        return False
    head, _, rest = data.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if head.startswith(b"{"):
        return head.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")
    try:
        return looks_like_rows(head_names(head.decode()))
    except (UnicodeDecodeError, FormatError):
        return False


def read_rows(data: bytes, draft: DraftSet, most: int = limits.MAX_TEST_SET_QUERIES) -> None:
    """Fill a draft from the bytes of a table or of JSON lines."""
    fill_from_rows(rows_of(data, draft.source), draft, most)


def rows_of(data: bytes, source: str) -> Iterator[Row]:
    """The rows of a table, of JSON lines or of a list in JSON."""
    if data.startswith(PARQUET_MAGIC):
        for location, row in parquet_rows(io.BytesIO(data), source):
            yield _row(row, None, location.source)
    elif data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        for line, value in values(data, source):
            for one in _objects(value):
                if not isinstance(one, dict):
                    raise FormatError("a row is an object", source=source, line=line, hint=_HINT)
                yield _row(one, line, source)
    else:
        for location, row in separated_rows(_lines(data, source), source):
            yield _row(row, location.line, source)


def _objects(value: Any) -> Iterable[Any]:
    """The rows of one JSON value: a list, one row, or queries and relevant documents by id."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and {"queries", "relevant_docs"} <= value.keys():
        queries, relevant = value["queries"], value["relevant_docs"]
        if isinstance(queries, dict) and isinstance(relevant, dict):
            return [
                {"query_id": name, "query": text, "relevant_docs": relevant.get(name, [])}
                for name, text in queries.items()
            ]
    return [value]


def _lines(data: bytes, source: str) -> Iterator[str]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise FormatError(
                "not UTF-8", source=source, line=number, hint="save it as UTF-8"
            ) from None
        if "\0" in text:
            raise FormatError("a NUL character", source=source, line=number)
        yield text.replace("\r", "") + "\n"


def _row(cells: Mapping[str, Any], line: int | None, place: str) -> Row:
    written = tuple(map(str, cells))
    plain = dict(zip(map(plain_name, written), cells.values(), strict=True))
    found = Row(plain, line, place, written)
    if found.first(DOCUMENT) is not None and not plain.keys() & set(GRADE):
        for name in WHETHER:
            if name in plain and (
                plain[name] in (None, "") or whole_grade(plain[name]) is not None
            ):
                plain["relevance"] = plain.pop(name)
                break
        else:
            _require_judgments(found, place)
    return found


def _require_judgments(row: Row, place: str) -> None:
    """Refuse rows that say at which rank a document was found, and not how good it is."""
    ranks = [name for name in row.written if plain_name(name) in RANK]
    if ranks and row.first(RELEVANT) is None:
        raise FormatError(
            f"these are results ({ranks[0]}), and nothing says how good they are",
            source=place,
            line=row.line,
            hint="add a column rating, or give them as a run: assay eval run --run",
        )


def fill_from_rows(
    rows: Iterable[Row], draft: DraftSet, most: int = limits.MAX_TEST_SET_QUERIES
) -> None:
    """Queries with their judgments, from rows of either kind."""
    found: dict[str, _Query] = {}
    by_text: dict[str, str] = {}
    unjudged, names = 0, dict[str, None]()
    for row in rows:
        names.update(dict.fromkeys(row.written))
        name = _query_of(row, found, by_text, draft)
        if name is None:
            continue
        if len(found) > most:
            raise LimitError(f"{row.place}: more than {most:,} queries")
        for document, grade in _judgments(row, draft, name):
            if grade is None or grade < 0:
                unjudged += 1
            elif found[name].grades.setdefault(document, grade) != grade:
                message = f"{document} is judged twice, differently"
                _problem(draft, row, message, name, hint="keep one judgment of each document")
    if not found and not draft.problems:
        draft.problem(None, "there is no row with a query", hint=_HINT)
    _warn_of_the_rest(draft, names, unjudged)
    draft.queries += [
        DraftQuery(
            GoldenQuery(
                name,
                query.text,
                relevant_docs=tuple(Judgment(one, grade) for one, grade in query.grades.items()),
                group=query.group,
                synthetic=query.synthetic,
                reference=query.reference,
                expect=query.expect,
            ),
            query.line,
        )
        for name, query in found.items()
    ]


def _query_of(
    row: Row, found: dict[str, _Query], by_text: dict[str, str], draft: DraftSet
) -> str | None:
    """The id of the query that a row is about, which may be new; None where there is none."""
    is_judgment = row.first(RELEVANT) is None and row.first(DOCUMENT) is not None
    given = row.first(QUERY_ID if is_judgment else (*QUERY_ID, *ROW_ID))
    text = row.first(QUERY_TEXT)
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if not words and given is None:
        _problem(draft, row, f"no query in this row (it has {', '.join(row.cells):.120})")
        return None
    name = str(given) if given is not None else by_text.get(words, f"q{len(by_text) + 1:04}")
    by_text.setdefault(words, name)
    known = found.get(name)
    if known is None:
        group = row.first(GROUP)
        made_from = row.first(SYNTHETIC)
        found[name] = _Query(
            words,
            row.line,
            group=None if group is None else str(group),
            synthetic=None if made_from is None else str(made_from),
            reference=_reference(row),
            expect=_expected(row, draft, name),
        )
    elif not is_judgment:
        _problem(draft, row, "the query appears twice", name)
    elif words and known.text and words != known.text:
        _problem(draft, row, f"the query has another text than on line {known.line}", name)
    elif not known.text:
        known.text = words
    return name


def _reference(row: Row) -> str | None:
    """The right answer; several of them, as older files of ragas have them, are joined."""
    found = row.first(REFERENCE)
    parts = found if isinstance(found, list) else [found]
    return " ".join(" ".join(str(one).split()) for one in parts if one is not None) or None


def _expected(row: Row, draft: DraftSet, query: str) -> Expect:
    said = row.first(EXPECT)
    known = [one.value for one in Expect]
    if said is None or said in known:
        return Expect.EVIDENCE if said is None else Expect(said)
    _problem(draft, row, f"expect is {said!r:.40}", query, hint=f"one of {', '.join(known)}")
    return Expect.EVIDENCE


def _judgments(row: Row, draft: DraftSet, query: str) -> Iterator[tuple[str, int | None]]:
    """Each document of a row with its grade; None where nobody judged it."""
    document = row.first(DOCUMENT)
    listed = row.first(RELEVANT)
    if listed is None and document is not None:
        yield from _graded(document, row.cells, row, draft, query)
        return
    if listed is None:
        known = _reference(row) or row.first(EXPECT)
        if CONTEXTS & row.cells.keys() and not known:
            _problem(
                draft,
                row,
                "the row names no documents, only their texts",
                query,
                hint="add the ids of the contexts: reference_context_ids",
            )
        return
    if isinstance(listed, str):
        listed = _from_cell(listed)
    if isinstance(listed, Mapping):
        for name, grade in listed.items():
            yield from _graded(name, {"grade": grade}, row, draft, query)
        return
    for one in listed if isinstance(listed, list) else [listed]:
        if isinstance(one, Mapping):
            cells = {plain_name(str(name)): value for name, value in one.items()}
            inner = Row(cells, row.line, row.place)
            yield from _graded(inner.first((*DOCUMENT, *ROW_ID)), cells, row, draft, query)
        else:
            yield from _graded(one, {}, row, draft, query)


def _graded(
    document: Any, cells: Mapping[str, Any], row: Row, draft: DraftSet, query: str
) -> Iterator[tuple[str, int | None]]:
    if isinstance(document, bool) or not isinstance(document, (str, int)) or document == "":
        _problem(draft, row, f"{document!r:.60} is not the id of a document", query)
        return
    column = next((name for name in GRADE if name in cells), None)
    value = 1 if column is None else cells[column]
    grade = None if value in (None, "") else whole_grade(value)
    if value not in (None, "") and grade is None:
        message = f"the grade of {document} is {value!r:.40}, not a whole number"
        _problem(
            draft,
            row,
            message,
            query,
            hint="grades are whole numbers; round a mean of several people",
        )
    elif grade is not None and column is not None and (ours := draft.graded(grade)) is None:
        message = f"the grade of {document} is {grade}"
        _problem(draft, row, message, query, hint=draft.grade_hint())
    else:
        yield str(document), grade if grade is None or column is None else ours


def whole_grade(value: Any) -> int | None:
    """A whole number, however it is written: 2, 2.0, "2", true, yes."""
    if isinstance(value, str):
        value = value.strip()
        if not re.fullmatch(r"-?[0-9]{1,6}(\.0{1,6})?", value):
            return _TRUTH.get(value.lower())
        return int(float(value))
    if isinstance(value, (int, float)) and float(value).is_integer():
        return int(value)
    return None


def _from_cell(text: str) -> Any:
    """The ids in one cell: a list as JSON or Python writes it, or ids between commas or blanks."""
    cell = text.strip()
    if cell[:1] in "[{" and len(cell) <= limits.MAX_LINE_BYTES:
        try:
            found = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            found = None
        if isinstance(found, (list, dict)):
            return found
    return [one for one in _SPLIT.split(cell) if one]


def _problem(
    draft: DraftSet, row: Row, message: str, query: str | None = None, *, hint: str | None = None
) -> None:
    place = "" if row.place == draft.source else f"{Path(row.place).name}: "
    draft.problem(row.line, f"{place}{message}", query_id=query, hint=hint or _HINT)


def _warn_of_the_rest(draft: DraftSet, names: Iterable[str], unjudged: int) -> None:
    known = {
        *QUERY_TEXT,
        *QUERY_ID,
        *ROW_ID,
        *RELEVANT,
        *DOCUMENT,
        *GRADE,
        *WHETHER,
        *GROUP,
        *SYNTHETIC,
        *EXPECT,
        *REFERENCE,
        "madeby",
    }
    others = [name for name in names if plain_name(name) not in known]
    if others:
        listed = ", ".join(others)
        draft.warn(None, f"columns that a test set has no place for: {listed:.200}")
    if unjudged:
        draft.warn(None, f"{counted(unjudged, 'document')} without a rating: left out")
