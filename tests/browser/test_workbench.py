"""Can a week's work be done in the browser: evaluate, follow, compare, tag, delete and find?"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.browser.conftest import PICTURES, Looked

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


def test_a_double_click_starts_one_evaluation(look: Look) -> None:
    seen = look()
    page = seen.page
    seen.go("/evaluate?rrf_k=23&set=tiny")
    page.fill("input[name=name]", "clicked twice")
    page.get_by_role("button", name="Run", exact=True).dblclick()
    page.get_by_role("link", name="Open the run").wait_for()
    seen.go("/jobs")
    assert page.locator("tbody tr", has_text="clicked twice").count() == 1


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


def test_a_phone_shows_the_whole_trend(look: Look) -> None:
    seen = look(390)
    seen.go("/runs?suite=small")
    chart = seen.page.locator("figure svg.chart:visible")
    assert chart.count() == 1
    box = chart.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


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
