"""How is a test set saved, and how is a split added to a file that a person wrote?

A file is replaced atomically. A split changes the ``held_out`` lines of a YAML file and nothing
else, so that comments and the author's layout stay.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.durable import write_atomically
from assay.errors import AssayError
from assay.model.testset import SKIPPED, TestSet
from assay.strict_yaml import MappingNode, parse_yaml
from assay.testsets.export import files
from assay.testsets.load import parse_test_set
from assay.testsets.write import as_yaml, held_out_block


def save_test_set(test_set: TestSet, path: Path) -> None:
    """Write a set in our own form, as YAML or, if the path ends in .json, JSON."""
    form = "json" if path.suffix == ".json" else "yaml"
    (text,) = files(test_set, form).values()
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Replace a file; its folder is created if necessary."""
    write_atomically(path, text.encode())


def with_split(data: bytes, test_set: TestSet) -> str:
    """The text of a YAML file with the held-out part of ``test_set``; the rest is unchanged."""
    edited = _edited(data.decode("utf-8-sig"), test_set)
    # verify the edit by parsing the new text
    reading = parse_test_set(edited.encode(), source="split.yaml")
    whole = reading.test_set
    same = whole is not None and _judged(whole) == _judged(test_set)
    return edited if same else as_yaml(test_set)


def _judged(test_set: TestSet) -> TestSet:
    """The set without what is known of queries that nobody judged."""
    provenance = {name: one for name, one in test_set.provenance.items() if name != SKIPPED}
    return replace(test_set, skipped=(), provenance=provenance)


def _edited(text: str, test_set: TestSet) -> str:
    try:
        root = parse_yaml(text.encode(), source="")
    except AssayError:
        return text
    if not isinstance(root, MappingNode) or test_set.held_out is None:
        return text
    lines = text.splitlines()
    block = held_out_block(test_set.held_out)
    keys = [(key.text, key.line) for key, _ in root.entries]
    at = next((row for row, (name, _) in enumerate(keys) if name == "held_out"), None)
    if at is not None:
        end = keys[at + 1][1] - 1 if at + 1 < len(keys) else len(lines)
        lines[keys[at][1] - 1 : end] = block
    else:
        before = next((line for name, line in keys if name == "queries"), len(lines) + 1) - 1
        lines[before:before] = block
    return "\n".join(lines) + "\n"
