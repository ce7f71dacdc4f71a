"""How is a model fetched from the model hub?

Only files that cannot run code are fetched. The hub can change what a name refers to, so the first
pull records the checksum of every file, and later checks compare with those.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import limits
from assay.encode.cards import HubSource, ModelCard, ModelFile
from assay.encode.folders import DESCRIPTION, card_of_folder, description
from assay.encode.modules import module_files
from assay.encode.shelf import checksum
from assay.errors import PullError
from assay.extras import import_optional

_REQUIRED = ("config.json", "tokenizer.json", "model.safetensors")
_OPTIONAL = (
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
)
# LocalEntryNotFoundError is left out: it means that the network failed
_ABSENT = ("EntryNotFoundError", "RemoteEntryNotFoundError")


def download_from_hub(source: HubSource, card: ModelCard | None, folder: Path) -> ModelCard:
    """Fill a folder with a repository's files and return its card with their checksums."""
    hub = import_optional("huggingface_hub")
    for name in (*_REQUIRED, *_OPTIONAL):
        _fetch(hub, source, name, folder, optional=name in _OPTIONAL)
    for name in module_files(folder):
        _fetch(hub, source, name, folder, optional=True)
    files = tuple(_pinned(path, folder) for path in sorted(folder.rglob("*")) if path.is_file())
    base = card or replace(card_of_folder(folder), name=source.repository)
    full = replace(base, files=files)
    (folder / DESCRIPTION).write_text(description(full), encoding="utf-8")
    return full


def _fetch(hub: Any, source: HubSource, name: str, folder: Path, *, optional: bool) -> None:
    try:
        cached = hub.hf_hub_download(source.repository, name, revision=source.revision)
    except Exception as error:
        if type(error).__name__ in _ABSENT and optional:
            return
        raise PullError(
            f"the hub did not give {name} of {source.repository}: "
            f"{type(error).__name__}: {error!s:.200}",
            hint="some models require consent on the hub's page and a login first",
        ) from error
    if Path(cached).stat().st_size > limits.MAX_MODEL_FILE_BYTES:
        raise PullError(f"{name} of {source.repository} is too large")
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(cached, target)


def _pinned(path: Path, folder: Path) -> ModelFile:
    return replace(checksum(path), name=path.relative_to(folder).as_posix())
