"""What does a folder of sentence-transformers declare?

``modules.json`` lists what happens to a text: a transformer, then pooling, then any number of dense
layers, norms and normalisations. Each has a folder with its settings. What is declared is done;
what is not understood is refused by its name, since a vector without it would be another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.encode.cards import POOLINGS, Pooling, Role
from assay.encode.heads import CONFIG, FIRST, UNIT, WEIGHTS, activation_of
from assay.encode.model_json import read_json, read_object
from assay.errors import FormatError

MODULES = "modules.json"
ABOUT = "config_sentence_transformers.json"
SAVE_AGAIN = (
    'save it anew: python -c "import sys, sentence_transformers as s; f = sys.argv[1]; '
    's.SentenceTransformer(f).save(f)" FOLDER'
)
_SETTINGS = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
_FLAGS: dict[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_OURS = "sentence_transformers."
_LONGEST = 1_000_000  # tokenizers that know no limit state a huge one
_RISING = ("Identity", "Sigmoid", "Tanh")  # activations that keep the order of scores


@dataclass(frozen=True, slots=True)
class Declared:
    """What happens to a text; ``role`` is None where the architecture tells it.

    ``max_tokens`` is 0 where nothing is said. ``size`` is the length of vectors once a dense layer
    has changed it, else 0; ``kept`` is how many of their numbers are kept, 0 for all.
    """

    role: Role | None = None
    pooling: Pooling = "none"
    heads: tuple[str, ...] = ()
    size: int = 0
    max_tokens: int = 0
    lowercase: bool = False
    kept: int = 0


@dataclass(frozen=True, slots=True)
class _Module:
    kind: str
    path: str


def declared(folder: Path) -> Declared | None:
    """What ``modules.json`` of a folder declares; None if there is none."""
    if not (folder / MODULES).is_file():
        return None
    first, *rest = _modules(folder)
    if first.kind not in ("Transformer", "MLMTransformer"):
        raise _unknown(folder, first)
    if first.path:
        raise FormatError(
            f"the transformer is in {first.path!r:.60}, and only the folder itself may hold it",
            source=str(folder / MODULES),
            hint=SAVE_AGAIN,
        )
    tokens, lowercase = _transformer(folder, [one.kind for one in rest])
    if not rest:
        return Declared(max_tokens=tokens, lowercase=lowercase)
    pooling, *after = rest
    if pooling.kind == "SpladePooling":
        if after:
            raise _unknown(folder, after[0])
        _check_splade(folder / pooling.path / CONFIG)
        return Declared("splade", "max", max_tokens=tokens, lowercase=lowercase)
    if pooling.kind != "Pooling":
        raise _unknown(folder, pooling)
    heads, size = _heads(folder, after)
    kept = _kept(folder)
    if kept:
        heads += (f"{FIRST}:{kept}",)
    _check_similarity(folder, unit=bool(after) and after[-1].kind == "Normalize" and not kept)
    pooled = pooling_of(folder / pooling.path / CONFIG, prompted=any(prompts_of(folder)))
    return Declared("dense", pooled, heads, size, tokens, lowercase, kept)


def module_files(folder: Path) -> tuple[str, ...]:
    """The files that the modules of a folder have beside the transformer, by their paths."""
    found: list[str] = []
    for one in _modules(folder) if (folder / MODULES).is_file() else ():
        if one.path:
            found += [f"{one.path}/{CONFIG}"]
            found += [f"{one.path}/{WEIGHTS}"] if one.kind in ("Dense", "LayerNorm") else []
    return tuple(found)


def pooling_of(path: Path, *, prompted: bool = False) -> Pooling:
    """The pooling that a module's settings name; modes are joined in the order of the library."""
    values = read_object(path)
    if prompted and values.get("include_prompt") is False:
        raise FormatError("pooling without the prompt is not supported", source=str(path))
    named = values.get("pooling_mode")
    if named is None:
        chosen = (name for name, value in values.items() if value)
        flags = [name for name in chosen if name.startswith("pooling_mode")]
        strange = [name for name in flags if name not in _FLAGS]
        modes = strange or [mode for flag, mode in _FLAGS.items() if flag in flags] or ["mean"]
    else:
        modes = named if isinstance(named, list) else [named]
    if strange := [mode for mode in modes if mode not in POOLINGS or mode == "none"]:
        raise FormatError(f"pooling by {strange[0]!r:.60} is not supported", source=str(path))
    return "+".join(modes)


def prompts_of(folder: Path) -> tuple[str, str]:
    """The prefixes that the model expects before queries and passages."""
    about = read_object(folder / ABOUT) if (folder / ABOUT).is_file() else {}
    prompts = about.get("prompts")
    if not isinstance(prompts, dict):
        return "", ""
    usual = prompts.get(about.get("default_prompt_name") or "", "")
    query = prompts.get("query", usual)
    passage = next(
        (prompts[name] for name in ("document", "passage", "corpus") if name in prompts), usual
    )
    return str(query or ""), str(passage or "")


def check_scores(folder: Path, config: dict[str, Any]) -> None:
    """Refuse a cross-encoder whose scores do not rise with what the model gives."""
    about = read_object(folder / ABOUT) if (folder / ABOUT).is_file() else {}
    inner = config.get("sentence_transformers")
    stated = (
        about.get("activation_fn"),
        inner.get("activation_fn") if isinstance(inner, dict) else None,
        config.get("sbert_ce_default_activation_function"),
    )
    for name in stated:
        if name and str(name).rpartition(".")[2] not in _RISING:
            raise FormatError(
                f"scores by {name!r:.80} are not supported",
                source=str(folder),
                hint=f"known: {', '.join(_RISING)}",
            )


def _modules(folder: Path) -> list[_Module]:
    path = folder / MODULES
    listed = read_json(path)
    if not isinstance(listed, list) or not listed:
        raise FormatError("this must be a list of modules", source=str(path))
    found = []
    for one in listed:
        kind, place = (one.get("type"), one.get("path")) if isinstance(one, dict) else (None, None)
        if not isinstance(kind, str) or not isinstance(place, str):
            raise FormatError("each module has a type and a path", source=str(path))
        if not kind.startswith(_OURS):
            raise FormatError(
                f"the module {kind!r:.80} is code of the model's own, which is never run",
                source=str(path),
            )
        if {"..", "."} & set(place.split("/")) or place.startswith("/") or set(place) & set("\\:"):
            raise FormatError(f"{place!r:.60} is outside of the folder", source=str(path))
        found.append(_Module(kind.rpartition(".")[2], place.rstrip("/")))
    return found


def _unknown(folder: Path, module: _Module) -> FormatError:
    return FormatError(
        f"the module {module.kind!r:.60} is not supported here",
        source=str(folder / MODULES),
        hint="known: Transformer, Pooling, Dense, LayerNorm, Normalize, Dropout, SpladePooling",
    )


def _transformer(folder: Path, after: list[str]) -> tuple[int, bool]:
    """How many tokens are read, and whether in small letters."""
    path = next((folder / name for name in _SETTINGS if (folder / name).is_file()), None)
    values = read_object(path) if path is not None else {}
    wanted = "last_hidden_state" if "Pooling" in after else "logits"
    output: Any = values.get("modality_config")
    for name in ("text", "method_output_name"):
        output = output.get(name) if isinstance(output, dict) else None
    if output not in (None, wanted):
        raise FormatError(f"reading {output!r:.60} of the model is not supported", source=str(path))
    tokens = values.get("max_seq_length")
    if tokens is None and (folder / "tokenizer_config.json").is_file():
        tokens = read_object(folder / "tokenizer_config.json").get("model_max_length")
    is_told = type(tokens) is int and 0 < tokens <= _LONGEST
    return tokens if is_told and isinstance(tokens, int) else 0, bool(values.get("do_lower_case"))


def _check_splade(path: Path) -> None:
    values = read_object(path)
    for name, wanted in {"pooling_strategy": "max", "activation_function": "relu"}.items():
        if values.get(name, wanted) != wanted:
            raise FormatError(
                f"{name} {values[name]!r:.60} is not supported, only {wanted}", source=str(path)
            )


def _heads(folder: Path, modules: list[_Module]) -> tuple[tuple[str, ...], int]:
    """The steps after pooling, and the size that the last dense layer gives vectors."""
    heads: list[str] = []
    size = 0
    for one in modules:
        if one.kind == "Normalize":
            heads.append(UNIT)
        elif one.kind == "Dense":
            size = _dense_size(folder / one.path)
            heads.append(f"dense:{one.path}")
        elif one.kind == "LayerNorm":
            _require_weights(folder / one.path)
            heads.append(f"norm:{one.path}")
        elif one.kind != "Dropout":  # which only training knows
            raise _unknown(folder, one)
    while heads and heads[-1] == UNIT:  # every vector ends at unit length
        heads.pop()
    return tuple(heads), size


def _dense_size(folder: Path) -> int:
    path = folder / CONFIG
    values = read_object(path)
    activation_of(values, str(path))
    for name in ("module_input_name", "module_output_name"):
        if values.get(name, "sentence_embedding") != "sentence_embedding":
            raise FormatError(f"{name} {values[name]!r:.60} is not supported", source=str(path))
    size = values.get("out_features")
    if type(size) is not int or size < 1:
        raise FormatError("out_features is missing", source=str(path))
    _require_weights(folder)
    return size


def _require_weights(folder: Path) -> None:
    if not (folder / WEIGHTS).is_file():
        raise FormatError(f"{WEIGHTS} is missing here", source=str(folder), hint=SAVE_AGAIN)


def _kept(folder: Path) -> int:
    """How many numbers of a vector ``truncate_dim`` keeps, from the first on; 0 for all."""
    about = read_object(folder / ABOUT) if (folder / ABOUT).is_file() else {}
    kept = about.get("truncate_dim")
    if kept is None:
        return 0
    if type(kept) is not int or kept < 1:
        raise FormatError(f"truncate_dim cannot be {kept!r:.40}", source=str(folder / ABOUT))
    return kept


def _check_similarity(folder: Path, *, unit: bool) -> None:
    """Refuse a model whose lengths of vectors matter: the index keeps their directions."""
    about = read_object(folder / ABOUT) if (folder / ABOUT).is_file() else {}
    named = about.get("similarity_fn_name")
    if named in (None, "cosine") or (unit and named in ("dot", "euclidean")):
        return
    raise FormatError(
        f"similarity_fn_name {named!r:.40} is not supported: vectors are compared by cosine",
        source=str(folder / ABOUT),
        hint="a model that ends in Normalize may name dot or euclidean",
    )
