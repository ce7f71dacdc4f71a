"""Does feedback move a query towards what it found, and is the change measured rightly?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from assay.encode.catalog import CARDS
from assay.encode.shelf import PACKAGED, Shelf
from training import feedback


def test_a_query_moves_towards_the_mean_of_its_best_passages() -> None:
    queries = np.float32([[1, 0]])
    passages = np.float32([[0, 1], [0, 1], [-1, 0]])
    fused = np.float32([[0.3, 0.2, 0.1]])
    assert feedback.moved(queries, passages, fused, 2, 0.5) == pytest.approx(np.float32([[1, 0.5]]))


def test_what_is_not_listed_counts_nothing() -> None:
    scores = np.float32([[0, 3, 1, 2]])
    assert feedback.ranks(scores) == pytest.approx(np.float32([[0, 1 / 61, 1 / 63, 1 / 62]]))
    assert feedback.between(scores) == pytest.approx(np.float32([[0, 1, 0, 0.5]]))


def test_ndcg_is_linear() -> None:
    grades = np.float32([[2, 1, 0]])
    assert feedback.ndcg(np.float32([[1, 2, 0]]), grades)[0] == pytest.approx(
        (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    )


def test_a_collection_is_measured_once_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if Shelf(package=PACKAGED).find(CARDS["assay-bio"]) is None:
        pytest.skip("this checkout has no weights of assay-bio")
    drugs = ("aspirin", "warfarin", "metformin", "insulin")
    rows = [
        {"_id": f"{drug}{n}", "title": drug, "text": f"{drug} was given to {n} patients"}
        for drug in drugs
        for n in range(3)
    ]
    (tmp_path / "qrels").mkdir()
    for name, lines in (
        ("corpus", rows),
        ("queries", [{"_id": drug, "text": drug} for drug in drugs]),
    ):
        text = "".join(json.dumps(row) + "\n" for row in lines)
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    judgments = [f"{drug}\t{drug}{n}\t1" for drug in drugs for n in range(3)]
    (tmp_path / "qrels" / "dev.tsv").write_text(
        "\n".join(["query-id\tcorpus-id\tscore", *judgments]) + "\n", encoding="utf-8"
    )
    asked = [str(tmp_path / "kept.npz"), str(tmp_path), "dev", "tokens=32"]
    feedback.main(asked)
    first = capsys.readouterr().out
    assert "any number of words: 4 of 4 queries, ranks +0.0000" in first
    (tmp_path / "corpus.jsonl.gz").unlink()
    feedback.main(asked)
    assert capsys.readouterr().out == first
