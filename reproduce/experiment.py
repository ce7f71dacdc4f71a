"""What does one experiment run, and which figures does it expect?

A file ``reproduce/NAME.yaml`` has a ``kind`` (see ``run.py``), a ``corpus`` (one or several folders
of the data folder), and ``runs``: each a name, options of ``SearchOptions`` by their names, what
its kind understands beside (``queries``, ``rerank_depth`` ...), and the ``expected`` values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.app.configurations import option_text
from assay.search.request import SEARCH_OPTIONS, SearchOptions, changed, read_changes
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, load_yaml

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Run:
    """One line of an experiment."""

    name: str
    options: SearchOptions
    expected: Mapping[str, float]
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One file."""

    name: str
    kind: str
    corpora: tuple[str, ...]
    split: str
    runs: tuple[Run, ...]

    @property
    def corpus(self) -> str:
        """The first or only folder."""
        return self.corpora[0]


def experiments(names: list[str]) -> Iterator[Experiment]:
    """The files with these names, or all of them."""
    for path in sorted(HERE.glob("*.yaml")):
        if not names or path.stem in names:
            yield read(path)


def read(path: Path) -> Experiment:
    """One file, whose mistakes are ours."""
    root = load_yaml(path)
    assert isinstance(root, MappingNode), path
    runs = root.get("runs")
    assert isinstance(runs, MappingNode), path
    return Experiment(
        name=path.stem,
        kind=_text(root.get("kind")) or "search",
        corpora=_texts(root.get("corpus")),
        split=_text(root.get("split")),
        runs=tuple(_run(name.text, body) for name, body in runs.entries),
    )


def _run(name: str, body: Node) -> Run:
    assert isinstance(body, MappingNode), name
    expected = body.get("expected")
    assert isinstance(expected, MappingNode), name
    known = {key.text: node for key, node in body.entries if key.text != "expected"}
    texts = {key: option_text(key, node) for key, node in known.items() if key in SEARCH_OPTIONS}
    return Run(
        name,
        changed(SearchOptions(), **read_changes(texts)),
        {key.text: float(_text(value)) for key, value in expected.entries},
        {key: _text(node) for key, node in known.items() if key not in SEARCH_OPTIONS},
    )


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, ScalarNode) else ""


def _texts(node: Node | None) -> tuple[str, ...]:
    return tuple(map(_text, node.items if isinstance(node, SequenceNode) else (node,)))
