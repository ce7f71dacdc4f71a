"""Every judge keeps the contract that ships in ``assay.testing``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.judges.custom import CallableJudge
from assay.judges.entailment import EntailmentJudge
from assay.judges.kept import KeptJudge
from assay.judges.meaning import MeaningJudge
from assay.judges.service import ServiceJudge, judging_model
from assay.judges.words import WordJudge
from assay.model.judges import Judge
from assay.model.vectors import BothVectors, DenseMatrix, SparseVector
from assay.store.opinions import SqlOpinionStore
from assay.testing.judge import check_judge
from tests.unit.judges.judge_server import judge_server


def by_length(kind: str, text: str, passage: str) -> object:
    return len(passage) > len(text) if kind == "support" else 2


class Shared:
    """Words in common instead of a model."""

    model_id = "shared-words"

    def judge(
        self,
        premises: list[str],
        hypotheses: list[str],
        *,
        stop: Callable[[], bool] | None = None,
    ) -> NDArray[np.float32]:
        rows = [
            len({*one.split()} & {*other.split()}) / len(other.split())
            for one, other in zip(premises, hypotheses, strict=True)
        ]
        return np.array([[share, 0.0, 1.0 - share] for share in rows], np.float32)


class Letters:
    """Counts of letters instead of a model."""

    model_id, dimension, vocabulary = "letters", 128, 128

    def encode_both(self, texts: list[str]) -> list[BothVectors]:
        return [
            BothVectors(dense, terms)
            for dense, terms in zip(self.query_vectors(texts), self.query_terms(texts), strict=True)
        ]

    def query_vectors(self, texts: list[str]) -> DenseMatrix:
        rows = [np.bincount([ord(one) % 128 for one in text], minlength=128) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32).reshape(-1, 128)

    def query_terms(self, texts: list[str]) -> list[SparseVector]:
        found = [np.unique([ord(one) % 128 for one in text]) for text in texts]
        return [SparseVector(one.astype(np.int32), np.ones(len(one), np.float32)) for one in found]


@pytest.fixture(params=["words", "callable", "service", "entailment", "kept"])
def judge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Judge]:
    if request.param == "service":
        with judge_server() as server:
            yield ServiceJudge(judging_model(server.url, "tiny"))
    elif request.param == "kept":
        store = SqlOpinionStore(tmp_path / "assay.db")
        yield KeptJudge(WordJudge(), store)
        store.close()
    else:
        plain: dict[str, Judge] = {
            "words": WordJudge(),
            "callable": CallableJudge(by_length),
            "entailment": EntailmentJudge(Shared(), MeaningJudge(Letters())),
        }
        yield plain[request.param]


def test_the_contract_is_kept(judge: Judge) -> None:
    check_judge(judge)


def test_the_contract_can_be_broken() -> None:
    class Silent(WordJudge):
        def judge(self, tasks):  # type: ignore[no-untyped-def]
            return list(super().judge(tasks))[1:]

    with pytest.raises(AssertionError, match="one opinion for each task"):
        check_judge(Silent())
