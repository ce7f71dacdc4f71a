"""How does a finished folder take its place, so that nobody ever sees half of it?

Everything is made in a hidden folder beside the target, flushed to disk and renamed. Whoever comes
second finds the target taken and keeps what is there if it is intact. What a killed process left
behind is swept away a day later.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from assay.durable import make_folder, move_folder
from assay.encode.cards import ModelFile
from assay.encode.shelf import faults
from assay.errors import PullError, StorageError

_PREFIX = ".pull-"
_STALE_SECONDS = 24 * 3600


@contextlib.contextmanager
def workshop(place: Path) -> Iterator[Path]:
    """A folder to work in, on the same disk as the target and gone afterwards."""
    try:
        make_folder(place)
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
    """Also where somebody loses patience just then; whoever does so twice is listened to."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def move_in(made: Path, target: Path, files: tuple[ModelFile, ...]) -> bool:
    """Give a finished folder its name; ``False`` where another process was first and right."""
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
    """Move a damaged folder out of the way; it vanishes with the workshop."""
    with contextlib.suppress(FileNotFoundError):
        target.rename(Path(tempfile.mkdtemp(dir=workplace)) / "damaged")


def _sweep(place: Path) -> None:
    for left in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
