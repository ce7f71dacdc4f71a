"""Do the right queries go, do strata stay, and does the new set say where it came from?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from assay.annotation.adjudicate import Settled
from assay.annotation.retire import Evidence, entered, quotas, retire, stratum_of
from assay.annotation.swap import filled, next_name, plan, ready_queries, swapped
from assay.errors import InputError, UsageError
from assay.model.annotation import Item, RoundQuery
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet
from assay.testsets.load import parse_test_set
from assay.testsets.split import hold_out
from assay.testsets.write import as_yaml

KINDS = list(QueryType)
NOTHING = Evidence({}, {})


def golden(number: int, kind: QueryType) -> GoldenQuery:
    judged = (Judgment(f"d{number}:chunk_0", 3, ((0, 9),)),)
    return GoldenQuery(f"q{number:03}", f"term{number} about{number}", kind, relevant_docs=judged)


def fifty() -> TestSet:
    kinds = [KINDS[0]] * 20 + [KINDS[1]] * 15 + [KINDS[2]] * 15
    queries = tuple(golden(at, kind) for at, kind in enumerate(kinds, 1))
    return hold_out(TestSet("test_set_v1", "v1", queries))


def fresh(count: int, first: int = 51) -> list[GoldenQuery]:
    return [golden(first + at, KINDS[at % 3]) for at in range(count)]


@pytest.mark.req("E12")
def test_twenty_of_fifty_keep_every_stratum() -> None:
    v1 = fifty()
    counts = quotas(v1, 20)
    assert sum(counts.values()) == 20
    assert sum(count for (_, held), count in counts.items() if held) == 4
    planned = plan(v1, fresh(30), 20)
    gone = retire(v1, counts, NOTHING, seed=1)
    v2 = swapped(v1, gone, planned.added, {"judges": ["ann", "bob"]}, seed=1)
    assert len(v2.queries) == 50
    before = Counter(stratum_of(v1, query) for query in v1.queries)
    assert Counter(stratum_of(v2, query) for query in v2.queries) == before
    stayed = set(v1.by_id) & set(v2.by_id)
    assert all((name in v1.held_out_ids) == (name in v2.held_out_ids) for name in stayed)


def test_the_next_version_reads_back_as_it_was_made() -> None:
    v1 = fifty()
    gone = retire(v1, quotas(v1, 20), NOTHING, seed=1)
    told = {
        "kappa": {"value": 0.71, "ci": {"low": None, "high": 0.9}},
        "refreshed_at": "2026-01-31",
    }
    v2 = swapped(v1, gone, plan(v1, fresh(30), 20).added, told, seed=1)
    again = parse_test_set(as_yaml(v2).encode(), source="v2.yaml").sound()
    assert again == v2
    assert (v2.name, v2.version) == ("test_set_v2", "v2")
    assert v2.provenance["parent"]["checksum"] == v1.checksum
    assert v2.provenance["checksum"] == v2.checksum == again.checksum
    assert v2.provenance["entered"] == {"v2": [query.query_id for query in v2.queries[30:]]}
    v3 = swapped(v2, retire(v2, quotas(v2, 2), NOTHING, seed=1), fresh(2, 91), {}, seed=1)
    assert set(v3.provenance["retired_before"]) >= {one.query_id for one in gone}
    assert entered(v3) == {
        **dict.fromkeys(v3.by_id, 2),
        **{name: 1 for name in v3.by_id if "q051" <= name <= "q080"},
        "q091": 0,
        "q092": 0,
    }


def test_redundant_saturated_and_old_queries_go_first() -> None:
    queries = [golden(at, KINDS[0]) for at in range(1, 9)]
    queries[3] = GoldenQuery(
        "q004", "term1 about1 again", KINDS[0], relevant_docs=queries[3].relevant_docs
    )
    queries[5] = GoldenQuery(
        "q006", "other words", KINDS[0], relevant_docs=queries[1].relevant_docs
    )
    one = TestSet(
        "s", "v3", tuple(queries), provenance={"entered": {"v2": ["q007"], "v3": ["q008"]}}
    )
    values = {"q002": [1.0, 0.96], "q003": [1.0, 0.2], "q005": [0.97]}
    found = retire(one, {("exact_term", False): 4}, Evidence(values, entered(one)), seed=3)
    reasons = {row.query_id: row.reasons for row in found}
    assert set(reasons) == {"q002", "q004", "q005", "q006"}
    assert reasons["q004"] == ("redundant: worded like q001", "oldest: 2 versions old")
    assert reasons["q006"][0] == "redundant: answered by the same passages as q002"
    assert reasons["q002"][0] == "saturated: nDCG@10 of at least 0.96 in 2 stored runs"


def test_results_on_held_out_queries_are_not_looked_at() -> None:
    v1 = fifty()
    perfect = Evidence({name: [1.0] for name in v1.by_id}, {})
    found = retire(v1, quotas(v1, 20), perfect, seed=1)
    assert all(bool(one.reasons) != one.stratum[1] for one in found)


def test_too_few_queries_of_a_type_are_refused_with_what_is_possible() -> None:
    ready = [query for query in fresh(30) if query.query_type is not KINDS[1]]
    ready += [golden(90 + at, KINDS[1]) for at in range(3)]
    with pytest.raises(UsageError) as refused:
        plan(fifty(), ready, 20)
    assert "3 of 6 paraphrase" in str(refused.value)
    assert refused.value.hint == "--replace 12 is possible"
    assert len(plan(fifty(), ready, 12).added) == 12
    for count in (0, 51, -1):
        with pytest.raises(UsageError, match="cannot be replaced"):
            plan(fifty(), ready, count)
    with pytest.raises(InputError, match="q001 is in"):
        plan(fifty(), [golden(1, KINDS[0])], 1)


def test_only_settled_queries_with_something_relevant_are_ready() -> None:
    asked = [RoundQuery(f"q{at}", "words", KINDS[0]) for at in range(3)]
    items = [
        Item(f"q{at}", f"d{n}:chunk_1", f"d{n}", "t", spans=((5, 9),))
        for at in range(3)
        for n in range(2)
    ]
    items.append(Item("q0", "turn-7", "interview", "t"))
    grades = {("q0", "d0:chunk_1"): 0, ("q0", "d1:chunk_1"): 2, ("q0", "turn-7"): 3}
    grades |= {("q1", "d0:chunk_1"): 0, ("q1", "d1:chunk_1"): 0}
    found = ready_queries(asked, items, Settled(grades, (("q2", "d0:chunk_1"),), ()))
    assert [query.query_id for query in found.queries] == ["q0"]
    assert found.queries[0].relevant_docs == (
        Judgment("turn-7", 3, (), "interview"),
        Judgment("d1:chunk_1", 2, ((5, 9),)),
        Judgment("d0:chunk_1", 0, ((5, 9),)),
    )
    assert found.left_out == {
        "q1": "no passage of its pool is relevant",
        "q2": "a passage is awaiting a grade or a decision",
    }


def test_holes_are_filled_and_nothing_else_changes() -> None:
    v1 = fifty()
    item = Item("q001", "new:chunk_0", "new", "t")
    known = Item("q001", "d1:chunk_0", "d1", "t")
    settled = Settled({item.key: 1, known.key: 0}, (), ())
    made = filled(v1, [item, known], settled, {"round": "r"})
    assert made.by_id["q001"].relevant_docs == (
        *v1.by_id["q001"].relevant_docs,
        Judgment("new:chunk_0", 1),
    )
    assert made.queries[1:] == v1.queries[1:]
    assert (made.name, made.held_out) == ("test_set_v2", v1.held_out)


@pytest.mark.parametrize(
    ("name", "version", "following"),
    [
        ("test_set_v1", "v1", ("test_set_v2", "v2")),
        ("ward", "v9", ("ward_v10", "v10")),
        ("ward_v10", "v10", ("ward_v11", "v11")),
        ("ward", "2026.1", ("ward_2026.2", "2026.2")),
        ("ward", "first", ("ward_first.2", "first.2")),
    ],
)
def test_names_of_the_next_version(name: str, version: str, following: tuple[str, str]) -> None:
    assert next_name(name, version) == following


def test_a_set_without_types_takes_questions_of_any_type() -> None:
    queries = tuple(replace(golden(at, KINDS[0]), query_type=None) for at in range(1, 5))
    v1 = TestSet("untyped", "v1", queries)
    planned = plan(v1, fresh(3), 3)
    assert [query.query_type for query in planned.added] == [None] * 3
    gone = retire(v1, planned.counts, NOTHING, seed=1)
    v2 = swapped(v1, gone, planned.added, {}, seed=1)
    assert len(v2.queries) == 4
    assert {query.query_type for query in v2.queries} == {None}
