"""What kind of model is in this folder?

A folder is described by ``assay-model.json`` (the fields of a card), or by the layout of
sentence-transformers: ``config.json``, ``modules.json`` and a pooling module next to the weights.
Nothing in it is executed: weights are ONNX or safetensors, the rest is JSON.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from assay import limits
from assay.encode.cards import POOLINGS, ROLES, RUNTIMES, ModelCard, ModelFile, Pooling, Role
from assay.errors import CorruptModelError, FormatError, LimitError, MissingFileError

DESCRIPTION = "assay-model.json"
SEAL = "sha256"
WEIGHTS = ("model.onnx", "onnx/model.onnx", "model.safetensors")
_TEXTS = {"name", "about", "licence", "weights", "query_prefix", "passage_prefix"}
_OF_HYBRIDS = {"layers", "vocabulary"}
_NUMBERS = {"dimension", "max_tokens", "longest", *_OF_HYBRIDS}
_OF_THE_CATALOG = {"sources", "inside", "ships", "rrf_weights", "score_weights"}
_CHOICES: dict[str, tuple[str, ...]] = {"role": ROLES, "pooling": POOLINGS, "runtime": RUNTIMES}
_ROLE_OF_HEAD: dict[str, Role] = {
    "ForMaskedLM": "splade",
    "ForSequenceClassification": "reranker",
    "Model": "dense",
}
_POOLING_OF_FLAG: dict[str, Pooling] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}


def card_of_folder(folder: Path) -> ModelCard:
    """The card of a folder, from its own description or from its layout."""
    if not folder.is_dir():
        raise MissingFileError(f"{folder} is not a folder")
    if (folder / DESCRIPTION).is_file():
        return _described(folder)
    return _detected(folder)


def pinned_files(folder: Path) -> tuple[ModelFile, ...]:
    """The checksums in the folder's description; none if it has no description."""
    return _described(folder).files if (folder / DESCRIPTION).is_file() else ()


def description(card: ModelCard) -> str:
    """The text of ``assay-model.json`` for a card."""
    values = {
        name: value
        for name, value in asdict(card).items()
        if name not in _OF_THE_CATALOG and (value or name not in _OF_HYBRIDS)
    }
    return json.dumps({**values, SEAL: _digest(values)}, indent=1, sort_keys=True) + "\n"


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _described(folder: Path) -> ModelCard:
    path = folder / DESCRIPTION
    values = read_json(path)
    stated = values.pop(SEAL, None)  # a description written by hand has none
    if stated is not None and stated != _digest(values):
        raise CorruptModelError(
            f"{path} is not what was written when the model was pulled",
            hint="delete the folder and pull the model again",
        )
    known = {field.name for field in fields(ModelCard)} - _OF_THE_CATALOG
    if unknown := sorted(set(values) - known):
        raise FormatError(
            f"{unknown[0]!r:.60} is not a field of a model",
            source=str(path),
            hint=f"known fields: {', '.join(sorted(known))}",
        )
    checked: dict[str, Any] = {name: _checked(path, name, value) for name, value in values.items()}
    checked.setdefault("name", folder.name)
    checked.setdefault("about", "a folder of this machine")
    checked.setdefault("licence", "unknown")
    try:
        return ModelCard(**checked)
    except TypeError as error:
        raise FormatError(
            str(error).replace("ModelCard.__init__() ", ""), source=str(path)
        ) from error


def _checked(path: Path, name: str, value: object) -> object:
    """One value of a description, if its type and range are valid."""
    if name == "files":
        return _files(path, value)
    if name in _CHOICES:
        right = value in _CHOICES[name]
    elif name in _TEXTS:
        right = isinstance(value, str)
    elif name in _NUMBERS:
        right = type(value) is int and 1 <= value <= 10_000_000
    else:
        right = isinstance(value, bool)
    if not right or (name == "weights" and not _is_inside(str(value))):
        raise FormatError(f"{name} cannot be {value!r:.60}", source=str(path))
    return value


def _files(path: Path, value: object) -> tuple[ModelFile, ...]:
    try:
        files = tuple(ModelFile(**entry) for entry in value)  # type: ignore[attr-defined]
        right = all(_is_inside(file.name) and len(file.sha256) == 64 for file in files)
    except (TypeError, AttributeError):
        right, files = False, ()
    if not right:
        raise FormatError("files must list name, size and sha256 of each", source=str(path))
    return files


def _is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder."""
    parts = name.split("/")
    return bool(name) and not {"", ".", ".."} & set(parts) and "\\" not in name and ":" not in name


def _detected(folder: Path) -> ModelCard:
    weights = next((name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is None or not (folder / "tokenizer.json").is_file():
        raise FormatError(
            "neither assay-model.json nor weights with a tokenizer.json are here",
            source=str(folder),
            hint=f"weights are one of {', '.join(WEIGHTS)}",
        )
    config = read_json(folder / "config.json")
    role = _role(folder, config)
    is_bert = config.get("model_type") == "bert"
    query_prefix, passage_prefix = _prompts(folder)
    return ModelCard(
        name=folder.resolve().name,
        role=role,
        about="a folder of this machine",
        licence="unknown",
        runtime="onnx" if weights.endswith(".onnx") else "bert" if is_bert else "torch",
        weights=weights,
        dimension=_dimension(folder, config, role),
        pooling=_pooling(folder, role),
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        longest=_whole(config.get("max_position_embeddings"), 512),
    )


def _role(folder: Path, config: dict[str, Any]) -> Role:
    architectures = config.get("architectures") or [""]
    head = str(architectures[0])
    for ending, role in _ROLE_OF_HEAD.items():
        if head.endswith(ending):
            return role
    raise FormatError(
        f"the architecture {head!r:.60} has no role here",
        source=str(folder / "config.json"),
        hint=f"known endings: {', '.join(_ROLE_OF_HEAD)}",
    )


def _dimension(folder: Path, config: dict[str, Any], role: Role) -> int:
    if role == "reranker":
        return 1
    name = "vocab_size" if role == "splade" else "hidden_size"
    size = _whole(config.get(name), 0)
    if size < 1:
        raise FormatError(f"{name} is missing", source=str(folder / "config.json"))
    return size


def _pooling(folder: Path, role: Role) -> Pooling:
    """The pooling of the model; the mean if it has no pooling module."""
    if role != "dense":
        return "max" if role == "splade" else "none"
    path = folder / "1_Pooling" / "config.json"
    flags = read_json(path) if path.is_file() else {}
    chosen = [name for name, value in flags.items() if name.startswith("pooling_mode") and value]
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in _POOLING_OF_FLAG:
        raise FormatError(f"pooling by {' and '.join(chosen)} is not supported", source=str(path))
    return _POOLING_OF_FLAG[chosen[0]]


def _prompts(folder: Path) -> tuple[str, str]:
    """The prefixes that the model expects before queries and passages."""
    path = folder / "config_sentence_transformers.json"
    prompts = read_json(path).get("prompts") if path.is_file() else None
    if not isinstance(prompts, dict):
        return "", ""
    passage = prompts.get("document", prompts.get("passage", ""))
    return str(prompts.get("query", "")), str(passage)


def _whole(value: object, otherwise: int) -> int:
    return value if type(value) is int and value > 0 else otherwise


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of a model."""
    try:
        if path.stat().st_size > limits.MAX_MODEL_JSON_BYTES:
            raise LimitError(f"{path} is larger than {limits.MAX_MODEL_JSON_BYTES} bytes")
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise MissingFileError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "this is not JSON", source=str(path), hint="assay models pull fetches a model again"
        ) from error
    if not isinstance(value, dict):
        raise FormatError("this must be a JSON object", source=str(path))
    return value
