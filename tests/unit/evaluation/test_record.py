"""Is an evaluation cached, resumed and kept?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from assay.errors import BusyError, TooManyErrorsError, UsageError
from assay.evaluation.history import oldest_first
from assay.evaluation.outcomes import outcomes_digest
from assay.evaluation.parts import Mode, SetPart, Split, part_of
from assay.evaluation.record import RecordOptions, cache_key, record
from assay.model.document import IngestionMode
from assay.model.runs import RunStatus
from assay.model.system import System
from assay.model.testset import GoldenQuery, HeldOut, Judgment, SpeakerFilter, TestSet
from assay.store.owner import this_process
from assay.store.runs import SqlRunStore

SPEAKERS = (SpeakerFilter.ALL, SpeakerFilter.PATIENT, SpeakerFilter.CLINICIAN)
TEST_SET = TestSet(
    "suite",
    "v1",
    tuple(
        GoldenQuery(
            f"q{at:03}",
            f"question {at}",
            relevant_docs=(Judgment(f"d{at}", 2), Judgment(f"live{at}", 1)),
            speaker_filter=SPEAKERS[at % 3],
            ingestion_mode=IngestionMode.LIVE if at == 0 else None,
        )
        for at in range(35)
    ),
)
HELD_OUT = replace(TEST_SET, held_out=HeldOut(1, ("q001", "q002")))


@dataclass
class Engine:
    """A retriever that counts, and stops working after a while if told to."""

    stop_after: int = 10**9
    problem: BaseException = field(default_factory=KeyboardInterrupt)
    asked: list[GoldenQuery] = field(default_factory=list)

    def __call__(self, query: GoldenQuery) -> list[str]:
        if len(self.asked) >= self.stop_after:
            raise self.problem
        self.asked.append(query)
        number = query.query_text.split()[1]
        return [f"x{number}", f"d{number}"]


def system(engine: Engine, generation: str | None = "7", **config: object) -> System:
    return System(engine, {"fusion_method": "rrf", **config}, generation=generation)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlRunStore]:
    opened = SqlRunStore(tmp_path / "assay.db")
    yield opened
    opened.close()


WHOLE = part_of(TEST_SET)


@pytest.mark.req("E7")
def test_scenario_evaluation_caching(store: SqlRunStore) -> None:
    first, second = Engine(), Engine()
    made = record(system(first), WHOLE, store)
    assert len(first.asked) == 35
    again = record(system(second), WHOLE, store, RecordOptions(tags=("baseline",)))
    assert second.asked == []
    assert again.cached
    assert again.info.run_id == made.info.run_id
    assert again.info.tags == ("baseline",)
    assert again.result.to_dict()["metrics"] == made.result.to_dict()["metrics"]


@pytest.mark.req("E7")
def test_the_key_covers_configuration_queries_and_generation(store: SqlRunStore) -> None:
    key = cache_key({"a": 1, "b": 2}, WHOLE, "7")
    assert cache_key({"b": 2, "a": 1}, WHOLE, "7") == key
    longer = part_of(replace(TEST_SET, version="v2"))
    others = [
        cache_key({"a": 1, "b": 3}, WHOLE, "7"),
        cache_key({"a": 1, "b": 2}, longer, "7"),
        cache_key({"a": 1, "b": 2}, part_of(TEST_SET, mode=Mode.OVERALL), "7"),
        cache_key({"a": 1, "b": 2}, WHOLE, "8"),
    ]
    assert len({key, *others}) == 5
    record(system(Engine()), WHOLE, store)
    for changed in (system(Engine(), "8"), system(Engine(), k=5), system(Engine(), None)):
        assert not record(changed, WHOLE, store).cached


def test_an_engine_of_unknown_state_is_never_cached(store: SqlRunStore) -> None:
    unknown = system(Engine(), None)
    assert not record(unknown, WHOLE, store).cached
    assert not record(unknown, WHOLE, store).cached


def test_no_cache_runs_again_and_leaves_the_old_run(store: SqlRunStore) -> None:
    record(system(Engine()), WHOLE, store)
    second = Engine()
    assert not record(system(second), WHOLE, store, RecordOptions(use_cache=False)).cached
    assert len(second.asked) == 35
    assert store.runs().total == 2
    assert record(system(Engine()), WHOLE, store).info.run_id == store.run("latest").run_id


@pytest.mark.slow
@pytest.mark.req("E7")
@pytest.mark.parametrize("use_cache", [True, False])
def test_queries_that_failed_are_asked_again(store: SqlRunStore, use_cache: bool) -> None:
    broken = Engine(stop_after=33, problem=ConnectionError("reset"))
    assert record(system(broken), WHOLE, store).result.failed == ("q033", "q034")
    mended = record(system(Engine()), WHOLE, store, RecordOptions(use_cache=use_cache))
    assert not mended.cached
    assert not mended.result.failed
    again = record(system(Engine()), WHOLE, store)
    assert (again.cached, again.info.run_id) == (True, mended.info.run_id)
    worse = Engine(stop_after=34, problem=ConnectionError("reset"))
    assert record(system(worse), WHOLE, store, RecordOptions(use_cache=False)).result.failed
    assert record(system(Engine()), WHOLE, store).info.run_id == mended.info.run_id


@pytest.mark.req("E5")
def test_ctrl_c_keeps_what_was_answered_and_the_next_call_goes_on(store: SqlRunStore) -> None:
    with pytest.raises(KeyboardInterrupt):
        record(system(Engine(stop_after=23)), WHOLE, store)
    (left,) = store.runs().runs
    assert left.status is RunStatus.INTERRUPTED
    assert len(store.answered(left.run_id)) == 23
    engine = Engine()
    made = record(system(engine), WHOLE, store)
    assert (made.info.run_id, made.reused, len(engine.asked)) == (left.run_id, 23, 12)
    assert made.info.status is RunStatus.COMPLETE
    whole = record(system(Engine()), WHOLE, store, RecordOptions(use_cache=False))
    assert outcomes_digest(made.result.outcomes) == outcomes_digest(whole.result.outcomes)


def test_a_run_is_resumed_by_name(store: SqlRunStore) -> None:
    with pytest.raises(KeyboardInterrupt):
        record(system(Engine(stop_after=5), None), WHOLE, store, RecordOptions(tags=("mine",)))
    engine = Engine()
    made = record(system(engine, None), WHOLE, store, RecordOptions(resume="mine"))
    assert (made.reused, len(engine.asked)) == (5, 30)
    done = Engine()
    again = record(system(done, None), WHOLE, store, RecordOptions(resume="mine"))
    assert (again.cached, done.asked) == (True, [])


def test_a_run_that_another_process_makes_is_left_alone(store: SqlRunStore) -> None:
    # process 1 is alive as long as the machine is
    alive = this_process().split("/")[0] + "/1/" + _started_of_1()
    with pytest.raises(KeyboardInterrupt):
        record(system(Engine(stop_after=5)), WHOLE, store, RecordOptions(owner=alive))
    with pytest.raises(BusyError, match="process 1"):
        record(system(Engine()), WHOLE, store, RecordOptions(owner=this_process()))


def _started_of_1() -> str:
    return Path("/proc/1/stat").read_text().rpartition(")")[2].split()[19]


def test_too_many_errors_leave_a_failed_run(store: SqlRunStore) -> None:
    broken = Engine(stop_after=12, problem=ConnectionError("refused"))
    with pytest.raises(TooManyErrorsError, match="refused"):
        record(system(broken), WHOLE, store, RecordOptions(max_errors=2))
    (left,) = store.runs().runs
    assert left.status is RunStatus.FAILED
    assert len(store.answered(left.run_id)) == 15
    assert not record(system(Engine()), WHOLE, store).cached


def test_the_aggregate_is_stored(store: SqlRunStore) -> None:
    made = record(system(Engine()), WHOLE, store, RecordOptions(name="first"))
    stored = store.run("latest")
    assert stored.aggregate["metrics"] == made.result.to_dict()["metrics"]
    assert stored.aggregate["metrics"]["mrr"] == 0.5
    assert (stored.suite, stored.name, stored.queries, stored.part) == ("suite", "first", 35, "all")


def test_progress_is_told_with_every_query(store: SqlRunStore) -> None:
    told: list[tuple[int, int]] = []
    record(
        system(Engine()), WHOLE, store, progress=lambda done, total, _: told.append((done, total))
    )
    assert told == [(at, 35) for at in range(1, 36)]


@pytest.mark.req("E13")
def test_the_held_out_part_is_touched_on_request_only_and_that_is_logged(
    store: SqlRunStore,
) -> None:
    engine = Engine()
    made = record(system(engine), part_of(HELD_OUT), store)
    assert len(engine.asked) == 33
    assert made.info.part == "evaluation"
    assert not {"q001", "q002"} & {query.query_id for query in engine.asked}
    assert store.held_out_uses("suite") == ()
    held = Engine()
    made = record(system(held), part_of(HELD_OUT, Split.HOLDOUT), store)
    assert [query.query_id for query in held.asked] == ["q001", "q002"]
    (use,) = store.held_out_uses("suite")
    assert (use.run_id, use.purpose) == (made.info.run_id, "evaluation")
    record(system(Engine()), part_of(HELD_OUT, Split.ALL), store)
    assert len(store.held_out_uses("suite")) == 2
    with pytest.raises(UsageError, match="no held-out part"):
        part_of(TEST_SET, Split.HOLDOUT)


@pytest.mark.req("W6")
def test_mode_1_overall_asks_everything_without_filters(store: SqlRunStore) -> None:
    engine = Engine()
    made = record(system(engine), part_of(TEST_SET, mode=Mode.OVERALL), store)
    assert len(engine.asked) == 35
    assert {query.speaker_filter for query in engine.asked} == {SpeakerFilter.ALL}
    assert {query.ingestion_mode for query in engine.asked} == {None}
    assert set(made.result.by_speaker) == {"ALL", "PATIENT", "CLINICIAN"}


@pytest.mark.req("W6")
@pytest.mark.parametrize(
    ("mode", "speaker", "count"),
    [(Mode.PATIENT, SpeakerFilter.PATIENT, 12), (Mode.CLINICIAN, SpeakerFilter.CLINICIAN, 11)],
)
def test_modes_2_and_3_ask_about_one_speaker(
    store: SqlRunStore, mode: Mode, speaker: SpeakerFilter, count: int
) -> None:
    engine = Engine()
    made = record(system(engine), part_of(TEST_SET, mode=mode), store)
    assert [query.speaker_filter for query in engine.asked] == [speaker] * count
    assert made.info.part == mode.value


@pytest.mark.req("W6")
def test_mode_4_asks_the_same_of_what_came_from_files_and_live() -> None:
    def modes(ids: object) -> dict[str, IngestionMode]:
        return {f"d{at}": IngestionMode.OFFLINE for at in range(35)} | {
            f"live{at}": IngestionMode.LIVE for at in range(30)
        }

    def arm(mode: Mode) -> SetPart:
        return part_of(TEST_SET, mode=mode, modes_of=modes)

    offline, live = arm(Mode.OFFLINE), arm(Mode.LIVE)
    assert len(offline.test_set.queries) == 34, "a question about live data is not asked of files"
    assert len(live.test_set.queries) == 35
    assert offline.test_set.queries[0].relevant_docs == (Judgment("d1", 2),)
    assert live.test_set.queries[1].relevant_docs == (Judgment("live1", 1),)
    assert offline.asked(offline.test_set.queries[0]).ingestion_mode is IngestionMode.OFFLINE
    assert live.asked(live.test_set.queries[0]).ingestion_mode is IngestionMode.LIVE


def test_a_mode_without_queries_is_refused() -> None:
    everyone = replace(TEST_SET, queries=TEST_SET.queries[:1])
    with pytest.raises(UsageError, match="no query for patient"):
        part_of(everyone, mode=Mode.PATIENT)


def test_the_history_goes_by_when_runs_were_made(store: SqlRunStore) -> None:
    for number in (1, 2):
        made = record(system(Engine(), f"{number}"), WHOLE, store).info
        store.delete(made.run_id)
        store.begin(
            replace(made, run_id=f"run-{number}", created_at=f"2024-0{number}-01T00:00:00Z"),
            TEST_SET,
        )
    store.renew("run-1")
    assert [info.run_id for info in store.runs().runs] == ["run-1", "run-2"]
    assert [info.run_id for info in oldest_first(store.runs().runs)] == ["run-1", "run-2"]
