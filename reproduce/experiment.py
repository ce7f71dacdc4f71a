"""What does one experiment run, and which figures does it expect?

A file ``reproduce/NAME.yaml`` has a ``kind`` (see ``run.py``), a ``corpus`` (one or several folders
of the data folder; none where the collection ships with the package), the ``processor`` on which
its figures were found, where they depend on it (design/022), and ``runs``: each a name, options of
``SearchOptions`` by their names, what its kind understands beside (``queries``, ``rerank_depth``
...), and the ``expected`` values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.app.configurations import option_text
from assay.encode.runtime import has_exact_products
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
    processor: str
    runs: tuple[Run, ...]

    @property
    def corpus(self) -> str:
        """The first or only folder; nothing where there is none."""
        return self.corpora[0] if self.corpora else ""


def this_processor() -> str:
    """The kind of this machine's processor, as far as the shipped models' figures depend on it."""
    return "with VNNI" if has_exact_products() else "without VNNI"


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
        processor=_text(root.get("processor")),
        runs=tuple(_run(name.text, body) for name, body in runs.entries),
    )


def write(experiment: Experiment, found: Mapping[str, Mapping[str, float]]) -> None:
    """Put what was found in the place of what was expected; counts stay whole numbers."""
    path = HERE / f"{experiment.name}.yaml"
    root = load_yaml(path)
    assert isinstance(root, MappingNode), path
    runs = root.get("runs")
    assert isinstance(runs, MappingNode), path
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.startswith("processor: "):
            lines[number] = f"processor: {this_processor()}\n"
    for name, body in runs.entries:
        expected = body.get("expected") if isinstance(body, MappingNode) else None
        assert isinstance(expected, MappingNode), name.text
        for key, value in expected.entries:
            assert isinstance(value, ScalarNode), key.text
            digits = 4 if "." in value.text else 0
            line = lines[value.line - 1]
            start = line.index(value.text, line.index(key.text) + len(key.text))
            new = f"{found[name.text][key.text]:.{digits}f}"
            lines[value.line - 1] = line[:start] + new + line[start + len(value.text) :]
    path.write_text("".join(lines), encoding="utf-8")


def _run(name: str, body: Node) -> Run:
    assert isinstance(body, MappingNode), name
    expected = body.get("expected")
    assert isinstance(expected, MappingNode), name
    known = {key.text: node for key, node in body.entries if key.text != "expected"}
    texts = {key: option_text(key, node) for key, node in known.items() if key in SEARCH_OPTIONS}
    return Run(
        name,
        changed(SearchOptions(synonyms=False), **read_changes(texts)),
        {key.text: float(_text(value)) for key, value in expected.entries},
        {key: _text(node) for key, node in known.items() if key not in SEARCH_OPTIONS},
    )


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, ScalarNode) else ""


def _texts(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, SequenceNode) else (node,)
    return tuple(filter(None, map(_text, items)))
