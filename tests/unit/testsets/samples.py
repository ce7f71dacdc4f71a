"""Test sets that the tests of this folder share."""

from __future__ import annotations

from hypothesis import strategies as st

from assay.model.answers import Expect
from assay.model.document import IngestionMode
from assay.model.testset import (
    GoldenQuery,
    HeldOut,
    Judgment,
    QueryType,
    SpeakerFilter,
    TestSet,
)
from assay.testsets.load import Reading, ReadOptions, parse_test_set

HEAD = "name: t\nversion: v1\nqueries:\n"
QUERY = """  - query_id: q1
    query_text: warfarin dose
    query_type: exact_term
    relevant_docs:
      - {doc_id: "PMC1:chunk_1", grade: 3}
"""


def read(text: str | bytes, source: str = "t.yaml", **options: object) -> Reading:
    data = text.encode() if isinstance(text, str) else text
    return parse_test_set(data, source=source, options=ReadOptions(**options))  # type: ignore[arg-type]


def sound(text: str | bytes, source: str = "t.yaml", **options: object) -> TestSet:
    return read(text, source, **options).sound()


def golden(query_id: str, kind: QueryType | None = None, **fields: object) -> GoldenQuery:
    settings = {"relevant_docs": (Judgment("d1", 1),), **fields}
    return GoldenQuery(query_id, f"about {query_id}", kind, **settings)  # type: ignore[arg-type]


def fifty() -> TestSet:
    """20 exact_term, 15 paraphrase and 15 complex_clinical queries."""
    kinds = [QueryType.EXACT_TERM] * 20 + [QueryType.PARAPHRASE] * 15
    kinds += [QueryType.COMPLEX_CLINICAL] * 15
    queries = [golden(f"q{at:03}", kind) for at, kind in enumerate(kinds, 1)]
    return TestSet("fifty", "v1", tuple(queries))


_ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:#-]{0,12}", fullmatch=True)
_text = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Co", "Cn"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=30,
).filter(lambda text: text.strip() != "")
_spans = st.lists(
    st.tuples(st.integers(0, 500), st.integers(1, 500)).map(lambda pair: (pair[0], sum(pair))),
    max_size=2,
).map(tuple)


@st.composite
def _queries(draw: st.DrawFn) -> tuple[GoldenQuery, ...]:
    names = draw(st.lists(_ids, min_size=1, max_size=8, unique_by=str.casefold))
    made = []
    for name in names:
        expect = draw(st.sampled_from(Expect))
        judged = draw(st.lists(_ids, min_size=1, max_size=4, unique=True))
        top = draw(st.integers(1, 3))
        grades = [top] + [draw(st.integers(0, 3)) for _ in judged[1:]]
        if expect is not Expect.EVIDENCE:
            grades = [0] * len(judged)
        made.append(
            GoldenQuery(
                name,
                draw(_text),
                draw(st.none() | st.sampled_from(QueryType)),
                expect,
                tuple(
                    Judgment(one, grade, draw(_spans), draw(st.none() | _ids))
                    for one, grade in zip(judged, grades, strict=True)
                ),
                draw(st.sampled_from(SpeakerFilter)),
                draw(st.none() | st.sampled_from(IngestionMode)),
                tuple(draw(st.lists(_text.map(lambda text: f"+{text}"), max_size=2))),
                tuple(draw(st.lists(_text.map(lambda text: f"-{text}"), max_size=2))),
                draw(st.none() | _text),
            )
        )
    return tuple(made)


_plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _text | st.just("012"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_ids, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def any_test_sets(draw: st.DrawFn) -> TestSet:
    queries = draw(_queries())
    held_out = None
    if len(queries) > 1 and draw(st.booleans()):
        some = draw(st.integers(1, len(queries) - 1))
        held_out = HeldOut(draw(st.integers(0, 99)), tuple(q.query_id for q in queries[:some]))
    return TestSet(
        draw(_ids),
        draw(_ids),
        queries,
        draw(st.just("") | _text),
        held_out,
        draw(st.dictionaries(_ids, _plain, max_size=3)),
    )
