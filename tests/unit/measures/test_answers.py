import pytest

import assay
from assay.errors import UsageError
from assay.measures.answers import AnswerRecord
from assay.model.answers import Answer, Expect, NumberCheck


def record(query: str, **fields: object) -> AnswerRecord:
    return AnswerRecord(query, **fields)  # type: ignore[arg-type]


def measured(name: str, *records: AnswerRecord) -> tuple[float | None, str | None]:
    (outcome,) = assay.score_answers(records, name).values()
    return outcome.value, outcome.reason


@pytest.mark.req("K4")
def test_citation_coverage_with_a_broken_citation() -> None:
    chunks = frozenset({"PMC1:chunk_1", "PMC1:chunk_2"})
    whole = Answer("yes", ("PMC1:chunk_1", "PMC1:chunk_2"))
    broken = Answer("yes", ("PMC1:chunk_1", "PMC9:chunk_9"))
    records = [
        record("q1", answer=whole, known_citations=chunks.intersection(whole.citations)),
        record("q2", answer=broken, known_citations=chunks.intersection(broken.citations)),
        record("q3", answer=Answer("uncited"), known_citations=chunks),
        record("q4", answer=Answer("no", grounded=False)),
        record("q5"),
    ]
    assert measured("CitationCoverage", *records)[0] == pytest.approx(1 / 3)
    assert measured("CitationCoverage", records[1]) == (0.0, None)


@pytest.mark.req("K5")
def test_groundedness_is_false_when_a_forbidden_string_appears() -> None:
    good = record(
        "q1", answer=Answer("renal dosing 5 mg"), must_contain=("5 mg",), forbidden=("10 mg",)
    )
    bad = record("q2", answer=Answer("5 mg or 10 mg"), must_contain=("5 mg",), forbidden=("10 mg",))
    partial = record("q3", answer=Answer("5 mg"), must_contain=("5 mg", "renal"))
    assert measured("Groundedness", good, bad, partial)[0] == pytest.approx(1 / 3)


@pytest.mark.req("K5")
def test_groundedness_leaves_out_unconfigured_and_refusal_queries() -> None:
    unconfigured = record("q1", answer=Answer("x"))
    refusal = record("q2", expect=Expect.REFUSAL, answer=Answer("x"), must_contain=("x",))
    value, reason = measured("Groundedness", unconfigured, refusal)
    assert value is None
    assert reason is not None
    assert "must_contain" in reason


def test_groundedness_evens_out_unicode_forms_only() -> None:
    composed = record("q", answer=Answer("Sjögren"), must_contain=("Sjo\u0308gren",))
    other_case = record("q", answer=Answer("sjögren"), must_contain=("Sjögren",))
    assert measured("Groundedness", composed)[0] == 1.0
    assert measured("Groundedness", other_case)[0] == 0.0


@pytest.mark.req("K6")
def test_refusal_correctness_when_all_were_refused() -> None:
    refused = record("q1", expect=Expect.REFUSAL, answer=Answer("", grounded=False))
    answered = record("q2", expect=Expect.REFUSAL, answer=Answer("sure"))
    assert measured("RefusalCorrectness", refused) == (1.0, None)
    assert measured("RefusalCorrectness", refused, answered) == (0.5, None)


@pytest.mark.req("K6")
def test_refusal_correctness_without_answers_is_undefined() -> None:
    value, reason = measured("RefusalCorrectness", record("q", expect=Expect.REFUSAL))
    assert value is None
    assert reason == "no query that should be refused has an answer"


FAILED = (
    record("q2", answer_failed=True, results=3, must_contain=("x",)),
    record("q3", answer_failed=True, results=3, expect=Expect.REFUSAL),
    record("q4", failed=True, must_contain=("x",)),
    record("q5", failed=True, expect=Expect.REFUSAL),
)


@pytest.mark.req("K4", "K5", "K6")
def test_a_failed_answer_lowers_no_denominator() -> None:
    good = record(
        "q1",
        answer=Answer("x", ("c",)),
        known_citations=frozenset({"c"}),
        must_contain=("x",),
        results=1,
    )
    found = assay.score_answers([good, *FAILED])
    assert {str(measure): (one.value, one.n) for measure, one in found.items()} == {
        "CitationCoverage": (1 / 3, 3),  # those to refuse would have cited nothing
        "Groundedness": (1 / 3, 3),
        "NumberSupport": (None, 0),  # nobody stated a number or was to state one
        "RefusalCorrectness": (0.0, 2),
        "EmptyResultRate": (0.0, 3),
    }


@pytest.mark.req("K4", "K6")
def test_a_failed_answer_counts_only_where_the_test_set_expects_one() -> None:
    cited = {"answer": Answer("x", ("c",)), "known_citations": frozenset({"c"})}
    records = [
        record("q1", **cited),
        record("q2", expect=Expect.NOTHING, **cited),
        record("q3", expect=Expect.REFUSAL, answer=Answer("", grounded=False)),
        record("q4", expect=Expect.REFUSAL, answer_failed=True),
        record("q5", expect=Expect.NOTHING, answer_failed=True),
    ]
    found = {str(name): one for name, one in assay.score_answers(records).items()}
    assert (found["CitationCoverage"].value, found["CitationCoverage"].n) == (1.0, 2)
    assert (found["RefusalCorrectness"].value, found["RefusalCorrectness"].n) == (0.5, 2)
    assert found["NumberSupport"].reason == "no answer states a number that was checked"


@pytest.mark.req("K4", "K5", "K6")
def test_where_every_answer_failed_nothing_is_right_and_nothing_undefined() -> None:
    for name in ("CitationCoverage", "Groundedness", "RefusalCorrectness"):
        assert measured(name, *FAILED) == (0.0, None)


@pytest.mark.req("K6")
def test_a_search_that_failed_is_no_answer_of_a_system_that_gives_none() -> None:
    for name in ("CitationCoverage", "Groundedness", "RefusalCorrectness"):
        assert measured(name, *FAILED[2:])[0] is None


@pytest.mark.req("K7")
def test_empty_result_rate() -> None:
    records = [record("q1", results=3), record("q2"), record("q3", failed=True)]
    assert measured("EmptyResultRate", *records) == (0.5, None)
    assert measured("EmptyResultRate")[1] == "no query was run"


def test_a_ranking_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="not a measure of answers"):
        assay.score_answers([], "nDCG@10")


def test_number_support_counts_answers_whose_numbers_the_sources_have() -> None:
    sound = record("q1", answer=Answer("5 mg", ("c",)), numbers=NumberCheck(1))
    invented = record("q2", answer=Answer("7 mg", ("c",)), numbers=NumberCheck(1, ("7 mg",)))
    without = record("q3", answer=Answer("daily", ("c",)), numbers=NumberCheck(0))
    refused = record("q4", answer=Answer("", grounded=False))
    assert measured("NumberSupport", sound, invented, without, refused) == (0.5, None)
    failed = record("q5", answer_failed=True, must_contain=("IL-6", "10 mg"))
    assert measured("NumberSupport", sound, invented, failed)[0] == pytest.approx(1 / 3)
    for other in (
        record("q5", answer_failed=True, must_contain=("IL-6", "daily")),
        record("q5", answer_failed=True, expect=Expect.REFUSAL, must_contain=("10 mg",)),
        record("q5", answer_failed=True, expect=Expect.NOTHING),
    ):
        assert measured("NumberSupport", sound, invented, other)[0] == 0.5


def test_number_support_is_undefined_where_nothing_was_checked() -> None:
    older = record("q1", answer=Answer("5 mg", ("c",)))
    assert measured("NumberSupport", older) == (None, "no answer states a number that was checked")


def test_number_support_is_computed_where_nobody_names_measures() -> None:
    found = assay.score_answers([record("q1", answer=Answer("5"), numbers=NumberCheck(1, ("5",)))])
    assert {str(measure): outcome.value for measure, outcome in found.items()}[
        "NumberSupport"
    ] == 0.0


def test_the_work_grows_with_the_number_of_answers() -> None:
    reads: list[str] = []

    class Watched(AnswerRecord):
        def __getattribute__(self, name: str) -> object:
            reads.append(name)
            return super().__getattribute__(name)

    def work(count: int) -> int:
        reads.clear()
        assay.score_answers([Watched(f"q{n}", results=5) for n in range(count)], "EmptyResultRate")
        return len(reads)

    assert work(200) <= 2 * work(100)
