"""One side of an A/B test: a stored run, or a configuration to run first?

A configuration is a YAML file of search options, or options in one line:
``fusion_method=weighted,weights=bm25:0.3 splade:0.2 dense:0.5``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.console import note
from assay.errors import UsageError
from assay.evaluation.stored_run import StoredRun

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.strict_yaml import Node


SHORT: Mapping[str, str] = {"fusion": "fusion_method", "intent": "query_intent"}  # as in search
WORDS: Mapping[str, Any] = {"true": True, "on": True, "false": False, "off": False}


def side(workspace: Workspace, text: str, testset: str | None, *, holdout: bool) -> StoredRun:
    """The run that the text names, made now if it is a configuration that was never run."""
    path = Path(text)
    if path.suffix in (".yaml", ".yml"):
        return _evaluated(workspace, _from_file(path), testset, path.stem, holdout)
    if "=" in text:
        return _evaluated(workspace, parse_inline(text), testset, text, holdout)
    return workspace.stored_run(text)


def parse_inline(text: str) -> dict[str, Any]:
    """``name=value`` pairs between commas; lists and weights have blanks between their items."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        name = SHORT.get(name, name)
        if not equals or not name or name in found:
            raise UsageError(
                f"{part!r:.60} is not an option and its value",
                hint="as in fusion_method=weighted,weights=bm25:0.3 splade:0.2 dense:0.5",
            )
        found[name] = _value(name, value)
    return found


def _value(name: str, text: str) -> Any:
    if name == "weights":
        return {
            item.partition(":")[0]: _number(item.partition(":")[2], item) for item in text.split()
        }
    if name == "components":
        return text.split()
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[0-9]*\.[0-9]+", text) else text


def _number(text: str, item: str) -> float:
    if not re.fullmatch(r"[0-9]*\.?[0-9]+", text):
        raise UsageError(f"{item!r:.60} is not a component and its weight", hint="as in bm25:0.3")
    return float(text)


def _from_file(path: Path) -> dict[str, Any]:
    from assay.strict_yaml import MappingNode, load_yaml

    content = load_yaml(path)
    if not isinstance(content, MappingNode):
        raise UsageError(f"{path} is not a mapping of search options")
    return {SHORT.get(name.text, name.text): _plain(value) for name, value in content.entries}


def _plain(node: Node) -> Any:
    from assay.strict_yaml import MappingNode, ScalarNode

    if isinstance(node, ScalarNode):
        return node.text if node.quoted else _value("", node.text)
    if isinstance(node, MappingNode):
        return {name.text: _plain(value) for name, value in node.entries}
    return [_plain(item) for item in node.items]


def _evaluated(
    workspace: Workspace, options: dict[str, Any], testset: str | None, name: str, holdout: bool
) -> StoredRun:
    from assay.evaluation.parts import Split, part_of
    from assay.evaluation.record import RecordOptions, record
    from assay.testsets.load import load_test_set

    if testset is None:
        raise UsageError(
            f"{name:.60} is a configuration, and there is no test set to run it on",
            hint="add --testset NAME",
        )
    part = part_of(
        load_test_set(testset, folder=workspace.layout.test_sets),
        Split.HOLDOUT if holdout else None,
    )
    system = workspace.system(**options)
    done = record(system, part, workspace.runs, RecordOptions(name=name[:80]))
    note(f"{'stored' if done.cached else 'ran'}: {name} is {done.info.run_id}")
    return workspace.stored_run(done.info.run_id)
