"""Small random models of every family that is built here, as published ones name their weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.unit.encode.tiny import safetensors

WORDS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "aspirin", "heart", "attack", "risk", "of"]
WORDS += ["the", "a", "Heart"]
SIZE, LAYERS, HEADS, WIDE, PLACES = 8, 3, 2, 12, 40
TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "mpnet", "distilbert", "modernbert")
ENDINGS = {"dense": "Model", "splade": "ForMaskedLM", "reranker": "ForSequenceClassification"}
CLASSES = {
    "bert": "Bert",
    "roberta": "Roberta",
    "xlm-roberta": "XLMRoberta",
    "camembert": "Camembert",
    "mpnet": "MPNet",
    "distilbert": "DistilBert",
    "modernbert": "ModernBert",
}
_LIKE_BERT = {
    "attention.self.query": (SIZE, SIZE),
    "attention.self.key": (SIZE, SIZE),
    "attention.self.value": (SIZE, SIZE),
    "attention.output.dense": (SIZE, SIZE),
    "attention.output.LayerNorm": (SIZE,),
    "intermediate.dense": (WIDE, SIZE),
    "output.dense": (SIZE, WIDE),
    "output.LayerNorm": (SIZE,),
}
_LAYER: dict[str, dict[str, tuple[int, ...]]] = {
    "bert": _LIKE_BERT,
    "roberta": _LIKE_BERT,
    "mpnet": {
        **{f"attention.attn.{part}": (SIZE, SIZE) for part in "qkvo"},
        "attention.LayerNorm": (SIZE,),
        **{name: size for name, size in _LIKE_BERT.items() if "attention" not in name},
    },
    "distilbert": {
        **{f"attention.{part}_lin": (SIZE, SIZE) for part in ("q", "k", "v", "out")},
        "sa_layer_norm": (SIZE,),
        "ffn.lin1": (WIDE, SIZE),
        "ffn.lin2": (SIZE, WIDE),
        "output_layer_norm": (SIZE,),
    },
}


def config(kind: str, role: str, **change: Any) -> dict[str, Any]:
    """A ``config.json``."""
    sizes: dict[str, Any] = {
        "hidden_size": SIZE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": WIDE,
        "hidden_act": "gelu",
        "type_vocab_size": 2 if kind == "bert" else 1,
    }
    if kind == "distilbert":
        sizes = {"dim": SIZE, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": WIDE}
        sizes["activation"] = "gelu"
    if kind == "modernbert":
        sizes |= {"local_attention": 4, "global_attn_every_n_layers": 3, "norm_eps": 1e-5}
        sizes |= {"global_rope_theta": 160_000.0, "local_rope_theta": 10_000.0}
    return {
        "model_type": kind,
        "architectures": [f"{CLASSES[kind]}{ENDINGS[role]}"],
        "vocab_size": len(WORDS),
        "max_position_embeddings": PLACES,
        "pad_token_id": 1,
        "num_labels": 1,
        **sizes,
        **change,
    }


def weights(kind: str, role: str, seed: int = 5) -> dict[str, NDArray[np.float32]]:
    """Random weights under the names of the family; ModernBERT has no biases."""
    shapes = _modern(role) if kind == "modernbert" else _classic(kind, role)
    random = np.random.default_rng(seed)
    return {name: random.normal(0.3, 0.4, size).astype(np.float32) for name, size in shapes.items()}


def _classic(kind: str, role: str) -> dict[str, tuple[int, ...]]:
    like = "roberta" if kind in ("xlm-roberta", "camembert") else kind
    base = "" if role == "dense" else f"{like}."
    parts: dict[str, tuple[int, ...]] = {f"{base}embeddings.LayerNorm": (SIZE,)}
    layers = "transformer.layer" if like == "distilbert" else "encoder.layer"
    for at in range(LAYERS):
        parts |= {f"{base}{layers}.{at}.{name}": size for name, size in _LAYER[like].items()}
    head = (SIZE, SIZE)
    lone: dict[str, tuple[int, ...]] = {}
    if role == "splade":
        names = {
            "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"),
            "distilbert": ("vocab_transform", "vocab_layer_norm"),
        }.get(like, ("lm_head.dense", "lm_head.layer_norm"))
        parts |= {names[0]: head, names[1]: (SIZE,)}
        bias = {"bert": "cls.predictions.bias", "distilbert": "vocab_projector.bias"}
        lone[bias.get(like, "lm_head.bias")] = (len(WORDS),)
    if role == "reranker":
        names = {
            "bert": ("bert.pooler.dense", "classifier"),
            "distilbert": ("pre_classifier", "classifier"),
        }.get(like, ("classifier.dense", "classifier.out_proj"))
        parts |= {names[0]: head, names[1]: (1, SIZE)}
    found: dict[str, tuple[int, ...]] = {
        f"{base}embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        f"{base}embeddings.position_embeddings.weight": (PLACES, SIZE),
    }
    if like in ("bert", "roberta"):
        kinds = 2 if like == "bert" else 1
        found[f"{base}embeddings.token_type_embeddings.weight"] = (kinds, SIZE)
    if like == "mpnet":
        found[f"{base}encoder.relative_attention_bias.weight"] = (32, HEADS)
    for name, size in parts.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = size, size[:1]
    return {**found, **lone}


def _modern(role: str) -> dict[str, tuple[int, ...]]:
    base = "" if role == "dense" else "model."
    found: dict[str, tuple[int, ...]] = {
        f"{base}embeddings.tok_embeddings.weight": (len(WORDS), SIZE),
        f"{base}embeddings.norm.weight": (SIZE,),
        f"{base}final_norm.weight": (SIZE,),
    }
    for at in range(LAYERS):
        name = f"{base}layers.{at}."
        found |= {f"{name}attn_norm.weight": (SIZE,)} if at else {}
        found |= {
            f"{name}attn.Wqkv.weight": (3 * SIZE, SIZE),
            f"{name}attn.Wo.weight": (SIZE, SIZE),
            f"{name}mlp_norm.weight": (SIZE,),
            f"{name}mlp.Wi.weight": (2 * WIDE, SIZE),
            f"{name}mlp.Wo.weight": (SIZE, WIDE),
        }
    if role != "dense":
        found |= {"head.dense.weight": (SIZE, SIZE), "head.norm.weight": (SIZE,)}
    if role == "splade":
        found["decoder.bias"] = (len(WORDS),)
    if role == "reranker":
        found |= {"classifier.weight": (1, SIZE), "classifier.bias": (1,)}
    return found


def tokenizer(kind: str) -> str:
    """A tokenizer of whole words; RoBERTa and MPNet separate pairs by two marks."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    between = " </s> </s> " if kind not in ("bert", "distilbert", "modernbert") else " </s> "
    typed = ":1" if kind == "bert" else ""
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair=f"<s> $A{between}$B{typed} </s>{typed}",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return str(made.to_str())


def write_shape(folder: Path, kind: str, role: str, **change: Any) -> Path:
    """A folder in the layout of the transformers library."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config(kind, role, **change)))
    (folder / "tokenizer.json").write_text(tokenizer(kind))
    arrays: dict[str, NDArray[Any]] = dict(weights(kind, role))
    (folder / "model.safetensors").write_bytes(safetensors(arrays))
    return folder


def declare(folder: Path, *modules: tuple[str, str, dict[str, Any]], **about: Any) -> Path:
    """``modules.json`` of a folder: kind, path and settings of all but the transformer."""
    listed = [("Transformer", "", {}), *modules]
    rows = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path, _) in enumerate(listed)
    ]
    (folder / "modules.json").write_text(json.dumps(rows))
    for _, path, values in modules:
        (folder / path).mkdir(parents=True, exist_ok=True)
        (folder / path / "config.json").write_text(json.dumps(values))
    if about:
        (folder / "config_sentence_transformers.json").write_text(json.dumps(about))
    return folder


def dense_head(
    folder: Path, size: tuple[int, int], *, seed: int = 1, bias: bool = True
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Write the weights of a dense layer, and return them."""
    random = np.random.default_rng(seed)
    weight = random.normal(0, 1, size).astype(np.float32)
    offset = random.normal(0, 1, size[:1]).astype(np.float32)
    arrays: dict[str, NDArray[Any]] = {"linear.weight": weight}
    if bias:
        arrays["linear.bias"] = offset
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(safetensors(arrays))
    return weight, offset if bias else np.zeros_like(offset)
