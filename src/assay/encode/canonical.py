"""Does a model on this machine still produce the output recorded with its card?

The check is one fixed sentence and the first numbers of the output: the start of a dense vector,
the ten heaviest terms of a sparse one, both for a hybrid model, or a score. 8-bit models round
differently on processors with other instructions, so their tolerance is wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.encode.encoders import open_dense, open_reranker, open_sparse
from assay.encode.hybrid import Hybrid
from assay.encode.shelf import FoundModel, Shelf, faults
from assay.model.vectors import SparseVector

SENTENCE = "Low-dose aspirin lowers the risk of a second heart attack."
QUESTION = "Does aspirin prevent heart attacks?"
EXACT, QUANTISED = 2e-4, 5e-3


@dataclass(frozen=True, slots=True)
class Canonical:
    """The expected output of a model; ``terms`` are ids of the vocabulary."""

    numbers: tuple[float, ...]
    terms: tuple[int, ...] = ()
    tolerance: float = EXACT


CANONICAL: dict[str, Canonical] = {
    "assay-bio": Canonical(
        (
            *(-0.07232, 0.01987, -0.04402, 0.0525, 0.01213, -0.02225, 0.05821, 0.08205),
            *(2.65004, 2.42691, 2.39049, 2.33898, 2.33021, 2.21652, 2.2128, 2.19318),
            *(2.09531, 2.05216),
        ),
        (2540, 2659, 8197, 6657, 2886, 3891, 13004, 15050, 2004, 4491),
        tolerance=QUANTISED,
    ),
    "assay-bio-fast": Canonical(
        (
            *(-0.07163, -0.01894, -0.02806, 0.05794, 0.00377, 0.00518, 0.0267, 0.08575),
            *(2.56726, 2.4342, 2.4103, 2.36324, 2.3532, 2.27221, 2.17389, 2.13845),
            *(2.11206, 2.0872),
        ),
        (2540, 6657, 8197, 2886, 3891, 13004, 2659, 2117, 4491, 15050),
        tolerance=QUANTISED,
    ),
    "bge-small-en-v1.5": Canonical(
        (-0.06937, 0.02012, -0.05405, 0.05249, 0.00384, -0.01566, 0.05089, 0.09055),
        tolerance=QUANTISED,
    ),
    "all-minilm-l6-v2": Canonical(
        (0.00155, 0.01834, 0.00728, 0.15315, 0.01367, 0.0228, -0.04482, 0.08125),
        tolerance=QUANTISED,
    ),
    "all-minilm-l6-v2-fp32": Canonical(
        (-0.00513, 0.01578, 0.00788, 0.15543, 0.00931, 0.01996, -0.05265, 0.08109)
    ),
    "splade-tiny": Canonical(
        (2.38767, 2.15677, 2.09061, 1.93851, 1.75108, 1.69868, 1.6622, 1.49806, 1.10899, 1.03492),
        (6657, 2659, 2117, 8197, 2540, 2886, 13004, 3891, 24950, 10831),
    ),
    "ms-marco-minilm-l12-v2": Canonical((9.04758,), tolerance=10 * QUANTISED),
}


def answer(name: str, shelf: Shelf) -> Canonical:
    """The output of the model on this machine."""
    found = shelf.require(name)
    role = found.card.role
    if role == "hybrid":
        (both,) = Hybrid(found, threads=1).encode_both([SENTENCE])
        heaviest = _heaviest(both.sparse)
        return Canonical((*_rounded(both.dense[:8]), *heaviest.numbers), heaviest.terms)
    if role == "dense":
        row = open_dense(name, shelf, threads=1).encode([SENTENCE], "passage")[0]
        return Canonical(_rounded(row[:8]))
    if role == "reranker":
        return Canonical(_rounded(open_reranker(name, shelf).score(QUESTION, [SENTENCE])))
    return _heaviest(open_sparse(name, shelf, threads=1).encode([SENTENCE], "passage")[0])


def _heaviest(found: SparseVector) -> Canonical:
    order = np.lexsort((found.terms, -found.weights))[:10]
    return Canonical(_rounded(found.weights[order]), tuple(map(int, found.terms[order])))


def differences(name: str, said: Canonical) -> list[str]:
    """How an output differs from the recorded one; empty if none was recorded."""
    wanted = CANONICAL.get(name)
    if wanted is None:
        return []
    if wanted.terms != said.terms:
        return [f"its heaviest terms are {said.terms}, not {wanted.terms}"]
    worst = max(abs(a - b) for a, b in zip(wanted.numbers, said.numbers, strict=True))
    if worst > wanted.tolerance:
        return [f"its answer is off by {worst:.5f}, and {wanted.tolerance} is allowed"]
    return []


def check(found: FoundModel, shelf: Shelf) -> list[str]:
    """Everything that is wrong with a model on this machine: its files, then its output."""
    wrong = faults(found.folder, found.card.files)
    if wrong or found.card.requires_gpu or found.card.runtime == "torch":
        return wrong
    name = str(found.folder) if found.place == "folder" else found.card.name
    return differences(found.card.name, answer(name, shelf))


def _rounded(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> tuple[float, ...]:
    return tuple(round(float(value), 5) for value in values)
