"""Does each family of models compute what its own library computes?

The numbers were recorded from the transformers library on the same weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.encode.cards import Role
from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.folders import card_of_folder
from assay.encode.runtime import start
from assay.encode.shelf import Shelf
from assay.errors import AssayError, FormatError, UsageError
from tests.unit.encode.shapes import PLACES, SIZE, TYPES, WORDS, write_shape

LONG = "the risk of a heart attack after aspirin of the Heart a risk"
ROBERTA: dict[str, tuple[float, ...]] = {
    "dense": (0.07019, 0.23588, 1.08864, -0.01404),
    "splade": (0.44009, 0.0, 0.77479, 0.34433),
    "reranker": (1.69428,),
}
RECORDED: dict[str, dict[str, tuple[float, ...]]] = {
    "bert": {
        "dense": (-0.05402, 0.09510, -0.44437, 0.26875),
        "splade": (0.0, 0.96757, 0.98563, 0.52239),
        "reranker": (0.89422,),
    },
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "mpnet": {
        "dense": (0.18907, 0.47953, 0.07221, -0.86114),
        "splade": (0.0, 1.02195, 0.96364, 0.95792),
        "reranker": (1.26791,),
    },
    "distilbert": {
        "dense": (0.43176, -0.30973, 0.15033, 0.63238),
        "splade": (1.14733, 0.75409, 1.31895, 0.99862),
        "reranker": (2.74273,),
    },
    "modernbert": {
        "dense": (0.40791, -0.01637, -0.05470, -0.01324),
        "splade": (0.57264, 0.48019, 0.53880, 0.21754),
        "reranker": (-0.85119,),
    },
}


def outcome(folder: Path, role: Role) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The numbers that were recorded: of one token, of four terms, or the score of a pair."""
    running = start(Shelf().require(str(folder)), role)
    tokens = running.tokenizer
    row = tokens.pair("aspirin", LONG) if role == "reranker" else tokens.text(LONG)
    found = running.session.run(row)
    if role == "dense":
        found = found[-2][:4]
    return found[5:9] if role == "splade" else found


@pytest.mark.parametrize("role", ["dense", "splade", "reranker"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_model_computes_what_its_library_computes(tmp_path: Path, kind: str, role: Role) -> None:
    folder = write_shape(tmp_path / "model", kind, role)
    np.testing.assert_allclose(outcome(folder, role), RECORDED[kind][role], atol=2e-5)


@pytest.mark.parametrize("role", ["dense", "splade", "reranker"])
@pytest.mark.parametrize("kind", TYPES)
def test_the_library_itself_still_says_so(tmp_path: Path, kind: str, role: Role) -> None:
    """With the extra that brings it, the recorded numbers are computed once more."""
    torch, library = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = write_shape(tmp_path / "model", kind, role)
    loaders = {"dense": "AutoModel", "splade": "AutoModelForMaskedLM"}
    loader = getattr(library, loaders.get(role, "AutoModelForSequenceClassification"))
    running = start(Shelf().require(str(folder)), role)
    tokens = running.tokenizer
    row = tokens.pair("aspirin", LONG) if role == "reranker" else tokens.text(LONG)
    given = {"input_ids": torch.tensor(row.ids)[None]}
    given |= {"token_type_ids": torch.tensor(row.types)[None]} if kind == "bert" else {}
    with torch.no_grad():
        states = loader.from_pretrained(folder).eval()(**given)[0][0].numpy()
    if role == "splade":
        states = np.log1p(np.maximum(states, 0)).max(0)
    np.testing.assert_allclose(running.session.run(row), states, atol=2e-5)


@pytest.mark.parametrize("kind", TYPES)
def test_every_family_encodes_and_reranks(tmp_path: Path, kind: str) -> None:
    made = {role: write_shape(tmp_path / role, kind, role) for role in ("dense", "splade")}
    encoder = open_dense(str(made["dense"]), Shelf(), threads=1)
    long = "aspirin " * 500
    rows = encoder.encode(["aspirin", long], "passage")
    assert rows.shape == (2, SIZE)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    sparse = open_sparse(str(made["splade"]), Shelf(), threads=1)
    assert sparse.vocabulary == len(WORDS)
    assert len(sparse.encode([long], "query")[0].terms) > 0
    skipped = 2 if kind in ("roberta", "xlm-roberta", "camembert", "mpnet") else 0
    assert card_of_folder(made["dense"]).longest == PLACES - skipped
    reranker = open_reranker(str(write_shape(tmp_path / "reranker", kind, "reranker")), Shelf())
    assert np.isfinite(reranker.score("aspirin", ["heart", long])).all()


def test_newer_files_of_modernbert_mean_the_same(tmp_path: Path) -> None:
    older = write_shape(tmp_path / "older", "modernbert", "dense")
    newer = write_shape(
        tmp_path / "newer",
        "modernbert",
        "dense",
        global_attn_every_n_layers=None,
        global_rope_theta=None,
        local_rope_theta=None,
        layer_types=["full_attention", "sliding_attention", "sliding_attention"],
        rope_parameters={
            "full_attention": {"rope_theta": 160_000.0, "rope_type": "default"},
            "sliding_attention": {"rope_theta": 10_000.0, "rope_type": "default"},
        },
    )
    np.testing.assert_array_equal(outcome(newer, "dense"), outcome(older, "dense"))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("bert", {"hidden_act": "mish"}),
        ("bert", {"position_embedding_type": "relative_key_query"}),
        ("roberta", {"is_decoder": True}),
        ("roberta", {"pad_token_id": 99}),
        ("distilbert", {"activation": "silu"}),
        ("distilbert", {"dim": None}),
        ("modernbert", {"hidden_activation": "silu"}),
        ("modernbert", {"layer_types": ["full_attention"]}),
        ("modernbert", {"layer_types": "full"}),
        ("modernbert", {"local_attention": "wide"}),
        ("modernbert", {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}),
        ("modernbert", {"global_rope_theta": "many"}),
    ],
)
def test_what_a_family_does_not_compute_is_refused(
    tmp_path: Path, kind: str, change: dict[str, Any]
) -> None:
    folder = write_shape(tmp_path / "model", kind, "dense", **change)
    with pytest.raises(FormatError, match=r"config\.json"):
        open_dense(str(folder), Shelf())


@pytest.mark.parametrize("change", [{"classifier_activation": "silu"}, {"classifier_pooling": "x"}])
def test_a_reranker_of_modernbert_states_its_head(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = write_shape(tmp_path / "model", "modernbert", "reranker", **change)
    with pytest.raises(FormatError, match=next(iter(change))):
        open_reranker(str(folder), Shelf())


def test_the_mean_of_all_states_may_be_scored(tmp_path: Path) -> None:
    first = write_shape(tmp_path / "first", "modernbert", "reranker")
    mean = write_shape(tmp_path / "mean", "modernbert", "reranker", classifier_pooling="mean")
    assert outcome(mean, "reranker") != outcome(first, "reranker")


def test_another_family_is_refused_with_the_command_that_converts(tmp_path: Path) -> None:
    folder = write_shape(tmp_path / "model", "bert", "dense", model_type="deberta-v2")
    with pytest.raises(UsageError) as caught:
        open_dense(str(folder), Shelf())
    assert f"optimum-cli export onnx --model {folder}" in (caught.value.hint or "")
    assert f"{folder}/onnx" in (caught.value.hint or "")


def test_a_model_that_brings_its_own_code_is_refused(tmp_path: Path) -> None:
    folder = write_shape(tmp_path / "model", "bert", "dense", auto_map={"AutoModel": "x--y.Z"})
    with pytest.raises(FormatError, match="auto_map"):
        open_dense(str(folder), Shelf())


@pytest.mark.parametrize("kind", TYPES)
def test_cut_weights_are_an_error_and_no_crash(tmp_path: Path, kind: str) -> None:
    folder = write_shape(tmp_path / "model", kind, "dense")
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])
    with pytest.raises(AssayError):
        open_dense(str(folder), Shelf())
