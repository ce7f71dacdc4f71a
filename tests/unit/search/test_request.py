"""Does a search take its options under every name, from text and from values, and nothing else?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.model.conditions import Condition, read_condition
from assay.model.document import IngestionMode, SpeakerRole
from assay.model.query import FILTER_OPTIONS, Filters
from assay.model.testset import QueryType
from assay.options import several
from assay.search.request import (
    ANSWER_NAMES,
    COMPONENTS,
    EVALUATION_NAMES,
    SEARCH_NAMES,
    SEARCH_OPTIONS,
    FusionMethod,
    GroupBy,
    Normalization,
    SearchOptions,
    as_flags,
    as_parameters,
    changed,
    configuration_name,
    read_changes,
    write_changes,
)

SECTIONS = ("Methods", "methods", "Adverse Events", "adverse_events", "my own")


def weights_for(components: tuple[str, ...]) -> st.SearchStrategy[dict[str, float]]:
    share = st.sampled_from([0.0, 1e-05, 0.1 + 0.2, 0.3, 1.0, 12.5])
    every = st.fixed_dictionaries(dict.fromkeys(components, share))
    return st.one_of(st.just({}), every.filter(lambda found: any(found.values())))


conditions = st.builds(
    lambda field, operator, value: Condition(field, operator, (value,)),
    st.sampled_from(["year", "start date"]),
    st.sampled_from(["=", "!="]),
    st.sampled_from(["2020", "2018..", "a|b", "c\\d", "-1.5", "Phase 3"]),
) | st.just(read_condition("year>=2020"))


@st.composite
def searches(draw: st.DrawFn) -> SearchOptions:
    """Options as anybody may choose them."""
    chosen = draw(st.sets(st.sampled_from(COMPONENTS), min_size=1))
    components = tuple(name for name in COMPONENTS if name in chosen)
    words = st.text(st.characters(codec="utf-8"), max_size=20)
    labels = st.lists(words, max_size=3, unique=True)
    return SearchOptions(
        k=draw(st.integers(1, 1000)),
        offset=draw(st.integers(0, 1000)),
        depth=draw(st.integers(1, 1000)),
        components=components,
        fusion_method=draw(st.sampled_from(FusionMethod)),
        rrf_k=draw(st.integers(1, 1000)),
        weights=draw(weights_for(components)),
        per_type_weights=draw(st.booleans()),
        type_weights={
            kind: weights
            for kind in ("exact_term", "paraphrase")
            if (weights := draw(weights_for(components)))
        },
        normalization=draw(st.sampled_from(Normalization)),
        query_type=draw(st.sampled_from([None, *QueryType])),
        query_intent=draw(st.sampled_from([None, "tabular", "none", "phase2"])),
        boosts=draw(st.booleans()),
        group_by=draw(st.sampled_from(GroupBy)),
        collapse=draw(st.booleans()),
        facets=tuple(draw(st.sets(st.sampled_from(["year", "phase", "start date"])))),
        synonyms=draw(st.booleans()),
        rerank=draw(st.booleans()),
        rerank_depth=draw(st.sampled_from([None, 7])),
        reranker=draw(st.sampled_from(["own/model", "ms-marco-minilm-l12-v2"])),
        rerank_share=draw(st.sampled_from([None, 0.0, 0.4, 1.0])),
        component_timeout_ms=draw(st.sampled_from([0.5, 300.0, 60_000.0])),
        rerank_timeout_ms=draw(st.sampled_from([None, 250.0])),
        filters=Filters(
            speaker_role=tuple(draw(st.sets(st.sampled_from(SpeakerRole)))),
            interview_id=tuple(draw(labels)),
            section_label=tuple(draw(st.sets(st.sampled_from(SECTIONS)))),
            source=tuple(draw(labels)),
            doc_id=tuple(draw(labels)),
            ingestion_mode=tuple(draw(st.sets(st.sampled_from(IngestionMode)))),
            is_table=draw(st.sampled_from([None, True, False])),
            metadata=tuple(draw(st.sets(conditions))),
        ),
    )


def as_configured(options: SearchOptions) -> SearchOptions:
    """Options as settings give them: they know nothing of a single query."""
    return replace(options, query_type=None, query_intent=None, filters=Filters())


@given(searches(), searches().map(as_configured))
def test_what_is_written_reads_as_the_same_options(
    wanted: SearchOptions, usual: SearchOptions
) -> None:
    texts = write_changes(wanted, usual)
    assert changed(usual, **read_changes(texts)) == wanted
    assert write_changes(wanted, wanted) == {}


@given(searches())
def test_an_address_says_the_same(chosen: SearchOptions) -> None:
    unnamed = {
        name: one.default for name, one in SEARCH_OPTIONS.items() if name not in SEARCH_NAMES
    }
    wanted = replace(chosen, **unnamed)
    changes = read_changes(write_changes(wanted, SearchOptions()))
    texts: dict[str, Any] = {}
    for name, text in as_parameters(changes):
        if several(SEARCH_OPTIONS[name].kind):
            texts.setdefault(name, []).append(text)
        else:
            assert name not in texts
            texts[name] = text
    assert changed(SearchOptions(), **read_changes(texts)) == wanted


def test_flags_as_a_shell_takes_them() -> None:
    changes = read_changes(
        {
            "k": "5",
            "fusion_method": "weighted",
            "boosts": "off",
            "rerank": "on",
            "speaker": ["PATIENT"],
        }
    )
    assert as_flags(changes) == [
        "-k", "5", "--fusion-method", "weighted", "--no-boosts", "--rerank", "--speaker", "PATIENT",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("another", "name"),
    [("fusion", "fusion_method"), ("intent", "query_intent"), ("speaker_role", "speaker")],
)
def test_an_option_has_one_name(another: str, name: str) -> None:
    for read in (
        lambda: read_changes({another: "x"}),
        lambda: changed(SearchOptions(), **{another: "x"}),
    ):
        with pytest.raises(UsageError, match="is not a search option") as caught:
            read()
        assert caught.value.hint is not None
        assert f"did you mean {name}?" in caught.value.hint


def test_which_surface_offers_what() -> None:
    assert set(FILTER_OPTIONS) < set(SEARCH_NAMES)
    assert set(SEARCH_NAMES) - set(ANSWER_NAMES) == {"offset", "facets"}
    assert EVALUATION_NAMES == (
        "depth", "components", "fusion_method", "rrf_k", "weights", "per_type_weights",
        "type_weights", "normalization", "boosts", "group_by", "collapse", "rerank", "reranker",
        "rerank_share", "section", "source", "is_table", "filter",
    )  # fmt: skip
    assert "component_timeout_ms" not in SEARCH_NAMES


def test_every_option_may_be_given_as_people_write_it() -> None:
    options = changed(
        SearchOptions(),
        components="dense, bm25",
        fusion_method="weighted",
        weights={"bm25": 1, "dense": 3},
        normalization="dbsf",
        query_type="paraphrase",
        filters={"speaker_role": ["PATIENT"], "is_table": False},
    )
    assert options.components == ("bm25", "dense")
    assert options.fusion_method is FusionMethod.WEIGHTED
    assert options.filters == Filters(is_table=False, speaker_role=(SpeakerRole.PATIENT,))
    assert changed(options) is options
    json.loads(options.identity())


def test_filters_one_by_one_are_the_same_as_filters_together() -> None:
    flat = changed(SearchOptions(), speaker="PATIENT", doc_id=["d1", "d2"], is_table=True)
    assert flat == SearchOptions(
        filters=Filters((SpeakerRole.PATIENT,), doc_id=("d1", "d2"), is_table=True)
    )
    assert changed(flat, is_table=None).filters.is_table is None
    assert changed(flat, speaker=[]).filters.speaker_role == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tau": 1}, "'tau' is not a search option"),
        ({"filters": {"colour": {"red": 1}}}, "filter: must be a field and what it may hold"),
        ({"filter": "year=>2020"}, "filter: must be a field and what it may hold"),
        ({"filter": ["year"]}, "filter: must be"),
        ({"filter": {"year": (None, None)}}, "filter: must be"),
        ({"filter": "journal>=BMJ"}, "filter: journal>= needs a number or a date"),
        ({"filter": "phase="}, "filter: must be"),
        ({"filter": f"a={'x' * 3000}"}, "filter: must be"),
        ({"filter": f"a={'|'.join(map(str, range(101)))}"}, "filter: must be"),
        ({"filter": [f"a{at}=1" for at in range(33)]}, "at most 32 of them"),
        ({"filters": "PATIENT"}, "filters: must be a mapping"),
        ({"speaker": "ALIEN"}, "speaker: must be PATIENT, CLINICIAN or UNKNOWN"),
        ({"source": [None]}, "source: must be text"),
        ({"doc_id": ["a", 3]}, "doc_id: must be text"),
        ({"section": 5}, "section: must be text"),
        ({"is_table": "true"}, "is_table: must be on or off"),
        ({"components": [["bm25"]]}, "components: must be"),
        ({"weights": {"bm25": 10**400, "splade": 1, "dense": 1}}, "weights.bm25"),
        ({"query_intent": ["tabular"]}, "query_intent: must be an intent"),
        ({"reranker": " "}, "reranker: must be text"),
        ({"synonyms": "yes"}, "synonyms: must be on or off"),
        ({"rerank_depth": 0}, "rerank_depth: must be a whole number"),
        ({"weights": "bm25=1,dense=1"}, "weights: splade has no weight"),
    ],
)
def test_values_that_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        changed(SearchOptions(), **changes)
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"k": "10.0"}, "k: must be a whole number from 1 to"),
        ({"k": "ten"}, "k: must be"),
        ({"k": "+5"}, "k: must be"),
        ({"weights": ""}, "weights: must be"),
        ({"fusion_method": "RRF2"}, "fusion_method: must be rrf or weighted, not 'RRF2'"),
        ({"ingestion_mode": "never"}, "ingestion_mode: must be OFFLINE or LIVE"),
        ({"boosts": "maybe"}, "boosts: must be on or off"),
        ({"colour": "red"}, "'colour' is not a search option"),
    ],
)
def test_texts_that_are_refused(texts: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_changes(texts)
    assert said in caught.value.message


@pytest.mark.parametrize(
    "text", ["bm25", "bm25=", "=1", "bm25=1;dense=2", "bm25=nan", "bm25=1,bm25=2"]
)
def test_weights_that_are_not_weights(text: str) -> None:
    with pytest.raises(UsageError, match="weights"):
        read_changes({"weights": text})


def test_weights_as_text() -> None:
    wanted = {"weights": {"bm25": 0.3, "splade": 0.2, "dense": 1.0}}
    assert read_changes({"weights": "bm25=.3, splade = 0.2,dense=1"}) == wanted
    assert read_changes({"weights": "bm25:.3 splade:0.2 dense:1"}) == wanted
    assert read_changes({"weights": "default"}) == {"weights": {}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("is_table", "yes"),
        ("speaker_role", ("docter",)),
        ("ingestion_mode", ("alive",)),
    ],
)
def test_filters_that_would_silently_find_nothing(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match="must be"):
        Filters(**{name: value})


def test_filters_as_people_write_them() -> None:
    one = Filters(section_label="methods")  # type: ignore[arg-type]
    assert SearchOptions(filters=one).filters.section_label == ("methods",)
    assert changed(SearchOptions(), filters={"source": None}).filters == Filters()
    as_written = changed(SearchOptions(), section="Adverse Events").filters.section_label
    assert as_written == ("Adverse Events",)


def test_waiting_longer_is_the_same_search() -> None:
    patient = SearchOptions(component_timeout_ms=20_000.0, rerank_timeout_ms=1.0)
    assert patient.identity() == SearchOptions().identity()
    assert SearchOptions(k=11).identity() != SearchOptions().identity()


def test_filters_take_as_many_values_as_there_are_and_as_they_are() -> None:
    many = tuple(f"d{number}" for number in range(1_000))
    options = changed(SearchOptions(), doc_id=many, source=["", " a "], interview_id="x" * 300)
    assert options.filters == Filters(doc_id=many, source=("", " a "), interview_id=("x" * 300,))


@pytest.mark.parametrize("name", ["doc_id", "k", "offset", "filters", "rerank_timeout_ms"])
def test_what_belongs_to_single_searches_is_no_configuration(name: str) -> None:
    with pytest.raises(UsageError, match="not part of a configuration"):
        configuration_name(name)


def test_names_of_a_configuration() -> None:
    assert configuration_name("query_intent") == "query_intent"
    assert configuration_name("rerank_depth") == "rerank_depth"
