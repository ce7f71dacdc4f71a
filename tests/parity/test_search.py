"""Does a search give the same values through Python, command, service, HTTP and page?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
import pytest

from assay.app.interface import Assay
from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.client import Client
from assay.settings import Settings, configure
from tests.unit.http.process import ServiceProcess

WORDS_ONLY = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
ENVIRON = {f"ASSAY_{name.upper()}": value for name, value in WORDS_ONLY.items()}
MOVING = ("timings_ms", "cached", "request_id")
ROWS = [
    {
        "doc_id": f"d{at}",
        "title": f"Aspirin, report {at}",
        "text": f"Adverse events of aspirin in trial {at}: headache and nausea. "
        f"{'Bleeding was seen. ' * (at % 3)}",
        "speaker_role": ("PATIENT", "CLINICIAN")[at % 2],
        "ingestion_mode": "LIVE" if at % 4 == 0 else "OFFLINE",
        "source": f"s{at % 2}",
        "metadata": {"year": 2015 + at, "phase": ["PHASE2", "PHASE3"][: 1 + at % 2]},
    }
    for at in range(12)
]
SEARCHES: dict[str, dict[str, Any]] = {
    "every kind of option": {
        "k": 3,
        "offset": 1,
        "depth": 7,
        "fusion_method": "weighted",
        "weights": {"bm25": 2.0},
        "normalization": "z-score",
        "query_intent": "none",
        "query_type": "exact_term",
        "boosts": False,
        "rrf_k": 10,
    },
    "filters": {"speaker": ["PATIENT", "UNKNOWN"], "source": ["s0"], "ingestion_mode": ["LIVE"]},
    "conditions on metadata": {"filter": ["year>=2018", "phase=Phase 3|phase 4", "year!=2020"]},
    "documents, repeats folded": {"group_by": "document", "collapse": True, "k": 4},
    "facets": {"facets": ["year", "phase", "source"], "filter": ["year<2022"], "k": 2},
    "a switch": {"is_table": False, "per_type_weights": True},
}
FLAGS = {
    "every kind of option": "-k 3 --offset 1 --depth 7 --fusion-method weighted --weights bm25=2"
    " --normalization z-score --query-intent none --query-type exact_term --no-boosts --rrf-k 10",
    "filters": "--speaker PATIENT --speaker UNKNOWN --source s0 --ingestion-mode LIVE",
    "conditions on metadata": "--filter year>=2018 --filter phase=phase3|phase-4"
    " --filter year!=2020",
    "documents, repeats folded": "--group-by document --collapse -k 4",
    "facets": "--facets year,phase --facets source --filter year<2022 -k 2",
    "a switch": "--no-is-table --per-type-weights",
}
QUERY = "aspirin adverse events"
Said = Callable[..., Any]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("parity") / "home"
    found = configure({"home": home, **WORDS_ONLY})
    with Workspace(found) as workspace:
        workspace.add(ROWS)
    return found


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    with ServiceProcess(settings.home, **ENVIRON) as process:
        yield process.address


@pytest.fixture
def surfaces(
    settings: Settings,
    address: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[dict[str, Any]]:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)

    def said(*arguments: str) -> Any:
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    with (
        Workspace(settings) as here,
        Client(address) as there,
        httpx.Client(base_url=address, timeout=60) as http,
    ):
        yield {
            "here": here,
            "there": there,
            "near": lambda *words: said("--home", str(settings.home), *words),
            "far": lambda *words: said("--server", address, *words),
            "http": http,
        }


def settled(body: dict[str, Any]) -> dict[str, Any]:
    """Without what differs from call to call."""
    return {name: value for name, value in body.items() if name not in MOVING}


def parameters(changes: dict[str, Any]) -> list[tuple[str, str]]:
    """As a person would write them into an address."""
    pairs: list[tuple[str, str]] = []
    for name, value in changes.items():
        if isinstance(value, dict):
            pairs.append((name, ",".join(f"{key}={number:g}" for key, number in value.items())))
        elif isinstance(value, list):
            pairs += [(name, one) for one in value]
        else:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return pairs


@pytest.mark.parametrize("name", SEARCHES)
def test_search(surfaces: dict[str, Any], name: str) -> None:
    here: Assay = surfaces["here"]
    there: Assay = surfaces["there"]
    changes = SEARCHES[name]
    wanted = settled(here.search(QUERY, **changes).to_dict())
    assert wanted["results"], "a comparison of nothing proves nothing"
    assert settled(there.search(QUERY, **changes).to_dict()) == wanted
    assert settled(surfaces["near"]("search", QUERY, *FLAGS[name].split())) == wanted
    assert settled(surfaces["far"]("search", QUERY, *FLAGS[name].split())) == wanted
    answer = surfaces["http"].get("/v1/search", params=[("q", QUERY), *parameters(changes)])
    assert settled(answer.json()) == wanted
    page = surfaces["http"].get("/search", params=[("q", QUERY), *parameters(changes)])
    assert page.status_code == 200, page.text
    ids = [hit["chunk_id"] for hit in wanted["results"]]
    shown = re.findall("|".join(map(re.escape, ids)), page.text)
    assert list(dict.fromkeys(shown)) == ids
    for hit in wanted["results"]:
        assert f"{hit['score']:.4f}" in page.text


@pytest.mark.parametrize("document", ["d3", "nothing"])
def test_why(surfaces: dict[str, Any], document: str) -> None:
    here, there = surfaces["here"], surfaces["there"]
    wanted = here.why(QUERY, document, k=1, speaker="CLINICIAN").to_dict()
    assert there.why(QUERY, document, k=1, speaker="CLINICIAN").to_dict() == wanted
    words = ("search", QUERY, "--why", document, "-k", "1", "--speaker", "CLINICIAN")
    assert surfaces["near"](*words) == wanted
    assert surfaces["far"](*words) == wanted
    params = {"q": QUERY, "document": document, "k": "1", "speaker": "CLINICIAN"}
    assert surfaces["http"].get("/v1/search/why", params=params).json() == wanted
    page = surfaces["http"].get("/search/why", params=params)
    said = wanted["sentence"][1:]  # the page begins it with a capital
    assert said in page.text.replace("&#39;", "'").replace("&#34;", '"')


def test_answer(surfaces: dict[str, Any]) -> None:
    question = "Which adverse events of aspirin were seen in trial 4?"
    changes: dict[str, Any] = {"k": 4, "source": "s0", "fusion_method": "weighted"}
    here, there = surfaces["here"], surfaces["there"]
    wanted = here.answer(question, **changes).to_dict()
    assert there.answer(question, **changes).to_dict() == wanted
    words = ("answer", question, "-k", "4", "--source", "s0", "--fusion-method", "weighted")
    assert surfaces["near"](*words) == wanted
    assert surfaces["far"](*words) == wanted
    params = {"q": question, "k": "4", "source": "s0", "fusion_method": "weighted"}
    assert settled(surfaces["http"].get("/v1/answer", params=params).json()) == wanted
    if wanted["answer"]["grounded"]:
        judged = here.answer(question, judged=True, **changes).to_dict()
        assert judged["judged"]["claims"]
        assert there.answer(question, judged=True, **changes).to_dict() == judged
        assert surfaces["near"](*words, "--judged") == judged


@pytest.mark.parametrize(
    "flags",
    ["--k 0", "--components bm25,words", "--weights dense=1", "--fusion-method RFF", "--rrf-k 1e2"],
)
def test_what_is_refused_is_refused_everywhere(
    surfaces: dict[str, Any], settings: Settings, address: str, flags: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    flag, text = flags.split()
    name = flag.removeprefix("--").replace("-", "_")
    for where in (("--home", str(settings.home)), ("--server", address)):
        assert run([*where, "search", QUERY, flag, text]) == 2
        assert name.split("_")[0] in capsys.readouterr().err
    answer = surfaces["http"].get("/v1/search", params={"q": QUERY, name: text})
    assert answer.status_code in (400, 422)
    assert name in answer.json()["detail"]
