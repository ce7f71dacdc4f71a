"""Which answerer does a setting name, and what may a function return?"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.answers.answerers import open_answerer
from assay.answers.custom import CallableAnswerer
from assay.answers.extractive import ExtractiveAnswerer
from assay.answers.remote import RemoteAnswerer
from assay.errors import AnswererError, InputError, UsageError
from assay.model.answers import Answer, Passage
from assay.testing.answerer import PASSAGES, QUESTION


def test_the_embedded_one() -> None:
    assert open_answerer("extractive", dense_model="m") == ExtractiveAnswerer("m")


def test_an_address() -> None:
    found = open_answerer("http://h/v1", model="m", key_variable="K", seconds=2.0)
    assert found == RemoteAnswerer("http://h/v1", "m", "K", 2.0)
    with pytest.raises(UsageError, match="which model"):
        open_answerer("http://h/v1")


def test_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_answers.py").write_text("def say(question, passages):\n    return question\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = open_answerer("my_answers:say")
    assert re.fullmatch(r"my_answers:say\(code=sha256:[0-9a-f]{16}\)", found.name)
    assert found.answer("why", ()) == Answer("why")


@pytest.mark.parametrize("spec", ["", "foo", "foo:", ":bar", "no_such_module_x:f", "json:nothing"])
def test_what_is_none(spec: str) -> None:
    with pytest.raises(UsageError):
        open_answerer(spec)


async def later(question: str, passages: Sequence[Passage]) -> dict[str, Any]:
    return {"text": question, "citations": [passages[0].chunk.chunk_id]}


def test_a_coroutine_function() -> None:
    said = CallableAnswerer(later).answer(QUESTION, PASSAGES)
    assert said == Answer(QUESTION, ("label-1:chunk_2",))
    name = CallableAnswerer(later).name
    assert ":later(code=unknown-" in name
    assert name != CallableAnswerer(later).name  # nobody knows whether they are the same


def test_a_coroutine_function_where_a_loop_runs_already() -> None:
    async def notebook() -> Answer:
        return CallableAnswerer(later).answer(QUESTION, PASSAGES)

    assert asyncio.run(notebook()).text == QUESTION


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        {"txt": "x"},
        {"text": 5},
        {"text": "x", "citations": "abc"},
        {"text": "x", "citations": [1]},
        {"text": "x", "grounded": "no"},
        {"text": "x", "refusal_reason": 5},
    ],
)
def test_answers_of_another_form_are_refused(value: object) -> None:
    with pytest.raises(InputError, match="returned"):
        CallableAnswerer(lambda question, passages: value, "f").answer("q", ())


def test_a_function_that_fails_is_named_with_its_error() -> None:
    def broken(question: str, passages: Sequence[Passage]) -> str:
        raise KeyError("chunk_id")

    with pytest.raises(AnswererError, match="mine:broken failed: KeyError: 'chunk_id'"):
        CallableAnswerer(broken, "mine:broken").answer(QUESTION, PASSAGES)


def test_a_function_that_blocks_is_cut_off() -> None:
    over = threading.Event()

    def blocks(question: str, passages: Sequence[Passage]) -> str:
        over.wait(60)
        return "late"

    answerer = CallableAnswerer(blocks, "mine:blocks", seconds=0.05)
    with pytest.raises(AnswererError, match=r"mine:blocks failed: TimeoutError: no answer within"):
        answerer.answer(QUESTION, PASSAGES)
    over.set()
