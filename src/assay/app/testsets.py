"""Which test sets does this workspace have, by name only?

A name of HTTP is looked up in the list of names and never becomes a path.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import limits
from assay.app.layout import Layout
from assay.errors import ConflictError, InputError, MissingFileError
from assay.model.document import check_id
from assay.model.testset import GoldenQuery, TestSet
from assay.testsets.load import (
    Reading,
    ReadOptions,
    list_test_sets,
    parse_test_set,
    read_test_set,
)
from assay.testsets.save import save_test_set, write_text
from assay.testsets.write import as_yaml, query_block


def names(home: Path) -> dict[str, Path]:
    """Every test set that loads by name, with its file."""
    return list_test_sets(home / "testsets")


def load(home: Path, name: str) -> TestSet:
    """The test set of a name."""
    path = names(home).get(name)
    if path is None:
        raise MissingFileError(
            f"there is no test set {name!r:.140}", hint="GET /v1/testsets lists them"
        )
    return read_test_set(path).sound()


def read_upload(data: bytes) -> Reading:
    """A test set that was sent; one that is too large is refused before it is looked into."""
    return parse_test_set(data, options=ReadOptions(max_items=limits.MAX_UPLOAD_QUERIES))


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


def editable(home: Path) -> list[str]:
    """The test sets of the workspace that a query can be added to."""
    return sorted(path.stem for path in Layout(home).test_sets.glob("*.yaml"))


def add_query(home: Path, name: str, query: GoldenQuery) -> TestSet:
    """Put a query at the end of a test set of the workspace; a new name begins a new set.

    The text that a person wrote stays as it is, and the new query follows it.
    """
    path = Layout(home).test_set(check_id(name, "test set"))
    if not path.exists():
        fresh = TestSet(name, "v1", (query,))
        _sound(as_yaml(fresh))
        write_text(path, as_yaml(fresh))
        return fresh
    data = path.read_bytes()
    before = parse_test_set(data, source=path.name).sound()  # which it is only in UTF-8
    text = data.decode("utf-8-sig")
    if query.query_id in before.by_id:
        raise ConflictError(
            f"{name} has a query {query.query_id} already", hint="choose another id"
        )
    if any(one.query_text == query.query_text for one in before.queries):
        raise ConflictError(f"{name} has this query already")
    after = replace(before, queries=(*before.queries, query))
    added = f"{text.rstrip()}\n{query_block(query)}"
    if _same(added, after):
        write_text(path, added)
    else:  # queries do not stand at the end of this file: write it anew
        _sound(as_yaml(after))
        write_text(path, as_yaml(after))
    return after


def _same(text: str, wanted: TestSet) -> bool:
    found = parse_test_set(text.encode(), source="edited.yaml").test_set
    return found is not None and found.checksum == wanted.checksum


def _sound(text: str) -> None:
    reading = parse_test_set(text.encode(), source="edited.yaml")
    if reading.test_set is None:
        first = reading.problems[0]
        raise InputError(first.message, hint=first.hint or "grade at least one result 1 or more")
