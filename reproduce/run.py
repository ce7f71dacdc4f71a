"""Do the figures come out again on this machine?

``python -m reproduce.run [NAME ...] [--data FOLDER]`` ingests the collection of each experiment
(``reproduce/*.yaml``), runs every component on its queries, scores the run and compares with the
expected values to 4 decimals. It ends with exit code 1 where a figure differs. The collections are
not part of the repository; experiments whose collection is absent are skipped and say so.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import assay
from assay.config import configure
from assay.config.strict_yaml import MappingNode, ScalarNode, load_yaml
from assay.ingest import read_corpus
from assay.model.query import Component
from assay.workspace import Workspace

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
WORK = HERE.parent / "bench" / "work" / "reproduce"
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Experiment:
    """One file: a collection, its split, and the values expected of each component."""

    name: str
    corpus: str
    split: str
    expected: dict[str, dict[str, float]]


def experiments(names: list[str]) -> Iterator[Experiment]:
    """The files with these names, or all of them."""
    for path in sorted(HERE.glob("*.yaml")):
        if not names or path.stem in names:
            node = load_yaml(path)
            assert isinstance(node, MappingNode), path
            yield _experiment(path.stem, node)


def _experiment(name: str, node: MappingNode) -> Experiment:
    expected: dict[str, dict[str, float]] = {}
    listed = node.get("expected")
    assert isinstance(listed, MappingNode), name
    for component, values in listed.entries:
        assert isinstance(values, MappingNode), component.text
        expected[component.text] = {
            key.text: float(_text(values, key.text)) for key, _ in values.entries
        }
    return Experiment(name, _text(node, "corpus"), _text(node, "split"), expected)


def _text(node: MappingNode, key: str) -> str:
    value = node.get(key)
    assert isinstance(value, ScalarNode), key
    return value.text


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Do the figures come out again?")
    parser.add_argument("names", nargs="*", help="experiments to run; all without a name")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("ASSAY_SHARED_DATA", DATA))
    )
    options = parser.parse_args()
    differences = 0
    for experiment in experiments(options.names):
        folder = options.data / experiment.corpus
        if not folder.is_dir():
            print(f"{experiment.name}: skipped, no collection at {folder}")
            continue
        differences += run(experiment, folder)
    return 1 if differences else 0


def run(experiment: Experiment, folder: Path) -> int:
    """Print every figure beside the expected one; returns how many differ."""
    qrels = assay.load_qrels(existing(folder / "qrels" / f"{experiment.split}.tsv"))
    queries = {row["_id"]: row["text"] for row in _json_lines(existing(folder / "queries.jsonl"))}
    config = configure({"home": WORK / experiment.corpus}, environ={}, folder=HERE)
    differences = 0
    with Workspace(config) as workspace:
        workspace.ingest(read_corpus(folder, "beir", "whole", skip_empty=True))
        workspace.update_index(_say)
        components = workspace.components(workspace.generation())
        for name, expected in experiment.expected.items():
            began = time.perf_counter()
            ranked = search_all(components[name], {q: queries[q] for q in qrels.queries})
            took = (time.perf_counter() - began) / len(ranked) * 1000
            scores = assay.score(qrels, ranked, list(expected), name=name)
            print(f"{experiment.name} {name} ({took:.1f} ms a query)")
            for measure, value in expected.items():
                found = round(scores[measure] or 0.0, 4)
                same = found == round(value, 4)
                differences += not same
                print(f"  {measure}: {found:.4f}" + ("" if same else f"  # expected {value:.4f}"))
    return differences


def search_all(component: Component, queries: dict[str, str]) -> dict[str, dict[str, float]]:
    """A run over whole documents: a chunk's document and its score."""
    return {
        query: {
            hit.chunk_id.rpartition(":chunk_")[0]: hit.score
            for hit in component.search(text, DEPTH)
        }
        for query, text in queries.items()
    }


def existing(path: Path) -> Path:
    """The file as it is or compressed."""
    packed = path.with_name(f"{path.name}.gz")
    return path if path.exists() else packed


def _json_lines(path: Path) -> Iterator[dict[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _say(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{stage}: {done} of {total}  ", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
