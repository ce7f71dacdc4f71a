"""How many steps does a task take? The table of design/052 says it, and this counts.

A step is a click, a key or a field that is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Looked, beside_the_main_path

if TYPE_CHECKING:
    from playwright.sync_api import Locator

Look = Callable[..., Looked]
NOTE = Path(__file__).parents[2] / "design" / "052-pages.md"
SET = """name: steps
version: v1
queries:
  - query_id: q1
    query_text: headache
    query_type: paraphrase
    relevant_docs: [{doc_id: "d1:chunk_0", grade: 3}, {doc_id: "d2:chunk_0", grade: 2}]
  - query_id: q2
    query_text: statins
    query_type: paraphrase
    relevant_docs: [{doc_id: "d5:chunk_0", grade: 3}]
"""
QUESTIONS = """what should people take who have a migraine
how is blood sugar kept low in people with diabetes"""


class Person:
    """Somebody at a page, whose steps are counted."""

    def __init__(self, seen: Looked, path: str) -> None:
        self.seen, self.page, self.steps = seen, seen.page, 0
        seen.go(path)

    def click(self, target: Locator | str) -> None:
        """Press a button or a link."""
        found = self.page.locator(target) if isinstance(target, str) else target
        found.first.click()
        self.steps += 1

    def press(self, name: str, role: str = "link") -> None:
        """Press what has this name."""
        self.click(self.page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]

    def fill(self, field: str, text: str) -> None:
        """Fill in a field."""
        self.page.locator(f"[name={field}]").fill(text)
        self.steps += 1

    def key(self, key: str) -> None:
        """Press a key."""
        self.page.keyboard.press(key)
        self.steps += 1


def said(task: str) -> int:
    """The steps that the note promises."""
    row = next(
        line for line in NOTE.read_text("utf-8").splitlines() if line.startswith(f"| {task}")
    )
    found = re.match(r"\d+", row.split("|")[3].strip())
    assert found is not None, row
    return int(found[0])


@pytest.fixture(autouse=True)
def own_set(site: str, site_home: Path) -> None:
    """A test set that the service has by name."""
    del site
    folder = site_home / "testsets"
    folder.mkdir(exist_ok=True)
    (folder / "steps.yaml").write_text(SET, encoding="utf-8")


@beside_the_main_path
def test_find_why_a_hit_is_first(look: Look) -> None:
    person = Person(look(), "/search?q=headache&k=5")
    person.click(".hit details:not(.folded) > summary")
    person.page.locator(".hit details[open] .terms").first.wait_for()
    assert person.steps == said("find why a hit is first")


@beside_the_main_path
def test_find_the_regressed_queries_and_why_a_document_is_missing(look: Look) -> None:
    seen = look()
    for name, options in (("good", ""), ("bad", "&depth=1")):
        made = seen.page.request.post(
            f"{seen.root}/v1/evaluate?evaluation_id=steps_{name}{options}",
            data={"dataset_id": "steps"},
        )
        assert made.ok, made.text()
    assert seen.page.request.put(f"{seen.root}/v1/runs/steps_good/tags/baseline").ok
    person = Person(seen, "/runs")
    person.click("table.runs a[href='/runs/steps_bad']")
    person.click(person.page.locator(".head a.button", has_text="Compare"))
    person.page.wait_for_url("**/compare?**")
    person.click(".chip.d-worse")
    person.page.wait_for_url(re.compile("change=worse"))
    assert person.steps == said("find the regressed queries")
    person = Person(seen, "/runs/steps_bad")
    person.click(person.page.locator("summary", has_text="not in the top 10"))
    person.press("Why?")
    person.page.locator("#why .verdict").wait_for()
    assert person.steps == said("find why a document is missing")


@beside_the_main_path
def test_judge_ten_passages(look: Look) -> None:
    person = Person(look(), "/search?q=aspirin+headache&k=10&set=ten")
    count = min(10, person.page.locator(".hit").count())
    person.key("j")
    for at in range(count):
        person.key("1" if at else "3")
    person.page.locator("#standing-A", has_text="saved").wait_for()
    assert person.steps + 10 - count == said("judge ten passages")


def test_make_and_judge_a_round_of_two_and_refresh_the_set(look: Look) -> None:
    person = Person(look(), "/annotate")
    page = person.page
    person.press("New round")
    page.locator("select[name=set]").select_option("steps")
    person.fill("questions", QUESTIONS)
    person.press("Check the questions", "button")
    page.locator("table.drawn").wait_for()
    person.fill("first", "ann")
    person.fill("second", "bob")
    person.press("Open the round", "button")
    page.wait_for_url("**/agreement")
    link = page.url.removesuffix("/agreement")
    keys = 0
    for name in ("ann", "bob"):
        if name == "bob":
            person.press("Rounds")
            page.wait_for_url("**/annotate")
        person.click(f"a[href='{link.removeprefix(person.seen.root)}?as={name}']")
        page.locator("article.passage").wait_for()
        page.wait_for_load_state("load")  # keys are heard from then on
        while not page.locator("text=Everything is judged").count():
            before = page.locator("#desk .row .soft").first.inner_text()
            title = page.locator("article.passage h2, article.passage .text").first.inner_text()
            page.keyboard.press(str(len(title) % 4))
            keys += 1
            page.wait_for_function(
                "was => document.querySelector('#desk .row .soft').innerText !== was", arg=before
            )
    assert keys > 4
    assert person.steps == said("make a round of two and judge it")
    person = Person(person.seen, f"{link.removeprefix(person.seen.root)}/agreement")
    person.press("Next version")
    page.wait_for_url("**/next")
    person.click(page.locator("form button.primary", has_text="Write"))
    person.click("#ask-first[open] [data-answer=yes]")
    page.wait_for_url("**/testsets/steps_v2")
    assert person.steps == said("refresh a set")


@beside_the_main_path
def test_run_and_gate_a_configuration(look: Look) -> None:
    seen = look()
    made = seen.page.request.post(
        f"{seen.root}/v1/evaluate?evaluation_id=steps_held", data={"dataset_id": "steps"}
    )
    assert made.ok, made.text()
    assert seen.page.request.put(f"{seen.root}/v1/runs/steps_held/tags/baseline").ok
    person = Person(seen, "/search?q=headache&rrf_k=17")
    person.press("Evaluate this configuration on a test set")
    person.page.locator("select[name=set]").select_option("steps")
    person.press("Run", "button")
    person.page.wait_for_url("**/jobs/**")
    gate = person.page.locator("#job a.button", has_text="Gate")
    gate.wait_for()
    person.click(gate)
    person.page.locator(".verdict .badge").first.wait_for()
    assert person.steps == said("run and gate a configuration")


@beside_the_main_path
def test_make_a_key(look: Look) -> None:
    """Without keys the first one signs its maker in, so it is made last and taken back."""
    person = Person(look(), "/runs")
    person.press("Keys")
    person.fill("name", "chief")
    person.press("Make the key", "button")
    person.page.locator(".secret code").wait_for()
    assert person.steps == said("make a key")
    person.page.get_by_role("button", name="Revoke").click()
    person.page.locator("[data-answer=yes]").click()
    person.page.wait_for_load_state("networkidle")
    person.seen.complaints.clear()  # without a key the service is open again, or asks for one
