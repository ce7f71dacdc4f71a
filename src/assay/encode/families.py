"""Which models can be built here, and how do they differ from BERT?

Published models of one family name their weights and sizes alike. Names become those of BERT, so
that one builder serves all families with layers like BERT's; ModernBERT has other layers
(``modern_bert.py``). A model that differs in anything else is refused by what differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay import limits
from assay.encode.tensors import Tensors
from assay.errors import FormatError

ACTIVATIONS: dict[str, tuple[str, dict[str, str]]] = {
    "gelu": ("Gelu", {}),
    "gelu_new": ("Gelu", {"approximate": "tanh"}),
    "gelu_pytorch_tanh": ("Gelu", {"approximate": "tanh"}),
    "relu": ("Relu", {}),
}
"""The operations of activation functions, by their names in ``config.json``."""

_LM_HEAD = (
    ("lm_head.dense.", "cls.predictions.transform.dense."),
    ("lm_head.layer_norm.", "cls.predictions.transform.LayerNorm."),
    ("lm_head.decoder.", "cls.predictions.decoder."),
    ("lm_head.bias", "cls.predictions.bias"),
    ("classifier.dense.", "pooler.dense."),
    ("classifier.out_proj.", "classifier."),
)


@dataclass(frozen=True, slots=True)
class Family:
    """How the models of a family name things; ``names`` are replaced in this order.

    ``skipped`` counts the rows of the position table that no token has, those up to the one of
    padding. ``typed`` says whether tokens of a second text are told apart, and ``pooled`` is the
    activation of a reranker's head.
    """

    prefix: str
    names: tuple[tuple[str, str], ...] = ()
    sizes: tuple[str, str, str] = ("hidden_size", "num_hidden_layers", "num_attention_heads")
    activation: str = "hidden_act"
    epsilon: str = "layer_norm_eps"
    usual_epsilon: float = 1e-12
    skipped: int = 0
    padding: str = ""
    typed: bool = False
    pooled: str = "Tanh"
    modern: bool = False


BERT = Family("bert.", ((".gamma", ".weight"), (".beta", ".bias")), typed=True)
ROBERTA = Family("roberta.", _LM_HEAD, skipped=2, padding="pad_token_id")
MPNET = Family(
    "mpnet.",
    (
        (".attention.attn.q.", ".attention.self.query."),
        (".attention.attn.k.", ".attention.self.key."),
        (".attention.attn.v.", ".attention.self.value."),
        (".attention.attn.o.", ".attention.output.dense."),
        (".attention.LayerNorm.", ".attention.output.LayerNorm."),
        *_LM_HEAD,
    ),
    skipped=2,
)
DISTILBERT = Family(
    "distilbert.",
    (
        ("transformer.layer.", "encoder.layer."),
        (".attention.q_lin.", ".attention.self.query."),
        (".attention.k_lin.", ".attention.self.key."),
        (".attention.v_lin.", ".attention.self.value."),
        (".attention.out_lin.", ".attention.output.dense."),
        (".sa_layer_norm.", ".attention.output.LayerNorm."),
        (".ffn.lin1.", ".intermediate.dense."),
        (".ffn.lin2.", ".output.dense."),
        (".output_layer_norm.", ".output.LayerNorm."),
        ("vocab_transform.", "cls.predictions.transform.dense."),
        ("vocab_layer_norm.", "cls.predictions.transform.LayerNorm."),
        ("vocab_projector.", "cls.predictions.decoder."),
        ("pre_classifier.", "pooler.dense."),
    ),
    sizes=("dim", "n_layers", "n_heads"),
    activation="activation",
    epsilon="",
    pooled="Relu",
)
MODERN_BERT = Family(
    "model.",
    (
        ("embeddings.tok_embeddings.", "embeddings.word_embeddings."),
        ("embeddings.norm.", "embeddings.LayerNorm."),
        ("head.dense.", "cls.predictions.transform.dense."),
        ("head.norm.", "cls.predictions.transform.LayerNorm."),
        ("decoder.", "cls.predictions.decoder."),
    ),
    activation="hidden_activation",
    epsilon="norm_eps",
    usual_epsilon=1e-5,
    modern=True,
)
FAMILIES: dict[str, Family] = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "mpnet": MPNET,
    "distilbert": DISTILBERT,
    "modernbert": MODERN_BERT,
}
"""The families that are built here, by ``model_type``."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a model, from its ``config.json``; ``positions`` counts the tokens of a text.

    ``thetas`` and ``windows`` are of ModernBERT: for each layer the base of its rotations, and how
    far its tokens see, 0 for everything.
    """

    family: Family
    hidden: int
    layers: int
    heads: int
    epsilon: float
    positions: int
    skipped: int
    activation: str = "gelu"
    head_activation: str = "gelu"
    first_is_read: bool = True
    thetas: tuple[float, ...] = ()
    windows: tuple[int, ...] = ()


def shape_of(config: Mapping[str, Any], source: str) -> Shape:
    """The sizes of a model that can be built here; an error for other kinds."""
    kind = config.get("model_type", "bert")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        raise _refused("model_type", kind, FAMILIES, source)
    _only(config, "position_embedding_type", ("absolute",), source)
    _only(config, "is_decoder", (False,), source)
    _only(config, family.activation, ACTIVATIONS, source)
    names = (*family.sizes, "max_position_embeddings")
    hidden, layers, heads, places = _sizes(config, names, source)
    epsilon = config.get(family.epsilon, family.usual_epsilon)
    if hidden % heads or not isinstance(epsilon, float):
        raise FormatError(f"{names[0]} must be a multiple of {names[2]}", source=source)
    padding = config.get(family.padding)
    skipped = padding + 1 if type(padding) is int else family.skipped
    if not 0 <= skipped < places:
        raise FormatError(f"{names[3]} leaves no place for a token", source=source)
    return Shape(
        family,
        hidden,
        layers,
        heads,
        epsilon,
        min(places - skipped, limits.MAX_MODEL_TOKENS),
        skipped,
        activation=config.get(family.activation, "gelu"),
        **(_modern(config, layers, source) if family.modern else {}),
    )


def bert_names(tensors: Tensors, family: Family) -> Tensors:
    """The weights by the names that BERT has for them."""
    found: Tensors = {}
    for given, array in tensors.items():
        name = given.removeprefix(family.prefix)
        for old, new in family.names:
            if name.startswith(old) or old.startswith("."):
                name = name.replace(old, new)
        found[name] = array
    return found


def _modern(config: Mapping[str, Any], layers: int, source: str) -> dict[str, Any]:
    """What ModernBERT has beside the rest; older files name the layers that see everything."""
    _only(config, "classifier_activation", ACTIVATIONS, source)
    _only(config, "classifier_pooling", ("cls", "mean"), source)
    every = config.get("global_attn_every_n_layers", 3)
    window = config.get("local_attention", 128)
    kinds = config.get("layer_types")
    if kinds is None and type(every) is int and every > 0:
        kinds = ["sliding_attention" if at % every else "full_attention" for at in range(layers)]
    bases = {
        "full_attention": config.get("global_rope_theta", 160_000.0),
        "sliding_attention": config.get("local_rope_theta", 10_000.0),
    }
    told = config.get("rope_parameters")
    for kind, values in told.items() if isinstance(told, dict) else ():
        if not isinstance(values, dict) or values.get("rope_type", "default") != "default":
            raise FormatError(f"rope_parameters of {kind!r:.40} are not supported", source=source)
        bases[kind] = values.get("rope_theta")
    right = (
        isinstance(kinds, list)
        and len(kinds) == layers
        and all(isinstance(kind, str) and kind in bases for kind in kinds)
        and type(window) is int
        and window > 1
        and all(isinstance(base, int | float) and base > 1 for base in bases.values())
    )
    if not right or kinds is None:
        raise FormatError("layer_types, local_attention or rope_theta are wrong", source=source)
    return {
        "head_activation": config.get("classifier_activation", "gelu"),
        "first_is_read": config.get("classifier_pooling", "cls") == "cls",
        "thetas": tuple(float(bases[kind]) for kind in kinds),
        "windows": tuple(0 if kind == "full_attention" else window // 2 for kind in kinds),
    }


def _sizes(config: Mapping[str, Any], names: tuple[str, ...], source: str) -> list[int]:
    sizes = [config.get(name) for name in names]
    if not all(type(size) is int and 0 < size <= 1 << 20 for size in sizes):
        raise FormatError(f"{', '.join(names)} must be whole numbers", source=source)
    return [int(size or 0) for size in sizes]


def _only(config: Mapping[str, Any], name: str, known: Any, source: str) -> None:
    """Refuse a value that changes the arithmetic in a way that is not built here."""
    value = config.get(name)
    if value is not None and (isinstance(value, list | dict) or value not in known):
        raise _refused(name, value, known, source)


def _refused(name: str, value: object, known: Any, source: str) -> FormatError:
    return FormatError(
        f"{name} is {value!r:.60}, and only {', '.join(map(str, known))} can be built here",
        source=source,
        hint="convert it: pip install 'optimum[onnxruntime]', then "
        "optimum-cli export onnx --model FOLDER FOLDER/onnx",
    )
