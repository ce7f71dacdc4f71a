"""Do suggested questions have an answer, measure something, and stay marked as synthetic?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.annotation.adjudicate import Settled
from assay.annotation.sample_file import read_sample
from assay.annotation.swap import ready_queries, successor
from assay.app import first_set, testsets
from assay.app.annotation import open_desk
from assay.app.held_out import masked
from assay.app.suggestions import ANSWERABLE, suggest
from assay.app.workspace import Workspace
from assay.errors import UsageError
from assay.ingest import read_corpus
from assay.model.annotation import Item
from assay.model.testset import GoldenQuery, HeldOut, Judgment, TestSet
from assay.model.testset_json import to_plain
from assay.render.evaluation import result_tables
from assay.settings import configure
from assay.testsets.draft import DraftSet
from assay.testsets.export import files, lost
from assay.testsets.load import parse_test_set, shipped_folder
from assay.testsets.public import read_beir, read_trec
from assay.testsets.write import as_yaml
from tests.unit.answers.model_server import ModelServer, says
from tests.unit.http.conftest import SETTINGS, home, small_home  # noqa: F401 - fixtures

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The demo corpus, by words only."""
    place = tmp_path_factory.mktemp("demo")
    with Workspace(configure({"home": place, **SETTINGS}, environ={}, folder=place)) as opened:
        opened.store_documents(read_corpus(shipped_folder().parent / "corpus"))
        opened.update_index()
        yield opened


def test_every_question_can_be_answered_and_none_is_trivial(workspace: Workspace) -> None:
    found = suggest(workspace, count=12)
    assert len(found.questions) == 12
    assert found.tried == 12 + sum(found.left_out.values())
    assert len({str(query.origin["made_by"]).split()[0] for query in found.questions}) > 1
    for query in found.questions:
        passage = query.origin["synthetic"]
        prepared = workspace.searcher.prepare(query.query_text, k=ANSWERABLE, rerank=False)
        assert prepared.answers.lists["bm25"][0].chunk_id != passage
        best = [hit.chunk.chunk_id for hit in prepared.fuse_again(k=ANSWERABLE).results]
        assert passage in best
    assert suggest(workspace, count=12) == found, "the seed decides"
    assert suggest(workspace, count=12, seed=1) != found


def test_synthetic_questions_stay_marked_wherever_they_go(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "made.jsonl"
    made = suggest(workspace, count=3, output=path)
    real = {"query_text": "who must not take nephrava"}
    rows = [*map(json.loads, path.read_text(encoding="utf-8").splitlines()), real]
    asked = first_set.NewSet(
        name="mixed",
        annotators=("ann",),
        questions=first_set.questions_of_rows(rows),
        depth=3,
    )
    first_set.new(workspace, asked)
    desk = open_desk(workspace, "mixed")
    while (task := desk.next("ann")) is not None:
        desk.grade("ann", (task.query_id, task.chunk_id), 2)
    written = first_set.finish(workspace).test_set
    loaded = testsets.load(workspace.layout, "mixed")
    assert loaded == written
    assert loaded.synthetic_ids == tuple(query.query_id for query in made.questions)
    said = "3 of 4 queries are synthetic"
    assert any(said in line for line in loaded.cautions)
    recorded = workspace.evaluate("mixed", tags=["before"])
    assert any(said in line for line in recorded.warnings())
    stored = workspace.stored_run("before")
    assert stored.test_set.synthetic_ids == loaded.synthetic_ids
    again = workspace.evaluate("mixed", tags=["after"], boosts=False)
    assert any(said in line for line in workspace.compare("before", "after").report.warnings)
    report = workspace.gate("before", "after")
    assert sum(said in line for line in report.warnings) == 1
    assert again.to_dict()["per_origin"]["synthetic"]["num_queries"] == 3
    assert [table.title for table in result_tables(again)][-1] == "by who asked"
    parts = again.by("origin")
    assert {name: len(scores.queries) for name, scores in parts.items()} == {
        "synthetic": 3,
        "people": 1,
    }


def test_a_language_model_writes_questions_where_one_is_configured(
    workspace: Workspace,
    home: Path,  # noqa: F811
) -> None:
    with pytest.raises(UsageError, match="no language model is configured"):
        suggest(workspace, by_model=True)
    said = ["Here you are: a question", *["Which headache drug lowers blood sugar?"] * 4]
    with ModelServer(*map(says, said)) as server:
        settings = {"home": home, **SETTINGS, "judge": server.url, "judge_model": "m"}
        with Workspace(configure(settings, environ={}, folder=home)) as opened:
            (made,) = suggest(opened, by_model=True, count=1).questions
        told = server.requests[0][2]["messages"][0]["content"]
    assert "<passage>" in told
    assert made.query_text == "Which headache drug lowers blood sugar?"
    assert str(made.origin["made_by"]).startswith("m, prompt")
    assert made.origin["synthetic"]


def test_what_no_question_is_made_from_is_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="made from 'images'"):
        suggest(workspace, kinds=("images",))


def test_a_held_out_question_stays_synthetic_without_its_passage() -> None:
    made = GoldenQuery("s1", "words", relevant_docs=(Judgment("d1"),), synthetic="d1:chunk_2")
    other = GoldenQuery("q1", "other", relevant_docs=(Judgment("d1"),))
    test_set = TestSet("mixed", "v1", (made, other), held_out=HeldOut(1, ("s1",)))
    seen = masked(test_set)
    assert seen.synthetic_ids == ("s1",)
    assert "d1:chunk_2" not in str(to_plain(seen))


def test_rows_and_exports_do_not_lose_the_mark_silently() -> None:
    rows = b'{"query": "words", "synthetic": "d1:chunk_2", "relevant_docs": ["d1"]}\n'
    test_set = parse_test_set(rows, source="made.jsonl").sound()
    assert test_set.synthetic_ids == ("q0001",)
    assert "which queries are synthetic" in lost(test_set, "workflow")
    assert parse_test_set(as_yaml(test_set).encode()).sound() == test_set
    plain = replace(test_set, queries=(replace(test_set.queries[0], synthetic=None),))
    assert plain.checksum != test_set.checksum


@pytest.mark.parametrize("form", ["beir", "trec", "golden-list"])
def test_other_forms_keep_the_mark(form: str, tmp_path: Path) -> None:
    made = GoldenQuery("s1", "words", relevant_docs=(Judgment("d1"),), synthetic="d1:chunk_2")
    asked = GoldenQuery("q1", "other", relevant_docs=(Judgment("d1"),))
    test_set = TestSet("mixed", "v1", (made, asked))
    assert "which queries are synthetic" not in lost(test_set, form)
    for name, text in files(test_set, form).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    draft = DraftSet("")
    if form == "beir":
        read_beir(tmp_path, draft)
    elif form == "trec":
        read_trec(tmp_path / "mixed.topics.tsv", tmp_path / "mixed.qrels", draft)
    else:
        path = tmp_path / "mixed.golden.yaml"
        read = parse_test_set(path.read_bytes(), source=str(path)).sound()
        assert read.synthetic_ids == ("s1",)
        return
    assert {one.query.query_id: one.query.synthetic for one in draft.queries} == {
        "s1": "d1:chunk_2",
        "q1": None,
    }


def test_a_refresh_keeps_the_mark_and_who_judged() -> None:
    line = b'{"query_id": "s1", "query_text": "x", "query_type": "paraphrase", "synthetic": "d1"}\n'
    (asked,) = read_sample(line, "made.jsonl")
    item = Item("s1", "d1:chunk_0", "d1", "text")
    (made,) = ready_queries([asked], [item], Settled({item.key: 2}, (), ())).queries
    assert made.synthetic == "d1"
    old = GoldenQuery("q1", "other", relevant_docs=(Judgment("d1"),))
    parent = TestSet("ward_v1", "v1", (old,), provenance={"judges": ["ann"]})
    child = successor(parent, (old, made), None, {"judges": ["ann", "bob"]})
    assert "ward_v1 was judged by one person (ann)" in child.cautions[1]
    assert successor(child, (old,), None, {}).judged_by == child.judged_by
