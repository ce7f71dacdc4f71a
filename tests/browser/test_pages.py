"""Do the pages work in a real browser, in every width and theme, for everybody, and harmlessly?"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import EVERYTHING, PICTURES, Looked, beside_the_main_path

Look = Callable[..., Looked]
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
PAGES = {
    "search": "/search?q=aspirin+headache",
    "search-two": "/search?q=headache&two=on&b_boosts=off&b_rrf_k=5",
    "search-why": "/search?q=headache&document=d4",
    "answer": "/answer?q=what+eases+a+headache+and+lowers+fever",
    "no-answer": "/answer?q=weather+in+paris",
    "documents": "/documents",
    "document": "/documents/d1?q=aspirin&chunk=d1:chunk_0",
    "runs": "/runs?threshold=0.75",
    "run": "/runs/run_b",
    "evaluate": "/evaluate?rrf_k=7",
    "evaluate-by-clock": "/evaluate?clock=on",
    "schedule": "/schedule",
    "schedule-filled": "/schedule",
    "claims": "/claims",
    "claim": "/claims/judged?as=ann",
    "claim-agreement": "/claims/judged/agreement",
    "new-first": "/annotate/new?from=first",
    "new-typed": "/annotate/new?from=typed",
    "new-log": "/annotate/new?from=log",
    "run-answer": "/runs/judged/answer/q1",
    "search-first": "/search",
    "why-which": "/search/why?q=headache&document=a",
    "compare-choose": "/compare?a=&b=",
    "jobs": "/jobs",
    "job": "/jobs/run_b",
    "keys": "/keys",
    "several": "/compare/several?run=run_a&run=run_b",
    "palette": "/ui/palette?q=run",
    "compare": "/compare?a=run_a&b=run_b",
    "ab": "/ab?a=run_a&b=run_b",
    "gate": "/gate?baseline=run_b&current=run_a",
    "testsets": "/testsets",
    "testset": "/testsets/test_set_v1?type=paraphrase",
    "annotate": "/annotate",
    "judge": "/annotate/round-1?as=ann",
    "agreement": "/annotate/round-1/agreement",
    "decide": "/annotate/round-1/decide?as=carol",
    "new-round": "/annotate/new?from=unjudged",
    "passages": "/annotate/round-1/passages",
    "next-version": "/annotate/round-1/next",
    "my-grades": "/annotate/round-1/mine?as=ann",
    "sign-in": "/sign-in",
    "problem": "/nothing-here",
    "reference": "/docs",
    "run-query": "/runs/run_b/query/q1",
    "compare-query": "/compare/query?a=run_a&b=run_b&query=q1",
    "diff": "/testsets/test_set_v1/diff/test_set_v1_extras",
}


@cache
def _axe() -> str:
    return AXE.read_text(encoding="utf-8")


def _violations(seen: Looked) -> list[str]:
    seen.page.evaluate(_axe())
    found: dict[str, Any] = seen.page.evaluate(
        "axe.run({resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})"
    )
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


WINDOWS = ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light"))
MAIN = ("search-two", "answer", "compare", "agreement", "runs")


@pytest.mark.parametrize("name", PAGES if EVERYTHING else MAIN)
def test_every_page_fits_in_both_themes_and_is_accessible(look: Look, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    for width, theme in WINDOWS if EVERYTHING else [WINDOWS[MAIN.index(name) % 2]]:
        seen = look(width, theme)
        if name == "schedule-filled":
            _schedule(seen)
        seen.go(PAGES[name])
        seen.page.screenshot(path=PICTURES / f"{name}-{width}-{theme}.png", full_page=True)
        assert seen.overflow() <= 0, (name, width)
        assert _violations(seen) == []
        if name == "problem":
            seen.complaints.clear()  # the browser itself notes that the answer was a 404
        if name == "schedule-filled":
            _unschedule(seen)


def _schedule(seen: Looked) -> None:
    ask = seen.page.request
    judged = {"doc_id": "d3:chunk_0", "grade": 3}
    query = {"query_id": "q1", "query_text": "what do statins lower", "relevant_docs": [judged]}
    content = {"name": "clinic", "version": "v1", "queries": [query]}
    assert ask.post(f"{seen.root}/v1/testsets", data=content).ok
    for when, options in (
        ("0 3 * * 1-5", "name=nightly&tag=night"),
        ("*/20 9-17 * * 1", "rrf_k=7"),
    ):
        body = {"when": when, "test_set": "clinic"}
        made = ask.post(f"{seen.root}/v1/schedules?{options}", data=body)
        assert made.ok, made.text()


def _unschedule(seen: Looked) -> None:
    ask = seen.page.request
    for entry in ask.get(f"{seen.root}/v1/schedules").json()["own"]:
        assert ask.delete(f"{seen.root}/v1/schedules/{entry['entry_id']}").ok


@beside_the_main_path
def test_the_words_of_a_query_stay_readable_on_a_phone(look: Look) -> None:
    seen = look(390)
    seen.go("/testsets/test_set_v1")
    widths = seen.page.eval_on_selector_all("td.wrap", "all => all.map(one => one.clientWidth)")
    assert min(widths) >= 150


@beside_the_main_path
def test_a_slider_fuses_again_and_the_address_follows(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/search?q=aspirin")
    page.keyboard.press("/")
    page.keyboard.type("headache")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=headache")
    before = page.locator(".parts .score").first.inner_text()
    page.locator("input[name=rrf_k]").fill("5")
    page.wait_for_url("**rrf_k=5")
    page.wait_for_function(
        "before => document.querySelector('.parts .score').textContent !== before", arg=before
    )
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.classList.contains('hit')")
    page.keyboard.press("Enter")
    assert page.locator(".hit details[open]").count() == 1
    page.keyboard.press("?")
    assert page.locator("dialog#keys[open]").count() == 1


@beside_the_main_path
def test_the_title_follows_the_question(look: Look) -> None:
    seen = look()
    seen.go("/search?q=aspirin")
    seen.page.fill("input[name=q]", "headache")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/search?q=headache")
    seen.page.wait_for_function("document.title === 'headache · assay'")
    assert seen.page.title() == "headache · assay"


@beside_the_main_path
def test_a_service_that_does_not_answer_is_noticed(look: Look) -> None:
    seen = look()
    seen.go("/search?q=aspirin")
    seen.page.route("**/search?*", lambda route: route.abort())
    seen.page.fill("input[name=q]", "headache")
    seen.page.keyboard.press("Enter")
    said = seen.page.locator("#said", has_text="did not answer")
    said.wait_for()
    assert said.is_visible()
    seen.complaints.clear()  # the browser itself notes that it could not load


def test_why_a_document_is_missing(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/search?q=headache")
    page.keyboard.press("w")
    page.keyboard.type("statin")
    page.wait_for_selector("#choices option[value=d3]", state="attached")
    page.locator("input[name=document]").fill("d3")
    page.get_by_role("button", name="Why is it not here?").click()
    page.wait_for_selector("#why .verdict")
    said = page.locator("#why").inner_text()
    assert "Statins" in said
    assert "bm25" in said


def test_hits_are_graded_by_key_and_every_pane_scores(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/search?q=headache&two=on&b_rrf_k=5&k=5&set=playground")
    page.keyboard.press("j")
    page.keyboard.press("0")  # a question that nothing answers waits
    page.locator("#standing-A", has_text="not saved yet").wait_for()
    page.keyboard.press("3")
    page.locator("#standing-A", has_text="saved").wait_for()
    for pane in "AB":
        assert page.locator(f"#standing-{pane} .ndcg b").inner_text().startswith("0.")
    graded = page.locator("fieldset.grades input:checked:not([value=''])")
    assert graded.count() == 4, "the other pane follows"
    before = page.locator("#standing-B .ndcg b").inner_text()
    page.locator("input[name=b_query_intent], select[name=b_boosts]").first.select_option("off")
    page.wait_for_url("**b_boosts=off**")
    assert page.locator("#standing-B .ndcg b").inner_text() == before
    first = page.locator(".hit").first
    first.locator("label.g0").click()  # pressed again, it takes the grade back
    page.locator("#standing-A", has_text="1 of").wait_for()
    seen.go("/testsets/playground")
    assert "headache" in page.locator("main").inner_text()


def test_a_hit_leads_to_its_document_and_back(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/search?q=headache&k=5")
    page.locator(".hit h3 a", has_text="Aspirin").first.click()
    page.wait_for_selector(".chunk.chosen mark")
    page.wait_for_selector("#uses ul.uses li")
    assert "Aspirin" in page.locator("h1").inner_text()
    page.locator(".crumb a", has_text="headache").click()
    page.wait_for_url("**/search?q=headache")
    seen.go("/search?q=headache&k=5")
    first = page.locator(".hit h3").all_inner_texts()
    page.keyboard.press("n")
    page.wait_for_url("**offset=5")
    assert page.locator(".hit h3").all_inner_texts() != first
    page.keyboard.press("p")
    page.wait_for_url("**/search?q=headache&k=5")
    assert page.locator(".hit h3").all_inner_texts() == first


def test_two_ticked_runs_are_compared_query_by_query(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/runs?suite=small")
    for box in page.locator("[data-pick]").all():
        box.check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_url("**/compare?a=run_a&b=run_b")
    page.locator("details.query summary").first.click()
    page.wait_for_selector(".slopes line", state="attached")
    page.screenshot(path=PICTURES / "compare-query.png", full_page=True)
    page.locator(".chip", has_text="same").click()
    page.wait_for_url(re.compile("change=same"))
    kinds = page.locator("details.query .badge:first-child").all_inner_texts()
    assert all("same" in kind for kind in kinds)


@beside_the_main_path
def test_judging_by_keys_with_undo(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/annotate/round-1?as=ann")
    progress = page.locator("#desk .row .soft")
    assert progress.inner_text() == "4 of 6"
    # until a new form has settled, a key would send it the plain way and load the page anew
    assert page.evaluate("htmx.config.defaultSettleDelay") == 0
    page.keyboard.press("2")
    page.locator("#desk", has_text="5 of 6").wait_for()
    page.keyboard.press("u")
    page.wait_for_selector("text=Everything is judged")
    for left in ("5 of 6", "4 of 6"):
        page.keyboard.press("z")
        page.locator("#desk", has_text=left).wait_for()


@beside_the_main_path
def test_the_theme_is_remembered(look: Look) -> None:
    seen = look()
    seen.go("/runs")
    seen.page.locator("[data-theme-switch]").click()
    seen.page.locator("[data-theme-switch]").click()
    seen.go("/search")
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"


@beside_the_main_path
@pytest.mark.parametrize(
    "path",
    [
        "/search?q=evil+headache&k=20",
        "/search?q=%3Cscript%3Ewindow.broken%3D1%3C%2Fscript%3E+headache",
        "/search?q=dose+table&is_table=on",
        "/search?q=x&section=%22%3E%3Cscript%3Ewindow.broken%3D1%3C%2Fscript%3E",
        "/compare?a=run_a&b=run_b&text=%22%3E%3Cimg+src%3Dx+onerror%3Dwindow.broken%3D1%3E",
        "/compare/query?a=run_a&b=run_b&query=evil",
        "/runs/run_b/query/evil",
        "/runs?suite=%3Cscript%3Ewindow.broken%3D1%3C%2Fscript%3E",
        "/annotate/round-1?as=bob",
        "/annotate/round-1/decide?as=carol",
        "/annotate/round-1/passages",
        "/annotate/round-1/mine?as=ann",
        "/sign-in?next=javascript:window.broken=1",
    ],
)
def test_hostile_text_stays_text(look: Look, path: str) -> None:
    seen = look()
    seen.go(path)
    for opened in seen.page.locator("details > summary").all():
        opened.click()
    seen.page.wait_for_timeout(100)
    assert seen.page.evaluate("window.broken") is None
    assert seen.page.locator("main script, main img, main [onclick], main [onerror]").count() == 0
    assert seen.page.locator("a[href^='javascript:']").count() == 0


@beside_the_main_path
def test_words_without_a_blank_do_not_widen_a_page(look: Look) -> None:
    word = "pneumonoultramicroscopicsilicovolcanoconiosis" * 4
    name = word[:60]
    query = {"query_id": word[:80], "query_text": word, "query_type": "paraphrase",
             "relevant_docs": [{"doc_id": "d1:chunk_0", "grade": 3}]}  # fmt: skip
    content = {"name": name, "version": name[:40], "description": word, "queries": [query]}
    wide, narrow = look(1280), look(390)
    ask = wide.page.request
    for run, options in (("long_a", "depth=1"), ("long_b", f"name={word[:80]}")):
        made = ask.post(f"{wide.root}/v1/evaluate?evaluation_id={run}&{options}", data=content)
        assert made.ok, made.text()
    assert ask.post(f"{wide.root}/v1/testsets", data=content).ok
    for path in (
        "/runs",
        "/runs/long_b",
        f"/runs/long_b/query/{word[:80]}",
        "/compare?a=long_a&b=long_b",
        f"/compare/query?a=long_a&b=long_b&query={word[:80]}",
        "/ab?a=long_a&b=long_b",
        f"/testsets/{name}",
        f"/testsets/{name}/diff/test_set_v1",
    ):
        for seen in (wide, narrow):
            seen.go(path)
            assert seen.overflow() <= 0, path
