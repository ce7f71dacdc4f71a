"""Do pictures show what they are given, and nothing that they should not?"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest

from assay.render.svg import (
    Bar,
    ForestRow,
    Point,
    TrendPoint,
    forest_plot,
    heat_bars,
    scatter,
    trend,
)

EVIL = '<script>alert("x")</script>&'


def drawn(picture: str) -> Xml.Element:
    root = Xml.fromstring(picture)
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    return root


def texts(root: Xml.Element) -> list[str]:
    return [node.text or "" for node in root.iter("text")]


def test_a_forest_plot_names_its_axis_and_fits_a_phone() -> None:
    rows = [ForestRow("Recall@10", 0.02, -0.01, 0.05)]
    wide, narrow = (drawn(forest_plot(rows, narrow=one)) for one in (False, True))
    for root in (wide, narrow):
        assert "B − A" in "".join(root.itertext())
    assert float(narrow.attrib["width"]) <= 360
    assert "+0.0200 [-0.0100, +0.0500]" in "".join(wide.itertext())
    assert "+0.0200" not in "".join(narrow.itertext())


def test_a_forest_plot_has_a_diamond_and_a_line_for_each_difference() -> None:
    rows = [ForestRow("nDCG@10", 0.05, 0.01, 0.09, "good"), ForestRow(EVIL, None, None, None)]
    root = drawn(forest_plot(rows, margin=0.01))
    diamonds = [node for node in root.iter("rect") if "rotate" in node.get("transform", "")]
    assert len(diamonds) == 1
    assert "+0.0500 [+0.0100, +0.0900]" in texts(root)
    assert EVIL in texts(root)


def test_the_interval_stands_around_its_value() -> None:
    root = drawn(forest_plot([ForestRow("m", 0.05, 0.01, 0.09)]))
    thick = next(n for n in root.iter("line") if n.get("stroke-width") == "3")
    diamond = next(n for n in root.iter("rect") if "rotate" in n.get("transform", ""))
    middle = float(diamond.get("x", "")) + 5
    assert float(thick.get("x1", "")) < middle < float(thick.get("x2", ""))


def test_bars_are_as_long_as_their_values() -> None:
    root = drawn(heat_bars([Bar("a", 0.5), Bar("b", 1.0), Bar("c", None), Bar("d", 7.0)]))
    filled = [n for n in root.iter("rect") if "color-mix" in n.get("fill", "")]
    widths = [float(node.get("width", "")) for node in filled]
    assert widths[0] * 2 == pytest.approx(widths[1])
    assert widths[2] == widths[1]  # nothing leaves the picture
    assert "—" in texts(root)


def test_points_and_their_titles() -> None:
    root = drawn(scatter([Point(0.2, 0.4, EVIL, "good")], x_label="A", y_label="B"))
    (circle,) = root.iter("circle")
    assert circle.findtext("title") == EVIL


def test_a_trend_is_broken_where_a_value_is_undefined() -> None:
    values = (0.5, None, 0.7, 0.8)
    points = [TrendPoint(EVIL, str(at), value) for at, value in enumerate(values)]
    root = drawn(trend(points, name="MRR"))
    assert len(list(root.iter("circle"))) == 3
    assert len([n for n in root.iter("line") if n.get("stroke-width") == "2"]) == 1


def test_empty_pictures_are_pictures() -> None:
    for picture in (
        forest_plot([]),
        heat_bars([]),
        trend([], name=""),
        trend([TrendPoint("a", "1", 0.5)], name=""),
    ):
        assert drawn(picture).get("viewBox")


def test_a_trend_shows_its_threshold_and_why_runs_cannot_be_compared() -> None:
    points = [
        TrendPoint("a", "May", 0.5),
        TrendPoint("b", "June", 0.9, broken="test set v2", link="/runs/b"),
    ]
    root = drawn(trend(points, name="MRR", threshold=0.75))
    assert {"test set v2", "threshold 0.75"} <= set(texts(root))
    assert [n for n in root.iter("line") if n.get("stroke-width") == "2"] == []
    assert [n.get("href") for n in root.iter("a")] == ["/runs/b"]
