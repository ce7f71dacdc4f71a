"""Can a week's work be done in the browser: evaluate, follow, compare, tag, delete and find?"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.browser.conftest import PICTURES, Looked, beside_the_main_path

Look = Callable[..., Looked]

SET = """name: tiny
version: v1
queries:
  - {query_id: q1, query_text: headache, relevant_docs: [{doc_id: "d1:chunk_0", grade: 3}]}
  - {query_id: q2, query_text: diabetes drug, relevant_docs: [{doc_id: "d5:chunk_0", grade: 3}]}
"""


@pytest.fixture(autouse=True)
def own_set(site: str, site_home: Path) -> None:
    """A test set that the service has by name."""
    del site
    folder = site_home / "testsets"
    folder.mkdir(exist_ok=True)
    (folder / "tiny.yaml").write_text(SET, encoding="utf-8")


def test_a_configuration_goes_from_the_search_to_the_gate(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/evaluate?rrf_k=7&set=tiny")
    page.fill("input[name=name]", "seven")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/jobs/evaluation_*")
    page.get_by_role("link", name="Open the run").wait_for()
    assert page.locator(".tile", has_text="nDCG@10").count() == 1
    page.get_by_role("button", name="Make it the baseline").click()
    page.wait_for_url("**/runs/**")
    assert page.locator("h1 .pill", has_text="baseline").count() == 1
    seen.go("/evaluate?rrf_k=9&set=tiny")
    page.fill("input[name=name]", "nine")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Gate").nth(1).click()
    page.wait_for_url("**/gate?**")
    page.wait_for_selector(".verdict .badge")


def test_a_refused_form_keeps_what_was_typed(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/evaluate?set=tiny")
    page.fill("input[name=name]", "kept name")
    page.fill("input[name=tag]", "two words")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".form-problem .problem").wait_for()
    assert page.url.endswith("/evaluate?set=tiny")
    assert page.input_value("input[name=name]") == "kept name"
    assert page.locator("header nav a").count() > 5
    seen.complaints.clear()  # the browser itself notes that the answer was an error


def test_runs_are_sorted_deleted_and_brought_back(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/runs?suite=small")
    page.get_by_role("link", name="MRR", exact=True).click()
    page.wait_for_url(re.compile("sort=-mrr"))
    page.get_by_role("button", name="Actions for run_a").click()
    page.locator("[popover]:popover-open").get_by_role("button", name="Delete").click()
    page.locator("#ask-first[open]").wait_for()
    page.screenshot(path=PICTURES / "ask.png")
    page.locator("[data-answer=yes]").click()
    page.wait_for_url("**/runs?deleted=run_a")
    assert page.locator("table.runs a[href='/runs/run_a']").count() == 0
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url("**/runs/run_a")
    seen.go("/runs?suite=small")
    assert page.locator("table.runs a[href='/runs/run_a']").count() == 1


def test_the_palette_goes_anywhere_by_keys(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/search")
    page.keyboard.press("Control+k")
    page.locator("#palette-list a").first.wait_for()
    page.keyboard.type("run_b")
    page.locator("#palette-list a[href='/runs/run_b']").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/run_b")
    page.keyboard.press("Control+k")
    page.locator("#palette-list a").first.wait_for()
    page.keyboard.press("Escape")
    assert page.locator("dialog#palette[open]").count() == 0


@beside_the_main_path
def test_questions_that_were_typed_outlive_a_reload(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/annotate/new?from=typed")
    page.fill("textarea[name=questions]", "what ends a migraine\nwhat lowers cholesterol")
    page.get_by_role("button", name="Check the questions").click()
    page.locator("table.drawn").wait_for()
    page.reload()
    assert page.input_value("textarea[name=questions]").startswith("what ends a migraine")
    seen.go("/annotate/new?from=first")
    assert page.input_value("textarea[name=questions]") == ""


@beside_the_main_path
def test_a_double_click_starts_one_evaluation(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/evaluate?rrf_k=23&set=tiny")
    page.fill("input[name=name]", "clicked twice")
    page.get_by_role("button", name="Run", exact=True).dblclick()
    page.get_by_role("link", name="Open the run").wait_for()
    seen.go("/jobs")
    assert page.locator("tbody tr", has_text="clicked twice").count() == 1


@beside_the_main_path
def test_a_slider_leaves_one_page_to_go_back_to(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/runs")
    seen.go("/search?q=headache")
    page.locator("input[name=rrf_k]").focus()
    for k in (61, 62, 63):
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**rrf_k={k}**")
    page.go_back()
    page.wait_for_url("**/runs")
    assert page.locator("table.runs").is_visible()


@beside_the_main_path
def test_runs_beside_each_other_are_a_table_or_cards(look: Look) -> None:
    path = "/compare/several?run=run_a&run=run_b"
    seen = look()
    seen.go(path)
    head, row = (seen.page.locator(f"table.several {one} th").nth(1) for one in ("thead", "tbody"))
    heads, rows = head.bounding_box(), seen.page.locator("tbody td").first.bounding_box()
    assert heads is not None
    assert rows is not None
    assert abs(heads["x"] - rows["x"]) < 2  # a column stands under its head
    assert row.is_visible()
    narrow = look(390)
    narrow.go(path)
    for cell in narrow.page.locator("table.several td").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


def test_panes_are_tabs_on_a_phone(look: Look) -> None:
    seen = look(390)
    page = seen.page
    seen.go("/search?q=headache&two=on&b_rrf_k=5")
    assert page.locator("section.answers:visible").count() == 1
    page.get_by_role("button", name="B", exact=True).click()
    assert (
        page.locator("section.answers:visible").get_attribute("aria-label") == "Results of pane B"
    )
    page.locator("details.knobs summary").click()
    page.locator("input[name=b_rrf_k]").fill("9")
    page.wait_for_url("**b_rrf_k=9**")  # swapped anew, and still pane B
    assert (
        page.locator("section.answers:visible").get_attribute("aria-label") == "Results of pane B"
    )
    seen.go("/compare/query?a=run_a&b=run_b&query=q1")
    assert page.locator("ol.rank-list:visible").count() == 1
    page.locator("[data-pane-tab=B]").click()
    assert page.locator("ol.rank-list[data-pane-of=B]").is_visible()


@beside_the_main_path
def test_a_phone_shows_the_whole_trend(look: Look) -> None:
    seen = look(390)
    seen.go("/runs?suite=small")
    chart = seen.page.locator("figure svg.chart:visible")
    assert chart.count() == 1
    box = chart.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


@beside_the_main_path
def test_moments_are_in_the_time_zone_of_the_reader(look: Look) -> None:
    seen = look(zone="Asia/Tokyo")
    seen.go("/runs")
    shown = seen.page.locator("table.runs time").first
    there = datetime.fromisoformat(shown.get_attribute("datetime") or "")
    assert shown.inner_text() == there.astimezone(ZoneInfo("Asia/Tokyo")).strftime("%Y-%m-%d %H:%M")
    assert (shown.get_attribute("title") or "").endswith("UTC")


def test_a_dot_of_the_chart_opens_its_query(look: Look) -> None:
    seen = look()
    seen.go("/compare?a=run_a&b=run_b")
    seen.page.locator(".scatter a[href*='query=q1']").focus()
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/compare/query?a=run_a&b=run_b&query=q1")
    assert "aspirin" in seen.page.locator("main").inner_text()


def test_an_evaluation_is_scheduled_changed_and_removed(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/schedule")
    page.get_by_role("link", name="Schedule an evaluation").first.click()
    page.wait_for_url("**/evaluate?clock=on**")
    page.select_option("select[name=set]", "tiny")
    assert not page.locator("select[name=weekday]").is_visible()
    page.select_option("select[name=often]", "weekly")
    page.select_option("select[name=weekday]", "5")
    page.fill("input[name=time]", "04:15")
    page.get_by_role("button", name="Schedule it").click()
    page.wait_for_url("**/schedule")
    row = page.locator("tr.entry")
    assert "every Friday at 04:15 UTC" in row.inner_text()
    row.get_by_role("link", name="Change").click()
    page.select_option("select[name=often]", "hourly")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/schedule")
    assert "every hour, 15 minutes past" in row.inner_text()
    row.get_by_role("button", name="Remove").click()
    page.locator("[data-answer=yes]").click()
    page.get_by_role("heading", name="Nothing is scheduled").wait_for()


@beside_the_main_path
def test_a_test_set_comes_from_a_file(look: Look, tmp_path: Path) -> None:
    table = tmp_path / "from a table.csv"
    table.write_text("query,doc_id,grade\nheadache,d1:chunk_0,3\n", encoding="utf-8")
    seen = look()
    page = seen.page
    seen.go("/testsets")
    page.set_input_files("input[type=file]", table)
    page.wait_for_function("document.querySelector('#text').value.includes('headache')")
    assert page.input_value("input[name=name]") == "from_a_table"
    page.get_by_role("button", name="Check", exact=True).click()
    page.locator("#checked", has_text="1 query").wait_for()
    page.get_by_role("button", name="Store it").click()
    page.wait_for_url("**/testsets/from_a_table")
    assert page.get_by_role("link", name="Evaluate on it").count() == 1


@beside_the_main_path
def test_many_files_wait_for_their_turn(look: Look, tmp_path: Path) -> None:
    files = [tmp_path / f"note-{at}.txt" for at in range(3)]
    for at, file in enumerate(files):
        file.write_text(f"Note {at} about headache after a vaccination.", encoding="utf-8")
    seen = look()
    page = seen.page
    refused: list[str] = []

    def busy(route: Any) -> None:
        """The second file finds the queue full, once."""
        if "note-1" in route.request.url and not refused:
            refused.append(route.request.url)
            route.fulfill(status=503, headers={"retry-after": "1"}, body="{}")
        else:
            route.continue_()

    page.route("**/v1/files*", busy)
    seen.go("/documents")
    page.set_input_files("[data-upload] input[type=file]", files)
    page.get_by_text("waits for the files before it").wait_for()
    page.wait_for_url("**/jobs")
    assert len(refused) == 1
    for file in files:
        page.get_by_role("link", name=file.name).wait_for()
    seen.complaints.clear()  # the browser itself notes that the answer was a 503


@beside_the_main_path
def test_two_tabs_do_not_overwrite_each_other(look: Look) -> None:
    """What one tab changed is neither lost nor silently undone by another that is out of date."""
    first, second = look(), look()
    for seen in (first, second):
        seen.go("/search?q=diabetes&k=5&set=tabs")
        seen.page.locator(".hit").first.wait_for()
    first.page.locator(".hit").nth(0).locator("label.g3").click()
    first.page.locator("#standing-A", has_text="saved").wait_for()
    second.page.locator(".hit").nth(1).locator("label.g1").click()
    second.page.locator("#standing-A", has_text="saved").wait_for()
    first.go("/search?q=diabetes&k=5&set=tabs")
    grades = [
        first.page.locator(".hit").nth(at).locator("input:checked").get_attribute("value")
        for at in (0, 1)
    ]
    assert grades == ["3", "1"]


@beside_the_main_path
def test_a_slider_follows_a_finger(look: Look) -> None:
    seen = look(390)
    page = seen.page
    seen.go("/search?q=headache")
    page.locator("details.knobs > summary").click()
    slider = page.locator("input[name=rrf_k]")
    box = slider.bounding_box()
    assert box is not None
    assert box["height"] >= 24  # a finger hits it
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    page.wait_for_url("**rrf_k=**")
    assert int(slider.input_value()) > 60
