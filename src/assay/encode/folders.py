"""What kind of model is in this folder?

A folder is described by ``assay-model.json`` (the fields of a card), or by the layout of
sentence-transformers: ``config.json`` next to the weights, and ``modules.json`` (``modules.py``).
Nothing in it is executed: weights are ONNX or safetensors, the rest is JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from assay.encode.cards import (
    DEFAULT_MAX_TOKENS,
    POOLINGS,
    ROLES,
    RUNTIMES,
    ModelCard,
    ModelFile,
    Pooling,
    Role,
)
from assay.encode.families import FAMILIES
from assay.encode.heads import files_of
from assay.encode.model_json import read_object
from assay.encode.modules import (
    SAVE_AGAIN,
    Declared,
    check_scores,
    declared,
    pooling_of,
    prompts_of,
)
from assay.errors import CorruptModelError, FormatError, MissingFileError

DESCRIPTION = "assay-model.json"
SEAL = "sha256"
WEIGHTS = ("model.onnx", "onnx/model.onnx", "model.safetensors")
_TEXTS = {"name", "about", "licence", "weights", "base", "query_prefix", "passage_prefix"}
_OF_HYBRIDS = {"layers", "vocabulary"}
_SELDOM = {*_OF_HYBRIDS, "heads", "lowercase", "base"}
_NUMBERS = {"dimension", "max_tokens", "longest", *_OF_HYBRIDS}
_OF_THE_CATALOG = {"sources", "inside", "ships", "rrf_weights", "score_weights", "share"}
_CHOICES: dict[str, tuple[str, ...]] = {"role": ROLES, "runtime": RUNTIMES}
_HEAD = re.compile(r"unit|(dense|norm):.+|first:[1-9][0-9]{0,5}")
_ROLE_OF_HEAD: dict[str, Role] = {
    "ForMaskedLM": "splade",
    "ForSequenceClassification": "reranker",
    "Model": "dense",
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
        if name not in _OF_THE_CATALOG and (value or name not in _SELDOM)
    }
    return json.dumps({**values, SEAL: _digest(values)}, indent=1, sort_keys=True) + "\n"


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _described(folder: Path) -> ModelCard:
    path = folder / DESCRIPTION
    values = read_object(path)
    stated = values.pop(SEAL, None)  # a description written by hand has none
    if stated is not None and stated != _digest(values):
        raise CorruptModelError(
            f"{path} has changed since the model was pulled",
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
    if name == "heads":
        return _heads(path, value)
    if name == "pooling":
        right = isinstance(value, str) and {*value.split("+")} <= {*POOLINGS}
        right = right and (value == "none" or "none" not in str(value))
        if not right:
            raise FormatError(f"pooling cannot be {value!r:.60}", source=str(path))
        return value
    if name in _CHOICES:
        right = value in _CHOICES[name]
    elif name in _TEXTS:
        right = isinstance(value, str)
    elif name in _NUMBERS:
        right = type(value) is int and 1 <= value <= 10_000_000
    else:
        right = isinstance(value, bool)
    if not right or (name in ("weights", "base") and not _is_inside(str(value))):
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


def _heads(path: Path, value: object) -> tuple[str, ...]:
    heads = tuple(value) if isinstance(value, list) else ()
    known = all(isinstance(head, str) and _HEAD.fullmatch(head) for head in heads)
    if not heads or not known or not all(map(_is_inside, files_of(heads))):
        raise FormatError("heads must list steps such as dense:2_Dense", source=str(path))
    return heads


def _is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder."""
    parts = name.split("/")
    return bool(name) and not {"", ".", ".."} & set(parts) and "\\" not in name and ":" not in name


def _detected(folder: Path) -> ModelCard:
    weights = _weights(folder)
    config = read_object(folder / "config.json")
    stated = declared(folder)
    role = _role(folder, config, stated)
    if role == "reranker":
        check_scores(folder, config)
    family = FAMILIES.get(str(config.get("model_type")))
    if family and not weights.endswith(".onnx") and "auto_map" in config:
        raise FormatError(
            "auto_map names code of the model's own, which is never run",
            source=str(folder / "config.json"),
        )
    query_prefix, passage_prefix = prompts_of(folder)
    pooling = stated.pooling if stated and stated.role else _pooling(folder, role)
    places = _whole(config.get("max_position_embeddings"), 512)
    longest = max(places - (family.skipped if family else 0), 1)
    tokens = (stated.max_tokens or longest) if stated else DEFAULT_MAX_TOKENS
    return ModelCard(
        name=folder.resolve().name,
        role=role,
        about="a folder of this machine",
        licence="unknown",
        runtime="onnx" if weights.endswith(".onnx") else "bert" if family else "torch",
        weights=weights,
        dimension=_dimension(folder, config, role, stated, pooling),
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_tokens=tokens,
        longest=longest,
        heads=stated.heads if stated else (),
        lowercase=stated.lowercase if stated else False,
    )


def _weights(folder: Path) -> str:
    """The file of the weights; a folder without any that can be read is refused."""
    if (folder / "adapter_config.json").is_file():
        raise FormatError(
            "this is an adapter, not a model",
            source=str(folder),
            hint="merge it into its model and save that",
        )
    weights = next((name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is not None and (folder / "tokenizer.json").is_file():
        return weights
    others = [*folder.glob("pytorch_model*.bin"), *folder.glob("*.safetensors.index.json")]
    others += [path for path in (folder / "vocab.txt", folder / "vocab.json") if path.is_file()]
    raise FormatError(
        "neither assay-model.json nor weights with a tokenizer.json are here",
        source=str(folder),
        hint=SAVE_AGAIN if others else f"weights are one of {', '.join(WEIGHTS)}",
    )


def _role(folder: Path, config: dict[str, Any], stated: Declared | None) -> Role:
    if stated and stated.role:
        return stated.role
    architectures = config.get("architectures") or [""]
    head = str(architectures[0])
    role = next((role for ending, role in _ROLE_OF_HEAD.items() if head.endswith(ending)), None)
    if role is None:
        raise FormatError(
            f"the architecture {head!r:.60} has no role here",
            source=str(folder / "config.json"),
            hint=f"known endings: {', '.join(_ROLE_OF_HEAD)}",
        )
    if stated and role != "reranker":
        raise FormatError("no module of pooling is declared", source=str(folder / "modules.json"))
    return role


def _dimension(
    folder: Path, config: dict[str, Any], role: Role, stated: Declared | None, pooling: Pooling
) -> int:
    whole = _whole_dimension(folder, config, role, stated, pooling)
    return min(whole, stated.kept) if stated and stated.kept else whole


def _whole_dimension(
    folder: Path, config: dict[str, Any], role: Role, stated: Declared | None, pooling: Pooling
) -> int:
    if role == "reranker":
        return 1
    if stated and stated.size:
        return stated.size
    family = FAMILIES.get(str(config.get("model_type")))
    name = "vocab_size" if role == "splade" else family.sizes[0] if family else "hidden_size"
    size = _whole(config.get(name), 0)
    if size < 1:
        raise FormatError(f"{name} is missing", source=str(folder / "config.json"))
    return size * (pooling.count("+") + 1)


def _pooling(folder: Path, role: Role) -> Pooling:
    """The pooling of a model without ``modules.json``; the mean if it states none."""
    if role != "dense":
        return "max" if role == "splade" else "none"
    path = folder / "1_Pooling" / "config.json"
    return pooling_of(path) if path.is_file() else "mean"


def _whole(value: object, otherwise: int) -> int:
    return value if type(value) is int and value > 0 else otherwise
