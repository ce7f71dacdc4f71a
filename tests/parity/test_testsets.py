"""Do test sets and rounds of judging mean the same in Python, commands, HTTP and pages?

Each verb of ``assay testset`` and ``assay annotate`` has a row here; one without fails.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import ANY
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import assay
from assay.app import annotation, drafts, first_set, pool, refresh, suggestions, testsets
from assay.app.annotation import Desk, open_desk
from assay.app.workspace import Workspace
from assay.cli.lazy import load as load_command
from assay.cli.main import COMMANDS, run
from assay.client import Client
from assay.errors import ConflictError, MissingFileError, ProblemsError
from assay.model.annotation import Order
from assay.model.codec import decode, encode
from assay.model.testset_json import from_plain, to_plain
from tests.unit.http.conftest import (  # noqa: F401 - fixtures
    SETTINGS,
    MakeService,
    client_of,
    home,
    log,
    make_service,
    small_home,
)
from tests.unit.http.pages.conftest import FORM
from tests.unit.http.small import TEST_SET

T = TypeVar("T", bound=Callable[..., None])
ROWS: set[str] = set()
BROKEN = (
    "name: bad\nversion: v1\nqueries:\n  - query_id: q1\n    query_text: x\n    expect: maybe\n"
)
ASKED = """query,times
insulin dose,4
which drug helps against a migraine attack,3
does metformin lower blood sugar in patients with diabetes and high cholesterol,2
fever,1
"""


def row(*verbs: str) -> Callable[[T], T]:
    """Enter a test for these verbs."""
    ROWS.update(verbs)
    return lambda test: test


@dataclass(frozen=True)
class Surfaces:
    """One workspace from every side."""

    workspace: Workspace
    http: TestClient
    capsys: pytest.CaptureFixture[str]

    def command(self, *arguments: object) -> Any:
        """What a command answers with ``--json``."""
        self.capsys.readouterr()
        run([*map(str, arguments), "--json"])
        return json.loads(self.capsys.readouterr().out)

    def get(self, path: str, **params: Any) -> Any:
        """What the service answers."""
        response = self.http.get(path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: Any) -> Any:
        """The same for something that is sent."""
        response = self.http.post(path, json=body)
        assert response.is_success, response.text
        return response.json()

    def form(self, path: str, **fields: str) -> str:
        """What a page answers to a form."""
        response = self.http.post(path, content=urlencode(fields), headers=FORM)
        assert response.status_code == 200, response.text
        return response.text

    def page(self, path: str) -> str:
        """What a page shows."""
        response = self.http.get(path, headers={"accept": "text/html"})
        assert response.status_code == 200, response.text
        return response.text


@pytest.fixture
def sides(
    home: Path,  # noqa: F811
    make_service: MakeService,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Surfaces]:
    """A workspace with a small corpus and the test set ``small``."""
    for name, value in {"home": home, **SETTINGS}.items():
        monkeypatch.setenv(f"ASSAY_{name.upper()}", str(value))
    service = make_service(home=home)
    opened: AbstractContextManager[TestClient] = client_of(service)
    with opened as http:
        found = Surfaces(service.workspace, http, capsys)
        found.post("/v1/testsets", TEST_SET)
        yield found


def upload(sides: Surfaces, name: str, **changes: Any) -> None:
    sides.post("/v1/testsets", {**TEST_SET, "name": name, **changes})


@row("testset list")
def test_the_same_sets_are_listed(sides: Surfaces) -> None:
    (sides.workspace.layout.test_set("bad")).write_text(BROKEN)
    here = sides.workspace.test_sets()
    command = sides.command("testset", "list")["test_sets"]
    assert [entry | {"path": None} for entry in encode(here)] == [
        entry | {"path": None} for entry in command
    ]
    answer = sides.get("/v1/testsets")["test_sets"]
    assert answer == encode(here)
    decoded = decode(tuple[testsets.TestSetEntry, ...], answer)
    assert [entry.sound for entry in decoded] == [entry.sound for entry in here]
    page = sides.page("/testsets")
    assert all(f'href="/testsets/{entry.name}"' in page for entry in here)


@row("testset show")
def test_the_same_set_loads_by_name_everywhere(sides: Surfaces) -> None:
    layout = sides.workspace.layout
    checksum = testsets.load(layout, "small").checksum
    assert assay.load_test_set("small").checksum == checksum
    assert sides.command("testset", "show", "small")["checksum"] == checksum
    assert sides.get("/v1/testsets/small")["checksum"] == checksum
    assert from_plain(sides.get("/v1/testsets/small")).checksum == checksum
    assert checksum[:16] in sides.page("/testsets/small")
    assert sides.get("/api/evaluation/dataset/small")["total_queries"] == 3
    result = assay.evaluate(lambda text: ["d1:chunk_0"], "small", "Success@1")
    assert result.test_set.checksum == checksum


def test_a_name_of_http_is_never_a_path(sides: Surfaces) -> None:
    path = sides.workspace.layout.test_set("small")
    assert testsets.load(sides.workspace.layout, path, paths=True).name == "small"
    with pytest.raises(MissingFileError):
        testsets.load(sides.workspace.layout, str(path))
    with pytest.raises(MissingFileError):
        testsets.load(sides.workspace.layout, "small.yaml")
    for name in ("small.yaml", "..", "testsets"):
        assert sides.http.get(f"/v1/testsets/{name}").status_code == 404
        assert sides.http.post(f"/v1/testsets/{name}/split", json={}).status_code == 404


@row("testset show", "testset heldout")
def test_what_is_held_out_is_masked_and_every_look_is_logged(sides: Surfaces) -> None:
    upload(sides, "split", held_out={"seed": 1, "query_ids": ["q2"]})
    words = "diabetes drug"
    shown = testsets.show(sides.workspace, "split")
    assert words not in str(to_plain(shown.test_set))
    assert words not in str(sides.command("testset", "show", "split"))
    assert words not in str(sides.get("/v1/testsets/split"))
    assert words not in sides.page("/testsets/split")
    assert sides.command("testset", "heldout", "split")["looks"] == 0
    assert words in str(to_plain(testsets.show(sides.workspace, "split", held_out=True).test_set))
    assert words in str(sides.command("testset", "show", "split", "--held-out"))
    assert words in str(sides.get("/v1/testsets/split", held_out="true"))
    assert words in sides.page("/testsets/split?reveal=on")
    looks = testsets.looks(sides.workspace, shown.whole).to_dict()
    assert sides.command("testset", "heldout", "split") == looks
    assert looks["looks"] == 4
    assert "looked at 4 times" in sides.page("/testsets/split")


@row("testset validate")
def test_the_same_problems_are_found(sides: Surfaces, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(BROKEN)
    problems = [problem.message for problem in testsets.read_upload(BROKEN.encode()).problems]
    assert problems
    reading = testsets.validate(sides.workspace, path, paths=True)
    assert [problem.message for problem in reading.problems] == problems
    command = sides.command("testset", "validate", path)
    assert [problem["message"] for problem in command["problems"]] == problems
    answer = sides.http.post(
        "/v1/testsets/validate", content=BROKEN, headers={"content-type": "application/yaml"}
    ).json()
    assert [problem["message"] for problem in answer["problems"]] == problems
    page = sides.form("/ui/validate", text=BROKEN)
    assert all(message.partition("'")[0] in page for message in problems)
    with pytest.raises(ProblemsError, match=re.escape(problems[0])):
        assay.load_test_set(path)


@row("testset split")
def test_the_same_queries_are_held_out(sides: Surfaces) -> None:
    for name in ("here", "command", "http"):
        upload(sides, name)
    parts = encode(testsets.split(sides.workspace.layout, "here", share=0.4, seed=5).parts)
    command = sides.command("testset", "split", "command", "--share", 0.4, "--seed", 5)
    assert {part: command[part] for part in parts} == parts
    assert sides.post("/v1/testsets/http/split", {"share": 0.4, "seed": 5})["parts"] == parts
    grouped = testsets.split(sides.workspace.layout, "small", seed=3, by_group=True)
    folder = sides.workspace.home / "parts"
    command = sides.command(
        "testset", "split", "small", "--by-group", "--seed", 3, "--output", folder
    )
    assert {part: command[part] for part in grouped.parts} == encode(grouped.parts)
    answer = sides.post("/v1/testsets/small/split", {"by_group": True, "seed": 3})
    assert answer["parts"] == encode(grouped.parts)


@row("testset overlap")
def test_what_two_sets_share_is_found(sides: Surfaces) -> None:
    first, *rest = TEST_SET["queries"]
    upload(sides, "apart", queries=[{**first, "query_id": "new", "query_text": "something else"}])
    upload(sides, "near", queries=[{**first, "query_id": "new"}, *rest[:1]])
    (found,) = testsets.overlap(sides.workspace.layout, ["small", "near"])
    assert found.texts[0] == (first["query_id"], "new")
    answer = sides.command("testset", "overlap", "small", "near")
    assert answer == {"disjoint": False, "overlaps": [found.to_dict()]}
    assert sides.command("testset", "overlap", "small", "apart")["disjoint"]


@row("testset diff")
def test_the_same_differences_are_found(sides: Surfaces) -> None:
    first, *rest = TEST_SET["queries"]
    upload(sides, "other", queries=[{**first, "query_text": "head pain"}, *rest[:1]])
    found = testsets.diff(sides.workspace, "small", "other").to_dict()
    assert (found["removed"], found["changed"][0]["after"]) == (["q3"], "head pain")
    assert sides.command("testset", "diff", "small", "other") == found
    assert sides.get("/v1/testsets/small/diff/other") == found
    assert "head pain" in sides.page("/testsets/small/diff/other")


@row("testset import")
def test_a_file_is_the_same_set_however_it_comes_in(sides: Surfaces, tmp_path: Path) -> None:
    path = tmp_path / "sent.json"
    path.write_text(json.dumps({**TEST_SET, "name": "sent"}))
    stored = testsets.upload(sides.workspace.layout, path.read_bytes())
    assert stored.new
    again = {**encode(stored), "new": False}
    assert sides.post("/v1/testsets", json.loads(path.read_text())) == again
    imported = sides.command("testset", "import", path, "--force")
    assert imported["checksum"] == stored.checksum
    target, reading = testsets.import_file(sides.workspace.layout, path, force=True)
    assert (str(target), reading.form) == (imported["written"], imported["form"])
    assert sides.post("/v1/testsets", json.loads(path.read_text())) == again


@row("testset export")
@pytest.mark.parametrize("form", ["yaml", "trec", "workflow"])
def test_the_same_files_go_out_and_looks_are_logged(
    sides: Surfaces, tmp_path: Path, form: str
) -> None:
    upload(sides, "split", held_out={"seed": 1, "query_ids": ["q2"]})
    exported = testsets.export(sides.workspace, "split", form)
    answer = sides.get("/v1/testsets/split/export", form=form)
    assert answer == encode(exported)
    command = sides.command("testset", "export", "split", "-f", form, "-o", tmp_path)
    written = {str(Path(name).relative_to(tmp_path)): Path(name) for name in command["written"]}
    assert {name: path.read_text() for name, path in written.items()} == dict(exported.files)
    assert command["lost"] == answer["lost"]
    assert sides.command("testset", "heldout", "split")["looks"] == 3


@row("testset schema")
def test_the_same_schema(sides: Surfaces) -> None:
    assert sides.command("testset", "schema") == testsets.schema()
    assert sides.get("/v1/testset-schema") == testsets.schema()


@row("testset grade")
def test_a_question_is_graded_the_same_way_everywhere(sides: Surfaces) -> None:
    for name in ("here", "command", "there", "page"):
        upload(sides, name)
    text, grades = "blood sugar", {"d4:chunk_0": 3, "d3:chunk_0": 0}
    here = drafts.grade(sides.workspace, "here", text, grades)
    written = [f"{name}={value}" for name, value in grades.items()]
    command = sides.command("testset", "grade", "command", text, *written)
    answer = sides.http.put(
        "/v1/testsets/there/grades", json={"query_text": text, "grades": grades}
    ).json()
    fields = {f"grade:{name}": str(value) for name, value in grades.items()}
    saved = sides.http.post(
        "/ui/grade",
        content=urlencode({"set": "page", "q": text, "address": "/search?q=x", **fields}),
        headers=FORM,
        follow_redirects=False,
    )
    assert saved.headers["location"] == "/search?q=x"
    assert command == encode(here) | {"name": "command"}
    assert answer == encode(here) | {"name": "there"}
    layout = sides.workspace.layout
    sets = [testsets.load(layout, name).queries for name in ("here", "command", "there", "page")]
    assert sets[0] == sets[1] == sets[2] == sets[3]


@row("testset fork")
def test_a_judged_set_is_forked_and_never_changed(sides: Surfaces) -> None:
    upload(sides, "judged", provenance={"judges": 2, "kappa": 0.8})
    layout = sides.workspace.layout
    before = layout.test_set("judged").read_bytes()
    with pytest.raises(ConflictError, match="says how it was judged"):
        drafts.grade(sides.workspace, "judged", "headache", {"d1:chunk_0": 3})
    assert run(["testset", "grade", "judged", "headache", "d1:chunk_0=3"]) != 0
    assert "says how it was judged" in sides.capsys.readouterr().err
    body = {"query_text": "headache", "grades": {"d1:chunk_0": 3}}
    assert sides.http.put("/v1/testsets/judged/grades", json=body).status_code == 409
    fields = urlencode({"set": "judged", "q": "headache", "grade:d1:chunk_0": "3"})
    page = sides.http.post("/ui/grade", content=fields, headers=FORM)
    assert page.status_code == 409
    assert "testset fork judged my_judged" in page.text
    assert layout.test_set("judged").read_bytes() == before

    here = encode(drafts.fork(layout, "judged", "mine"))
    assert sides.command("testset", "fork", "judged", "yours") == here | {"name": "yours"}
    assert sides.post("/v1/testsets/judged/fork", {"name": "theirs"}) == here | {"name": "theirs"}
    made = sides.http.post(
        "/ui/fork",
        content=urlencode({"set": "judged", "name": "ours", "address": "/search?q=headache"}),
        headers=FORM,
        follow_redirects=False,
    )
    assert made.headers["location"] == "/search?q=headache&set=ours"
    for name in ("mine", "yours", "theirs", "ours"):
        draft = testsets.load(layout, name)
        assert draft.queries == testsets.load(layout, "judged").queries
        assert draft.provenance["draft_of"]["name"] == "judged"
        assert "kappa" not in draft.provenance
        drafts.grade(sides.workspace, name, "headache", {"d1:chunk_0": 3})
    assert layout.test_set("judged").read_bytes() == before


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asked.csv"
    path.write_text(ASKED)
    return path


@row("testset sample", "testset pool")
def test_the_same_queries_are_drawn_and_the_same_passages_pooled(
    sides: Surfaces, asked: Path, tmp_path: Path
) -> None:
    small = testsets.load(sides.workspace.layout, "small")
    options = {"strategy": "frequency", "count": 3, "seed": 7}
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    mine, theirs = tmp_path / "mine.jsonl", tmp_path / "theirs.jsonl"
    drawn = pool.sample(
        sides.workspace,
        small,
        source=asked,
        dense=False,
        output=mine,
        **options,  # type: ignore[arg-type]
    )
    command = sides.command(
        "testset", "sample", "small", "--from", asked, "--words", "-o", theirs, *flags
    )
    assert [query["query_text"] for query in command["queries"]] == [
        query.query_text for query in drawn.queries
    ]
    assert mine.read_text() == theirs.read_text()
    made = pool.pool(sides.workspace, small, mine, depth=3)
    assert made.items
    assert sides.command("testset", "pool", "small", theirs, "--depth", 3) == made.to_dict()
    holes = pool.pool(sides.workspace, small, depth=2)
    assert sides.command("testset", "pool", "small", "--depth", 2) == holes.to_dict()


@pytest.fixture
def desk(sides: Surfaces, asked: Path, tmp_path: Path) -> Desk:
    """A round over a sample, for ann and bob."""
    small = testsets.load(sides.workspace.layout, "small")
    drawn = tmp_path / "drawn.jsonl"
    pool.sample(sides.workspace, small, source=asked, dense=False, count=3, output=drawn)
    made = pool.pool(
        sides.workspace, small, drawn, annotators=("ann", "bob"), round_id="round-1", depth=3
    )
    assert made.round is not None
    return annotation.open_desk(sides.workspace, "round-1")


def grade_everything(desk: Desk, annotator: str, differ: int = 0) -> None:
    """The same grades for both, but for the first few passages."""
    for number, task in enumerate(sorted(desk.tasks("ann"), key=lambda task: task.chunk_id)):
        key = (task.query_id, task.chunk_id)
        desk.grade(annotator, key, 1 if number < differ else 3 * (number % 2))


@row("testset rounds")
def test_the_same_rounds_are_listed(sides: Surfaces, desk: Desk) -> None:
    (card,) = sides.get("/v1/rounds")["rounds"]
    assert card == encode(desk.card())
    (command,) = sides.command("testset", "rounds")["rounds"]
    assert command == encode(desk.status())
    assert "round-1" in sides.page("/annotate")


@row("annotate")
def test_a_passage_is_judged_the_same_way_on_every_surface(
    sides: Surfaces, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = encode(desk.turn("ann"))
    path = "/v1/rounds/round-1"
    assert sides.command("annotate", "--as", "ann") == turn
    assert sides.get(f"{path}/next", annotator="ann") == turn
    assert turn["task"]["text"][:20] in sides.page("/annotate/round-1?as=ann")
    task = turn["task"]
    item = {"query_id": task["query_id"], "chunk_id": task["chunk_id"]}
    sides.post(f"{path}/grades", {"annotator": "ann", **item, "grade": 2, "comment": "dose"})
    by_http = [(grade.key, grade.grade, grade.comment) for grade in desk.grades("ann")]
    sides.form("/ui/annotate/round-1", **{"as": "ann", "undo": "1"})
    assert desk.grades("ann") == ()
    sides.form("/ui/annotate/round-1", **{"as": "ann", **item, "grade": "2", "comment": "dose"})
    assert [(grade.key, grade.grade, grade.comment) for grade in desk.grades("ann")] == by_http
    assert sides.post(f"{path}/undo", {"annotator": "ann"})["undone"]["grade"] == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("c\ndose\n2\nq\n"))
    assert run(["annotate", "--as", "ann"]) == 0
    assert [(grade.key, grade.grade, grade.comment) for grade in desk.grades("ann")] == by_http


@row("testset agreement", "testset adjudicate")
def test_agreement_and_disputes_are_the_same(sides: Surfaces, desk: Desk) -> None:
    grade_everything(desk, "ann")
    grade_everything(desk, "bob", differ=1)
    report = desk.report()
    assert report["open"] == 1
    assert sides.command("testset", "agreement", "--round", "round-1") == report
    assert sides.get("/v1/rounds/round-1/agreement") == report
    assert f"κ {report['kappa']['value']:.4f}" in sides.page("/annotate/round-1/agreement")
    disputes = {"disputes": encode(desk.disputes("carol"))}
    assert sides.command("annotate", "--as", "carol", "--adjudicate") == disputes
    assert sides.get("/v1/rounds/round-1/disputes", person="carol") == disputes
    task = disputes["disputes"][0]["task"]
    assert task["text"][:20] in sides.page("/annotate/round-1/decide?as=carol")
    decided = sides.command("testset", "adjudicate", "--rule", "higher", "--as", "carol")
    assert decided == {"round_id": "round-1", "decided": 1, "open": 0}
    item = {"query_id": task["query_id"], "chunk_id": task["chunk_id"]}
    answer = sides.post("/v1/rounds/round-1/decisions", {"person": "carol", **item, "grade": 2})
    assert answer == {**item, "grade": 2, "by": "carol", "open": 0}
    (decision,) = desk.decisions()
    assert (decision.grade, decision.by, decision.rule) == (2, "carol", "")


@row("testset export-tasks", "testset import-grades")
@pytest.mark.parametrize("form", ["csv", "label-studio"])
def test_tasks_go_out_and_grades_come_in(
    sides: Surfaces, desk: Desk, tmp_path: Path, form: str
) -> None:
    grade_everything(desk, "ann")
    mine, theirs = tmp_path / "mine.out", tmp_path / "theirs.out"
    written = desk.export_tasks("ann", form, mine)
    command = sides.command("testset", "export-tasks", "--as", "ann", "-f", form, "-o", theirs)
    assert command["tasks"] == len(desk.items)
    assert [path.read_text() for path in written] == [
        Path(name).read_text() for name in command["written"]
    ]
    count = len(desk.items)
    assert desk.import_grades("bob", mine) == count
    done = {"grades": count, "done": count, "total": count}
    assert sides.command("testset", "import-grades", theirs, "--as", "bob") == done
    assert sides.get("/v1/rounds/round-1/next", annotator="bob")["task"] is None


@row("testset refresh")
def test_the_next_version_is_the_same(sides: Surfaces, desk: Desk) -> None:
    grade_everything(desk, "ann")
    grade_everything(desk, "bob")
    small = testsets.load(sides.workspace.layout, "small")
    proposal = refresh.propose(sides.workspace, small, count=1, seed=5)
    options = ("testset", "refresh", "small", "--replace", 1, "--seed", 5)
    found = {"written": None, **json.loads(json.dumps(proposal.to_dict()))}
    assert sides.command(*options, "--dry-run") == found
    written = sides.command(*options)
    made = testsets.load(sides.workspace.layout, written["name"])
    assert made.checksum == proposal.test_set.checksum
    assert sides.get(f"/v1/testsets/{made.name}")["checksum"] == made.checksum
    assert sides.get("/v1/rounds")["rounds"][0]["closed_at"] is not None


@row("testset reanchor")
def test_judgments_are_carried_the_same_way(sides: Surfaces) -> None:
    small = testsets.load(sides.workspace.layout, "small")
    carried = refresh.reanchor(sides.workspace, small)
    command = sides.command("testset", "reanchor", "small", "--dry-run")
    assert command == {"written": None, **carried.to_dict()}
    written = sides.command("testset", "reanchor", "small")["written"]
    assert sides.get(f"/v1/testsets/{Path(written).stem}")["checksum"] == carried.test_set.checksum


QUESTIONS = [
    {"query_id": "n1", "query_text": "headache"},
    {"query_id": "n2", "query_text": "which drug helps in diabetes"},
]


def judge_alone(desk: Desk, person: str = "ann") -> None:
    while (task := desk.next(person)) is not None:
        desk.grade(person, (task.query_id, task.chunk_id), int(task.chunk_id[1]) % 4)


@row("testset suggest")
def test_the_same_questions_are_suggested(sides: Surfaces) -> None:
    twin = {"doc_id": "d6", "title": "Migraine", "text": "What triptans do in migraine attacks."}
    sides.workspace.add([twin])
    found = json.loads(json.dumps(suggestions.suggest(sides.workspace, count=1, seed=4).to_dict()))
    assert found["questions"][0]["synthetic"]
    assert sides.command("testset", "suggest", "--count", 1, "--seed", 4) == found
    assert sides.post("/v1/testsets/suggest", {"count": 1, "seed": 4}) == found


@row("testset new", "testset second", "testset finish")
def test_a_first_set_comes_the_same_way_from_every_surface(sides: Surfaces, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    asked = first_set.NewSet(
        name="here",
        annotators=("ann",),
        questions=first_set.questions_of(path),
        budget=7,
        until=0.3,
        order=Order.ACTIVE,
    )
    made = first_set.new(sides.workspace, asked).to_dict()
    options = ("--annotators", "ann", "--budget", 7, "--until", 0.3, "--order", "active")
    command = sides.command("testset", "new", "command", path, *options)
    body = {"name": "http", "annotators": ["ann"], "questions": QUESTIONS}
    answer = sides.http.post(
        "/v1/rounds", json={**body, "budget": 7, "until": 0.3, "order": "active"}
    )
    assert answer.status_code == 201, answer.text
    client = Client(str(sides.http.base_url), transport=sides.http._transport)
    told = client.new_test_set("client", path, "ann", budget=7, until=0.3, order="active")
    for other, name in ((command, "command"), (answer.json(), "http"), (told, "client")):
        assert other == {**made, "round_id": name}
    there, here = client.desk("client"), open_desk(sides.workspace, "client")
    turn = there.turn("ann")
    assert turn == here.turn("ann")
    assert turn.task is not None
    key = (turn.task.query_id, turn.task.chunk_id)
    assert there.grade("ann", key, 3).progress.done == 1
    assert there.undo("ann").undone == replace(here.grade("ann", key, 3).grade, at=ANY)
    here.undo("ann")
    for name in ("here", "command", "http", "client"):
        judge_alone(open_desk(sides.workspace, name))
    desk = first_set.add_judge(sides.workspace, "bob", "here", share=0.5)
    status = sides.command("testset", "second", "bob", "--share", 0.5, "--round", "command")
    over_http = sides.post("/v1/rounds/http/second", {"annotator": "bob", "share": 0.5})
    ours = encode(desk.status())
    for other in (status, over_http):
        own = {name: other[name] for name in ("annotators", "passages", "standing", "open")}
        assert own == {name: ours[name] for name in own}
    assert sides.get("/v1/rounds/http") == over_http
    assert client.desk("http").status() == open_desk(sides.workspace, "http").status()
    assert there.add_annotator("bob", 0.5) == open_desk(sides.workspace, "client").status()
    done = first_set.finish(sides.workspace, "here").to_dict()
    finished = sides.command("testset", "finish", "--round", "command")
    closed = sides.post("/v1/rounds/http/finish", {})
    for other in (finished, closed, client.finish_test_set("client")):
        for name in ("version", "queries", "judgments", "left_out", "cautions", "standing"):
            assert other[name] == done[name]
    sets = [testsets.load(sides.workspace.layout, name) for name in ("here", "command", "http")]
    assert sets[0].queries == sets[1].queries == sets[2].queries


@row("annotate")
def test_an_automatic_judge_says_the_same_on_every_surface(sides: Surfaces, desk: Desk) -> None:
    grade_everything(desk, "ann")
    found = annotation.automatic(sides.workspace, desk, "words", shown=True)
    voices = [voice.to_dict() for voice in found.voices()]
    told = json.loads(json.dumps({"round_id": "round-1", "voices": voices}))
    assert sides.command("annotate", "--judge", "words", "--show") == told
    assert sides.post("/v1/rounds/round-1/judge", {"judge": "words", "shown": True}) == told
    tasks = {"tasks": encode(found.to_review("ann"))}
    assert sides.command("annotate", "--as", "ann", "--review") == tasks
    assert sides.get("/v1/rounds/round-1/review", annotator="ann") == tasks
    assert voices[0]["judge"] in sides.page("/annotate/round-1/agreement")
    assert "An automatic judge proposes" in sides.page("/annotate/round-1?as=bob")


def test_every_verb_has_a_row() -> None:
    entries = {entry.name: entry for entry in COMMANDS if entry.name in ("testset", "annotate")}
    verbs = {f"testset {verb}" for verb in load_command(entries["testset"]).commands}
    assert verbs | {"annotate"} == ROWS
