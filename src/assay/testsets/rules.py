"""Which rules must every test set follow, whatever file it came from?

Each rule is a function over the draft that records violations with their lines; together they list
every problem at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from assay import limits
from assay.model.answers import Expect
from assay.model.document import ID_FORM
from assay.model.testset import GoldenQuery, Judgment
from assay.testsets.draft import DraftQuery, DraftSet

KnownIds: TypeAlias = Collection[str] | Callable[[str], bool]
_ID_HINT = "up to 128 letters, digits or . _ : # - and a letter or digit first"


def check(draft: DraftSet, known_ids: KnownIds | None = None) -> None:
    """Record all problems; ``known_ids`` are the documents and chunks of the index."""
    _name(draft)
    _size(draft)
    _query_ids(draft)
    for item in draft.queries:
        _texts(draft, item)
        _judged_ids(draft, item)
        _expectation(draft, item)
    _held_out(draft)
    _skipped(draft)
    _part(draft)
    if known_ids is not None:
        _in_index(draft, known_ids)
    order = {id(problem): at for at, problem in enumerate(draft.problems)}
    draft.problems.sort(key=lambda problem: (problem.line or 0, order[id(problem)]))


def drop_unjudged(draft: DraftSet) -> tuple[GoldenQuery, ...]:
    """Leave out queries without ground truth, each with a warning; returns them."""
    dropped = [item for item in draft.queries if _has_no_truth(item)]
    for item in dropped:
        draft.warn(
            item.line,
            "no ground truth: the query is skipped",
            query_id=item.query.query_id or None,
        )
    draft.queries = [item for item in draft.queries if not _has_no_truth(item)]
    return tuple(item.query for item in dropped)


def _has_no_truth(item: DraftQuery) -> bool:
    return item.whole and not item.query.has_truth and not item.query.relevant_docs


def _name(draft: DraftSet) -> None:
    for what, value in (("name", draft.name), ("version", draft.version)):
        if value and not ID_FORM.fullmatch(value):
            draft.problem(None, f"the {what} {value!r:.80} is not allowed", hint=_ID_HINT)


def _size(draft: DraftSet) -> None:
    count = len(draft.queries)
    if not count and not draft.problems:
        left_out = "each was left out: do queries and judgments have the same ids?"
        hint = left_out if draft.warnings else "add one under queries"
        draft.problem(None, "the test set holds no query", hint=hint)
    if count > limits.MAX_TEST_SET_QUERIES:
        most = limits.MAX_TEST_SET_QUERIES
        draft.problem(None, f"{count:,} queries, and {most:,} are allowed")


def _query_ids(draft: DraftSet) -> None:
    first: dict[str, DraftQuery] = {}
    folded: dict[str, DraftQuery] = {}
    for item in draft.queries:
        name, line = item.query.query_id, item.line_of("query_id")
        if not name:
            continue  # recorded when it was read
        twin = folded.get(name.casefold())
        if not ID_FORM.fullmatch(name):
            draft.problem(line, f"the query_id {name!r:.80} is not allowed", hint=_ID_HINT)
        elif name in first:
            draft.problem(
                line, f"the query_id {name!r} appears twice{_first(first[name])}", query_id=name
            )
        elif twin is not None:
            draft.problem(
                line,
                f"the query_id {name!r} and {twin.query.query_id!r} differ in case only"
                f"{_first(twin)}",
                query_id=name,
            )
        first.setdefault(name, item)
        folded.setdefault(name.casefold(), item)


def _first(item: DraftQuery) -> str:
    line = item.line_of("query_id")
    return "" if line is None else f", first on line {line}"


def _texts(draft: DraftSet, item: DraftQuery) -> None:
    query = item.query
    line, name = item.line_of("query_text"), query.query_id or None
    if query.query_text and not query.query_text.strip():
        draft.problem(line, "the query text is blank", query_id=name)
    if len(query.query_text) > limits.MAX_QUERY_CHARS:
        most = limits.MAX_QUERY_CHARS
        draft.problem(
            line,
            f"the query text has {len(query.query_text):,} characters, and {most:,} are allowed",
            query_id=name,
        )
    if any(not text for text in (*query.must_contain, *query.forbidden)):
        draft.problem(
            item.line_of("must_contain"),
            "an empty text in must_contain or forbidden",
            query_id=name,
            hint="every answer contains it; remove it",
        )
    for text in sorted(set(query.must_contain) & set(query.forbidden)):
        draft.problem(
            item.line_of("forbidden"), f"{text!r:.60} is both required and forbidden", query_id=name
        )


def _judgments(item: DraftQuery) -> Iterator[tuple[Judgment, int | None]]:
    lines = item.judgment_lines or (item.line,) * len(item.query.relevant_docs)
    return zip(item.query.relevant_docs, lines, strict=True)


def _judged_ids(draft: DraftSet, item: DraftQuery) -> None:
    name = item.query.query_id or None
    first: dict[str, tuple[Judgment, int | None]] = {}
    for judgment, line in _judgments(item):
        for value in filter(None, (judgment.id, judgment.owner)):
            if reason := _bad_id(value):
                draft.problem(line, f"the id {value!a:.60} {reason}", query_id=name)
        key = unicodedata.normalize("NFC", judgment.id)
        if key in first:
            before, at = first[key]
            place = "" if at is None or at == line else f", first on line {at}"
            grades = f" with the grades {before.grade} and {judgment.grade}"
            draft.problem(
                line,
                f"{judgment.id} is judged twice"
                f"{grades if before.grade != judgment.grade else ''}{place}",
                query_id=name,
                hint="keep one entry; it may list several spans",
            )
        first.setdefault(key, (judgment, line))


def _bad_id(value: str) -> str | None:
    if len(value.encode()) > limits.MAX_ID_BYTES:
        return f"is longer than {limits.MAX_ID_BYTES} bytes"
    if value != value.strip() or any(char.isspace() or not char.isprintable() for char in value):
        return "holds blanks or invisible characters"
    return None


def _expectation(draft: DraftSet, item: DraftQuery) -> None:
    query, name = item.query, item.query.query_id or None
    line = item.line_of("relevant_docs")
    if item.whole and not query.has_truth:
        message = (
            "no relevant document: every grade is 0"
            if query.relevant_docs
            else "no relevant document"
        )
        hint = (
            "judge one with a grade above 0, give a reference answer, "
            "or say expect: refusal or expect: nothing"
        )
        draft.problem(line, message, query_id=name, hint=hint)
    if query.expect is not Expect.EVIDENCE and query.judged:
        draft.problem(
            line,
            f"expect: {query.expect.value}, and yet a document is relevant",
            query_id=name,
            hint="remove the judgments above 0, or say expect: evidence",
        )


def _held_out(draft: DraftSet) -> None:
    if draft.held_out is None:
        return
    known = {item.query.query_id for item in draft.queries}
    seen: set[str] = set()
    for name in draft.held_out.query_ids:
        if name not in known:
            draft.problem(draft.held_out_line, f"held_out names {name!r:.60}, which is no query")
        if name in seen:
            draft.problem(draft.held_out_line, f"held_out names {name!r:.60} twice")
        seen.add(name)
    if known and known <= seen:
        draft.problem(draft.held_out_line, "held_out keeps back every query")


def _skipped(draft: DraftSet) -> None:
    known = {item.query.query_id for item in draft.queries}
    for at, name in enumerate(draft.skipped):
        if name in known:
            draft.problem(
                None,
                f"skipped names {name!r:.60}, which is a query of the set",
                hint="remove it there",
            )
        elif name in draft.skipped[:at]:
            draft.problem(None, f"skipped names {name!r:.60} twice")


def _part(draft: DraftSet) -> None:
    """Runs carry the name of the part, and so it must be one."""
    part = draft.provenance.get("part")
    if part is not None and not (isinstance(part, str) and ID_FORM.fullmatch(part)):
        draft.problem(
            None,
            f"the part {part!r:.80} of the provenance is not a name",
            hint="such as train, val or test",
        )


def _in_index(draft: DraftSet, known_ids: KnownIds) -> None:
    known = known_ids if callable(known_ids) else known_ids.__contains__
    for item in draft.queries:
        for judgment, line in _judgments(item):
            missing = [
                value for value in (judgment.id, judgment.owner) if value and not known(value)
            ]
            for value in missing:
                draft.problem(
                    line,
                    f"{value} is not in the index",
                    query_id=item.query.query_id or None,
                    hint="assay corpus show DOC lists the chunks of a document",
                )
