"""How well does the judge know what a passage says of a statement that it has not seen?

    python -m training.entailed MODELS

Claims of SciFact's validation set with the abstracts that they cite, and with their evidence alone;
NLI4CT's development statements with the lines that decide them. Prints how many verdicts of the
shipped judge are right and the AUROC of *supported* against the rest (DeLong's interval), beside
the share of a statement's words that the passage has, the shipped reranker and the general
cross-encoder in the folder MODELS (what ``assay models pull ms-marco-minilm-l12-v2`` fills).
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.encode.encoders import open_entailment, open_reranker
from assay.encode.shelf import PACKAGED, Shelf
from assay.stats.delong import delong
from training import statements
from training.statements import SUPPORTED, Pair

KINDS = ("claim", "rationale", "nli4ct")
GENERAL = "ms-marco-minilm-l12-v2"


def words(text: str) -> set[str]:
    """The words of a text, in small letters."""
    return set(re.findall(r"\w+", text.lower()))


def overlap(pairs: list[Pair]) -> NDArray[np.float64]:
    """The share of a statement's words that its passage has."""
    return np.array(
        [
            len(words(one.statement) & words(one.premise)) / max(len(words(one.statement)), 1)
            for one in pairs
        ]
    )


def scores(name: str, shelf: Shelf) -> Callable[[list[Pair]], NDArray[np.float64]]:
    """What a reranker makes of statements as queries."""
    model = open_reranker(name, shelf)
    return lambda pairs: np.array(
        [float(model.score(one.statement, [one.premise])[0]) for one in pairs]
    )


def shown(name: str, supported: NDArray[np.bool_], score: NDArray[np.float64]) -> str:
    """One line: AUROC with its interval."""
    found = delong(supported, score)
    return (
        f"  {name:26} AUROC {found.auroc:.3f} ({found.interval.low:.3f}-{found.interval.high:.3f})"
    )


def main(arguments: list[str]) -> None:
    """Print the figures."""
    shelf = Shelf(shared=Path(arguments[0]), package=PACKAGED)
    judge = open_entailment("assay-bio-judge", shelf)
    others = {"words in common": overlap}
    others |= {name: scores(name, shelf) for name in ("assay-bio-rerank", GENERAL)}
    kept = [
        one
        for one in (*statements.scifact(random.Random(0)), *statements.nli4ct())
        if one.part == "test"
    ]
    for kind in KINDS:
        pairs = [one for one in kept if one.source == kind]
        verdict = np.array([one.verdict for one in pairs])
        began = time.process_time()
        said = judge.judge([one.premise for one in pairs], [one.statement for one in pairs])
        took = 1000 * (time.process_time() - began) / len(pairs)
        right, most = (said.argmax(1) == verdict).mean(), np.bincount(verdict).max() / len(pairs)
        print(f"{kind}: {len(pairs)} pairs, {took:.0f} ms each of processor time")
        print(f"  verdicts right {right:.3f}, the most frequent one {most:.3f}")
        for row in range(3):
            print(
                "   ", [int(((verdict == row) & (said.argmax(1) == at)).sum()) for at in range(3)]
            )
        supported = verdict == SUPPORTED
        print(shown("assay-bio-judge", supported, said[:, 0].astype(np.float64)))
        for name, score in others.items():
            print(shown(name, supported, score(pairs)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
