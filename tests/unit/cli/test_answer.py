"""Does ``assay answer`` answer with sources, or say why not? On the demo corpus, by words alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.ingest import read_corpus
from assay.measures.answers import AnswerRecord
from assay.model.answers import Expect
from assay.settings import configure
from tests.unit.answers.model_server import ModelServer, says

CORPUS = Path(assay.__file__).parent / "data" / "corpus"
SETTINGS = {"components": "bm25", "dense_model": "none", "splade_model": "none"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers") / "home"
    with Workspace(configure({"home": folder, **SETTINGS})) as workspace:
        for part in sorted(CORPUS.iterdir()):
            if part.name != "README.md":
                workspace.store_documents(read_corpus(part))
        workspace.update_index()
    return folder


@pytest.fixture(autouse=True)
def settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(home))
    for name, value in SETTINGS.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", value)


def test_an_answer_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["answer", "velcarenone gynecomastia"]) == 0
    out = capsys.readouterr().out
    assert "gynecomastia was reported in 0.2% of each group. [1]" in out
    assert "\n[1] label-nephrava:chunk_4  NEPHRAVA (velcarenone)\n" in out


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["answer", "velcarenone gynecomastia", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"]["grounded"] is True
    assert found["answer"]["citations"] == [source["chunk_id"] for source in found["sources"]]
    assert found["answerer"].startswith("extractive(")


def test_a_refusal_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["answer", "cataract surgery lens choice"]) == 0
    assert capsys.readouterr().out.startswith("no answer: nothing here is about")


def test_a_service_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with ModelServer(says("Rarely [1]. Never [99].")) as server:
        code = run(
            ["answer", "velcarenone gynecomastia", "--answerer", server.url, "--answer-model", "m"]
        )
    out = capsys.readouterr().out
    assert code == 0
    assert out.startswith("Rarely [1]. Never [2].")
    assert "[2] [99]  (there is no such source)" in out


@pytest.fixture(scope="module")
def records(home: Path) -> list[AnswerRecord]:
    rows = []
    with Workspace(configure({"home": home, **SETTINGS})) as workspace:
        for name in ("test_set_v1", "test_set_v1_extras"):
            for query in assay.load_test_set(name).queries:
                found = workspace.answer(query.query_text)
                assert found.response is not None
                known = workspace.present(found.answer.citations)
                rows.append(
                    AnswerRecord(
                        query.query_id,
                        query.expect,
                        found.answer,
                        len(found.response.results),
                        must_contain=query.must_contain,
                        forbidden=query.forbidden,
                        known_citations=known,
                    )
                )
    return rows


@pytest.mark.slow
@pytest.mark.req("K4", "K5", "K6", "K7")
def test_the_measures_of_answers_are_real_on_the_demo(records: list[AnswerRecord]) -> None:
    values = {
        measure.key: outcome.value for measure, outcome in assay.score_answers(records).items()
    }
    assert values["citation_coverage"] == 1.0
    assert {row.expect for row in records if not row.results} <= {Expect.NOTHING}
    assert (values["empty_result_rate"] or 0) <= 0.05
    assert (values["groundedness"] or 0) >= 0.5
    assert (values["refusal_correctness"] or 0) >= 0.5


@pytest.mark.req("K6")
def test_refusing_everything_would_not_do(records: list[AnswerRecord]) -> None:
    answered = [row.answer.grounded for row in records if row.answer]
    sensible = [row for row in records if row.expect is Expect.EVIDENCE]
    assert sum(row.answer.grounded for row in sensible if row.answer) >= 0.6 * len(sensible)
    assert not all(answered)


def test_a_page_stands_beside_what_is_cited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "home"
    monkeypatch.setenv("ASSAY_HOME", str(place))
    row = {"doc_id": "report", "text": "The dose of examplol is 5 mg once daily."}
    with Workspace(configure({"home": place, **SETTINGS})) as workspace:
        workspace.add([{**row, "metadata": {"page": "2-3"}}])
    assert run(["answer", "dose of examplol"]) == 0
    assert "[1] report:chunk_0, page 2-3" in capsys.readouterr().out
    assert run(["answer", "dose of examplol", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sources"][0]["page"] == "2-3"
    assert run(["search", "dose of examplol"]) == 0
    assert "report:chunk_0 · page 2-3" in capsys.readouterr().out
