"""Every answerer keeps the contract that ships in ``assay.testing``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from assay.answers.custom import CallableAnswerer
from assay.answers.extractive import ExtractiveAnswerer
from assay.answers.remote import RemoteAnswerer
from assay.model.answers import Answer, Passage
from assay.testing.answerer import check_answerer
from tests.unit.answers.model_server import ModelServer


def first(question: str, passages: Sequence[Passage]) -> dict[str, Any]:
    if not passages:
        return {"grounded": False, "refusal_reason": f"nothing on {question}"}
    return {"text": passages[0].chunk.text, "citations": [passages[0].chunk.chunk_id]}


@pytest.mark.parametrize("dense_model", ["", "bge-small-en-v1.5"])
def test_extractive(dense_model: str) -> None:
    check_answerer(ExtractiveAnswerer(dense_model))


def test_callable() -> None:
    check_answerer(CallableAnswerer(first))


def test_remote() -> None:
    with ModelServer() as server:
        check_answerer(RemoteAnswerer(server.url, "tiny"))


def test_the_contract_can_be_broken() -> None:
    with pytest.raises(AssertionError, match="no passage, no answer"):
        check_answerer(CallableAnswerer(lambda question, passages: Answer("sure")))
