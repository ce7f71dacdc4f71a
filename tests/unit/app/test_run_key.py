"""Does the key of a run cover everything that can change an answer, and nothing stale answer?"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from assay.answers import prompt
from assay.app.comparison import CompareRequest, compare
from assay.app.evaluation import Evaluated
from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace, open_workspace
from assay.errors import ConflictError
from assay.evaluation.parts import part_of
from assay.evaluation.record import cache_key
from assay.index.manifest import FileSet, Manifest
from assay.model.conditions import read_condition
from assay.model.query import Filters
from assay.model.run_store import RunFilter
from assay.model.testset import GoldenQuery, QueryType, TestSet
from assay.search.request import SearchOptions
from assay.search.run_config import evaluation_options, search_config
from assay.settings import SETTINGS as EVERY_SETTING
from assay.testsets.load import parse_test_set
from tests.unit.http.conftest import SETTINGS, home, small_home  # noqa: F401 - fixtures
from tests.unit.http.small import TEST_SET

BASE: dict[str, Any] = {**SETTINGS, "answerer": "extractive"}
PROBE: dict[str, Any] = {
    "dense_model": "bge-small-en-v1.5",
    "splade_model": "splade-tiny",
    "depth": 7,
    "fusion_method": "weighted",
    "rrf_k": 20,
    "weights": "bm25=2,splade=1,dense=1",
    "per_type_weights": True,
    "type_weights": {"paraphrase": {"bm25": 2.0, "splade": 1.0, "dense": 1.0}},
    "normalization": "z-score",
    "boosts": False,
    "group_by": "document",
    "collapse": True,
    "rerank": True,
    "reranker": "ms-marco-minilm-l12-v2",
    "rerank_share": 0.7,
    "lexicon": "lexicon.yaml",
    "synonyms": "synonyms.txt",
    "answerer": "answering:answer",
    "own_components": "labels=answering:labels",
}
"""Another value of each setting that can change an answer."""

SCORING = {
    "measures", "chunk_separator", "confidence", "resamples", "seed", "ci_method", "alpha",
    "margin",
}  # fmt: skip
"""They decide what is computed from answers; a run is scored anew for each."""
ELSEWHERE = {
    # a reason of its own: components without a model are not asked, so both lines above count
    "components",
    # what they change is the index, whose content is part of the key
    "graph_from", "engine", "opensearch_url", "opensearch_prefix", "opensearch_shards",
    # counts with an answerer that is an address (test_the_prompt_and_model_of_a_service)
    "answer_model",
    # count where a run is judged: they are parts of the judge's name (unit/judges)
    "judge", "judge_model", "judge_prompts",
}  # fmt: skip
NO_ANSWER = {
    # where things are, and who may reach them
    "home", "database", "models", "host", "port", "allowed_hosts", "server", "api_key",
    "opensearch_user", "opensearch_password", "opensearch_api_key", "opensearch_ca",
    "opensearch_replicas", "opensearch_refresh", "answer_key_variable", "dense_key_variable",
    "reranker_key_variable", "metrics_textfile",
    "metrics_test_set", "metrics_part", "metrics_match", "metrics_configuration",
    "pushgateway",
    # how fast, how often and how much at a time; an evaluation is patient, and what fails or is
    # late is never taken for an answer
    "judge_key_variable", "judge_seconds", "judge_concurrency",
    "threads", "component_timeout_ms", "rerank_timeout_ms", "answer_seconds", "search_slots",
    "search_queue", "evaluation_slots", "rate_limit", "request_seconds", "shutdown_seconds",
    "schedule",
    # what is shown and logged
    "color", "debug", "log_format", "log_level", "query_log", "query_log_days", "query_log_rows",
}  # fmt: skip
"""Settings that cannot change an answer."""


def small_set() -> TestSet:
    return parse_test_set(json.dumps(TEST_SET).encode()).sound()


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: F811
    """The working folder, with a lexicon, synonyms and code."""
    place = home.parent
    (place / "synonyms.txt").write_text("cephalalgia, headache\n")
    (place / "lexicon.yaml").write_text("intents: {dosage: {phrases: {quantum: 1.0}}}\n")
    (place / "answering.py").write_text(
        "def answer(q, passages): return 'yes'\ndef labels(chunks): return None\n"
    )
    (place / "engine_of_mine.py").write_text(ENGINE)
    monkeypatch.chdir(place)
    paths = list(sys.path)
    yield place
    sys.path[:] = paths
    forget()


ENGINE = """
import os
asked = []
def search(text):
    asked.append(text)
    if len(asked) == int(os.environ.get("STOP_AT", "0")):
        raise KeyboardInterrupt
    return ["d1:chunk_0"]
"""


def forget() -> None:
    """Another process would load these modules anew."""
    for name in ("answering", "engine_of_mine"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()


def opened(folder: Path, **settings: Any) -> Workspace:
    for name in ("lexicon", "synonyms"):
        if name in settings:
            settings[name] = folder / settings[name]
    forget()
    return open_workspace(folder / "home", **{**BASE, **settings})


def key(folder: Path, **settings: Any) -> str:
    with opened(folder, **settings) as workspace:
        system = workspace.system(answers=True)
        return cache_key(system.config, part_of(small_set()), system.generation)


@pytest.mark.req("E7")
def test_every_setting_is_accounted_for() -> None:
    told = [set(PROBE), SCORING, ELSEWHERE, NO_ANSWER]
    assert set().union(*told) == set(EVERY_SETTING)
    assert sum(map(len, told)) == len(EVERY_SETTING), "a setting stands in two lists"
    assert not [name for name in (*PROBE, *ELSEWHERE) if name in NO_ANSWER]


@pytest.mark.req("E7")
@pytest.mark.parametrize("name", PROBE)
def test_a_setting_that_can_change_an_answer_changes_the_key(folder: Path, name: str) -> None:
    usual = key(folder)
    assert key(folder) == usual
    assert key(folder, **{name: PROBE[name]}) != usual


OPTIONS: dict[str, Any] = {
    **{name: PROBE[name] for name in PROBE if name in {f.name for f in fields(SearchOptions)}},
    "k": 50,
    "components": ("bm25",),
    "weights": {"bm25": 2.0, "splade": 1.0, "dense": 1.0},
    "model_weights": {"rrf": {"bm25": 2.0, "splade": 1.0, "dense": 1.0}},
    "query_type": QueryType.PARAPHRASE,
    "query_intent": "dosage",
    "floor": False,
    "synonyms": False,
    "synonym_rules": "headache, cephalalgia",
    "rerank_depth": 5,
    "filters": Filters(metadata=(read_condition("year>=2020"),)),
}


@pytest.mark.req("E7")
def test_every_option_of_a_search_is_accounted_for() -> None:
    same = {
        "offset",  # a run keeps the list from its start
        "facets",  # counts beside the results
        "component_timeout_ms",
        "rerank_timeout_ms",
        "highlights",  # what is shown of a text
        "terms",  # what is shown of a score
    }
    assert OPTIONS.keys() | same == {item.name for item in fields(SearchOptions)}
    usual = evaluation_options(SearchOptions())
    for name, value in OPTIONS.items():
        other = search_config(replace(usual, **{name: value}))
        assert other != search_config(usual), name


def test_the_prompt_and_model_of_a_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = {"answerer": "http://127.0.0.1:1/v1", "answer_model": "small"}
    usual = key(folder, **service)
    assert key(folder, **service) == usual
    assert key(folder, **{**service, "answer_model": "large"}) != usual
    assert key(folder, **{**service, "answerer": "http://127.0.0.1:2/v1"}) != usual
    monkeypatch.setattr(prompt, "SYSTEM", f"{prompt.SYSTEM} Answer in verse.")
    assert key(folder, **service) != usual


def test_two_indexes_of_one_generation_are_told_apart() -> None:
    part = FileSet("seg-1", 3, {"vectors.npy": [7, "a" * 64]})
    one = Manifest(1, 3, segments=(part,), models={"dense": "m:1"})
    assert one.content == Manifest(1, 9, segments=(part,), models={"dense": "m:1"}).content
    assert one.content != Manifest(1, 3, segments=(part,), models={"dense": "m:2"}).content
    other = replace(part, files={"vectors.npy": [7, "b" * 64]})
    assert one.content != Manifest(1, 3, segments=(other,), models={"dense": "m:1"}).content


def test_an_index_that_was_removed_and_built_of_other_text_has_another_key(folder: Path) -> None:
    import shutil

    before = key(folder)
    with opened(folder) as workspace:
        workspace.add([{"doc_id": "d1", "title": "Aspirin", "text": "Other words."}])
        shutil.rmtree(workspace.layout.index)
    with opened(folder) as workspace:
        workspace.write_index("rebuild")
    assert key(folder) != before


# Files and code: edited between two runs


def evaluated(folder: Path, settings: dict[str, Any], **request: Any) -> Evaluated:
    with opened(folder, **settings) as workspace:
        return workspace.carry_out(EvaluationRequest(test_set=small_set(), **request))


EDITS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str, str]] = {
    "synonyms": (
        {"synonyms": "synonyms.txt"}, {}, "synonyms.txt", "insulin, sugar\n", "config: synonyms"
    ),
    "lexicon": (
        {"lexicon": "lexicon.yaml"}, {}, "lexicon.yaml",
        "intents: {dosage: {phrases: {leap: 1.0}}}\n", "config: lexicon",
    ),
    "answerer": (
        {"answerer": "answering:answer"}, {"answers": True}, "answering.py",
        "def answer(q, passages): return 'no'\n", "prompt: answerer",
    ),
    "retriever": (
        {}, {"retriever": "engine_of_mine:search"}, "engine_of_mine.py",
        f"{ENGINE}# edited\n", "config: retriever_code",
    ),
}  # fmt: skip


@pytest.mark.req("E7")
@pytest.mark.parametrize("what", EDITS)
def test_an_edited_file_is_never_answered_from_the_old_run(folder: Path, what: str) -> None:
    settings, request, name, text, cause = EDITS[what]
    first = evaluated(folder, settings, **request).runs[0]
    again = evaluated(folder, settings, **request)
    assert (first.cached, again.runs[0].cached) == (False, True)
    assert again.runs[0].info.run_id == first.info.run_id
    (folder / name).write_text(text)
    edited = evaluated(folder, settings, **request).runs[0]
    assert not edited.cached
    assert edited.info.run_id != first.info.run_id
    with opened(folder, **settings) as workspace:
        runs = CompareRequest(first.info.run_id, edited.info.run_id)
        report = compare(workspace, runs).report
    assert [str(one) for one in report.differences if str(one).startswith(cause)]


def test_a_remark_in_a_file_of_synonyms_changes_nothing(folder: Path) -> None:
    settings = {"synonyms": "synonyms.txt"}
    evaluated(folder, settings)
    with (folder / "synonyms.txt").open("a") as file:
        file.write("# a remark\n")
    assert evaluated(folder, settings).runs[0].cached


def test_a_function_of_ones_own_that_is_not_asked_again_is_named(folder: Path) -> None:
    request: dict[str, Any] = {"retriever": "engine_of_mine:search"}
    assert evaluated(folder, {}, **request).warnings == ()
    (line,) = evaluated(folder, {}, **request).warnings
    assert line.startswith("engine_of_mine:search was not asked again")
    assert "--no-cache" in line
    assert evaluated(folder, {}, **request, use_cache=False).warnings == ()


def test_code_that_nobody_knows_is_never_cached(folder: Path) -> None:
    (folder / "engine_of_mine.py").write_text("from time import ctime\n")
    for _ in range(2):  # what it returns is no ranking, and that is not the point
        made = evaluated(folder, {}, retriever="builtins:sorted", max_errors=3)
        assert not made.runs[0].cached
    (folder / "answering.py").write_text(
        "import sys, types\nhidden = types.ModuleType('hidden')\n"
        "exec(\"def answer(q, p): return 'x'\", hidden.__dict__)\nsys.modules['hidden'] = hidden\n"
    )
    importlib.import_module("answering")
    settings = {"answerer": "hidden:answer"}
    for _ in range(2):
        assert not evaluated(folder, settings, answers=True).runs[0].cached
    sys.modules.pop("hidden")


# A run that was cut short


def many() -> TestSet:
    whole = small_set()
    queries = tuple(
        GoldenQuery(f"n{at}", f"headache {at}", relevant_docs=whole.queries[0].relevant_docs)
        for at in range(25)
    )
    return replace(whole, queries=queries)


@pytest.fixture
def stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with a run that was interrupted at its 14th query, as by Ctrl-C."""
    monkeypatch.setenv("STOP_AT", "14")
    with opened(folder) as workspace, pytest.raises(KeyboardInterrupt):
        workspace.carry_out(EvaluationRequest(test_set=many(), retriever="engine_of_mine:search"))
    monkeypatch.delenv("STOP_AT")
    return folder


def went_on(folder: Path, **request: Any) -> tuple[Evaluated, int]:
    """The same again, and how many queries were asked this time."""
    with opened(folder) as workspace:
        made = workspace.carry_out(
            EvaluationRequest(test_set=many(), retriever="engine_of_mine:search", **request)
        )
        return made, len(sys.modules["engine_of_mine"].asked)


@pytest.mark.req("E7")
def test_a_run_of_ones_own_retriever_goes_on_where_it_stopped(stopped: Path) -> None:
    folder = stopped
    made, asked = went_on(folder)
    assert (made.runs[0].reused, asked) == (13, 12)
    assert len(made.runs[0].result.outcomes) == 25


def test_with_other_code_it_starts_anew(stopped: Path) -> None:
    folder = stopped
    (folder / "engine_of_mine.py").write_text(f"{ENGINE}# edited\n")
    made, asked = went_on(folder)
    assert (made.runs[0].reused, asked) == (0, 25)


def test_resuming_by_name_with_other_code_is_refused(stopped: Path) -> None:
    folder = stopped
    with opened(folder) as workspace:
        run_id = workspace.runs.runs(RunFilter()).runs[0].run_id
    (folder / "engine_of_mine.py").write_text(f"{ENGINE}# edited\n")
    with pytest.raises(ConflictError, match="retriever_code"):
        evaluated_again(folder, run_id)
    (folder / "engine_of_mine.py").write_text(ENGINE)
    assert evaluated_again(folder, run_id).runs[0].reused == 13


def evaluated_again(folder: Path, run_id: str) -> Evaluated:
    with opened(folder) as workspace:
        return workspace.carry_out(EvaluationRequest(resume=run_id))


def test_resuming_our_own_search_with_other_synonyms_is_refused(folder: Path) -> None:
    settings = {"synonyms": "synonyms.txt"}
    run_id = evaluated(folder, settings).runs[0].info.run_id
    (folder / "synonyms.txt").write_text("insulin, sugar\n")
    with (
        opened(folder, **settings) as workspace,
        pytest.raises(ConflictError, match=r"since .* started: synonyms"),
    ):
        workspace.carry_out(EvaluationRequest(resume=run_id))
