"""Does a team get from questions to a test set, with one judge to begin with?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assay.annotation.questions import read_questions
from assay.annotation.swap import successor
from assay.app import first_set, testsets
from assay.app.annotation import Desk, automatic, open_desk
from assay.app.first_set import NewSet, finish, new
from assay.app.pool import pool
from assay.app.refresh import propose
from assay.app.workspace import Workspace
from assay.errors import ConflictError, InputError, UsageError
from assay.model.annotation import Order, Purpose
from assay.model.testset import GoldenQuery, Judgment, TestSet
from assay.model.testset_json import from_plain, to_plain
from assay.settings import configure
from assay.testsets.export import lost
from assay.testsets.join import join
from assay.testsets.write import as_yaml
from tests.unit.http.conftest import (  # noqa: F401 - fixtures
    SETTINGS,
    MakeService,
    client_of,
    home,
    log,
    make_service,
    small_home,
)

QUESTIONS = b"headache\nwhich drug helps in diabetes\nlower cholesterol\n"
LIST = "engine theirs.trec"
RELEVANT = {"q001": {"d1", "d2"}, "q002": {"d4", "d5"}, "q003": {"d3"}}
MADE = {"q004": {"d1"}}  # a synthetic question


@pytest.fixture
def workspace(home: Path) -> Iterator[Workspace]:  # noqa: F811
    with Workspace(configure({"home": home, **SETTINGS}, environ={}, folder=home)) as opened:
        yield opened


def asked(**changes: object) -> NewSet:
    plain = NewSet(
        name="ward", annotators=("ann",), questions=read_questions(QUESTIONS, "q.txt"), until=0.5
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name


def judge(desk: Desk, person: str, count: int = 1_000, *, harsher: int = 0) -> None:
    """Grade by the truth, a few or all."""
    for _ in range(count):
        task = desk.next(person)
        if task is None:
            return
        document = task.chunk_id.partition(":")[0]
        grade = 3 if document in (RELEVANT | MADE)[task.query_id] else 0
        desk.grade(person, (task.query_id, task.chunk_id), max(grade - harsher, 0))


def test_one_person_judges_and_the_set_says_so(workspace: Workspace) -> None:
    made = new(workspace, asked())
    assert made.round is not None
    assert (made.round.purpose, made.round.annotators) == (Purpose.FIRST, ("ann",))
    desk = open_desk(workspace, "ward")
    with pytest.raises(InputError, match="no query of ward has a relevant passage yet"):
        finish(workspace)
    judge(desk, "ann")
    done = finish(workspace)
    assert done.written is not None
    found = testsets.load(workspace.layout, "ward")
    assert found == done.test_set
    assert {query.query_id: {one.id for one in query.relevant_docs if one.grade} for query in
            found.queries} == {
        query: {f"{document}:chunk_0" for document in documents}
        for query, documents in RELEVANT.items()
    }  # fmt: skip
    assert found.provenance["judges"] == ["ann"]
    assert found.provenance["unjudged"] == 0
    assert any("judged by one person (ann)" in line for line in found.cautions)
    run = workspace.evaluate("ward")
    assert any("judged by one person" in line for line in run.warnings())


def test_a_workspace_has_the_verbs_by_name(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes(QUESTIONS)
    by_file = workspace.new_test_set("file", path, "ann", budget=6, order="active")
    texts = QUESTIONS.decode().splitlines()
    by_list = workspace.new_test_set("list", texts, ["ann"], budget=6, order="active")
    assert by_file.items == by_list.items
    judge(workspace.desk("list"), "ann")
    done = workspace.finish_test_set("list", close=True)
    assert done.closed
    assert [query.query_text for query in done.test_set.queries] == texts
    with pytest.raises(UsageError, match="no order 'best'"):
        workspace.new_test_set("other", texts, order="best")


def test_sets_that_are_joined_still_say_who_judged(workspace: Workspace) -> None:
    new(workspace, asked())
    judge(open_desk(workspace, "ward"), "ann")
    made = finish(workspace).test_set
    other = TestSet("other", "v1", (GoldenQuery("o1", "x", relevant_docs=(Judgment("d1"),)),))
    assert join([made, other]).judged_by == (
        "ward was judged by one person (ann): how far another would agree is not known",
    )


def test_what_is_judged_so_far_can_be_written_at_any_time(workspace: Workspace) -> None:
    new(workspace, asked())
    desk = open_desk(workspace, "ward")
    judge(desk, "ann", 4)
    first = finish(workspace)
    assert first.test_set.name == "ward"
    assert first.test_set.provenance["unjudged"] == len(desk.items) - 4
    assert set(first.left_out) == set(first.test_set.skipped)
    assert finish(workspace).written == first.written, "nothing new was judged"
    judge(desk, "ann")
    second = finish(workspace, close=True)
    assert (second.test_set.name, second.test_set.version) == ("ward_v2", "v2")
    assert second.test_set.provenance["parent"]["checksum"] == first.test_set.checksum
    assert testsets.load(workspace.layout, "ward") == first.test_set, "the first one stays"
    with pytest.raises(ConflictError, match="closed"):
        desk.grade("ann", desk.items[0].key, 1)


def test_a_second_person_checks_a_sample_and_brings_kappa(workspace: Workspace) -> None:
    new(workspace, asked())
    judge(open_desk(workspace, "ward"), "ann")
    desk = first_set.add_judge(workspace, "bob", "ward", share=0.6)
    sample = desk.progress("bob").total
    assert 0 < sample < len(desk.items)
    judge(desk, "bob", harsher=1)
    agreed = desk.agreement()
    assert agreed.both == sample
    assert agreed.plain.value is not None
    done = finish(workspace)
    relevant = [one.grade for query in done.test_set.queries for one in query.relevant_docs]
    assert set(relevant) == {0, 3}, "the first person's grade counts until somebody decides"
    assert done.test_set.provenance["judges"] == ["ann", "bob"]
    assert done.test_set.provenance["kappa"]["value"] == round(agreed.plain.value, 4)
    assert any(f"bob checked {sample} of" in line for line in done.test_set.cautions)
    desk.decide_by_rule("lower", "carol")
    decided = finish(workspace).test_set
    assert 2 in {one.grade for query in decided.queries for one in query.relevant_docs}
    with pytest.raises(ConflictError, match="judge in ward already"):
        desk.add_annotator("dora")


def test_who_checks_all_has_checked_no_more_than_that(workspace: Workspace) -> None:
    new(workspace, asked(annotators=("ann", "bob")))
    desk = open_desk(workspace, "ward")
    for person in ("ann", "bob"):
        judge(desk, person)
        desk.grade(person, desk.items[-1].key, None)
    made = finish(workspace).test_set
    everything = len(desk.items)
    assert any(f"bob checked {everything} of {everything} " in line for line in made.cautions)


def test_a_round_with_undecided_differences_is_not_closed(workspace: Workspace) -> None:
    new(workspace, asked(annotators=("ann", "bob")))
    desk = open_desk(workspace, "ward")
    judge(desk, "ann")
    judge(desk, "bob", harsher=1)
    with pytest.raises(ConflictError, match=r"undecided; the round stays open") as refused:
        finish(workspace, close=True)
    assert "testset adjudicate" in str(refused.value.hint)
    assert finish(workspace, dry_run=True).written is None, "nothing keeps it from being written"
    desk.decide_by_rule("lower", "carol")
    assert finish(workspace, close=True).closed


def test_two_people_who_begin_together_both_judge_everything(workspace: Workspace) -> None:
    new(workspace, asked(annotators=("ann", "bob")))
    desk = open_desk(workspace, "ward")
    assert desk.progress("bob").total == len(desk.items)


def test_the_sample_of_the_second_person_grows_with_what_the_first_judges(
    workspace: Workspace,
) -> None:
    new(workspace, asked())
    desk = first_set.add_judge(workspace, "bob", "ward", share=1.0)
    assert desk.progress("bob").total == len(desk.items)
    assert open_desk(workspace, "ward").round == desk.round
    with pytest.raises(UsageError, match="cannot be both"):
        new(workspace, asked(name="other", annotators=("ann", "Ann")))
    with pytest.raises(UsageError, match="automatic judge"):
        new(workspace, asked(name="other", annotators=("judge:words",)))


def test_a_budget_takes_depth_or_draws(workspace: Workspace) -> None:
    whole = new(workspace, asked(name="whole"))
    budget = len(whole.items) // 2
    shallow = new(workspace, asked(name="shallow", budget=budget))
    assert len(shallow.items) <= budget
    assert shallow.depth < whole.depth
    drawn = new(workspace, asked(name="drawn", budget=budget, order=Order.ACTIVE))
    assert len(drawn.items) == budget
    assert drawn.depth == whole.depth


def test_runs_of_other_engines_are_pooled(workspace: Workspace, tmp_path: Path) -> None:
    run = tmp_path / "theirs.trec"
    run.write_text("q001 Q0 d3 1 9.0 x\nq001 Q0 d5:chunk_0 2 8.0 x\nq002 Q0 gone 1 1.0 x\n")
    made = new(workspace, asked(others=first_set.runs_of_files([run])))
    brought = {item.key: item.found_by for item in made.items if LIST in item.found_by}
    assert {key: ranks[LIST] for key, ranks in brought.items()} == {
        ("q001", "d3:chunk_0"): 1,
        ("q001", "d5:chunk_0"): 2,
    }
    assert LIST in made.lists
    assert made.absent == {"theirs.trec": 1}, "one document is not in the corpus"
    own = new(workspace, asked(name="own", others={"bm25": {"q001": ["d5"]}}))
    assert {"bm25", "engine bm25"} <= set(own.lists), "no engine takes the place of a list of ours"
    stranger = {"odd": {"q009": ["d1"]}}
    with pytest.raises(InputError, match="odd: nothing of it"):
        new(workspace, asked(name="other", others=stranger))


def test_an_automatic_judge_is_a_voice_and_no_person(workspace: Workspace) -> None:
    new(workspace, asked())
    desk = open_desk(workspace, "ward")
    judge(desk, "ann", 5)
    desk = automatic(workspace, desk, "words")
    assert desk.progress("ann").done == 5
    assert len(desk.settled().open) == len(desk.items) - 5, "its grades settle nothing"
    (voice,) = desk.voices()
    assert (voice.person, voice.agreement.both, voice.shown) == ("ann", 5, False)
    gaps = [abs((ours or 0) - (theirs or 0)) for _, ours, theirs in voice.differences]
    assert gaps == sorted(gaps, reverse=True)
    task = desk.next("ann")
    assert task is not None
    assert task.proposed is None, "hidden unless whoever runs the round shows it"
    with pytest.raises(UsageError, match="no automatic judge is shown"):
        desk.to_review("ann")
    shown = automatic(workspace, desk, "words", shown=True)
    task = shown.next("ann")
    assert task is not None
    assert task.proposed in range(4)
    assert len(shown.to_review("ann")) == len(voice.differences)
    done = finish(workspace)
    assert done.test_set.provenance["judges"] == ["ann"]
    (noted,) = done.test_set.provenance["automatic"]
    assert (noted["beside"], noted["shown"]) == ("ann", True)


def test_questions_come_from_the_query_log(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="nobody has searched"):
        first_set.logged_questions(workspace)


def test_a_name_that_is_taken_is_refused(workspace: Workspace) -> None:
    with pytest.raises(ConflictError, match="there is a test set"):
        new(workspace, asked(name="test_set_v1"))
    with pytest.raises(UsageError, match="a width of 2"):
        asked(until=2.0)


def test_questions_that_people_searched_for_come_from_the_log(
    make_service: MakeService,  # noqa: F811
    home: Path,  # noqa: F811
    workspace: Workspace,
) -> None:
    with client_of(make_service(home=home)) as client:
        for query in ["headache", "headache", "Headaches", "fever in children, SSN 078-05-1120"]:
            assert client.get("/v1/search", params={"q": query}).status_code == 200
    found = first_set.logged_questions(workspace)
    assert [query.query_id for query in found] == ["q001", "q002"]
    first = {query.query_text.casefold().split()[0].rstrip("s") for query in found}
    assert first == {"headache", "fever"}, "near duplicates come once"
    assert not any("078-05" in query.query_text for query in found)
    assert len(first_set.logged_questions(workspace, count=1)) == 1


def test_a_judge_that_breaks_off_goes_on_where_it_stopped(workspace: Workspace) -> None:
    new(workspace, asked())
    desk = open_desk(workspace, "ward")
    seen: list[str] = []

    def breaks(question: str, passages: Sequence[str]) -> list[int]:
        if len(seen) == 2:
            raise ConnectionError("gone")
        seen.append(question)
        return [1] * len(passages)

    with pytest.raises(ConnectionError):
        desk.propose("flaky", breaks)
    assert len(seen) == 2
    again: list[str] = []

    def works(question: str, passages: Sequence[str]) -> list[int]:
        again.append(question)
        return [1] * len(passages)

    desk.propose("flaky", works)
    assert sorted((*seen, *again)) == sorted(query.query_text for query in desk.queries)
    assert len(desk.grades("judge:flaky")) == len(desk.items)


def test_a_refresh_keeps_who_judged_and_what_is_synthetic(
    workspace: Workspace, tmp_path: Path
) -> None:
    typed = QUESTIONS.decode().splitlines()
    rows = [{"query_text": text, "query_type": "paraphrase"} for text in typed]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    new(workspace, asked(questions=read_questions(data, "q.jsonl")))
    judge(open_desk(workspace, "ward"), "ann")
    parent = finish(workspace, close=True).test_set
    sample = {"query_id": "q004", "query_text": "is there a drug for headache"}
    sample |= {"query_type": "paraphrase", "synthetic": "d1:chunk_0", "made_by": "title"}
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps(sample) + "\n", "utf-8")
    pool(workspace, parent, path, annotators=("ann", "bob"), round_id="more")
    for person in ("ann", "bob"):
        judge(open_desk(workspace, "more"), person)
    made = propose(workspace, parent, round_id="more", count=1).test_set
    assert made.by_id["q004"].synthetic == "d1:chunk_0"
    assert made.judged_by == (
        "ward was judged by one person (ann): how far another would agree is not known",
    )
    again = successor(made, made.queries, None, {})
    assert again.judged_by == made.judged_by, "named once, however many versions follow"
    uploaded = testsets.read_upload(as_yaml(made).encode()).sound()
    assert (uploaded.synthetic_ids, uploaded.judged_by) == (("q004",), made.judged_by)
    bundled = from_plain(to_plain(made))
    assert (bundled.synthetic_ids, bundled.judged_by) == (("q004",), made.judged_by)
    assert "who judged" in lost(made, "beir")
