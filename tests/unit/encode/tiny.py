"""A BERT that fits on one screen, made from a seed: real files, no download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensors = dict[str, NDArray[np.float32]]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "aspirin", "heart", "attack", "risk", "of", "the", "a"]
HIDDEN, LAYERS, HEADS, WIDE, POSITIONS = 16, 2, 4, 32, 64
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": WIDE,
    "max_position_embeddings": POSITIONS,
    "vocab_size": len(WORDS),
    "layer_norm_eps": 1e-12,
}
ARCHITECTURES = {
    "dense": "BertModel",
    "splade": "BertForMaskedLM",
    "reranker": "BertForSequenceClassification",
}


def shapes() -> dict[str, tuple[int, ...]]:
    """Names and shapes of every weight, with all three heads."""
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "pooler.dense.weight": (HIDDEN, HIDDEN),
        "pooler.dense.bias": (HIDDEN,),
        "classifier.weight": (1, HIDDEN),
        "classifier.bias": (1,),
        "cls.predictions.bias": (len(WORDS),),
        "cls.predictions.transform.dense.weight": (HIDDEN, HIDDEN),
        "cls.predictions.transform.dense.bias": (HIDDEN,),
    }
    norms = ["embeddings.LayerNorm", "cls.predictions.transform.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        for part, size in {
            "attention.self.query": (HIDDEN, HIDDEN),
            "attention.self.key": (HIDDEN, HIDDEN),
            "attention.self.value": (HIDDEN, HIDDEN),
            "attention.output.dense": (HIDDEN, HIDDEN),
            "intermediate.dense": (WIDE, HIDDEN),
            "output.dense": (HIDDEN, WIDE),
        }.items():
            found[f"{name}{part}.weight"] = size
            found[f"{name}{part}.bias"] = size[:1]
        norms += [f"{name}attention.output.LayerNorm", f"{name}output.LayerNorm"]
    for norm in norms:
        found[f"{norm}.weight"] = found[f"{norm}.bias"] = (HIDDEN,)
    return found


def tensors(seed: int = 7) -> Tensors:
    """Random weights."""
    random = np.random.default_rng(seed)
    return {
        name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes().items()
    }


def safetensors(arrays: dict[str, NDArray[Any]], kinds: dict[str, str] | None = None) -> bytes:
    """The bytes of a safetensors file; ``kinds`` overrides the type written for an array."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in arrays.items():
        data = array.tobytes()
        default = {"float32": "F32", "float16": "F16", "int64": "I64"}.get(str(array.dtype), "?")
        header[name] = {
            "dtype": (kinds or {}).get(name, default),
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def tokenizer() -> str:
    """A tokenizer of whole words, with special tokens as BERT has them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.enable_padding(length=32)  # as many published tokenizers have it; it must not matter
    return str(made.to_str())


def write_model(folder: Path, role: str, **config: Any) -> Path:
    """A folder in the layout of the transformers library."""
    folder.mkdir(parents=True)
    values = {**CONFIG, "architectures": [ARCHITECTURES[role]], **config}
    (folder / "config.json").write_text(json.dumps(values))
    (folder / "tokenizer.json").write_text(tokenizer())
    prefixed = {f"bert.{name}": array for name, array in tensors().items()}
    (folder / "model.safetensors").write_bytes(safetensors(prefixed))
    return folder
