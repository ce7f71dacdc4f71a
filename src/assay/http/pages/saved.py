"""Where does what was found in the playground go: a query into a test set, choices into a file?

Test sets of the workspace can be added to; the text that a person wrote stays as it is, and the new
query follows it. A configuration becomes a YAML file that ``assay eval ab`` takes for a side.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.errors import ConflictError, InputError, MissingFileError
from assay.http.pages.pane import as_file
from assay.model.document import check_id
from assay.model.testset import GoldenQuery, TestSet
from assay.search.request import SearchOptions
from assay.testsets.load import parse_test_set
from assay.testsets.save import write_text
from assay.testsets.write import as_yaml, query_block

SUFFIX = ".yaml"


def editable_sets(home: Path) -> list[str]:
    """The test sets of this workspace that a query can be added to."""
    return sorted(path.stem for path in (home / "testsets").glob(f"*{SUFFIX}"))


def configurations(home: Path) -> list[str]:
    """The names under which choices were saved."""
    return sorted(path.stem for path in (home / "configs").glob(f"*{SUFFIX}"))


def save_configuration(home: Path, name: str, options: SearchOptions) -> Path:
    """Write a configuration; another one of that name is never replaced."""
    path = home / "configs" / f"{check_id(name, 'configuration')}{SUFFIX}"
    text = as_file(options)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        raise ConflictError(
            f"there is another configuration {name}", hint="choose another name for this one"
        )
    write_text(path, text)
    return path


def configuration_text(home: Path, name: str) -> str:
    """What was saved under a name."""
    path = home / "configs" / f"{check_id(name, 'configuration')}{SUFFIX}"
    if not path.is_file():
        raise MissingFileError(f"there is no configuration {name!r:.80}")
    return path.read_text(encoding="utf-8")


def add_query(home: Path, name: str, query: GoldenQuery) -> TestSet:
    """Put a query at the end of a test set of the workspace; a new name begins a new set."""
    path = home / "testsets" / f"{check_id(name, 'test set')}{SUFFIX}"
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
