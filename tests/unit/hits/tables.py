"""How do tests look at a judged-hits table?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits

ARRAYS = (
    "query",
    "rank",
    "place",
    "grade",
    "lead",
    "retrieved",
    "ideal_query",
    "ideal_grade",
    "top_score",
    "tied",
    "missing",
)


def ranks(table: JudgedHits, query: str) -> list[tuple[int, int]]:
    """(rank, grade) of each judged hit of a query."""
    chosen = table.query == table.queries.index(query)
    return list(zip(table.rank[chosen].tolist(), table.grade[chosen].tolist(), strict=True))


def contents(table: JudgedHits) -> dict[str, Any]:
    """Everything that a table says, as plain values."""
    plain: dict[str, Any] = {name: getattr(table, name).tolist() for name in ARRAYS}
    return plain | {"queries": table.queries, "extra_queries": table.extra_queries}


def assert_same(one: JudgedHits, other: JudgedHits) -> None:
    """Equal to the last bit, types included."""
    assert contents(one) == contents(other)
    for name in ARRAYS:
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
