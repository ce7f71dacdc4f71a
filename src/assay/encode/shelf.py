"""Where is a model on this machine, and is it intact?

A name is looked up in the workspace's own ``models`` folder, then in the folder shared by all of a
user's workspaces, then among the models that ship with the program. A path to a folder is used as
it is. Weights are read once, verified and loaded from memory, so what was verified is what runs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from assay import limits
from assay.encode.cards import ModelCard, ModelFile
from assay.encode.catalog import CARDS, card_named
from assay.errors import CorruptModelError, LimitError, MissingFileError, MissingModelError

Place: TypeAlias = Literal["workspace", "shared", "package", "folder"]
PACKAGED = Path(__file__).parents[1] / "data" / "models"
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model whose files are on this machine; ``card.files`` has checksums once known."""

    card: ModelCard
    folder: Path
    place: Place


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model's files in memory, with the checksums they had when read."""

    card: ModelCard
    folder: Path
    contents: Mapping[str, bytes]
    files: tuple[ModelFile, ...]

    def identity(self, max_tokens: int) -> str:
        """The id of this model's vectors."""
        return self.card.identity(self.files, max_tokens)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The folders that are searched, in order; ``shared`` is also where pulls go."""

    workspace: Path | None = None
    shared: Path | None = None
    package: Path | None = None

    def places(self) -> Iterator[tuple[Place, Path]]:
        """Every folder with its kind."""
        if self.workspace is not None:
            yield "workspace", self.workspace
        if self.shared is not None:
            yield "shared", self.shared
        if self.package is not None:
            yield "package", self.package

    def find(self, card: ModelCard) -> FoundModel | None:
        """The first folder for the model, intact or not; its files are not read."""
        for place, root in self.places():
            folder = root / card.folder
            if folder.is_dir() and (place != "package" or (folder / card.weights).is_file()):
                return FoundModel(card, folder, place)
        return None

    def require(self, name: str) -> FoundModel:
        """The model of that name or in that folder; an error if it is missing."""
        from assay.encode.folders import card_of_folder

        if name not in CARDS:
            pulled = self._pulled_from_hub(name)
            if pulled is not None:
                return pulled
            if looks_like_path(name):
                folder = Path(os.path.expanduser(name))
                return FoundModel(card_of_folder(folder), folder, "folder")
        card = card_named(name)
        found = self.find(card)
        if found is None:
            raise MissingModelError(
                f"the model {name} is not on this machine", hint=how_to_get(card)
            )
        return replace(found, card=_with_files(card, found.folder))

    def _pulled_from_hub(self, name: str) -> FoundModel | None:
        """A repository without a card that was pulled by name; its folder has a description."""
        from assay.encode.folders import card_of_folder

        if name.count("/") != 1 or name.startswith((".", "/", "~")):
            return None
        for place, root in self.places():
            folder = root / name.replace("/", "--")
            if folder.is_dir():
                return FoundModel(replace(card_of_folder(folder), name=name), folder, place)
        return None


def shelf(home: Path, models: Path | None = None) -> Shelf:
    """The shelf of a workspace; the setting ``models`` replaces the user's own folder."""
    return Shelf(home / "models", models or user_folder(os.environ), PACKAGED)


def how_to_get(card: ModelCard) -> str:
    """What to do where a model is missing or damaged."""
    if card.ships:
        return "it ships with assay: install assay again"
    return f"run: assay models pull {card.name}"


def user_folder(environ: Mapping[str, str]) -> Path | None:
    """The user's cache folder; None if there is no home folder."""
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.path.isabs(environ.get(variable, "")):
            return Path(environ[variable]) / "assay" / "models"
    try:
        return Path.home() / ".cache" / "assay" / "models"
    except RuntimeError:
        return None


def looks_like_path(name: str) -> bool:
    """Whether a name is meant as a folder rather than as a model."""
    return name.startswith((".", "~", os.sep)) or Path(name).is_dir()


def checksum(path: Path) -> ModelFile:
    """The size and SHA-256 of one file, read in blocks."""
    digest, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_CHUNK):
                digest.update(piece)
                size += len(piece)
    except OSError as error:
        raise MissingFileError(f"{path}: {error.strerror or error}") from error
    return ModelFile(path.name, size, digest.hexdigest())


def faults(folder: Path, files: tuple[ModelFile, ...]) -> list[str]:
    """What is wrong with the files of a folder; empty if it is intact."""
    found = []
    for file in files:
        path = folder / file.name
        if not path.is_file():
            found.append(f"{file.name} is missing")
        elif path.stat().st_size != file.size or checksum(path).sha256 != file.sha256:
            found.append(f"{file.name} has changed")
    return found


def load(found: FoundModel, names: tuple[str, ...]) -> LoadedModel:
    """Read the named files and check each against the card."""
    pinned = {file.name: file for file in found.card.files}
    contents = {name: _read(found.folder / name) for name in names}
    files = tuple(
        ModelFile(name, len(data), hashlib.sha256(data).hexdigest())
        for name, data in contents.items()
    )
    for file in files:
        if pinned.get(file.name, file) != file:
            raise CorruptModelError(
                f"{found.folder / file.name} is not the file that the card of "
                f"{found.card.name} names",
                hint=how_to_get(found.card),
            )
    return LoadedModel(found.card, found.folder, contents, files)


def _read(path: Path) -> bytes:
    limit = limits.MAX_MODEL_JSON_BYTES if path.suffix == ".json" else limits.MAX_MODEL_FILE_BYTES
    try:
        if path.stat().st_size > limit:
            raise LimitError(f"{path} is larger than {limit} bytes")
        return path.read_bytes()
    except OSError as error:
        raise MissingFileError(
            f"{path}: {error.strerror or error}", hint="assay models check names what is missing"
        ) from error


def _with_files(card: ModelCard, folder: Path) -> ModelCard:
    """A card without checksums gets those that the first pull recorded."""
    from assay.encode.folders import pinned_files

    return card if card.files else replace(card, files=pinned_files(folder))
