"""Which files make up the index, and up to which change of the store?

The manifest is the only file that is ever replaced. Everything it lists is immutable; files it does
not list are ignored.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from assay.digests import digest_of
from assay.durable import write_atomically
from assay.errors import CorruptError, StorageError

FORMAT = 4
OLDEST = 1  # up to 2 words were kept in another way, up to 3 vectors; the next writer changes that
NAME = "MANIFEST.json"
LOOK_AGAIN_S = 1.0

Files: TypeAlias = dict[str, list[int | str]]
Stamp: TypeAlias = tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class FileSet:
    """A folder of immutable files, with the size and checksum of each."""

    folder: str
    rows: int
    files: Files


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation. ``applied`` is the last change of the store that it includes.

    ``bm25`` are the words of each segment, cut and kept as ``words`` says (``index/bm25.py``).
    """

    generation: int = 0
    applied: int = 0
    bm25: tuple[FileSet, ...] = ()
    segments: tuple[FileSet, ...] = ()
    dead: FileSet | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    words: int = OLDEST

    @property
    def parts(self) -> tuple[FileSet, ...]:
        """Every folder of the generation."""
        last = () if self.dead is None else (self.dead,)
        return (*self.bm25, *self.segments, *last)

    @property
    def content(self) -> str:
        """Some digits that tell its files and models from those of any other index."""
        files = sorted(fact for part in self.parts for fact in part.files.items())
        return digest_of([files, dict(self.models)]).removeprefix("sha256:")

    def next(self, **changes: Any) -> Manifest:
        """The generation after this one."""
        return replace(self, generation=self.generation + 1, **changes)


def save(folder: Path, manifest: Manifest) -> None:
    """Make this the current generation, atomically."""
    content = {"format": FORMAT, **asdict(manifest)}
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1)
    write_atomically(folder / NAME, text.encode())


def stamp(path: Path) -> Stamp:
    """What differs once a file was written, without reading it; None if it is not there."""
    try:
        found = path.stat()
    except OSError:  # whoever loads it says what is wrong
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


class Watch:
    """What differs once another generation was written, or somebody wrote to files of this one.

    So cheap that every search may ask: other files than the manifest are looked at once a second.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manifest: Stamp = None
        self._paths: list[Path] = []
        self._files: tuple[Stamp, ...] = ()
        self._looked = -math.inf

    def __call__(self) -> tuple[Stamp, tuple[Stamp, ...]]:
        """The present stamps of all files."""
        manifest = stamp(self._folder / NAME)
        now = time.monotonic()
        if manifest != self._manifest or now - self._looked > LOOK_AGAIN_S:
            if manifest != self._manifest:
                self._paths = self._listed()
            self._manifest, self._looked = manifest, now
            self._files = tuple(map(stamp, self._paths))
        return manifest, self._files

    def _listed(self) -> list[Path]:
        try:
            parts = load(self._folder).parts
        except StorageError:
            return []
        return [self._folder / part.folder / name for part in parts for name in part.files]


def load(folder: Path) -> Manifest:
    """The current generation; an empty one if nothing was indexed yet."""
    path = folder / NAME
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        if is_new(folder):
            return Manifest()
        if path.exists():  # the first writer wrote it between our two checks
            return load(folder)
        raise CorruptError(f"{path} is missing", hint="assay index rebuild") from None
    except OSError as problem:
        raise CorruptError(
            f"{path} cannot be read: {problem.strerror}", hint="check permissions and disk"
        ) from None
    except (ValueError, RecursionError):
        raise CorruptError(f"{path} is not readable", hint="assay index rebuild") from None
    if not isinstance(content, dict) or content.pop("checksum", None) != _checksum(content):
        raise CorruptError(f"{path} was damaged", hint="assay index rebuild")
    if content.pop("format", None) not in range(OLDEST, FORMAT + 1):
        raise StorageError(f"{path} has another format than {FORMAT}", hint="assay index rebuild")
    try:
        return _manifest(content)
    except (
        KeyError,
        TypeError,
        AttributeError,
    ):  # the checksum fits, but the content is not what we write
        raise CorruptError(f"{path} is not a manifest", hint="assay index rebuild") from None


def _manifest(content: dict[str, Any]) -> Manifest:
    made = Manifest(
        **{
            **content,
            "bm25": _parts(content["bm25"]),
            "segments": _parts(content["segments"]),
            "dead": next(iter(_parts(content["dead"])), None),
        }
    )
    numbers = [made.generation, made.applied, made.words, *(part.rows for part in made.parts)]
    names = [name for part in made.parts for name in (part.folder, *part.files)]
    facts = [fact for part in made.parts for fact in part.files.values()]
    sound = (
        all(type(number) is int and number >= 0 for number in numbers)
        and all(name == Path(name).name for name in names)
        and all(len(fact) == 2 for fact in facts)
        and isinstance(made.models, dict)
        and isinstance(made.card, dict)
    )
    if not sound:
        raise TypeError("a field has another kind")
    return made


def is_new(folder: Path) -> bool:
    """Whether nothing was ever written here: a writer writes a manifest first."""
    return not (folder / NAME).exists() and not any(part_folders(folder))


def part_folders(folder: Path) -> list[Path]:
    """Every folder that is, was, or was going to be part of a generation."""
    return [
        path
        for kind in ("seg", "dead", "bm25")
        for path in sorted(folder.glob(f"{kind}-*"))
        if path.is_dir()
    ]


def _parts(content: dict[str, Any] | list[dict[str, Any]] | None) -> tuple[FileSet, ...]:
    """File sets as they are written: several, one or none."""
    every = content if isinstance(content, list) else [] if content is None else [content]
    return tuple(FileSet(**one) for one in every)


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
