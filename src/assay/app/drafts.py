"""How does a question get into a draft test set, grade by grade, while one searches?

A draft is a test set of the workspace that nothing but its queries is known of. A set that says how
it was judged (its provenance: a round of two judges, a refresh, an import) means something as it
is, and so does one that ships with assay. Those are never changed in place: ``fork`` makes a draft
of one, which remembers where it came from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.layout import Layout
from assay.app.testsets import load, place_of_new
from assay.durable import alone_in
from assay.errors import ConflictError, InputError
from assay.model.document import Label, check_doc_id, check_id
from assay.model.ranking import document_id
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import (
    JUDGED_BY,
    OVERLAP,
    SKIPPED,
    GoldenQuery,
    Judgment,
    QueryType,
    TestSet,
)
from assay.testsets.load import list_test_sets, parse_test_set
from assay.testsets.save import write_text
from assay.testsets.write import as_yaml, query_block

if TYPE_CHECKING:
    from assay.app.testsets import TestSetEntry
    from assay.app.workspace import Workspace
    from assay.search.response import SearchHit

DRAFT_OF = "draft_of"
"""Where the provenance of a draft names the set that it was copied from."""
FIRST_DRAFT = "playground"
"""The draft that is begun where nobody names one."""
DEPTH = 10
"""Results that are scored while one searches."""
_OF_DRAFTS = frozenset({DRAFT_OF, JUDGED_BY, OVERLAP, SKIPPED})


@dataclass(frozen=True, slots=True)
class Graded:
    """A question of a draft with every grade that it has now."""

    name: str
    version: str
    query_id: str
    query_text: str
    grades: Mapping[str, int]
    queries: int


@dataclass(frozen=True, slots=True)
class Forked:
    """A draft that was copied from another set."""

    name: str
    version: str
    draft_of: str
    queries: int


@dataclass(frozen=True, slots=True)
class Known:
    """A question as a test set has it; ``draft`` says whether grades may be changed there."""

    test_set: str
    draft: bool
    query: GoldenQuery


@dataclass(frozen=True, slots=True)
class Standing:
    """How good a ranking is by the grades of its question, as far as they go.

    ``grades`` go by chunk; ``value`` is None where no result is graded above 0. ``depth`` is how
    many results were looked at, and ``judged`` how many of them have a grade.
    """

    grades: Mapping[str, int]
    measure: str
    value: float | None
    depth: int
    judged: int


def is_draft(test_set: TestSet) -> bool:
    """Whether a set may be changed in place: nothing says how it was judged."""
    return not set(test_set.provenance) - _OF_DRAFTS


def drafts(entries: Sequence[TestSetEntry]) -> list[str]:
    """Those of the test sets that a question can be graded in."""
    return [
        one.name
        for one in entries
        if one.path is not None
        and one.path.suffix == ".yaml"
        and not one.shipped
        and (found := one.reading and one.reading.test_set)
        and is_draft(found)
    ]


def known_in(entries: Sequence[TestSetEntry], query_text: str) -> list[Known]:
    """The test sets that have a question, drafts first; not where it is held out."""
    wanted = _folded(query_text)
    editable = set(drafts(entries))
    found = [
        Known(entry.name, entry.name in editable, query)
        for entry in entries
        if (test_set := entry.reading and entry.reading.test_set)
        for query in test_set.queries
        if _folded(query.query_text) == wanted and query.query_id not in test_set.held_out_ids
    ]
    return sorted(found, key=lambda one: (not one.draft, one.test_set))


def holds_out(test_set: TestSet, query_text: str) -> bool:
    """Whether a set keeps a question back."""
    wanted = _folded(query_text)
    return any(_folded(one.query_text) == wanted for one in test_set.held_out_queries)


def grade(
    workspace: Workspace,
    name: str,
    query_text: str,
    grades: Mapping[str, int | None],
    *,
    query_type: QueryType | None = None,
) -> Graded:
    """Grade results of a question in a draft; None takes a grade back.

    A name that is not known begins a draft, and a question that is not there is added to it.
    """
    text = " ".join(query_text.split())
    path = workspace.layout.test_set(check_id(name, "test set"))
    labels = workspace.labels(grades)
    with alone_in(path.parent):
        before = _open(workspace.layout, path, name)
        old = _query(before, text) if before else None
        asked = old or GoldenQuery(_free_id(text, before), text, query_type)
        query = replace(asked, relevant_docs=_merged(asked.relevant_docs, grades, labels))
        if not query.judged:
            raise InputError(
                "no result is graded above 0",
                hint="give at least one result that answers the question a grade from 1 to 3",
            )
        after = _put(path, name, before, old, query)
    return Graded(
        after.name,
        after.version,
        query.query_id,
        query.query_text,
        {one.id: one.grade for one in query.relevant_docs},
        len(after.queries),
    )


def add_query(layout: Layout, name: str, query: GoldenQuery) -> TestSet:
    """Put a query at the end of a draft; a new name begins a new one."""
    path = layout.test_set(check_id(name, "test set"))
    with alone_in(path.parent):
        before = _open(layout, path, name)
        if before and query.query_id in before.by_id:
            raise ConflictError(
                f"{name} has a query {query.query_id} already", hint="choose another id"
            )
        if before and any(known.query_text == query.query_text for known in before.queries):
            raise ConflictError(f"{name} has this query already")
        return _put(path, name, before, None, query)


def fork(layout: Layout, name: str, new_name: str) -> Forked:
    """Copy a test set to a draft of another name; the set itself stays as it is."""
    parent = load(layout, name)
    path = place_of_new(layout, check_id(new_name, "test set"))
    with alone_in(path.parent):
        if new_name in list_test_sets(layout.test_sets):
            raise ConflictError(f"there is a test set {new_name}", hint="choose another name")
        kept = {
            one: parent.provenance[one] for one in (OVERLAP, SKIPPED) if one in parent.provenance
        }
        if parent.judged_by:
            kept[JUDGED_BY] = list(parent.carried_judged_by)
        origin = {"name": parent.name, "version": parent.version, "checksum": parent.checksum}
        draft = replace(
            parent, name=new_name, version="draft", provenance={DRAFT_OF: origin, **kept}
        )
        _written(path, draft)
    return Forked(draft.name, draft.version, parent.name, len(draft.queries))


def standing(
    hits: Sequence[SearchHit],
    query: GoldenQuery | None,
    pending: Mapping[str, int] | None = None,
    *,
    k: int = DEPTH,
) -> Standing:
    """What the first of ``k`` results score by a question's grades, and by ``pending`` ones."""
    from assay.evaluation.match import graded_ranks
    from assay.evaluation.outcomes import score_outcomes
    from assay.model.ranking import Match

    asked = query or GoldenQuery("query", "query")
    judgments = _merged(asked.relevant_docs, pending or {}, _labels(hits))
    asked = replace(asked, relevant_docs=judgments)
    results = tuple(
        RankedResult(
            hit.chunk.chunk_id, hit.chunk.doc_id, hit.score, hit.chunk.spans,
            hit.chunk.chunker_version,
        )
        for hit in hits
    )  # fmt: skip
    outcome = QueryOutcome(asked.query_id, results)
    ranks = graded_ranks(asked, outcome, Match.EXACT, {})
    grades = {results[rank - 1].chunk_id: value for rank, value in ranks.items()}
    depth = min(DEPTH, len(results))
    measure, value = f"nDCG@{min(DEPTH, k)}", None
    if asked.judged:
        scores = score_outcomes(TestSet("asked", "v1", (asked,)), [outcome], measure)
        value = scores.per_query(measure)[asked.query_id]
    return Standing(grades, measure, value, depth, sum(rank <= depth for rank in ranks))


def _labels(hits: Sequence[SearchHit]) -> dict[str, Label]:
    return {hit.chunk.chunk_id: Label(hit.chunk.doc_id, hit.chunk.title, "") for hit in hits}


def _open(layout: Layout, path: Path, name: str) -> TestSet | None:
    """The draft of this name; None where there is none yet, and an error where it is no draft."""
    if not path.exists():
        place_of_new(layout, name)  # refuses the name of a set that ships
        if name in list_test_sets(layout.test_sets):
            raise ConflictError(
                f"{name} is not in YAML, so that no query can be added to it",
                hint="choose another name, or assay testset import it as YAML",
            )
        return None
    before = parse_test_set(path.read_bytes(), source=path.name).sound()  # only in UTF-8
    if not is_draft(before):
        raise ConflictError(
            f"{name} {before.version} says how it was judged, so it is not changed in place",
            hint=f"assay testset fork {name} my_{name} makes a draft of it",
        )
    return before


def _query(test_set: TestSet, text: str) -> GoldenQuery | None:
    """The query of this text; an error where it is held out."""
    wanted = _folded(text)
    found = next((one for one in test_set.queries if _folded(one.query_text) == wanted), None)
    if found is not None and found.query_id in test_set.held_out_ids:
        raise ConflictError(
            f"{found.query_id} is held out of {test_set.name}: grades there must not depend on "
            "what was found",
            hint="grade it in another draft",
        )
    return found


def _merged(
    judgments: Sequence[Judgment], grades: Mapping[str, int | None], labels: Mapping[str, Label]
) -> tuple[Judgment, ...]:
    """Judgments with some grades changed, taken back or added."""
    known = {one.id for one in judgments}
    kept = [
        _regraded(one, grades.get(one.id, one.grade))
        for one in judgments
        if grades.get(one.id, one.grade) is not None
    ]
    new = [
        Judgment(check_doc_id(name, "chunk"), value, doc_id=_owner(name, labels.get(name)))
        for name, value in grades.items()
        if value is not None and name not in known
    ]
    return (*kept, *new)


def _regraded(one: Judgment, value: Any) -> Judgment:
    """The judgment with another grade."""
    return Judgment(one.id, value, one.spans, one.owner, one.level)


def _owner(name: str, label: Label | None) -> str | None:
    """The document of a chunk, where its id does not show it."""
    if label is None or label.doc_id in (name, document_id(name)):
        return None
    return label.doc_id


def _put(
    path: Path, name: str, before: TestSet | None, old: GoldenQuery | None, query: GoldenQuery
) -> TestSet:
    """Write a draft with a query added or, where it is there, replaced.

    The text that a person wrote stays as it is wherever that can be done.
    """
    if before is None:
        return _written(path, TestSet(name, "v1", (query,)))
    if old is None:
        queries = (*before.queries, query)
    else:
        queries = tuple(query if one.query_id == old.query_id else one for one in before.queries)
    after = replace(before, queries=queries)
    text = path.read_bytes().decode("utf-8-sig")
    if old is None:
        text = f"{text.rstrip()}\n{query_block(query)}"
    else:
        text = text.replace(query_block(old), query_block(query), 1)
    edited = parse_test_set(text.encode(), source="edited.yaml").test_set
    if edited is None or edited.checksum != after.checksum:
        return _written(path, after)  # the query does not stand there as we write it
    write_text(path, text)
    return after


def _written(path: Path, test_set: TestSet) -> TestSet:
    """Write a set anew, where it is sound."""
    text = as_yaml(test_set)
    reading = parse_test_set(text.encode(), source="edited.yaml")
    if reading.test_set is None:
        first = reading.problems[0]
        raise InputError(first.message, hint=first.hint or "grade at least one result 1 or more")
    write_text(path, text)
    return test_set


def _free_id(text: str, test_set: TestSet | None) -> str:
    """An id made from the text of a question, which no other has."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "query"
    taken = test_set.by_id if test_set else {}
    numbered = (plain, *(f"{plain}-{number}" for number in range(2, len(taken) + 3)))
    return check_id(next(one for one in numbered if one not in taken), "query_id")


def _folded(text: str) -> str:
    """A question as it is compared: without regard to case and blanks."""
    return " ".join(text.split()).casefold()
