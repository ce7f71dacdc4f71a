"""Does an assistant over a pipe get the values that Python gets, here and from a service?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from assay.app.workspace import Workspace
from assay.settings import Settings, configure
from tests.unit.http.process import ServiceProcess

WORDS_ONLY = {"splade_model": "none", "dense_model": "none", "components": "bm25"}
ENVIRON = {f"ASSAY_{name.upper()}": value for name, value in WORDS_ONLY.items()}
ROWS = [
    {"doc_id": "d1", "title": "Zolpidem", "text": "Zolpidem is taken at bedtime, 5 mg."},
    {"doc_id": "d2", "title": "Cetirizine", "text": "Cetirizine relieves itching; 10 mg a day."},
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("mcp") / "home"
    found = configure({"home": home, **WORDS_ONLY})
    with Workspace(found) as workspace:
        workspace.add(ROWS)
    return found


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    with ServiceProcess(settings.home, **ENVIRON) as process:
        yield process.address


def command(settings: Settings, address: str | None = None) -> list[str]:
    place = ["--home", str(settings.home)] if address is None else ["--server", address]
    return [sys.executable, "-m", "assay", *place, "mcp"]


def asked(words: list[str], *messages: dict[str, Any]) -> dict[int, Any]:
    """What the server writes for messages over its pipe, by their ids."""
    sent = "".join(f"{json.dumps({'jsonrpc': '2.0', **one})}\n" for one in messages)
    ended = subprocess.run(
        words, input=sent, capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, **ENVIRON},
    )  # fmt: skip
    return {one["id"]: one["result"] for one in map(json.loads, ended.stdout.splitlines())}


def test_tools_say_what_python_says(settings: Settings, address: str) -> None:
    query = "zolpidem at bedtime"
    with Workspace(settings) as workspace:
        wanted = workspace.search(query, k=1).results[0]
        answer = workspace.answer("What is the dose of zolpidem?").to_dict()
    for place in (None, address):
        got = asked(
            command(settings, place),
            {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call",
             "params": {"name": "search", "arguments": {"query": query, "k": 1}}},
            {"id": 3, "method": "tools/call", "params": {
                "name": "answer", "arguments": {"question": "What is the dose of zolpidem?"}}},
        )  # fmt: skip
        assert got[1]["protocolVersion"] == "2025-06-18"
        (first,) = got[2]["structuredContent"]["results"]
        assert (first["chunk_id"], first["score"]) == (wanted.chunk.chunk_id, wanted.score)
        assert first["text"] == wanted.chunk.text
        assert got[3]["structuredContent"] == json.loads(json.dumps(answer))


def test_the_official_client_is_served(settings: Settings) -> None:
    mcp = pytest.importorskip("mcp")
    import anyio

    program, *arguments = command(settings)
    parameters = mcp.StdioServerParameters(
        command=program, args=arguments, env={**os.environ, **ENVIRON}
    )

    async def use() -> tuple[list[str], Any, Any]:
        async with mcp.stdio_client(parameters) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            listed = await session.list_tools()
            found = await session.call_tool("search", {"query": "cetirizine itching"})
            refused = await session.call_tool("search", {"query": "cetirizine", "k": 0})
            return [one.name for one in listed.tools], found, refused

    names, found, refused = anyio.run(use)
    assert names[:4] == ["search", "why", "answer", "evaluate"]
    assert json.loads(found.content[0].text)["results"][0]["doc_id"] == "d2"
    plain = refused.model_dump(by_alias=True)
    assert plain["isError"] is True
    assert "k: must be" in refused.content[0].text


def test_a_workspace_that_is_not_there_is_refused_before_anything_is_served(
    settings: Settings,
) -> None:
    words = [sys.executable, "-m", "assay", "--home", f"{settings.home}-none", "mcp"]
    ended = subprocess.run(words, input="", capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "there is no workspace" in ended.stderr
