"""Is the ranking that a retriever returned read as it was meant, whatever its form?"""

from __future__ import annotations

import json
import logging
import uuid
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pydantic
import pytest

import assay
from assay.errors import InputError, UnreachableError, UsageError
from assay.evaluation.retrievers.http import HttpMapping, read_answer
from assay.evaluation.retrievers.run_file import run_file_system
from assay.evaluation.returned import RANKED_BY_SCORE, as_outcome, renamed
from assay.ingest.columns import ID_NAMES as CORPUS_NAMES
from assay.model.answers import Expect
from assay.model.runs import REFUSED_IN_WORDS
from assay.model.testset import GoldenQuery, Judgment, Level, TestSet

SET = TestSet(
    "small",
    "v1",
    tuple(
        GoldenQuery(f"q{at}", f"question {at}", relevant_docs=(Judgment("b", 2), Judgment("0", 1)))
        for at in range(3)
    ),
)


class Message(pydantic.BaseModel):
    content: str


def ids(returned: Any, **options: Any) -> list[str]:
    return [result.chunk_id for result in as_outcome("q", returned, **options).results]


def scores(returned: Any) -> list[float | None]:
    return [result.score for result in as_outcome("q", returned).results]


@dataclass
class Document:
    """As LangChain has it: the id may be missing, and the metadata hold it."""

    page_content: str = "text"
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class ArrowTable:
    """A table of any library that speaks arrow."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


COLUMNS = {"doc_id": ["b", "a"], "score": [2.0, 1.0], "text": ["x", "y"]}
Hit = namedtuple("Hit", "id score")
ABOUT = namedtuple("ABOUT", "document relevance")

TWO = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, rows numbered otherwise": pd.DataFrame(COLUMNS, index=[7, 3]),
    "pandas, ids in the index": pd.DataFrame(COLUMNS).set_index("doc_id"),
    "pandas, capitals": pd.DataFrame(COLUMNS).rename(columns=str.upper),
    "pandas, as PyTerrier has it": pd.DataFrame(
        {"qid": ["1", "1"], "docid": [17, 4], "docno": ["b", "a"], "rank": [0, 1], "score": [2, 1]}
    ),
    "pandas series": pd.Series([2.0, 1.0], index=["b", "a"]),
    "pandas series of whole numbers": pd.Series([2, 1], index=["b", "a"]),
    "pandas, ids as index": pd.DataFrame({"score": [2.0, 1.0]}, index=["b", "a"]),
    "the page of a service": {"items": [{"id": "b"}, {"id": "a"}], "total": 2},
    "pandas series of ids": pd.Series(["b", "a"]),
    "polars": pl.DataFrame(COLUMNS),
    "polars, lazy": pl.DataFrame(COLUMNS).lazy(),
    "polars series": pl.Series(["b", "a"]),
    "arrow": ArrowTable(pl.DataFrame(COLUMNS)),
    "columns": COLUMNS,
    "columns of numpy": {name: np.array(values) for name, values in COLUMNS.items()},
    "rows of pandas": [row for _, row in pd.DataFrame(COLUMNS).iterrows()],
    "tuples of pandas": pd.DataFrame(COLUMNS).itertuples(),
    "records": pd.DataFrame(COLUMNS).to_dict("records"),
    "frame in a response": {"results": pd.DataFrame(COLUMNS)},
    "numpy text": np.array(["b", "a"]),
    "numpy pairs": np.array([["b", 2.0], ["a", 1.0]], dtype=object),
    "generator": (pair for pair in (("b", 2.0), ("a", 1.0))),
    "zip": zip(("b", "a"), (2.0, 1.0), strict=True),
    "lists": [["b", 2.0], ["a", 1.0]],
    "named tuples": [Hit("b", 2.0), Hit("a", 1.0)],
    "named tuples of other names": [ABOUT("b", 2.0), ABOUT("a", 1.0)],
    "documents": [Document(id="b"), Document(id="a")],
    "documents with metadata": [Document(metadata={"doc_id": x}) for x in "ba"],
    "documents with scores": [(Document(id="b"), 2.0), (Document(id="a"), 1.0)],
    "points": [SimpleNamespace(id=None, payload={"chunk_id": x}, score=1.0) for x in "ba"],
    "hits of Elasticsearch": [{"_id": "b", "_score": 2.0}, {"_id": "a", "_score": 1.0}],
    "a text called chunk": [{"id": "b", "chunk": "text"}, {"id": "a", "chunk": "text"}],
}  # fmt: skip


@pytest.mark.req("E5")
@pytest.mark.parametrize("form", TWO)
def test_every_form_gives_the_same_two_ids(form: str) -> None:
    assert ids(TWO[form]) == ["b", "a"]


def test_a_dict_without_results_is_refused_with_its_fields() -> None:
    with pytest.raises(InputError, match=r"a dict without a list of results \(data, took\)"):
        ids({"data": {"hits": [{"id": "b"}]}, "took": 3})


UUID = "0b8f5a3e-8e0c-4f0e-9d59-3f1d5a3c2b11"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
MADE = {
    "LangChain": Document(id=UUID, metadata={"id": "b"}),
    "Haystack": SimpleNamespace(id=HASH, content="x", meta={"id": "b"}, score=None),
    "a point of qdrant": SimpleNamespace(id=uuid.UUID(UUID), payload={"id": "b"}),
    "what LangChain keeps in qdrant": SimpleNamespace(
        id=UUID.replace("-", ""), payload={"page_content": "x", "metadata": {"chunk_id": "b"}}
    ),
    "LlamaIndex": SimpleNamespace(node=SimpleNamespace(node_id=UUID, metadata={"id": "b"})),
}


@pytest.mark.parametrize("form", MADE)
def test_the_owners_id_comes_before_one_that_a_library_made(form: str) -> None:
    outcome = as_outcome("q", [MADE[form]])
    assert [one.chunk_id for one in outcome.results] == ["b"]
    assert "made" in outcome.warnings[0]
    assert ids(renamed([MADE[form]], None, "doc")) == ["b"]


@pytest.mark.parametrize("name", ["doc_id", "document_id", "ref_doc_id", "docno", "pmid", "nct_id"])
def test_a_made_id_stays_that_of_the_chunk_where_its_document_is_named(name: str) -> None:
    chunks = [Document(id=str(uuid.uuid4()), metadata={name: "b"}) for _ in range(2)]
    found = as_outcome("q", chunks).results
    assert [one.chunk_id for one in found] == [one.id for one in chunks]
    assert [one.doc_id for one in found] == ["b", "b"]


def test_passages_of_an_answer_go_by_the_owners_ids() -> None:
    said = {"answer": "Yes [1].", "contexts": [Document("itching", UUID, {"id": "b"})]}
    assert as_outcome("q", said).passages == {"b": "itching"}


def test_a_document_that_a_library_named_is_not_that_of_the_owners_id() -> None:
    node = SimpleNamespace(node_id=UUID, ref_doc_id=str(uuid.uuid4()), metadata={"pmid": "b"})
    judged = GoldenQuery("q1", "itch", relevant_docs=(Judgment("b", 1, level=Level.DOCUMENT),))
    for found in ([node], renamed([node], "pmid", None)):
        result = assay.evaluate({"itch": found}.__getitem__, TestSet("n", "v1", (judged,)))
        assert result["Recall@10"] == 1.0


def test_ids_that_look_made_are_kept_where_they_were_judged() -> None:
    """Or where there is no other."""
    judged = GoldenQuery("q1", "itch", relevant_docs=(Judgment(UUID, 1),))
    found = [Document(id=UUID, metadata={"id": "7", "doc_id": "8"})]
    made = TestSet("made", "v1", (judged,))
    assert assay.evaluate(lambda text: found, made, "MRR")["MRR"] == 1.0
    assert ids([Document(id=UUID, metadata={"id": HASH})]) == [UUID]
    assert ids([{"id": HASH, "text": "x"}]) == [HASH]


@pytest.mark.parametrize("field", ["metadata.pmid", "payload.metadata.pmid", "pmid"])
def test_a_field_may_be_a_path(field: str) -> None:
    point = SimpleNamespace(id=UUID, payload={"metadata": {"pmid": 7}})
    assert ids(renamed([point], field, None)) == ["7"]
    dotted = {"metadata": {"dc.identifier": "b"}}
    assert ids(renamed([dotted], "dc.identifier", None)) == ["b"]


@pytest.mark.parametrize("name", CORPUS_NAMES)
def test_what_is_an_id_in_a_corpus_is_one_in_a_result(name: str) -> None:
    assert ids([{name: "b", "score": 2.0}, {name: "a", "score": 1.0}]) == ["b", "a"]
    assert ids(pd.DataFrame({name: ["b", "a"], "score": [2.0, 1.0]})) == ["b", "a"]


def test_a_frame_scores_as_its_rows_do() -> None:
    wanted = assay.evaluate(lambda text: ["b", "a"], SET, "nDCG@10")["nDCG@10"]
    assert wanted is not None
    assert wanted > 0
    assert assay.evaluate(lambda text: pd.DataFrame(COLUMNS), SET)["nDCG@10"] == wanted
    assert assay.evaluate(lambda text: pl.DataFrame(COLUMNS), SET)["nDCG@10"] == wanted


def test_scores_and_documents_of_a_frame_are_kept() -> None:
    frame = pd.DataFrame({"chunk_id": ["c1", "c2"], "doc_id": [5, 6], "similarity": [0.5, 0.25]})
    found = as_outcome("q", frame).results
    assert [(one.chunk_id, one.doc_id, one.score) for one in found] == [
        ("c1", "5", 0.5),
        ("c2", "6", 0.25),
    ]


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (pd.DataFrame({"name": ["b"], "value": [1.0]}), "(columns: name, value) (name it one of: "),
        (pl.DataFrame({"name": ["b"]}), "no column holds the ids of the results"),
        (pd.DataFrame({"id": ["b", None]}), "result 2 has no id (nan)"),
        (pl.DataFrame({"id": ["b", None]}), "result 2 has no id"),
        (pd.DataFrame({"id": ["b"], "score": [np.nan]}), "which has no order"),
        (pd.DataFrame({"qid": ["1", "2"], "id": ["a", "b"]}), "results of several queries"),
        ({"id": ["a", "b"], "score": [1.0]}, "differ in length"),
        ({"names": [["a"]], "distances": [[0.5]]}, "no column holds the ids"),
        ({"a", "b"}, "a set, which has no order"),
        (None, "where nothing was found, return []"),
        (Message(content="x"), "returned Message, not a list of results"),
        ([(0.5, "a")], "result 1 has no id (0.5)"),
        ([7.5], "result 1 has no id (7.5)"),
        ([True], "result 1 has no id (True)"),
        ([Document()], "result 1 has no id (Document with "),
        ([{"metadata": {"source": "a.txt"}}], "no id (dict with metadata (source)) (ids are read"),
        ({"results": [], "cost": -1}, "the cost is -1, not an amount"),
        ({"results": [], "usage": {"total_tokens": 1.5}}, "tokens is 1.5, not a number of tokens"),
        ([("a", 1.0, "text")], "result 1 has no id (('a', 1.0, 'text'))"),
        ({"results": ["a"], "rank_by": "colour"}, "rank_by is 'colour', not order or score"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_says_why(returned: Any, says: str) -> None:
    with pytest.raises(assay.AssayError) as caught:
        as_outcome("q", returned)
    assert says in str(caught.value)


def test_an_empty_frame_found_nothing() -> None:
    assert ids(pd.DataFrame({"doc_id": [], "score": []})) == []
    assert ids(pl.DataFrame({"doc_id": [], "score": []})) == []
    assert ids([]) == []
    assert ids({}) == []


@pytest.mark.parametrize(
    "returned",
    [
        [{"id": 0, "score": 1.0}],
        [0],
        [(0, 1.0)],
        {0: 1.0},
        np.array([0]),
        [(np.int64(0), np.float32(1))],
        [{"chunk_id": "", "doc_id": 0}],
        [SimpleNamespace(doc_id=np.uint8(0))],
        pd.DataFrame({"id": [0]}),
        pl.DataFrame({"doc_id": [0]}),
    ],
)
def test_zero_is_an_id(returned: Any) -> None:
    assert ids(returned) == ["0"]
    result = assay.evaluate(lambda text: returned, SET, "Success@1")
    assert result["Success@1"] == 1.0


def test_a_uuid_is_an_id() -> None:
    name = uuid.UUID(int=5)
    assert ids([name, {"id": name}]) == [str(name)] * 2


DISTANCES: dict[str, Callable[[str], Any]] = {
    "pairs": lambda text: [("b", 0.1), ("x", 0.4), ("y", 0.9)],
    "dicts": lambda text: [{"id": "b", "score": 0.1}, {"id": "x", "score": 0.9}],
    "frame": lambda text: pd.DataFrame({"id": ["b", "x"], "score": [0.1, 0.9]}),
    "response": lambda text: {"results": [("b", 0.1), ("x", 0.9)]},
    "ranks": lambda text: [{"id": "x", "score": 9, "rank": 2}, {"id": "b", "score": 1, "rank": 1}],
}


@pytest.mark.req("E5")
@pytest.mark.parametrize("form", DISTANCES)
def test_the_order_of_the_engine_is_the_ranking(
    form: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        result = assay.evaluate(DISTANCES[form], SET, "MRR")
    assert result["MRR"] == 1.0
    assert result.out_of_order == ("q0", "q1", "q2")
    said = [text for text in caplog.messages if "do not fall along the list" in text]
    assert said == [
        "small: 3 of 3 queries with scores that do not fall along the list: ranked as given: "
        "q0, q1, q2"
    ]


def test_scores_rank_where_they_are_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        result = assay.evaluate(lambda text: [("x", 0.1), ("b", 0.4)], SET, "MRR", rank_by="score")
    assert result["MRR"] == 1.0
    assert not caplog.messages
    assert ids({"results": [("x", 0.1), ("b", 0.4)], "rank_by": "score"}) == ["b", "x"]
    with pytest.raises(UsageError, match="rank_by='best' is not one of: order, score"):
        assay.evaluate(lambda text: [], SET, rank_by="best")  # type: ignore[arg-type]


def test_a_mapping_of_scores_is_ranked_by_score() -> None:
    assert ids({"x": 0.3, "b": 0.9, "y": 0.5}) == ["b", "y", "x"]
    assert as_outcome("q", {"x": 0.3, "b": 0.9, "y": 0.5}).warnings == ()
    assert as_outcome("q", {"b": 0.1, "x": 0.9}).warnings == (RANKED_BY_SCORE,)
    assert ids({"b": 0.1, "x": 0.9}, rank_by=assay.RankBy.ORDER) == ["b", "x"]
    result = assay.evaluate(lambda text: {"b": 0.1, "x": 0.9}, SET, "MRR")
    assert f"3 of 3 queries {RANKED_BY_SCORE}: q0, q1, q2" in result.warnings()


def test_distances_decide_nothing() -> None:
    """AUROC asks for scores that are high where the engine is sure."""
    nothing = GoldenQuery("n", "unknown", expect=assay.Expect.NOTHING)
    both = TestSet("both", "v1", (*SET.queries, nothing))
    sure = assay.evaluate(lambda text: [("b", 0.9), ("x", 0.1)], both)
    assert sure["AUROC"] == 0.5
    far = assay.evaluate(lambda text: [("b", 0.1), ("x", 0.9)], both)
    assert "AUROC" not in map(str, far.scores.measures)
    with pytest.raises(UsageError, match="none that fall along its rankings"):
        assay.evaluate(lambda text: [("b", 0.1), ("x", 0.9)], both, "AUROC")


def test_ids_that_match_no_judgment_are_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        result = assay.evaluate(lambda text: ["B"], SET, "MRR")
        assert assay.score({"q": {"b": 1}}, {"q": {"B": 1.0}}, "MRR")["MRR"] == 0.0
    sentence = "no relevant document was retrieved: do run and qrels use the same document ids?"
    example = "results have ids such as B, B, B; judgments have ids such as b, b, b"
    said = [f"small: {sentence}", f"small: {example}", f"run: {sentence}"]
    assert caplog.messages == said
    assert result.warnings() == [sentence, example]
    assert result.to_dict()["warnings"] == [sentence, example]


def test_lists_from_python_keep_their_order(caplog: pytest.LogCaptureFixture) -> None:
    run = {"q": [("b", 0.1), ("x", 0.5)]}
    with caplog.at_level(logging.WARNING):
        assert assay.score({"q": {"b": 1}}, run, "MRR")["MRR"] == 1.0
    assert len(caplog.messages) == 1
    assert "do not fall along the list" in caplog.messages[0]
    assert assay.score({"q": {"b": 1}}, run, "MRR", rank_by="score")["MRR"] == 0.5
    assert assay.score({"q": {"b": 1}}, {"q": {"b": 0.1, "x": 0.5}}, "MRR")["MRR"] == 0.5


def test_a_table_of_arrow_is_scored_like_any_frame() -> None:
    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "x"], "score": [1.0, 2.0]})
    assert assay.score({"q": {"b": 1}}, ArrowTable(rows), "MRR")["MRR"] == 0.5


def test_a_retriever_that_leaves_fails_its_query_and_ends_nothing() -> None:
    def leaving(text: str) -> list[str]:
        raise SystemExit(0)

    queries = (GoldenQuery("q1", "aspirin", relevant_docs=(Judgment("d1", 1),)),)
    result = assay.evaluate(leaving, TestSet("tiny", "v1", queries), "MRR", max_errors=None)
    assert result.failed == ("q1",)


def test_a_table_without_rows_is_nothing_found() -> None:
    queries = (GoldenQuery("q1", "aspirin", relevant_docs=(Judgment("d1", 1),)),)
    result = assay.evaluate(lambda text: {"id": []}, TestSet("tiny", "v1", queries), "MRR")
    assert (result.failed, result["MRR"]) == ((), 0.0)


def test_results_by_other_judgments_are_not_compared() -> None:
    def made(relevant: str) -> assay.EvaluationResult:
        queries = (GoldenQuery("q1", "aspirin", relevant_docs=(Judgment(relevant, 1),)),)
        return assay.evaluate(lambda text: ["d1"], TestSet("tiny", "v1", queries), "MRR")

    with pytest.raises(UsageError, match="different test sets"):
        assay.compare(made("d1"), made("d2"))


REPEATED = "2 results of 1 of 2 queries repeat an earlier one: only the first counts"


@pytest.mark.req("E5")
def test_a_result_that_comes_twice_keeps_its_rank_and_is_counted(tmp_path: Path) -> None:
    """As design/003 has it, whoever ranks: a function, a service, a run file, a list."""
    lists = {"one": ["d2", "d2", "d2", "d3"], "two": ["d9"]}
    test_set = TestSet(
        "repeating",
        "v1",
        (
            GoldenQuery("q1", "one", relevant_docs=(Judgment("d3", 1), Judgment("d2", 1))),
            GoldenQuery("q2", "two", relevant_docs=(Judgment("d9", 1),)),
        ),
    )
    run = {"q1": lists["one"], "q2": lists["two"]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run))
    answers: list[Any] = [
        lambda text: lists[text],
        lambda text: [{"id": name, "score": 1 / at} for at, name in enumerate(lists[text], 1)],
        lambda text: {"results": [{"chunk_id": name} for name in lists[text]]},
        lambda text: pd.DataFrame({"doc_id": lists[text]}),
    ]
    found = [assay.evaluate(answer, test_set, "MAP") for answer in answers]
    found.append(
        assay.evaluate(run_file_system(str(file)).retrieve, test_set, "MAP", wants="query")
    )
    for result in found:
        assert result["MAP"] == pytest.approx((1 / 2 * (1 + 2 / 4) + 1) / 2)
        (said,) = [line for line in result.warnings() if "repeat" in line]
        assert said.startswith(REPEATED)
    qrels = {"q1": {"d3": 1, "d2": 1}, "q2": {"d9": 1}}
    for given in (run, file):
        scores = assay.score(qrels, given, "MAP")
        assert scores["MAP"] == found[0]["MAP"]
        (said,) = [line for line in scores.summary.notes() if "repeat" in line]
        assert said.startswith(REPEATED)


def test_spans_of_one_document_repeat_nothing() -> None:
    rows = [{"doc_id": "b", "spans": [[0, 5]]}, {"doc_id": "b", "spans": [[9, 12]]}]
    result = assay.evaluate(lambda text: rows, SET, "MRR")
    assert not [line for line in result.warnings() if "repeat" in line]


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ({"_shards": {"total": 5, "successful": 3, "failed": 2}}, "2 of 5 shards failed"),
        ({"timed_out": True}, "timed out"),
    ],
)
def test_an_answer_that_lacks_shards_is_not_taken_for_whole(
    lacking: dict[str, Any], said: str
) -> None:
    whole = {"timed_out": False, "_shards": {"total": 5, "failed": 0}, "hits": {"hits": ["d1"]}}
    assert len(as_outcome("q", whole).results) == 1
    mapping = HttpMapping(results="hits.hits")
    assert read_answer(json.dumps(whole).encode(), mapping)["results"] == ["d1"]
    with pytest.raises(UnreachableError, match=said):
        as_outcome("q", {**whole, **lacking})
    with pytest.raises(UnreachableError, match=said):
        read_answer(json.dumps({**whole, **lacking}).encode(), mapping)


@pytest.mark.parametrize(
    "made", ["5396a3c6-54df-47d0-957f-cad10e0b26b1", "5396a3c654df47d0957fcad10e0b26b1", "ab" * 32]
)
def test_an_id_that_a_library_made_up_gives_way_to_the_owners(made: str) -> None:
    own = [{"id": made, "metadata": {"id": "b"}}]
    assert assay.evaluate(lambda text: own, SET, "MRR")["MRR"] == 1.0
    chunk = {"id": made, "metadata": {"doc_id": "b"}}
    outcome = assay.evaluate(lambda text: [chunk], SET, "MRR").outcomes[0]
    assert (outcome.results[0].chunk_id, outcome.results[0].doc_id) == (made, "b")
    plain = [{"id": "x", "metadata": {"id": "b"}}]
    assert assay.evaluate(lambda text: plain, SET, "MRR")["MRR"] == 0.0


def test_ids_of_the_field_are_read() -> None:
    assert assay.evaluate(lambda text: [{"pmid": "b"}], SET, "MRR")["MRR"] == 1.0
    inner = assay.system(lambda text: [{"id": "x", "meta": {"id": "b"}}], id_field="meta.id")
    assert assay.evaluate(inner, SET, "MRR")["MRR"] == 1.0


def by_k(query: str, k: int) -> list[str]:
    return ["b"] * min(k, 1)


def by_limit(query: str, *, limit: int) -> list[str]:
    return ["b"] * min(limit, 1)


@pytest.mark.parametrize("search", [by_k, by_limit, lambda text, top_k, /: ["b"][:top_k]])
def test_a_function_that_must_know_how_many_is_told(search: Callable[..., list[str]]) -> None:
    assert assay.evaluate(search, SET, "MRR")["MRR"] == 1.0


def test_a_refusal_in_words_is_a_refusal() -> None:
    said = {"passages": [{"id": "b", "text": "It is so."}], "answer": "I don't know."}
    outcome = as_outcome("q", said)
    assert outcome.answer is not None
    assert not outcome.answer.grounded
    assert outcome.answer.text == "I don't know."
    assert outcome.warnings == (REFUSED_IN_WORDS,)
    for insisting in ({"grounded": True}, {"answer": {"text": "Unknown.", "grounded": True}}):
        kept = as_outcome("q", {**said, **insisting})
        assert kept.answer is not None
        assert kept.answer.grounded
    cited = as_outcome("q", {**said, "answer": "The context does not mention deaths [1]."})
    assert cited.answer is not None
    assert cited.answer.grounded


def test_a_refusal_in_words_is_counted_and_noted() -> None:
    to_refuse = assay.TestSet("t", "v1", (GoldenQuery("q", "lens?", expect=Expect.REFUSAL),))
    found = assay.evaluate(
        lambda text: {"passages": [{"id": "b"}], "answer": "I cannot answer this question."},
        to_refuse,
        "MRR",
    )
    values = {str(measure): value.value for measure, value in found.answers.items()}
    assert values["RefusalCorrectness"] == 1.0
    assert any("refused in words" in one for one in found.warnings())


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "It is 5 mg [1].", "contexts": ["The dose is 5 mg.", "Take it with food."]},
        {"response": "It is 5 mg [1].", "retrieved_contexts": ["The dose is 5 mg.", "With food."]},
        {"actual_output": "It is 5 mg [1].", "retrieval_context": ["The dose is 5 mg.", "x y"]},
    ],
)
def test_texts_beside_an_answer_are_passages(row: dict[str, Any]) -> None:
    outcome = as_outcome("q1", row)
    assert outcome.answer is not None
    (cited,) = outcome.answer.citations
    assert outcome.passages[cited] == "The dose is 5 mg."
    assert outcome.results[0].chunk_id == cited  # the same text has the same id in every run
    assert outcome.numbers is not None
    assert not outcome.numbers.unsupported
    assert as_outcome("q1", {"answer": "It is so.", "contexts": ["d1", "d2"]}).passages == {}


def test_a_response_of_a_search_engine_is_no_answer() -> None:
    outcome = as_outcome("q1", {"results": ["d1"], "response": "fine"})
    assert outcome.answer is None
