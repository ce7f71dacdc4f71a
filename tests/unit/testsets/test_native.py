"""Does every bad test set come back with all its problems and their lines?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

import assay
from assay import limits
from assay.errors import ProblemsError
from assay.model.answers import Expect
from assay.model.document import IngestionMode
from assay.model.testset import Level, QueryType, SpeakerFilter, TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.testsets.write import as_plain, as_yaml
from tests.unit.testsets.samples import HEAD, QUERY, any_test_sets, read, sound

pytestmark = pytest.mark.req("E4")


def query(**fields: str) -> str:
    """A YAML file with one query, whose fields are on known lines: 4, 5, 6 ..."""
    parts = {
        "query_id": "q1",
        "query_text": "warfarin dose",
        "relevant_docs": "[{doc_id: d1, grade: 1}]",
        **fields,
    }
    lines = [f"    {key}: {value}" for key, value in parts.items()]
    return HEAD + "  -" + "\n".join(lines)[3:] + "\n"


WRITTEN = ["no", "NO", "012", "1_000", "12:30:45", "2024-03-15", "1e3", "true", "31415926", "0x1F"]


@pytest.mark.parametrize("text", WRITTEN)
def test_what_a_person_wrote_stays_text(text: str) -> None:
    found = sound(
        query(
            query_id=text,
            query_text=text,
            relevant_docs=f"[{{doc_id: {text}, grade: 2}}]",
            must_contain=f"[{text}]",
            group=text,
        )
    )
    (golden,) = found.queries
    assert golden.query_id == golden.query_text == golden.group == text
    assert golden.relevant_docs[0].id == golden.must_contain[0] == text


@pytest.mark.req("K1")
def test_a_judgment_may_say_whether_it_is_a_chunk_or_a_document() -> None:
    written = (
        "[{doc_id: d1, grade: 1}, {doc_id: d2, grade: 1, level: document},"
        " {chunk_id: c-3, grade: 1}, {doc_id: c-4, grade: 1, level: chunk},"
        " {doc_id: d5, chunk_id: c-5, grade: 1, level: chunk},"
        ' {chunk_id: "d6:chunk_1", grade: 1}]'
    )
    found = sound(query(relevant_docs=written))
    judged = found.queries[0].relevant_docs
    assert [one.level for one in judged] == [
        None, Level.DOCUMENT, Level.CHUNK, Level.CHUNK, None, None,
    ]  # fmt: skip
    assert [one.document for one in judged] == ["d1", "d2", None, None, "d5", "d6"]
    assert sound(as_yaml(found)) == found
    assert sound(json.dumps(as_plain(found)), "t.json") == found
    assert from_plain(json.loads(json.dumps(to_plain(found)))) == found
    plain = sound(query(relevant_docs=written.replace(", level: document", "")))
    assert plain.checksum != found.checksum


def test_a_chunk_is_no_document() -> None:
    found = read(query(relevant_docs="[{chunk_id: c, grade: 1, level: document}]")).problems
    assert [problem.message for problem in found] == ["level: document, and yet a chunk_id"]


def grade(value: str) -> str:
    return query(relevant_docs=f"[{{doc_id: d1, grade: {value}}}]")


def two(first: str, second: str) -> str:
    return HEAD + QUERY.replace("q1", first) + QUERY.replace("q1", second)


BAD: dict[str, tuple[str | bytes, int | None, str]] = {
    "alias bomb": (query(group="&a [x]") + "    forbidden: [*a, *a]\n", 7, "anchor"),
    "alias in itself": (query(forbidden="&a [*a]"), 7, "anchor &a"),
    "duplicate key": (query() + "    query_id: q2\n", 7, "'query_id' appears twice"),
    "null id": (query(query_id="~"), 4, "query_id is missing"),
    "empty id": (query(query_id='""'), 4, "query_id is missing"),
    "nan id": (query(query_id=".nan"), 4, "query_id '.nan' is not allowed"),
    "path id": (query(query_id="../../etc"), 4, "not allowed"),
    "long id": (query(query_id="a" * 300), 4, "not allowed"),
    "trailing space in id": (query(query_id='"q1 "'), 4, "not allowed"),
    "non-ASCII id": (query(query_id="ﬁrst"), 4, "not allowed"),
    "nan grade": (grade(".nan"), 6, "the grade is .nan"),
    "infinite grade": (grade(".inf"), 6, "the grade is .inf"),
    "huge float grade": (grade("1e999"), 6, "the grade is 1e999"),
    "5,000 digits": (grade("9" * 5000), 6, "the grade is 9999"),
    "grade of 2**63": (grade(str(2**63)), 6, "the grade is 9223372036854775808"),
    "true as grade": (grade("true"), 6, "the grade is true"),
    "text as grade": (grade('"3"'), 6, 'the grade is "3"'),
    "grade 4": (grade("4"), 6, "the grade is 4"),
    "grade -1": (grade("-1"), 6, "the grade is -1"),
    "grade 2.5": (grade("2.5"), 6, "the grade is 2.5"),
    "octal grade": (grade("03"), 6, "the grade is 03"),
    "no grade": (
        query(relevant_docs="[{doc_id: d1}, {doc_id: d2, grade: 1}]"), 6, "grade is missing"
    ),
    "relevant beside grades": (
        query(relevant_docs="[{doc_id: d1, relevant: true}, {doc_id: d2, grade: 1}]"),
        6,
        "relevant stands in a set with grades",
    ),
    "relevant is a word": (
        query(relevant_docs="[{doc_id: d1, relevant: perhaps}]"), 6, "must be true or false"
    ),
    "list as grade": (grade("[3]"), 6, "the grade is a list"),
    "timestamp tag": (query(query_text="!!timestamp foo"), 5, "tag"),
    "python tag": (query(query_text="!!python/object/apply:os.system [ls]"), 5, "tag"),
    "binary tag": (query(query_text="!!binary rubbish"), 5, "tag"),
    "1,000 brackets": (query(forbidden="[" * 1000), 7, "nested deeper"),
    "two documents": (query() + "---\na: 1\n", 7, "second document"),
    "empty file": ("", None, "the file is empty"),
    "only comments": ("# later\n", None, "the file is empty"),
    "top level scalar": ("hello\n", 1, "is a mapping with name"),
    "NUL": (query(query_text="a\0b"), 5, "U+0000"),
    "escaped NUL": (query(query_text='"a\\0b"'), 5, "U+0000"),
    "tab": (HEAD + "\t- query_id: q1\n", 4, "not valid YAML"),
    "UTF-16": (query().encode("utf-16"), 1, "UTF-8"),
    "Latin-1": (query(query_text="Sjögren").encode("latin-1"), 5, "UTF-8"),
    "lone surrogate": (query(query_text='"\\ud800"'), 5, ""),
    "zero relevant": (query(relevant_docs="[]"), 6, "no relevant document"),
    "all grades 0": (grade("0"), 6, "every grade is 0"),
    "judged twice": (
        query(relevant_docs="[{doc_id: d1, grade: 1}, {doc_id: d1, grade: 1}]"),
        6,
        "d1 is judged twice",
    ),
    "two grades": (
        query(relevant_docs="\n      - {doc_id: d1, grade: 1}\n      - {doc_id: d1, grade: 2}"),
        8,
        "d1 is judged twice with the grades 1 and 2, first on line 7",
    ),
    "NFC and NFD": (
        query(relevant_docs='[{doc_id: "é", grade: 1}, {doc_id: "e\\u0301", grade: 1}]'),
        6,
        "judged twice",
    ),
    "blank in judged id": (query(relevant_docs='[{doc_id: "d 1", grade: 1}]'), 6, "blanks"),
    "non-breaking space": (query(relevant_docs='[{doc_id: "d\\u00a01", grade: 1}]'), 6, "blanks"),
    "long judged id": (query(relevant_docs=f"[{{doc_id: {'d' * 600}, grade: 1}}]"), 6, "longer"),
    "duplicate ids": (two("q1", "q1"), 9, "'q1' appears twice, first on line 4"),
    "case twins": (two("q1", "Q1"), 9, "differ in case only, first on line 4"),
    "empty text": (query(query_text='""'), 5, "query_text is missing"),
    "blank text": (query(query_text='"  "'), 5, "blank"),
    "1 MB text": (query(query_text="x" * (1 << 20)), 5, "1,048,576 characters"),
    "unknown type": (query(query_type="exact"), 7, "query_type 'exact' is unknown"),
    "type in capitals": (query(query_type="Exact_Term"), 7, "query_type 'Exact_Term' is unknown"),
    "unknown expectation": (query(expect="maybe"), 7, "expect 'maybe' is unknown"),
    "refusal with evidence": (query(expect="refusal"), 6, "yet a document is relevant"),
    "unknown speaker": (query(speaker_filter="NURSE"), 7, "speaker_filter 'NURSE' is unknown"),
    "unknown key": (query(querytype="exact_term"), 7, "'querytype' is unknown"),
    "span backwards": (
        query(relevant_docs="[{doc_id: d1, grade: 1, spans: [[9, 3]]}]"), 6, "a span is"
    ),
    "span of one": (query(relevant_docs="[{doc_id: d1, grade: 1, spans: [[9]]}]"), 6, "a span is"),
    "judgment is text": (
        query(relevant_docs="[d1, {doc_id: d2, grade: 1}]"), 6, "a judgment is {doc_id"
    ),
    "judgment is a list": (query(relevant_docs="[[d1]]"), 6, "a judgment is {doc_id"),
    "skipped and there": (
        HEAD.replace("queries:", "skipped: [q1]\nqueries:") + QUERY, None, "skipped names 'q1'"
    ),
    "skipped twice": (
        HEAD.replace("queries:", "skipped: [q8, q8]\nqueries:") + QUERY, None, "'q8' twice"
    ),
    "judgments are text": (query(relevant_docs="d1"), 6, "relevant_docs must be a list"),
    "query is text": (HEAD + "  - q1\n", 4, "query 1 must be a mapping"),
    "text is a list": (query(query_text="[a]"), 5, "query_text must be a single text"),
    "0 queries": ("name: t\nversion: v1\nqueries: []\n", None, "holds no query"),
    "no version": ("name: t\nqueries:\n" + QUERY, 1, "version is missing"),
    "name with a slash": (HEAD.replace("t\n", "a/b\n", 1) + QUERY, None, "name 'a/b'"),
    "required and forbidden": (
        query(must_contain="[5 mg]", forbidden="[5 mg]"), 8, "both required and forbidden"
    ),
    "empty required text": (query(must_contain='[""]'), 7, "an empty text in must_contain"),
    "held out unknown": (HEAD + QUERY + "held_out: {seed: 1, query_ids: [q9]}\n", 9, "'q9'"),
    "all held out": (HEAD + QUERY + "held_out: {seed: 1, query_ids: [q1]}\n", 9, "every query"),
    "seed is text": (HEAD + QUERY + "held_out: {seed: x, query_ids: []}\n", 9, "seed must be"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), BAD.values(), ids=BAD)
def test_a_bad_set_is_refused_with_its_line(
    text: str | bytes, line: int | None, message: str
) -> None:
    reading = read(text)
    assert reading.test_set is None
    found = [(problem.line, problem.message) for problem in reading.problems]
    assert any(at == line and message in said for at, said in found), found
    assert all(problem.source == "t.yaml" for problem in reading.problems)
    with pytest.raises(ProblemsError, match="problem"):
        reading.sound()


def test_a_top_level_list_is_a_golden_list() -> None:
    assert read("- query_id: q1\n").form == "golden-list"


def test_every_problem_is_listed_at_once() -> None:
    text = HEAD + (
        "  - query_id: q1\n"
        "    query_text: &anchor one\n"
        "    query_type: fuzzy\n"
        "    relevant_docs:\n"
        "      - {doc_id: d1, grade: 4}\n"
        "      - {doc_id: d1, grade: true}\n"
        "  - query_id: q1\n"
        "    query_text: two\n"
        "    query_text: three\n"
        "    relevant_docs: [{doc_id: d2, grade: 0}]\n"
        "  - query_text: !!binary four\n"
        "    speaker_filter: patient\n"
        "    relevant_docs: [{doc_id: d3, grade: 1}]\n"
    )
    reading = read(text)
    assert [problem.line for problem in reading.problems] == [5, 6, 8, 9, 10, 12, 13, 14, 14, 15]
    with pytest.raises(ProblemsError) as caught:
        reading.sound()
    assert caught.value.message.startswith("t.yaml has 10 problems\n  t.yaml:5: the anchor")
    assert len(caught.value.problems) == 10
    assert caught.value.exit_code == 2


def test_a_long_list_of_problems_is_cut_in_the_message_only() -> None:
    text = HEAD + "".join(QUERY.replace("q1", f"q{at}").replace("3}", "9}") for at in range(50))
    with pytest.raises(ProblemsError, match=r"\.\.\. and 30 more") as caught:
        sound(text)
    assert len(caught.value.problems) == 50


def test_a_hint_names_what_was_meant() -> None:
    (problem,) = read(query(speaker_filter="patient")).problems
    assert problem.hint == "did you mean PATIENT? it is one of ALL, PATIENT, CLINICIAN"
    assert str(problem).startswith("t.yaml:7: q1: speaker_filter 'patient' is unknown (did you")


GOOD = {
    "byte order mark": b"\xef\xbb\xbf" + query().encode(),
    "emoji": query(query_text="💊 dose?"),
    "right to left": query(query_text="جرعة الوارفارين"),
    "CRLF": query().replace("\n", "\r\n"),
    "notes": query(notes="asked twice a day"),
    "1 query": query(),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_what_is_unusual_and_sound(text: str | bytes) -> None:
    assert len(sound(text).queries) == 1


def test_every_field_of_the_contract() -> None:
    (golden,) = sound(
        query(
            query_type="paraphrase",
            expect="evidence",
            relevant_docs="[{doc_id: PMC1, chunk_id: PMC1:chunk_5, grade: 3, spans: [[120, 840]]}]",
            speaker_filter="PATIENT",
            ingestion_mode="LIVE",
            must_contain="[5 mg]",
            forbidden="[10 mg]",
            group="interview_001",
        )
    ).queries
    assert golden.query_type is QueryType.PARAPHRASE
    assert golden.expect is Expect.EVIDENCE
    assert golden.speaker_filter is SpeakerFilter.PATIENT
    assert golden.ingestion_mode is IngestionMode.LIVE
    assert golden.must_contain == ("5 mg",)
    assert golden.forbidden == ("10 mg",)
    assert golden.group == "interview_001"
    (judgment,) = golden.relevant_docs
    assert (judgment.id, judgment.doc_id) == ("PMC1:chunk_5", "PMC1")
    assert judgment.spans == ((120, 840),)


def test_refusal_and_nothing_need_no_judgment() -> None:
    for expect in ("refusal", "nothing"):
        assert sound(query(expect=expect, relevant_docs="[]")).queries[0].expect.value == expect


@pytest.mark.slow
def test_ten_thousand_queries() -> None:
    text = HEAD + "".join(QUERY.replace("q1", f"q{at}") for at in range(10_000))
    assert len(sound(text).queries) == 10_000


def test_more_queries_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_TEST_SET_QUERIES", 1)
    (problem,) = read(two("q1", "q2")).problems
    assert "2 queries" in problem.message


def test_a_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.testsets.load.limits.MAX_YAML_BYTES", 10)
    (problem,) = read(query()).problems
    assert problem.message == "larger than 10 bytes"


@pytest.mark.parametrize("known", [{"d1"}, {"d1"}.__contains__], ids=["set", "function"])
def test_judged_ids_must_exist_in_the_index(known: object) -> None:
    assert len(sound(query(), known_ids=known).queries) == 1
    (problem,) = read(
        query(relevant_docs="\n      - {doc_id: d1, grade: 1}\n      - {doc_id: gone, grade: 0}"),
        known_ids=known,
    ).problems
    assert (problem.line, problem.message) == (8, "gone is not in the index")


def test_a_chunk_and_its_document_must_both_exist() -> None:
    text = query(relevant_docs="[{doc_id: D, chunk_id: d1, grade: 1}]")
    (problem,) = read(text, known_ids={"d1"}).problems
    assert problem.message == "D is not in the index"


def test_lenient_reading_skips_and_counts_what_has_no_ground_truth() -> None:
    text = HEAD + QUERY + "  - {query_id: q2, query_text: unjudged}\n"
    text += "held_out: {seed: 1, query_ids: [q2]}\n"
    reading = read(text, lenient=True)
    found = reading.sound()
    assert [query.query_id for query in found.queries] == ["q1"]
    assert found.skipped == ("q2",)
    assert str(reading.warnings[0]) == "t.yaml:9: q2: no ground truth: the query is skipped"
    assert read(text).test_set is None


def test_lenient_reading_does_not_hide_bad_judgments() -> None:
    assert read(grade("9"), lenient=True).test_set is None


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(test_set=any_test_sets())
def test_yaml_and_json_read_back_as_the_same_set(test_set: TestSet) -> None:
    for text, source in (
        (as_yaml(test_set), "t.yaml"),
        (json.dumps(as_plain(test_set)), "t.json"),
        (json.dumps(as_plain(test_set), indent=1, ensure_ascii=False), "upload"),
    ):
        again = sound(text, source)
        assert again == test_set
        assert again.checksum == test_set.checksum


def test_the_checksum_changes_with_what_counts() -> None:
    one = sound(query())
    assert sound(query(notes="a remark")).checksum == one.checksum
    for other in (
        grade("2"),
        query(query_text="other"),
        query(group="g"),
        query(must_contain="[x]"),
    ):
        assert sound(other).checksum != one.checksum
    assert assay.TestSet is TestSet


@pytest.mark.parametrize(
    ("typed", "meant"), [("text", "query_text"), ("type", "query_type"), ("refrence", "reference")]
)
def test_an_unknown_key_is_told_which_one_is_meant(typed: str, meant: str) -> None:
    problems = read(query(**{typed: "warfarin"})).problems
    hints = [one.hint for one in problems if typed in one.message]
    assert hints == [f"did you mean {meant}?"]
