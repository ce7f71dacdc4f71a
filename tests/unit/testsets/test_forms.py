"""Do golden lists, workflow datasets, BEIR folders and TREC topics land in the same value?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import ProblemsError
from assay.model.answers import Expect
from assay.model.testset import Judgment, Level, SpeakerFilter, TestSet
from assay.testsets.export import FORMS, files, lost
from assay.testsets.load import Reading, ReadOptions, read_test_set
from tests.unit.testsets.samples import HEAD, fifty, golden, read, sound

GOLDEN_LIST = """# a query with no expected document should be refused
- id: g1
  query: warfarin dose
  expected_doc_ids: [PMC1, PMC2]
  expected_chunk_ids: ["PMC1:chunk_5"]
  must_contain: [5 mg]
  forbidden: [10 mg]
- id: g2
  query: price of gold
  expected_doc_ids: []
"""


@pytest.mark.req("K6")
def test_a_golden_list() -> None:
    first, second = sound(GOLDEN_LIST, "kebab.yaml").queries
    assert first.relevant_docs == (
        Judgment("PMC1:chunk_5", 1, doc_id="PMC1"),
        Judgment("PMC2", 1, level=Level.DOCUMENT),
    )
    assert (first.must_contain, first.forbidden) == (("5 mg",), ("10 mg",))
    assert (first.expect, second.expect) == (Expect.EVIDENCE, Expect.REFUSAL)


def test_a_golden_list_has_lines_too() -> None:
    text = GOLDEN_LIST + "- id: g2\n  query: again\n  expected: [x]\n- 5\n"
    found = [(problem.line, problem.message) for problem in read(text).problems]
    assert found == [
        (11, "the query_id 'g2' appears twice, first on line 8"),
        (11, "no relevant document"),
        (13, "the key 'expected' is unknown"),
        (14, "query 4 must be a mapping with id and query"),
    ]


DATASET = {
    "dataset_id": "test_set_v1",
    "interview_ids": ["interview_001", "interview_002"],
    "test_queries": [
        {
            "query_id": "test_q1",
            "query_text": "What headache symptoms were reported?",
            "relevant_segment_ids": ["uuid-1", "uuid-5", "uuid-12"],
            "speaker_filter": "PATIENT",
        },
        {
            "query_id": "test_q2",
            "query_text": "What questions did the clinician ask about sleep?",
            "relevant_segment_ids": [],
            "speaker_filter": "CLINICIAN",
        },
    ],
    "total_queries": 50,
}


@pytest.mark.req("W1")
def test_a_workflow_dataset() -> None:
    reading = read(json.dumps(DATASET, indent=1), "t.json")
    found = reading.sound()
    assert (found.name, found.version) == ("test_set_v1", "v1")
    assert found.queries[0].speaker_filter is SpeakerFilter.PATIENT
    assert [item.id for item in found.queries[0].relevant_docs] == ["uuid-1", "uuid-5", "uuid-12"]
    assert found.provenance == {
        "interview_ids": ["interview_001", "interview_002"],
        "skipped": {"test_q2": {"speaker_filter": "CLINICIAN"}},
    }
    assert "total_queries is 50, and the file holds 2" in str(reading.warnings[0])


@pytest.mark.req("W1")
def test_error_scenario_1_missing_ground_truth_is_skipped_with_a_warning() -> None:
    reading = read(json.dumps(DATASET, indent=1), "t.json")
    assert reading.sound().skipped == ("test_q2",)
    assert [query.query_id for query in reading.sound().queries] == ["test_q1"]
    assert "test_q2: no ground truth: the query is skipped" in str(reading.warnings[1])
    strict = read(json.dumps(DATASET, indent=1), "t.json", lenient=False)
    assert [problem.message for problem in strict.problems] == ["no relevant document"]


def beir(folder: Path, queries: str, qrels: str) -> Reading:
    (folder / "qrels").mkdir()
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    return read_test_set(folder)


def test_a_beir_folder(tmp_path: Path) -> None:
    reading = beir(
        tmp_path,
        '{"_id": "1", "text": "0-dimensional biomaterials"}\n{"_id": "2", "text": "unjudged"}\n',
        "query-id\tcorpus-id\tscore\n1\t31715818\t1\n1\t42\t0\n9\t5\t1\n",
    )
    (query,) = reading.sound().queries
    assert query.relevant_docs == (Judgment("31715818", 1), Judgment("42", 0))
    assert [str(warning) for warning in reading.warnings] == [
        f"{tmp_path}/queries.jsonl: 1 query without a judgment in test.tsv: left out",
        f"{tmp_path}/queries.jsonl: query 9 is judged in test.tsv and has no text: left out",
    ]


def test_a_beir_folder_lists_every_problem(tmp_path: Path) -> None:
    reading = beir(
        tmp_path,
        '{"_id": "1", "text": "one"}\n{"_id": "1", "text": "twice"}\n',
        "query-id\tcorpus-id\tscore\n1\ta\t4\n1\tb\t1\n1\tb\t2\n",
    )
    places = [(Path(one.source).name, one.line, one.message) for one in reading.problems]
    assert places == [
        ("test.tsv", 2, "the grade of a is 4"),
        ("queries.jsonl", 2, "the query '1' appears twice, first on line 1"),
        ("test.tsv", 4, "b is judged twice"),
    ]


@pytest.mark.parametrize("name", ["scifact", "nfcorpus", "med1033", "covidqa", "pubmedqa"])
def test_real_beir_folders(shared_data: Path, name: str) -> None:
    reading = read_test_set(shared_data / name)
    found = reading.sound()
    assert found.name == name
    assert len(found.queries) >= 30
    assert sound(files(found, "yaml")[f"{name}.yaml"]) == found


def test_trec_covid_topics(shared_data: Path) -> None:
    folder = shared_data / "trec_covid"
    (qrels,) = [path for path in (folder / "qrels").iterdir() if "round1" in path.name][:1]
    for field, text in (("title", "coronavirus origin"), ("question", "what is the origin of")):
        options = ReadOptions(qrels=qrels, field=field)
        found = read_test_set(folder / "topics" / "topics.covid-round1.xml", options).sound()
        assert len(found.queries) == 30
        assert found.queries[0].query_text.startswith(text)


TOPICS = {
    "classic": "<top>\n<num> Number: 301\n<title> Organized Crime\n\n<desc> Who?\n</top>",
    "lines": "301\tOrganized Crime\n",
}


@pytest.mark.parametrize("text", TOPICS.values(), ids=TOPICS)
def test_trec_topics(tmp_path: Path, text: str) -> None:
    (tmp_path / "topics.txt").write_text(text)
    (tmp_path / "qrels").write_text("301 0 FBIS-1 1\n301 0 FBIS-2 -1\n302 0 FBIS-1 1\n")
    reading = read_test_set(tmp_path / "topics.txt", ReadOptions(qrels=tmp_path / "qrels"))
    (query,) = reading.sound().queries
    assert (query.query_id, query.query_text) == ("301", "Organized Crime")
    assert query.relevant_docs == (Judgment("FBIS-1", 1),)
    assert "1 judgment below 0" in str(reading.warnings[0])


MEDICAL = {
    "clinical trials": (
        '<topics task="2021 TREC Clinical Trials">\n<topic number="1">\n  A 45-year-old man\n'
        "with asthma &amp; gout.\n</topic>\n</topics>",
        "A 45-year-old man with asthma & gout.",
        None,
    ),
    "precision medicine": (
        '<topic number="1">\n<disease>Melanoma</disease>\n<gene>BRAF (V600E)</gene>\n'
        "<demographic>64-year-old male</demographic>\n<other></other>\n</topic>",
        "Melanoma BRAF (V600E) 64-year-old male",
        "disease and gene and demographic",
    ),
    "clinical decisions": (
        '<topic number="1" type="diagnosis">\n<description>A long story.</description>\n'
        "<summary>Chest pain.</summary>\n</topic>",
        "Chest pain.",
        "summary",
    ),
    "only a description": (
        '<topic number="1"><description>A long story.</description></topic>',
        "A long story.",
        "description",
    ),
}


@pytest.mark.parametrize(("text", "wanted", "told"), MEDICAL.values(), ids=MEDICAL)
def test_topics_of_medical_tracks(tmp_path: Path, text: str, wanted: str, told: str | None) -> None:
    (tmp_path / "topics.xml").write_text(text)
    (tmp_path / "qrels").write_text("1 0 NCT1 2\n")
    reading = read_test_set(tmp_path / "topics.xml", ReadOptions(qrels=tmp_path / "qrels"))
    assert [query.query_text for query in reading.sound().queries] == [wanted]
    said = " ".join(map(str, reading.warnings))
    assert (f"read from {told};" in said) if told else "read from" not in said


BAD_TOPICS = {
    "no number": ("<top>\n<title> x\n</top>", 1, "without <num>"),
    "no title": ("<top>\n<num> 1\n<desc> x\n</top>", 1, "without <title>"),
    "no tab": ("1\tone\n2 two\n", 2, "no tab"),
    "Latin-1": ("1\tSjögren\n".encode("latin-1"), None, "UTF-8"),
}


@pytest.mark.parametrize(("text", "line", "message"), BAD_TOPICS.values(), ids=BAD_TOPICS)
def test_bad_topics(tmp_path: Path, text: str | bytes, line: int | None, message: str) -> None:
    data = text.encode() if isinstance(text, str) else text
    (tmp_path / "topics").write_bytes(data)
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (problem, *_) = read_test_set(
        tmp_path / "topics", ReadOptions(qrels=tmp_path / "qrels")
    ).problems
    assert problem.line == line
    assert message in problem.message


def written(folder: Path, test_set: TestSet, form: str) -> Path:
    for name, text in files(test_set, form).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_every_form_reads_back(tmp_path: Path, form: str) -> None:
    one = fifty()
    folder = written(tmp_path, one, form)
    if form == "beir":
        again = read_test_set(folder).sound()
    elif form == "trec":
        options = ReadOptions(qrels=folder / "fifty.qrels")
        again = read_test_set(folder / "fifty.topics.tsv", options).sound()
    else:
        (path,) = folder.iterdir()
        again = read_test_set(path).sound()
    assert [query.query_id for query in again.queries] == [q.query_id for q in one.queries]
    assert [query.query_text for query in again.queries] == [q.query_text for q in one.queries]
    level = Level.DOCUMENT if form == "golden-list" else None  # the list says what its ids are
    assert [query.relevant_docs for query in again.queries] == [
        tuple(replace(judged, level=level) for judged in q.relevant_docs) for q in one.queries
    ]
    if not lost(one, form) and form != "golden-list":
        assert again.queries == one.queries


def test_a_golden_list_keeps_chunks_documents_and_refusals() -> None:
    first, second = sound(GOLDEN_LIST).queries
    text = files(TestSet("g", "v1", (first, second)), "golden-list")["g.golden.yaml"]
    assert sound(text).queries == (first, second)


def test_what_a_form_loses_is_said() -> None:
    one = TestSet(
        "t",
        "v1",
        (
            golden("q1", relevant_docs=(Judgment("d", 3, ((0, 9),)),), must_contain=("x",)),
            golden("q2", expect=Expect.REFUSAL, relevant_docs=()),
        ),
    )
    assert lost(one, "yaml") == []
    assert lost(one, "trec") == ["spans", "expect: refusal", "must_contain and forbidden"]
    assert lost(one, "golden-list") == ["spans", "grades"]


def test_a_file_that_is_not_there_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match=r"no queries\.jsonl"):
        read_test_set(tmp_path).sound()
    (tmp_path / "t.yaml").write_text(HEAD)
    with pytest.raises(ProblemsError, match="holds no query"):
        read_test_set(tmp_path / "t.yaml").sound()


def test_an_id_that_a_golden_list_repeats_is_expected_once() -> None:
    text = "- {id: q1, query: x, expected_doc_ids: [D3, D3], expected_chunk_ids: [c1, c1, c2]}\n"
    (query,) = sound(text).queries
    assert [judgment.id for judgment in query.relevant_docs] == ["c1", "c2"]
