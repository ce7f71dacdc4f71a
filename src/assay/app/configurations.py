"""Which configurations of the search are saved, and how is one written down and read back?

A configuration is what a run may name: the options of a search without its limits, filters for all
queries, and where wanted one type or intent for them. It is a YAML file of their names and values,
as ``assay.yaml`` has them, or one line: ``fusion_method=weighted,weights=bm25:0.3 dense:0.7``. Both
may be JSON: ``{"fusion_method": "weighted", "weights": {"bm25": 0.3, "dense": 0.7}}``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from assay import limits
from assay.app.layout import Layout
from assay.durable import alone_in, write_atomically
from assay.errors import ConflictError, MissingFileError, UsageError
from assay.model.document import check_id
from assay.model.query import FILTER_OPTIONS
from assay.options import Several, several
from assay.search.request import (
    CONFIGURATION_NAMES,
    EVALUATION_NAMES,
    SEARCH_OPTIONS,
    SearchOptions,
    changed,
    configuration_name,
    option_name,
    read_changes,
)
from assay.strict_yaml import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    load_yaml,
    one_line,
    parse_yaml,
)
from assay.testsets.write import quoted

SAVED_NAMES = (*EVALUATION_NAMES, "query_type", "query_intent")
"""What a configuration is saved with; one that people write may hold more."""
SUFFIXES = (".yaml", ".yml", ".json")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,=/-]*")  # what no reader of YAML takes for structure


def list_configurations(layout: Layout) -> list[str]:
    """The names of the saved configurations."""
    return sorted(path.stem for path in layout.configurations.glob("*.yaml"))


def save_configuration(layout: Layout, name: str, options: SearchOptions) -> Path:
    """Save a configuration under a name; another one of that name is never replaced."""
    path = layout.configuration(check_id(name, "configuration"))
    text = as_yaml(options)
    with alone_in(path.parent):
        if not path.exists():
            write_atomically(path, text.encode())
            return path
    if _chosen(options) == _chosen(changed(SearchOptions(), **read_configuration(str(path)))):
        return path
    raise ConflictError(
        f"there is another configuration {name}", hint="choose another name for this one"
    )


def configuration_text(layout: Layout, name: str) -> str:
    """A saved configuration as it was written."""
    path = layout.configuration(check_id(name, "configuration"))
    if not path.is_file():
        raise MissingFileError(f"there is no configuration {name!r:.80}")
    return path.read_text(encoding="utf-8")


def as_yaml(options: SearchOptions) -> str:
    """The options as a file: all of them, so that no setting of another machine changes them."""
    chosen = {name: value for name, value in _chosen(options).items() if value not in (None, ())}
    return "".join(f"{name}: {_written(name, value)}\n" for name, value in chosen.items())


def is_configuration(text: str) -> bool:
    """Whether a text is meant as a configuration, and not as the name of a run."""
    return "=" in text or _is_json(text) or Path(text).suffix in SUFFIXES


def read_configuration(text: str, layout: Layout | None = None) -> dict[str, Any]:
    """A file or a line of options, as values for ``changed``.

    A file that is not in the working folder may be a saved one of the workspace.
    """
    if _is_json(text):
        data = text.encode(errors="replace")
        tree = parse_yaml(data, source="the configuration", max_bytes=limits.MAX_CONFIG_BYTES)
        return _from_tree(tree, "the configuration")
    path = Path(text)
    if path.suffix not in SUFFIXES:
        return read_changes(_from_line(text))
    if layout is not None and not path.exists() and path.name == text:
        path = layout.configurations / path.name
    return _from_file(path)


def option_text(name: str, node: Node) -> str | list[str]:
    """A value as ``assay.yaml`` would have it, also from lists and mappings.

    What may be given several times keeps its list.
    """
    if isinstance(node, SequenceNode) and several(SEARCH_OPTIONS[option_name(name)].kind):
        return [one_line(item) for item in node.items]
    if isinstance(node, ScalarNode):
        if node.quoted and SEARCH_OPTIONS[option_name(name)].kind.numeric:
            raise UsageError(f'{name}: is text, "{node.text:.40}"', hint="leave the quotes out")
        return node.text
    return one_line(node)


def _chosen(options: SearchOptions) -> dict[str, Any]:
    return {
        name: getattr(
            options.filters if name in FILTER_OPTIONS else options, SEARCH_OPTIONS[name].attribute
        )
        for name in SAVED_NAMES
    }


def _written(name: str, value: Any) -> str:
    """A value as YAML: what may be given several times is a list."""
    kind = SEARCH_OPTIONS[name].kind
    if isinstance(kind, Several):
        texts = [kind.of.write(one) for one in value]
        if odd := [text for text in texts if not text.isprintable()]:
            raise UsageError(f"{name}: {odd[0]!r:.60} cannot stand in a file")
        return f"[{', '.join(map(quoted, texts))}]"
    text = kind.write(value)
    return text if _PLAIN.fullmatch(text) else quoted(text)


def _from_line(text: str) -> dict[str, str | list[str]]:
    """``name=value`` pairs between commas; lists and weights have blanks between their items.

    A filter may be named several times.
    """
    found: dict[str, str | list[str]] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise UsageError(
                f"{part!r:.60} is not an option and its value",
                hint="as in fusion_method=weighted,weights=bm25:0.3 splade:0.2 dense:0.5",
            )
        known = configuration_name(name)
        if several(SEARCH_OPTIONS[known].kind):
            found[known] = [*found.get(known, ()), value]
        elif known in found:
            raise UsageError(f"{known}: given twice")
        else:
            found[known] = value
    return found


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _from_file(path: Path) -> dict[str, Any]:
    return _from_tree(load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES), path)


def _from_tree(content: Node | None, path: str | Path) -> dict[str, Any]:
    """What a tree says; JSON is YAML as well."""
    if not isinstance(content, MappingNode):
        raise UsageError(
            f"{path} is not a mapping of search options",
            hint=f"known: {', '.join(CONFIGURATION_NAMES)}",
        )
    found: dict[str, Any] = {}
    for key, node in content.entries:
        try:
            found |= read_changes({configuration_name(key.text): option_text(key.text, node)})
        except UsageError as problem:
            raise UsageError(f"{path}:{key.line}: {problem.message}", hint=problem.hint) from None
    return found
