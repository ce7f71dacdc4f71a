"""Can a test set be refreshed in the browser by people with keys of their own, each apart?"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.app.keys import create_key, list_keys
from assay.app.layout import Layout
from assay.app.testsets import upload
from assay.app.workspace import Workspace
from assay.http.edge.logs import service_log
from assay.http.service import Service
from assay.ingest import read_corpus
from assay.settings import configure
from tests.browser.conftest import (
    PICTURES,
    SETTINGS,
    Looked,
    beside_the_main_path,
    looking,
    serving,
)
from tests.unit.http.small import DOCUMENTS, TEST_SET

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = beside_the_main_path

Look = Callable[..., Looked]
GRADES = {"Aspirin": 1, "Migraine": 3, "Statins": 3, "Insulin": 2, "Metformin": 0}
QUESTIONS = "what ends a migraine headache\ncholesterol in the blood\nblood sugar in diabetes"
SCOPES = {
    "ann": ["read", "annotate"],
    "bob": ["read", "annotate"],
    "carol": ["read", "evaluate"],
    "chief": ["admin"],
}


@dataclass
class Office:
    """A service with keys; ``sign_in`` opens a browser of its own for a person."""

    look: Look
    keys: dict[str, str]
    layout: Layout

    def sign_in(self, name: str, width: int = 1280) -> Looked:
        """A window in which this person has signed in."""
        seen = self.look(width)
        seen.go("/sign-in")
        seen.page.fill("#key", self.keys[name])
        seen.page.get_by_role("button", name="Sign in").click()
        seen.page.locator("a.me", has_text=name).wait_for()
        return seen


@pytest.fixture(scope="module")
def office(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """Four people with keys, and a test set to refresh."""
    home = tmp_path_factory.mktemp("office")
    config = configure({"home": home, **SETTINGS}, environ={}, folder=home)
    layout = _filled(Workspace(config), home)
    keys = {name: create_key(layout, name, scopes).key for name, scopes in SCOPES.items()}
    service = Service(config, service_log(io.StringIO()))
    with serving(service, lambda client: None) as root, looking(browser, root) as look:
        yield Office(look, keys, layout)


def _filled(workspace: Workspace, home: Path) -> Layout:
    corpus = home / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in DOCUMENTS), encoding="utf-8")
    with workspace:
        workspace.store_documents(read_corpus(corpus))
        workspace.update_index()
        upload(workspace.layout, json.dumps(TEST_SET).encode())
        return workspace.layout


def _open_round(seen: Looked, name: str) -> int:
    """Make a round of two, and count the clicks."""
    page, clicks = seen.page, 0
    seen.go("/annotate")
    page.get_by_role("link", name="round").last.click()
    page.get_by_role("link", name="Questions of my own").click()
    page.fill("textarea[name=questions]", QUESTIONS)
    page.get_by_role("button", name="Check the questions").click()
    page.locator("table.drawn").wait_for()
    for row, kind in enumerate(("exact_term", "paraphrase", "complex_clinical")):
        page.locator("table.drawn select").nth(row).select_option(kind)
    page.fill("input[name=first]", "ann")
    page.fill("input[name=second]", "bob")
    page.fill("input[name=depth]", "2")
    page.fill("input[name=round_id]", name)
    page.get_by_role("button", name="Open the round").click()
    clicks += 4
    page.wait_for_url(f"**/annotate/{name}/agreement")
    return clicks


def _judge_one(page: Page, *, off: bool = False) -> bool:
    """Grade the passage on the page by its key; False where nothing is left."""
    if page.locator("text=Everything is judged").count():
        return False
    before = page.locator("#desk .row .soft").first.inner_text()
    grade = GRADES[page.locator("article.passage h2").inner_text()]
    page.keyboard.press(str((grade + 1) % 4 if off else grade))
    page.wait_for_function(
        "before => document.querySelector('#desk .row .soft').innerText !== before", arg=before
    )
    return True


def test_two_people_judge_at_once_and_a_third_writes_the_next_version(office: Office) -> None:
    carol, ann, bob = (office.sign_in(name) for name in ("carol", "ann", "bob"))
    assert _open_round(carol, "winter") <= 4
    for judge in (ann, bob):
        judge.go("/annotate")
        judge.page.get_by_role("link", name="Judge", exact=True).click()
        judge.page.locator("article.passage").wait_for()
        judge.page.wait_for_load_state("load")  # keys are heard from then on
    first, left = True, [ann.page, bob.page]
    while left:  # turn by turn, in two browsers
        left = [page for page in left if _judge_one(page, off=first and page is bob.page)]
        first = False
    for judge in (ann, bob):  # neither sees the other's grades
        judge.page.goto(judge.root + "/annotate/winter/passages")
        assert "may not do that" in judge.page.locator("h1").inner_text()
        judge.complaints.clear()  # the browser notes the refusal
    page = carol.page
    carol.go("/annotate")
    page.get_by_role("link", name="Decide").click()
    page.locator("h2", has_text="How to judge").wait_for()
    page.wait_for_load_state("load")
    page.keyboard.press("3")
    page.locator("text=Nothing waits for a decision").wait_for()
    page.keyboard.press("z")
    page.locator("text=Taken back: decide again").wait_for()
    page.keyboard.press("c")
    page.keyboard.type("read twice")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    page.get_by_role("link", name="Preview the next version").click()
    page.locator("h2", has_text="Coming in").wait_for()
    page.screenshot(path=PICTURES / "refresh.png", full_page=True)
    page.get_by_role("button", name="Write small_v2").click()
    page.locator("#ask-first[open] [data-answer=yes]").click()
    page.wait_for_url("**/testsets/small_v2")


def test_a_comment_is_not_a_grade_and_a_judge_goes_back_and_resumes(office: Office) -> None:
    _open_round(office.sign_in("carol"), "spring")
    ann = office.sign_in("ann")
    page = ann.page
    ann.go("/annotate/spring")
    page.keyboard.press("c")
    page.keyboard.type("needs a dose, 3 times")
    page.keyboard.press("Enter")
    assert page.locator("#desk .row .soft").first.inner_text().startswith("0 of")
    for _ in range(3):
        _judge_one(page)
    for _ in range(3):
        with page.expect_navigation():
            page.keyboard.press("b")
    assert page.locator("input[name=comment]").input_value() == "needs a dose, 3 times"
    page.keyboard.press("0")
    page.locator("#desk .earlier").wait_for(state="detached")
    page.context.close()
    again = office.sign_in("ann", 390)  # another day, on a phone
    again.go("/annotate")
    again.page.get_by_role("link", name="Go on judging").first.click()
    again.page.locator("article.passage").wait_for()
    assert again.page.locator("#desk .row .soft").first.inner_text().startswith("3 of")
    again.page.reload()
    again.page.keyboard.press("z")
    again.page.locator("text=Undone").wait_for()
    assert again.overflow() <= 0


def test_a_judge_whose_key_is_revoked_keeps_the_page_and_what_was_typed(office: Office) -> None:
    _open_round(office.sign_in("carol"), "summer")
    bob, chief = office.sign_in("bob"), office.sign_in("chief")
    page = bob.page
    bob.go("/annotate/summer")
    _judge_one(page)
    passage = page.locator("article.passage").inner_text()
    (key,) = (one for one in list_keys(office.layout) if one.name == "bob")
    chief.go("/keys")
    chief.page.locator(f"form[action$='{key.key_id}/revoke'] button").click()
    chief.page.locator("#ask-first[open] [data-answer=yes]").click()
    chief.page.locator("text=revoked").first.wait_for()
    page.keyboard.press("c")
    page.keyboard.type("not lost")
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    page.locator("text=Your session has ended").wait_for()
    assert page.locator("article.passage").inner_text() == passage
    assert page.locator("input[name=comment]").input_value() == "not lost"
    bob.complaints.clear()  # the browser notes the refusal
    chief.go("/annotate")
    chief.page.get_by_role("link", name="make one").first.click()
    chief.page.locator("input[name=name]").wait_for()
    assert chief.page.locator("input[name=name]").input_value() == "bob"
    chief.page.get_by_role("button", name="Make the key").click()
    office.keys["bob"] = chief.page.locator(".secret code").inner_text()
    office.sign_in("bob").go("/annotate/summer")
