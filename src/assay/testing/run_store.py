"""Does a store keep runs as the contract says?

``check_run_store(open_store)`` takes a function that opens the same, initially empty, store again
and again. It is run on SQLite and on PostgreSQL, and serves whoever writes another store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.errors import ConflictError, InputError, UnknownRunError
from assay.model.answers import Answer, NumberCheck
from assay.model.run_store import NEWEST_FIRST, HeldOutUse, RunFilter, RunOrder, RunStore
from assay.model.runs import FIGURES_ONLY, QueryOutcome, RankedResult, RunInfo, RunStatus
from assay.model.testset import GoldenQuery, Judgment, QueryType, TestSet

TEST_SET = TestSet(
    name="contract",
    version="v1",
    queries=(
        GoldenQuery(
            "q1",
            "heart \u0000 attack \U0001f48a",
            QueryType.EXACT_TERM,
            relevant_docs=(Judgment("d1:chunk_0", 3, ((0, 10), (20, 30)), "d1"),),
            must_contain=("aspirin",),
        ),
        GoldenQuery("q2", "brain", relevant_docs=(Judgment("d2", 1),), group="g"),
        GoldenQuery("q3", "kidney", relevant_docs=(Judgment("d3", 2),)),
    ),
)

FULL = QueryOutcome(
    query_id="q1",
    results=(
        RankedResult(
            "d1:chunk_0",
            "d1",
            0.1 + 0.2,
            ((0, 12),),
            "sections-v1",
            {"bm25": 1e-9, "dense": -3.5},
            {"bm25": 1, "dense": 7},
        ),
        RankedResult("d9:chunk_4", "d9", -1.5, (), "sections-v1", {"dense": 0.25}, {"dense": 1}),
    ),
    latency_ms=0.0,
    degraded=True,
    component_errors=("splade_timeout",),
    component_lists={"bm25": ("d1:chunk_0",), "dense": ("d9:chunk_4", "d1:chunk_0"), "splade": ()},
    component_list_scores={"bm25": (1e-9,), "dense": (0.25, -3.5), "splade": ()},
    fused=("d1:chunk_0", "d9:chunk_4"),
    timings_ms={"bm25": 0.5},
    answer=Answer("Aspirin.", ("d1:chunk_0", "d0:chunk_9"), False, "low score"),
    known_citations=frozenset({"d1:chunk_0"}),
    numbers=NumberCheck(2, ("12 mg",)),
    warnings=("reranker timed out",),
)
FAILED = QueryOutcome("q2", error="ValueError: no such thing \ud800")
# the same lists, with scores and ranks of results that the lists imply
IMPLIED = replace(
    FULL,
    results=tuple(
        replace(
            one,
            ranks={"bm25": 1, "dense": 2} if "bm25" in one.ranks else {"dense": 1},
        )
        for one in FULL.results
    ),
)
PLAIN = QueryOutcome("q3", (RankedResult("d3", "d3"), RankedResult("d2", "d2")))


def contract_run(run_id: str, suite: str = "contract", **fields: object) -> RunInfo:
    """A run to enter; fields that are given replace the usual ones."""
    usual = RunInfo(
        run_id=run_id,
        suite=suite,
        test_set_version="v1",
        test_set_checksum=TEST_SET.checksum,
        config={"fusion_method": "rrf", "weights": {"bm25": 0.3}},
        config_hash="c" * 64,
        cache_key=f"key of {run_id}",
        created_at="2024-03-15T16:00:00Z",
        generation="3",
        name="a name",
        models={"dense": "bge"},
        chunker_versions=("sections-v1",),
        seed=42,
        commit_hash="abc123",
        queries=3,
    )
    return replace(usual, **fields)  # type: ignore[arg-type]


def check_run_store(open_store: Callable[[], RunStore]) -> None:
    """Every promise of ``RunStore``, one after the other; the store must be empty at first."""
    for check in (
        _keeps_everything,
        _appends_once,
        _finds_runs_by_reference,
        _pages_and_filters,
        _sorts_and_searches,
        _caches,
        _claims,
        _deletes,
        _logs_held_out_uses,
    ):
        store = open_store()
        try:
            check(store, open_store)
        finally:
            for info in store.runs(limit=1000).runs:
                store.delete(info.run_id)
            store.close()


def _keeps_everything(store: RunStore, again: Callable[[], RunStore]) -> None:
    begun = store.begin(contract_run("run-full", tags=("first",)), TEST_SET)
    assert begun == contract_run("run-full", tags=("first",))
    assert store.append("run-full", [FULL, FAILED, PLAIN]) == 3
    finished = store.finish(
        "run-full", {"metrics": {"mrr": None}}, finished_at="2026-01-02T03:04:05Z"
    )
    assert finished.status is RunStatus.COMPLETE
    other = again()  # what was acknowledged is there for others
    assert other.run("run-full") == finished
    assert other.outcomes("run-full") == (FULL, FAILED, PLAIN)
    assert other.answered("run-full") == {"q1", "q2", "q3"}
    assert other.naming("run-full", "d9") == {"q1": ("d9:chunk_4", 2)}
    assert other.naming("run-full", "d2") == {"q3": ("d2", 2)}
    assert other.naming("run-full", "d") == {}, "an id is a whole word"
    assert other.test_set("run-full") == TEST_SET
    assert other.test_set("run-full").checksum == TEST_SET.checksum
    store.begin(contract_run("run-implied"), TEST_SET)
    store.append("run-implied", [IMPLIED])
    assert other.outcomes("run-implied") == (IMPLIED,)
    (short,) = other.outcomes("run-full", depth=1, stages=False, queries=["q1"])
    bare = replace(FULL.results[0], component_scores={}, ranks={})
    without_stages = replace(
        FULL, component_lists={}, component_list_scores={}, fused=(), timings_ms={}
    )
    assert short == replace(without_stages, results=(bare,)), "a short read begins the same"
    other.close()


def _appends_once(store: RunStore, _: Callable[[], RunStore]) -> None:
    store.begin(contract_run("run-once"), TEST_SET)
    assert store.append("run-once", [PLAIN]) == 1
    changed = replace(PLAIN, latency_ms=99.0)
    assert store.append("run-once", [changed, FAILED]) == 1, "a query's first outcome stays"
    assert store.outcomes("run-once") == (PLAIN, FAILED)
    assert store.outcomes("run-once", limit=1) == (PLAIN,)
    assert store.outcomes("run-once", limit=5, offset=1) == (FAILED,)
    ids = [PLAIN.query_id, FAILED.query_id]
    assert store.outcomes("run-once", queries=ids) == (PLAIN, FAILED)
    assert store.outcomes("run-once", queries=ids, limit=1, offset=1) == (FAILED,)
    assert store.append("run-once", []) == 0
    _refuses(ConflictError, lambda: store.begin(contract_run("run-once"), TEST_SET))


def _one_word_means_one_run(store: RunStore) -> None:
    """No id may be a tag or a name (here ``baseline`` and ``mine``), nor a tag or name an id."""
    for run in (
        contract_run("baseline"),
        contract_run("mine"),
        contract_run("latest"),
        contract_run("run-odd", name="run-ref-0"),
        contract_run("run-odd", tags=("run-ref-0",)),
    ):
        _refuses(ConflictError, lambda run=run: store.begin(run, TEST_SET))  # type: ignore[misc]
    for run_id in ("baseline", "mine", "latest"):
        _refuses(ConflictError, lambda name=run_id: store.check_new_id(name))  # type: ignore[misc]
    for run_id in ("run-odd", "run-ref-0"):
        store.check_new_id(run_id)
    _refuses(ConflictError, lambda: store.tag("run-ref-1", "run-ref-0"))
    _refuses(UnknownRunError, lambda: store.run("run-odd"))


def _finds_runs_by_reference(store: RunStore, _: Callable[[], RunStore]) -> None:
    for number in range(3):
        store.begin(contract_run(f"run-ref-{number}", suite=f"suite{number % 2}"), TEST_SET)
        store.finish(f"run-ref-{number}", {})
    store.begin(contract_run("running-now"), TEST_SET)
    assert store.run("latest").run_id == "run-ref-2", "unfinished runs are not the latest"
    assert store.run("latest~2").run_id == "run-ref-0"
    assert store.run("latest", suite="suite1").run_id == "run-ref-1"
    _refuses(UnknownRunError, lambda: store.run("runnin"))  # an id that somebody chose is exact
    made_up = "20240315-160000-0a1b2c"
    store.begin(contract_run(made_up), TEST_SET)
    assert store.run("20240315-16").run_id == made_up, "the beginning of an id that was made up"
    store.begin(contract_run("run-short", name="20240315-16"), TEST_SET)
    assert store.run("20240315-16").run_id == "run-short", "a name comes before a beginning"
    for run_id in (made_up, "run-short"):
        store.delete(run_id)
    assert store.tag("latest~1", "baseline").tags == ("baseline",)
    assert store.run("baseline").run_id == "run-ref-1"
    store.tag("run-ref-0", "baseline")
    assert store.run("baseline").run_id == "run-ref-0", "a tag names one run"
    assert store.run("run-ref-1").tags == ()
    store.begin(contract_run("run-named", name="mine"), TEST_SET)
    assert store.run("mine").run_id == "run-named"
    store.begin(contract_run("run-named-again", name="mine"), TEST_SET)
    assert store.run("mine").run_id == "run-named-again", "of one name the newest is meant"
    store.tag("run-ref-0", "mine")
    assert store.run("mine").run_id == "run-ref-0", "a tag comes before a name"
    store.untag("mine")
    _one_word_means_one_run(store)
    for run_id in ("run-named", "run-named-again"):
        store.delete(run_id)
    assert store.renew("run-ref-0").run_id == "run-ref-0"
    for ref, number in (("latest", 0), ("latest~1", 2), ("latest~2", 1)):
        assert store.run(ref).run_id == f"run-ref-{number}", "what was asked for last is the latest"
    assert store.runs(limit=1).runs[0].run_id == "run-ref-0"
    store.begin(contract_run("run-after"), TEST_SET)
    store.finish("run-after", {})
    assert store.run("latest").run_id == "run-after"
    store.delete("run-after")
    store.untag("baseline")
    older = replace(contract_run("run-older"), created_at="2020-01-01T00:00:00Z")
    store.begin(older, TEST_SET)
    store.finish("run-older", {})
    assert store.run("latest").run_id == "run-ref-0", "a run made earlier and entered later"
    assert store.run("latest~3").run_id == "run-older"
    store.delete("run-older")
    store.begin(replace(contract_run("run-figures"), engine=FIGURES_ONLY), TEST_SET)
    store.finish("run-figures", {})
    assert store.run("run-figures").figures_only
    assert store.run("latest").run_id == "run-ref-0", "saved figures are no run"
    store.delete("run-figures")
    for ref in ("baseline", "latest~3", "run-ref-", "run-re", "nothing", "%", "latest~-1", ""):
        _refuses(UnknownRunError, lambda ref=ref: store.run(ref))  # type: ignore[misc]
    for tag in ("latest", "latest~4", "", "a b", "../x"):
        _refuses(InputError, lambda tag=tag: store.tag("latest", tag))  # type: ignore[misc]


def _pages_and_filters(store: RunStore, _: Callable[[], RunStore]) -> None:
    for number in range(5):
        store.begin(contract_run(f"run-page-{number}", suite=f"s{number % 2}"), TEST_SET)
    store.finish("run-page-4", {}, status=RunStatus.FAILED)
    store.tag("run-page-1", "kept")
    page = store.runs(limit=2, offset=1)
    assert page.total == 5
    assert [info.run_id for info in page.runs] == ["run-page-3", "run-page-2"]
    for chosen, total in (
        (RunFilter(suite="s0"), 3),
        (RunFilter(status=RunStatus.FAILED), 1),
        (RunFilter(tag="kept"), 1),
        (RunFilter(config_hash="c" * 64, suite="s1"), 2),
        (RunFilter(suite="none"), 0),
    ):
        assert store.runs(chosen).total == total, chosen


def _sorts_and_searches(store: RunStore, _: Callable[[], RunStore]) -> None:
    for name, value, latency in (("s1", 0.5, 20.0), ("s2", 0.75, 10.0), ("s3", None, None)):
        info = contract_run(name, "sorted", name=f"Name {name}", config_hash=name[:1])
        store.begin(info, TEST_SET)
        metrics = {} if value is None else {"ndcg_at_10": value}
        times = {} if latency is None else {"p95": latency}
        store.finish(name, {"metrics": metrics, "latency_ms": times})
    store.tag("s1", "Golden")

    def listed(order: RunOrder, **chosen: Any) -> list[str]:
        page = store.runs(RunFilter(suite="sorted", **chosen), order=order)
        return [info.run_id for info in page.runs]

    assert listed(NEWEST_FIRST) == ["s3", "s2", "s1"]
    assert listed(RunOrder("created", descending=False)) == ["s1", "s2", "s3"]
    assert listed(RunOrder("ndcg_at_10")) == ["s2", "s1", "s3"]
    assert listed(RunOrder("ndcg_at_10", descending=False)) == ["s1", "s2", "s3"]
    assert listed(RunOrder("latency")) == ["s1", "s2", "s3"]
    assert listed(RunOrder("name", descending=False)) == ["s1", "s2", "s3"]
    assert listed(NEWEST_FIRST, text="name S2") == ["s2"]
    assert listed(NEWEST_FIRST, text="gold") == ["s1"]
    assert listed(NEWEST_FIRST, text="100%_") == []
    assert listed(NEWEST_FIRST, newest_only=True) == ["s3"]


def _caches(store: RunStore, _: Callable[[], RunStore]) -> None:
    assert store.equal_runs("k") == ()
    store.begin(contract_run("run-failed", cache_key="k", status=RunStatus.FAILED), TEST_SET)
    assert store.equal_runs("k") == (), "a failed run is neither a result nor resumed"
    store.begin(contract_run("run-done", cache_key="k"), TEST_SET)
    store.finish("run-done", {})
    for number, lack in enumerate(("failed_queries", "degraded_queries")):
        store.begin(contract_run(f"run-lacks-{number}", cache_key="k"), TEST_SET)
        store.finish(f"run-lacks-{number}", {lack: 1})
    store.begin(contract_run("run-open", cache_key="k"), TEST_SET)
    found = [info.run_id for info in store.equal_runs("k")]
    assert found == ["run-done", "run-open"], "complete, nothing lacking; then what can be resumed"
    store.delete("run-done")
    store.delete("run-open")
    assert store.equal_runs("k") == (), "failed and degraded queries are asked again"


def _claims(store: RunStore, _: Callable[[], RunStore]) -> None:
    store.begin(contract_run("run-left", owner="elsewhere/1/1"), TEST_SET)
    store.finish("run-left", {}, status=RunStatus.INTERRUPTED)
    taken = store.claim("run-left", "here/2/2")
    assert (taken.owner, taken.status) == ("here/2/2", RunStatus.RUNNING)
    store.finish("run-left", {})
    _refuses(ConflictError, lambda: store.claim("run-left", "here/2/2"))
    store.begin(contract_run("run-back"), TEST_SET)
    store.begin(contract_run("run-between"), TEST_SET)
    store.finish("run-between", {})
    store.claim("run-back", "")
    store.finish("run-back", {})
    assert store.run("latest").run_id == "run-back", "a run that was taken up again is the newest"
    _refuses(UnknownRunError, lambda: store.renew("no-such-run"))


def _deletes(store: RunStore, _: Callable[[], RunStore]) -> None:
    for run_id in ("run-gone", "run-kept"):
        store.begin(contract_run(run_id, tags=(f"tag-of-{run_id}",)), TEST_SET)
        store.append(run_id, [FULL])
    assert store.delete("tag-of-run-gone").run_id == "run-gone"
    _refuses(UnknownRunError, lambda: store.run("tag-of-run-gone"))
    assert store.answered("run-gone") == frozenset()
    assert store.outcomes("run-kept") == (FULL,)
    assert store.test_set("run-kept") == TEST_SET, "a test set stays while a run needs it"
    for act in (store.delete, store.outcomes, store.test_set):
        _refuses(UnknownRunError, lambda act=act: act("run-gone"))  # type: ignore[misc]
    _refuses(UnknownRunError, lambda: store.finish("run-gone", {}))


def _logs_held_out_uses(store: RunStore, _: Callable[[], RunStore]) -> None:
    uses = [HeldOutUse("contract", "v1", f"r{n}", "tune", f"2024-03-1{n}") for n in range(2)]
    for use in uses:
        store.log_held_out(use)
    assert store.held_out_uses("contract") == tuple(uses)
    assert store.held_out_uses("other") == ()
    assert store.held_out_uses()[-len(uses) :] == tuple(uses)


def _refuses(kind: type[Exception], act: Callable[[], object]) -> None:
    try:
        act()
    except kind:
        return
    raise AssertionError(f"this should have been refused with {kind.__name__}")
