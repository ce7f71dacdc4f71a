"""Which test sets does this workspace have, by name only?

A name of HTTP is looked up in the list of names and never becomes a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import ConflictError, MissingFileError
from assay.model.testset import TestSet
from assay.testsets.load import (
    Reading,
    ReadOptions,
    list_test_sets,
    parse_test_set,
    read_test_set,
)
from assay.testsets.save import save_test_set


def names(home: Path) -> dict[str, Path]:
    """Every test set that loads by name, with its file."""
    return list_test_sets(home / "testsets")


def load(home: Path, name: str, *, lenient: bool | None = None) -> TestSet:
    """The test set of a name; ``lenient`` skips queries without ground truth."""
    path = names(home).get(name)
    if path is None:
        raise MissingFileError(
            f"there is no test set {name!r:.140}", hint="GET /v1/testsets lists them"
        )
    return read_test_set(path, ReadOptions(lenient=lenient)).sound()


def read_upload(data: bytes, *, lenient: bool | None = None) -> Reading:
    """A test set that was sent; one that is too large is refused before it is looked into."""
    options = ReadOptions(max_items=limits.MAX_UPLOAD_QUERIES, lenient=lenient)
    return parse_test_set(data, options=options)


def upload(home: Path, data: bytes) -> tuple[TestSet, bool]:
    """Store an uploaded test set under its own name; the same one again changes nothing."""
    test_set = read_upload(data).sound()
    known = names(home).get(test_set.name)
    if known is not None:
        if read_test_set(known).sound().checksum == test_set.checksum:
            return test_set, False
        raise ConflictError(
            f"there is another test set {test_set.name}",
            hint="a changed test set gets a new version and a new name",
        )
    folder = home / "testsets"
    save_test_set(test_set, folder / f"{test_set.name}.yaml")
    return test_set, True


def listing(home: Path) -> list[dict[str, Any]]:
    """A row for each test set; one that is not sound says so."""
    rows = []
    for name, path in names(home).items():
        found = read_test_set(path).test_set
        rows.append(
            {
                "name": name,
                "version": found.version if found else None,
                "queries": len(found.queries) if found else None,
                "sound": found is not None,
            }
        )
    return rows
