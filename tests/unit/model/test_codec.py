"""Do our values become JSON and the same values again, and does the schema describe that JSON?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import validator_for

from assay.app.answers import Answered, AnswerSource
from assay.errors import InputError
from assay.model.answers import Answer
from assay.model.codec import as_json, decode, encode, flat, json_schema, unless
from assay.model.document import Chunk, IngestionMode, SpeakerRole
from assay.model.runs import RunInfo, RunStatus
from assay.search.response import Boost, SearchHit, SearchResponse
from assay.search.why import Why

TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)


def numbers(kind: st.SearchStrategy[Any] = NUMBER) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(["bm25", "dense"]), st.none() | kind)


CHUNKS = st.builds(
    Chunk,
    chunk_id=TEXT,
    doc_id=TEXT,
    text=TEXT,
    title=TEXT,
    is_table=st.booleans(),
    spans=st.lists(st.tuples(st.integers(), st.integers()), max_size=2).map(tuple),
    speaker_role=st.sampled_from(SpeakerRole),
    ingestion_mode=st.sampled_from(IngestionMode),
    start_time=st.none() | NUMBER,
    metadata=st.dictionaries(TEXT, TEXT, max_size=2),
)
BOOSTS = st.lists(
    st.builds(Boost, TEXT, TEXT, NUMBER, NUMBER, TEXT, st.booleans()), max_size=2
).map(tuple)
HITS = st.builds(
    SearchHit,
    rank=st.integers(),
    chunk=CHUNKS,
    score=NUMBER,
    component_scores=numbers(),
    ranks=numbers(st.integers()),
    normalized=numbers(),
    contributions=numbers(),
    fused=NUMBER,
    boosted=NUMBER,
    boosts=BOOSTS,
    rank_fused=st.integers(),
    rank_boosted=st.integers(),
)
RESPONSES = st.builds(
    SearchResponse,
    query=TEXT,
    results=st.lists(HITS, max_size=2).map(tuple),
    fusion_metadata=OBJECT,
    components_used=TEXTS,
    component_errors=TEXTS,
    degraded=st.booleans(),
    intents=st.lists(OBJECT, max_size=2).map(tuple),
    timings_ms=st.dictionaries(TEXT, NUMBER, max_size=2),
    next_offset=st.none() | st.integers(),
    reranker_model=st.none() | TEXT,
    synonyms=TEXTS,
)
ANSWERS = st.builds(Answer, TEXT, TEXTS, st.booleans(), st.none() | TEXT)
SOURCES = st.builds(AnswerSource, TEXT, st.none() | TEXT, st.none() | TEXT, st.none() | TEXT)
RUNS = st.builds(
    RunInfo,
    *(TEXT for _ in range(4)),
    config=OBJECT,
    config_hash=TEXT,
    cache_key=TEXT,
    created_at=TEXT,
    status=st.sampled_from(RunStatus),
    chunker_versions=TEXTS,
    models=st.dictionaries(TEXT, TEXT, max_size=2),
    seed=st.integers(),
    finished_at=st.none() | TEXT,
    tags=TEXTS,
    queries=st.integers(),
    aggregate=OBJECT,
    owner=st.just(""),
)
REAL: dict[type, st.SearchStrategy[Any]] = {
    SearchResponse: RESPONSES,
    Why: st.from_type(Why).filter(lambda why: _finite(encode(why))),
    Answered: st.builds(
        Answered,
        TEXT,
        TEXT,
        ANSWERS,
        st.lists(SOURCES, max_size=2).map(tuple),
        st.booleans(),
        TEXTS,
    ),
    RunInfo: RUNS,
}


def _finite(value: Any) -> bool:
    try:
        return bool(json.dumps(value, allow_nan=False))
    except ValueError:
        return False


@pytest.mark.parametrize("kind", REAL, ids=lambda kind: str(kind.__name__))
@given(data=st.data())
def test_values_survive_json_and_fit_their_schema(kind: type, data: st.DataObject) -> None:
    value = data.draw(REAL[kind])
    plain = encode(value)
    text = json.dumps(plain, allow_nan=False)
    assert decode(kind, json.loads(text)) == value
    assert validator_for(json_schema(kind)).is_valid(plain)


class Kind(Enum):
    """A list that is not of text."""

    ONE = 1
    TWO = 2


class Word(StrEnum):
    """A list of text."""

    RED = "red"


@dataclass(frozen=True, slots=True)
class Inner:
    """Something within."""

    size: int
    word: Word = Word.RED


@dataclass(frozen=True, slots=True)
class Outer:
    """Every kind of field."""

    name: str
    inner: Inner
    beside: Inner = field(metadata=flat)
    hidden: str = field(default="not told", metadata=as_json())
    renamed: int = field(default=1, metadata=as_json("other_name"))
    kind: Kind = Kind.ONE
    choice: Literal["a", "b"] = "a"
    count: Literal[1, 2] = 1
    place: Path = Path("/x")
    pair: tuple[int, str] = (1, "x")
    several: tuple[Inner, ...] = ()
    listed: Sequence[str] = ()
    by_number: Mapping[int, float] = field(default_factory=dict)
    by_word: Mapping[Word, Inner] = field(default_factory=dict)
    members: frozenset[str] = frozenset()
    maybe: Inner | None = None
    either: int | str = 0
    anything: Any = None


OUTER = Outer(
    "n", Inner(1), Inner(2), renamed=7, kind=Kind.TWO, choice="b", several=(Inner(3),),
    listed=("a",), by_number={3: 0.5}, by_word={Word.RED: Inner(4)}, members=frozenset({"b", "a"}),
    maybe=Inner(5), either="x", anything={"a": [1, None]},
)  # fmt: skip


def test_every_kind_of_field() -> None:
    assert encode(OUTER) == {
        "name": "n",
        "inner": {"size": 1, "word": "red"},
        "size": 2,
        "word": "red",
        "other_name": 7,
        "kind": 2,
        "choice": "b",
        "count": 1,
        "place": "/x",
        "pair": [1, "x"],
        "several": [{"size": 3, "word": "red"}],
        "listed": ["a"],
        "by_number": {"3": 0.5},
        "by_word": {"red": {"size": 4, "word": "red"}},
        "members": ["a", "b"],
        "maybe": {"size": 5, "word": "red"},
        "either": "x",
        "anything": {"a": [1, None]},
    }
    assert decode(Outer, json.loads(json.dumps(encode(OUTER)))) == OUTER
    assert validator_for(json_schema(Outer)).is_valid(encode(OUTER))


def test_what_is_plain_json_already_is_not_converted() -> None:
    plain = encode(OUTER)
    assert type(plain["word"]) is str
    assert type(plain["listed"]) is list


def test_unknown_fields_are_passed_over_and_defaults_stand_in() -> None:
    found = decode(Inner, {"size": 1, "colour": "of a newer service"})
    assert found == Inner(1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 5}, "Outer.name: must be text"),
        ({"inner": []}, "Outer.inner: must be an object"),
        ({"inner": {"size": True}}, "Outer.inner.size: must be a whole number"),
        ({"inner": {"size": 1, "word": "green"}}, "Outer.inner.word: 'green' is not known"),
        ({"inner": {"size": 1, "word": []}}, "Outer.inner.word: [] is not known"),
        ({"inner": {}}, "Outer.inner: size is missing"),
        ({"size": "2"}, "Outer.size: must be a whole number"),
        ({"kind": 3}, "Outer.kind: 3 is not known"),
        ({"choice": "c"}, "Outer.choice: must be a or b"),
        ({"place": 1}, "Outer.place: must be text"),
        ({"pair": [1]}, "Outer.pair: must be a list of 2"),
        ({"pair": "ab"}, "Outer.pair: must be a list"),
        (
            {"several": [{"size": 1}, {"size": "x"}]},
            "Outer.several[1].size: must be a whole number",
        ),
        ({"several": {}}, "Outer.several: must be a list"),
        ({"by_number": {"x": 1}}, "Outer.by_number.x: must be a whole number"),
        ({"by_number": {"1": "y"}}, "Outer.by_number.1: must be a number"),
        ({"by_number": {"1": True}}, "Outer.by_number.1: must be a number"),
        *(
            ({"by_number": {key: 1}}, f"Outer.by_number.{key}: must be a whole number")
            for key in (" 1 ", "1_0", "１", "+1", "01", "-0", "9" * 5_000)
        ),
        *(
            ({"by_number": {"1": bad}}, "Outer.by_number.1: must be a finite number")
            for bad in (math.nan, math.inf, -math.inf, 10**400)
        ),
        ({"count": True}, "Outer.count: must be 1 or 2"),
        ({"count": 1.0}, "Outer.count: must be 1 or 2"),
        ({"kind": True}, "Outer.kind: True is not known"),
        ({"kind": 2.0}, "Outer.kind: 2.0 is not known"),
        ({"maybe": 5}, "Outer.maybe: must be an object"),
        ({"either": None}, "Outer.either: must be a whole number"),
    ],
)
def test_a_refusal_names_the_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(Outer, {**encode(OUTER), **change})
    assert caught.value.message == said


@dataclass(frozen=True, slots=True)
class Chain:
    """A class that holds itself."""

    next: Chain | None = None


def test_what_is_nested_too_deeply_is_refused() -> None:
    data: dict[str, Any] = {}
    for _ in range(5_000):
        data = {"next": data}
    with pytest.raises(InputError, match="Chain: nested too deeply"):
        decode(Chain, data)


def test_the_place_may_begin_with_another_name() -> None:
    with pytest.raises(InputError, match=r"run_a\.size: must be"):
        decode(Inner, {"size": None}, "run_a")
    with pytest.raises(InputError, match="Inner: must be an object"):
        decode(Inner, "text")


def test_what_has_no_json_form_is_a_defect() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        encode(object())
    with pytest.raises(TypeError, match="no JSON form"):
        decode(object, {})


@dataclass(frozen=True)
class _Sometimes:
    name: str
    rule: int = field(default=1, metadata=unless("nameless"))

    @property
    def nameless(self) -> bool:
        return not self.name


def test_a_field_is_left_out_where_a_property_holds() -> None:
    fits = validator_for(json_schema(_Sometimes))
    for value, plain in (
        (_Sometimes("a", 2), {"name": "a", "rule": 2}),
        (_Sometimes("", 2), {"name": ""}),
    ):
        assert encode(value) == plain
        assert encode([value]) == [plain]
        assert fits.is_valid(plain)
        assert decode(_Sometimes, plain).rule == plain.get("rule", 1)
