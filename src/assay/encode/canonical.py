"""Does a model on this machine still produce the output recorded with its card?

The check is one fixed sentence and the first numbers of the output: the start of a dense vector,
the ten heaviest terms of a sparse one, both for a hybrid model, a score or probabilities. 8-bit
models round differently on processors with other instructions, so their tolerance is wider.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.encode.encoders import open_dense, open_entailment, open_reranker, open_sparse
from assay.encode.hybrid import Hybrid
from assay.encode.shelf import FoundModel, Shelf, faults
from assay.model.vectors import SparseVector

SENTENCE = "Low-dose aspirin lowers the risk of a second heart attack."
QUESTION = "Does aspirin prevent heart attacks?"
CLAIM = "Low-dose aspirin raises the risk of a second heart attack."
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
            *(-0.0625, 0.02746, -0.04289, 0.05948, 0.01628, -0.02674, 0.07853, 0.07575),
            *(2.73434, 2.40833, 2.40817, 2.39447, 2.33367, 2.30215, 2.27192, 2.15741),
            *(2.09563, 2.03549),
        ),
        (2540, 2886, 8197, 6657, 2659, 13004, 15050, 2004, 2117, 4491),
        tolerance=QUANTISED,
    ),
    "assay-bio-fast": Canonical(
        (
            *(-0.03333, 0.00101, -0.06239, 0.05746, -0.00039, -0.02257, 0.08129, 0.07835),
            *(2.63061, 2.54645, 2.45521, 2.38616, 2.3754, 2.35874, 2.30599, 2.25735),
            *(2.25375, 2.16407),
        ),
        (2540, 8197, 2886, 3891, 6657, 13004, 2659, 2004, 2117, 15050),
        tolerance=QUANTISED,
    ),
    "assay-bio-rerank": Canonical((1.04599,), tolerance=10 * QUANTISED),
    "assay-bio-judge": Canonical((0.0119, 0.97708, 0.01102), tolerance=QUANTISED),
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
    if role == "entailment":
        return Canonical(_rounded(open_entailment(name, shelf).judge([SENTENCE], [CLAIM])[0]))
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
