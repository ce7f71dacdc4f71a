"""Is a saved configuration what was chosen, and is a file or a line read as it is meant?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from assay.app.configurations import (
    SAVED_NAMES,
    as_yaml,
    configuration_text,
    is_configuration,
    list_configurations,
    read_configuration,
    save_configuration,
)
from assay.app.layout import Layout
from assay.errors import AssayError, ConflictError, InputError, MissingFileError, UsageError
from assay.model.conditions import read_condition
from assay.model.query import Filters
from assay.search.request import EVALUATION_NAMES, RUN_FILTERS, SearchOptions, changed
from tests.unit.search.test_request import searches

CHOSEN = SearchOptions(
    components=("bm25", "dense"),
    weights={"bm25": 0.3, "dense": 0.7},
    boosts=False,
    query_intent="tabular",
    reranker="/a folder/of: mine # here",
)


@given(searches())
def test_a_file_holds_all_that_a_run_may_name_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, options: SearchOptions
) -> None:
    path = tmp_path_factory.mktemp("c") / "mine.yaml"
    if not all(map(str.isprintable, options.filters.source)):
        with pytest.raises(UsageError, match=r"source: .* cannot stand in a file"):
            as_yaml(options)
        return
    path.write_text(as_yaml(options), encoding="utf-8")
    read = read_configuration(str(path))
    auto = {"rerank_share"} if options.rerank_share is None else set()
    assert {*EVALUATION_NAMES} - {*RUN_FILTERS} - auto <= set(read) <= set(SAVED_NAMES)
    unnamed = SearchOptions()
    wanted = replace(
        options,
        k=unnamed.k,
        offset=0,
        filters=Filters(
            **{
                name: getattr(options.filters, name)
                for name in ("section_label", "source", "is_table", "metadata")
            }
        ),
        facets=(),
        component_timeout_ms=unnamed.component_timeout_ms,
        rerank_timeout_ms=None,
        synonyms=unnamed.synonyms,
        rerank_depth=None,
    )
    assert changed(unnamed, **read) == wanted


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("filter: year>=2020\n", {"filter": (read_condition("year>=2020"),)}),
        (
            'filter: ["year>=2020", "phase=PHASE2|PHASE3"]\nis_table: off\n',
            {
                "filter": (read_condition("year>=2020"), read_condition("phase=PHASE2|PHASE3")),
                "is_table": False,
            },
        ),
        (
            "type_weights:\n  exact_term: {bm25: 2, dense: 1}\n  paraphrase: {bm25: 1, dense: 3}\n",
            {
                "type_weights": {
                    "exact_term": {"bm25": 2.0, "dense": 1.0},
                    "paraphrase": {"bm25": 1.0, "dense": 3.0},
                }
            },
        ),
        ("components: [bm25, labels]\n", {"components": ("bm25", "labels")}),
    ],
)
def test_lists_and_mappings_of_a_file(tmp_path: Path, text: str, read: dict[str, Any]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    assert read_configuration(str(path)) == read


def test_a_line_may_name_several_filters_and_weights_by_type() -> None:
    assert read_configuration(
        "filter=year>=2020,filter=phase=PHASE3,type_weights=paraphrase:bm25:1 dense:3"
    ) == {
        "filter": (read_condition("year>=2020"), read_condition("phase=PHASE3")),
        "type_weights": {"paraphrase": {"bm25": 1.0, "dense": 3.0}},
    }


def test_it_is_saved_once_under_a_name(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert list_configurations(layout) == []
    path = save_configuration(layout, "mine", CHOSEN)
    assert path == tmp_path / "configs" / "mine.yaml"
    assert save_configuration(layout, "mine", CHOSEN) == path
    third = replace(CHOSEN, weights={"bm25": 1 / 3, "dense": 1e-05})
    assert save_configuration(layout, "third", third) == save_configuration(layout, "third", third)
    (tmp_path / "configs" / "third.yaml").unlink()
    with pytest.raises(ConflictError, match="another configuration mine"):
        save_configuration(layout, "mine", replace(CHOSEN, rrf_k=5))
    assert list_configurations(layout) == ["mine"]
    text = configuration_text(layout, "mine")
    assert "components: bm25,dense\n" in text
    assert "weights: bm25=0.3,dense=0.7\n" in text
    assert 'reranker: "/a folder/of: mine # here"\n' in text
    assert read_configuration("mine.yaml", layout) == read_configuration(str(path))
    with pytest.raises(MissingFileError, match="no configuration 'other'"):
        configuration_text(layout, "other")


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 500])
def test_names_that_are_no_file_of_ours(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        save_configuration(Layout(tmp_path), name, CHOSEN)
    assert not list(tmp_path.rglob("*.yaml"))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("rrf_k=10", {"rrf_k": 10}),
        (
            "fusion_method=weighted,weights=bm25:0.3 splade:0.2 dense:0.5",
            {"fusion_method": "weighted", "weights": {"bm25": 0.3, "splade": 0.2, "dense": 0.5}},
        ),
        ("components=bm25 dense, boosts=off", {"components": ("bm25", "dense"), "boosts": False}),
        ("synonyms=on,rerank_depth=50", {"synonyms": True, "rerank_depth": 50}),
        ("fusion_method=rrf,rerank=True", {"fusion_method": "rrf", "rerank": True}),
    ],
)
def test_a_line_of_options(line: str, wanted: dict[str, Any]) -> None:
    assert is_configuration(line)
    assert read_configuration(line) == wanted


def test_what_is_meant_as_a_configuration() -> None:
    assert is_configuration("mine.yml")
    assert not is_configuration("run_2024")
    assert not is_configuration("latest~1")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("latest", "'latest' is not an option and its value"),
        ("rrf_k=10,,", "'' is not an option and its value"),
        ("rrf_k=10,rrf_k=20", "rrf_k: given twice"),
        ("fusion=rrf", "'fusion' is not a search option"),
        ("k=10", "k: not part of a configuration"),
        ("doc_id=d1", "doc_id: not part of a configuration"),
        ("component_timeout_ms=10", "component_timeout_ms: not part of a configuration"),
        ("tau=1", "'tau' is not a search option"),
        ("rrf_k=ten", "rrf_k: must be a whole number"),
        ("weights=bm25:much", "weights: must be"),
    ],
)
def test_a_line_that_is_refused(line: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_configuration(line)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a mapping of search options"),
        ("- rrf\n", "not a mapping of search options"),
        ("boosts: on\nk: 10\n", ":2: k: not part of a configuration"),
        ("rrf_k: '10'\n", ':1: rrf_k: is text, "10"'),
        ("rrf_k: [1, 2]\n", ":1: rrf_k: must be a whole number"),
        ("rrf_k: 10\nfusion: rrf\n", ":2: 'fusion' is not a search option"),
        ("weights: {bm25: {a: 1}}\n", ":1: weights: must be"),
        ("a: &x [*x]\n", "mine.yaml:1"),
    ],
)
def test_a_file_that_is_refused_names_the_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AssayError) as caught:
        read_configuration(str(path))
    assert said in caught.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"nowhere\.yaml"):
        read_configuration("nowhere.yaml", Layout(tmp_path))


def test_a_side_of_an_ab_test_may_differ_in_what_is_rarely_chosen(tmp_path: Path) -> None:
    wanted = {"synonyms": False, "rerank_depth": 20}
    assert read_configuration("synonyms=off,rerank_depth=20") == wanted
    path = tmp_path / "c.yaml"
    path.write_text("synonyms: false\nrerank_depth: 20\n")
    assert read_configuration(str(path)) == wanted
    assert changed(SearchOptions(synonyms=True), **wanted).synonyms is False


@pytest.mark.req("E8")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"fusion_method": "rrf", "rrf_k": 60}', {"fusion_method": "rrf", "rrf_k": 60}),
        (
            '{"fusion_method": "weighted", "weights": {"bm25": 0.3, "splade": 0.4, "dense": 0.3}}',
            {
                "fusion_method": "weighted",
                "weights": {"bm25": 0.3, "splade": 0.4, "dense": 0.3},
            },
        ),
        (
            ' {"components": ["bm25"],\n "rerank": false}',
            {"components": ("bm25",), "rerank": False},
        ),
    ],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_a_configuration_may_be_json(
    tmp_path: Path, text: str, wanted: dict[str, Any], in_file: bool
) -> None:
    """As seed 000 writes the two sides of an A/B test."""
    if in_file:
        (tmp_path / "side.json").write_text(text, encoding="utf-8")
        text = str(tmp_path / "side.json")
    assert is_configuration(text)
    assert read_configuration(text) == wanted


@pytest.mark.parametrize(
    "text", ["{", '{"rrf_k": "60"}', '{"nope": 1}', '{"rrf_k": 1, "rrf_k": 2}']
)
def test_json_that_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(AssayError):
        read_configuration(text)
