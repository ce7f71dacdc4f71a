"""Which document does a chunk belong to, whatever form its id has?"""

from __future__ import annotations

import pytest

import assay
from assay.errors import UsageError
from assay.evaluation.documents import Documents, documents_of, doubts
from assay.model.ranking import Match, document_id
from assay.model.runs import QueryOutcome, RankedResult
from assay.model.testset import GoldenQuery, Judgment, Level, TestSet
from assay.testsets.load import parse_test_set

GOLDEN = """
- {id: q1, query: aspirin, expected_doc_ids: [doc7, doc70], expected_chunk_ids: ["doc7%s3"]}
- {id: q2, query: statins, expected_doc_ids: [doc7]}
"""
MEASURES = "Recall@10 MRR"


def golden(separator: str) -> TestSet:
    return parse_test_set((GOLDEN % separator).encode()).sound()


def returned(**by_query: list[str]) -> dict[str, QueryOutcome]:
    return {
        query: QueryOutcome(query, tuple(RankedResult(one, document_id(one)) for one in ids))
        for query, ids in by_query.items()
    }


def said(test_set: TestSet, rule: Match = Match.EXACT, **by_query: list[str]) -> list[str]:
    return doubts(test_set.queries, returned(**by_query), documents_of(test_set), rule)


@pytest.mark.req("K2")
@pytest.mark.parametrize("separator", ["#", "_p", "-000", "/", "::"])
def test_a_golden_list_pairs_a_chunk_with_the_document_that_its_id_begins_with(
    separator: str,
) -> None:
    (chunk, document), (other,) = (query.relevant_docs for query in golden(separator).queries)
    assert (chunk.id, chunk.owner) == (f"doc7{separator}3", "doc7")
    assert (document.id, document.level) == ("doc70", Level.DOCUMENT)
    assert other.level is Level.DOCUMENT


@pytest.mark.req("K2")
@pytest.mark.parametrize("separator", ["#", "_p", "-000"])
def test_the_pairs_of_a_test_set_tell_the_documents_of_chunks_in_every_query(
    separator: str,
) -> None:
    chunk = f"doc7{separator}3"
    found = assay.evaluate(lambda text: [chunk], golden(separator), MEASURES)
    # q1 expects the chunk, and q2 the document that q1 pairs with it
    assert found.scores.per_query("Recall@10") == {"q1": 1.0, "q2": 1.0}
    by_document = assay.evaluate(lambda text: [chunk], golden(separator), MEASURES, match="doc")
    assert by_document.scores.per_query("Recall@10") == {"q1": 0.5, "q2": 1.0}


@pytest.mark.req("K2")
@pytest.mark.parametrize("separator", ["#", "_p", "-000"])
def test_a_separator_tells_the_documents_of_chunks_that_nobody_judged(separator: str) -> None:
    def search(text: str) -> list[str]:
        return [f"doc70{separator}1", f"doc7{separator}9"]

    silent = assay.evaluate(search, golden(separator), MEASURES)
    assert silent["Recall@10"] == 0.0
    assert any(f'as in "{separator.rstrip("0")}"' in line for line in silent.warnings())
    told = assay.evaluate(search, golden(separator), MEASURES, chunk_separator=separator)
    # q1 expects a chunk, which did not come; q2 expects doc7
    assert told.scores.per_query("Recall@10") == {"q1": 0.0, "q2": 1.0}
    assert not [line for line in told.warnings() if "chunk_separator" in line]
    assert told.scoring.chunk_separator == separator
    both = assay.evaluate(
        search, golden(separator), MEASURES, match="doc", chunk_separator=separator
    )
    assert both["Recall@10"] == 1.0


def test_a_document_that_the_engine_names_wins_over_the_id() -> None:
    found = assay.evaluate(
        lambda text: [{"chunk_id": "x#1", "doc_id": "doc7"}], golden("#"), "Recall@10"
    )
    assert found.scores.per_query("Recall@10") == {"q1": 0.0, "q2": 1.0}
    other = assay.evaluate(
        lambda text: [{"chunk_id": "doc7#3", "doc_id": "D-7"}], golden("#"), chunk_separator="#"
    )
    assert other.scores.per_query("Recall@10") == {"q1": 1.0, "q2": 0.0}


@pytest.mark.parametrize(
    ("chunk", "given", "separator", "document"),
    [
        ("PMC1:chunk_4", "PMC1", ":chunk_", "PMC1"),
        ("PMC1:chunk_4", "PMC1", "#", "PMC1"),  # our form is still known
        ("doc7#3", "doc7#3", ":chunk_", "doc7#3"),
        ("doc7#3", "doc7#3", "#", "doc7"),
        ("a#b#3", "a#b#3", "#", "a#b"),  # the last one counts
        ("c17", "c17", "#", "paired"),
        ("c17", "given", "#", "given"),
    ],
)
def test_who_decides_the_document_of_a_result(
    chunk: str, given: str, separator: str, document: str
) -> None:
    documents = Documents({"c17": "paired"}, separator)
    assert documents.of(RankedResult(chunk, given)) == document


def test_a_chunk_that_is_judged_under_two_documents_belongs_to_neither() -> None:
    queries = tuple(
        GoldenQuery(name, "text", relevant_docs=(Judgment("c1", 1, (), owner),))
        for name, owner in (("q1", "a"), ("q2", "b"))
    )
    assert documents_of(TestSet("set", "v1", queries)).pairs == {}


def test_a_judged_document_keeps_its_id_whatever_the_separator() -> None:
    documents = Documents(separator="-")
    assert documents.judged(Judgment("NCT-001", level=Level.DOCUMENT)) == "NCT-001"
    assert documents.judged(Judgment("NCT-001-3", level=Level.CHUNK)) == "NCT-001"
    assert documents.judged(Judgment("c1", level=Level.CHUNK)) is None
    assert documents.judged(Judgment("c-1", doc_id="other")) == "other"


@pytest.mark.req("K2")
def test_ids_that_may_be_of_judged_documents_are_named() -> None:
    (line,) = said(golden("#"), q1=["doc7#4", "doc70#1", "doc8#1"], q2=["doc7#3"])
    assert line.startswith("2 retrieved ids may be of judged documents and cannot count as such")
    assert "doc7#4 (of doc7?)" in line
    assert 'as in "#"' in line
    # another document's id may begin in the same way, and documents themselves are no chunks
    assert said(golden("#"), q1=["doc71", "doc7", "doc70"], q2=["doc700"]) == []


@pytest.mark.req("K2")
def test_expected_chunks_without_expected_documents_are_said() -> None:
    judged = (Judgment("c17", level=Level.CHUNK), Judgment("doc7", level=Level.DOCUMENT))
    test_set = TestSet("set", "v1", (GoldenQuery("q1", "text", relevant_docs=judged),))
    (line,) = said(test_set, q1=["c17", "c18"])
    assert line.startswith("1 expected chunk came back and no expected document")
    assert said(test_set, q1=["c17", "doc7"]) == []


@pytest.mark.req("K2")
def test_matching_by_document_says_where_no_id_names_one() -> None:
    judged = (GoldenQuery("q1", "text", relevant_docs=(Judgment("doc9#1"),)),)
    chunks = TestSet("set", "v1", judged)
    (line,) = said(chunks, Match.DOC, q1=["doc9#4", "doc8#1"])
    assert "no judged id names one" in line
    assert 'as in "#"' in line
    assert said(chunks, Match.EXACT, q1=["doc9#4"]) == []
    whole = TestSet("s", "v1", (GoldenQuery("q1", "text", relevant_docs=(Judgment("PMC9"),)),))
    assert said(whole, Match.DOC, q1=["PMC8"]) == []


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(UsageError, match="chunk_separator is empty"):
        assay.evaluate(lambda text: [], golden("#"), chunk_separator="")
