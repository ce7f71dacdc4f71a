"""Do the 16 TREC-COVID runs get the values that were published for them?"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
import zstandard

import assay
from assay.hits.qrels import load_qrels

PUBLISHED_NAMES = {
    "ndcg@20": "nDCG(gain=linear)@20",
    "P@20": "P@20",
    "bpref": "bpref",
    "map": "MAP",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Path:
    target = tmp_path_factory.mktemp("trec_covid")
    packed = shared_data / "trec_covid" / "runs_round5_dev.tar.zst"
    with (
        packed.open("rb") as raw,
        zstandard.ZstdDecompressor().stream_reader(raw) as stream,
        tarfile.open(fileobj=stream, mode="r|") as tar,
    ):
        tar.extractall(target, filter="data")
    return target / "runs_round5_dev"


@pytest.mark.req("K1")
def test_published_values_to_four_decimals(runs: Path, shared_data: Path) -> None:
    published = json.loads(
        (shared_data / "trec_covid" / "runs_round5_dev.published.json").read_text()
    )
    qrels = load_qrels(shared_data / "trec_covid" / "qrels" / "qrels.covid-round5.txt.gz")
    assert len(published) == 16
    for entry in published:
        scores = assay.score(
            qrels,
            runs / entry["run"],
            list(PUBLISHED_NAMES.values()),
            undefined="zero",
            score_dtype="float32",
        )
        for name, form in PUBLISHED_NAMES.items():
            if name in entry["published"]:
                assert f"{scores[form]:.4f}" == f"{entry['published'][name]:.4f}", (
                    entry["run"],
                    name,
                )


@pytest.mark.parametrize(
    ("run", "value"),
    [("bm25.top100.trec.gz", 0.5947), ("splade-pp-ed.top100.trec.gz", 0.7274)],
)
def test_published_beir_runs(run: str, value: float, shared_data: Path) -> None:
    folder = shared_data / "trec_covid"
    scores = assay.score(
        folder / "qrels" / "qrels.beir-v1.0.0-trec-covid.test.txt.gz",
        folder / "runs_beir" / run,
        "nDCG(gain=linear)@10",
    )
    assert round(scores["nDCG(gain=linear)@10"] or 0, 4) == value


def test_a_published_dense_run(shared_data: Path) -> None:
    scores = assay.score(
        shared_data / "scifact" / "qrels" / "test.tsv",
        shared_data / "precomputed_runs" / "scifact" / "all-MiniLM-L6-v2.top100.trec.gz",
        "ndcg_cut_10",
    )
    assert round(scores["ndcg_cut_10"] or 0, 4) == 0.6451
