"""Is what a document says found again, and is nothing said of what none says?

Questions are drawn from the collection of another experiment (``over``) with the seed of the run:
two rare words that stand side by side in one passage only, drugs whose dose a document states, the
names of arms of trials, and drugs that no document has. Figures are counts: ``pairs`` that were
asked, of which ``pairs: nothing`` (said wrongly) and ``pairs: own first`` (the passage's document
is first); the same for ``doses`` (a document called by the drug is first) and ``arms`` (the trial
is first); ``absent`` drugs, and ``absent: said so``.
Run this file to see what goes wrong: ``python -m reproduce.sampled [SEED]``.
"""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assay.analysis.drugs import is_drug, is_listed, listed_names, other_names
from assay.analysis.spelling import STOP_WORDS, folded
from assay.app.workspace import Workspace
from assay.evidence.attributes import AMOUNT
from assay.ingest.corpus import Pair
from assay.model.sections import section_of
from assay.search.request import SearchOptions
from reproduce.data import indexed
from reproduce.experiment import HERE, Experiment
from reproduce.groups import found_by
from reproduce.outcome import Outcome
from reproduce.questions import text
from reproduce.trust import collection

PAIRS, DOSES, ARMS, ABSENT = "pairs", "doses", "arms", "absent"
EACH = {PAIRS: 90, DOSES: 30, ARMS: 40, ABSENT: 60}
_WORD = re.compile(r"[a-z]{5,}")
_GENERAL = re.compile(
    r"placebo|arm |group|cohort|control|intervention|standard|treatment", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question and the documents any of which may come first; none where nothing is there."""

    kind: str
    ask: str
    documents: frozenset[str] = frozenset()


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    over = text(HERE / f"{experiment.name}.yaml", "over")
    pairs = collection(HERE / f"{over}.yaml", folder.parent)
    with indexed(over, pairs) as home:
        for one in experiment.runs:
            began = time.perf_counter()
            asked = drawn(pairs, int(one.more["seed"]))
            found = Counter(
                name for question in asked for name in _counted(home, question, one.options)
            )
            took = (time.perf_counter() - began) / len(asked) * 1000
            yield Outcome(one, {name: float(found[name]) for name in one.expected}, took)


def _counted(home: Workspace, question: Drawn, options: SearchOptions) -> Iterator[str]:
    """The figures in which a question counts."""
    response = found_by(home, question.ask, replace(options, k=10))
    yield question.kind
    if not question.documents:
        if response.nothing_about or response.only_mentioned:
            yield f"{question.kind}: said so"
    elif response.nothing_about:
        yield f"{question.kind}: nothing"
    elif response.results and response.results[0].chunk.doc_id in question.documents:
        yield f"{question.kind}: own first"


def drawn(pairs: list[Pair], seed: int) -> list[Drawn]:
    """The questions, the same for the same seed."""
    every = {
        PAIRS: _rare_pairs(pairs),
        DOSES: _doses(pairs),
        ARMS: _arms(pairs),
        ABSENT: _absent(pairs),
    }
    drawer = random.Random(seed)
    return [one for kind, each in every.items() for one in _some(drawer, each, EACH[kind])]


def _some(drawer: random.Random, each: list[Drawn], most: int) -> list[Drawn]:
    return sorted(drawer.sample(each, min(most, len(each))), key=lambda one: one.ask)


def _rare_pairs(pairs: list[Pair]) -> list[Drawn]:
    """Neighbouring words of one passage, each of which few passages have."""
    texts = [
        (document.doc_id, chunk.text)
        for document, chunks in pairs
        for chunk in chunks
        if section_of(chunk.section_label) not in ("back_matter", "appendix")
    ]
    counts = Counter(word for _, said in texts for word in set(_WORD.findall(said)))
    places: dict[str, set[str]] = {}
    for document, said in texts:
        for first, second in re.findall(r"\b(?=([a-z]{5,}) ([a-z]{5,})\b)", said):
            if max(counts[first], counts[second]) <= 3 and not {first, second} & STOP_WORDS:
                places.setdefault(f"{first} {second}", set()).add(document)
    return [
        Drawn(PAIRS, pair, frozenset(documents))
        for pair, documents in sorted(places.items())
        if len(documents) == 1
    ]


def _doses(pairs: list[Pair]) -> list[Drawn]:
    """Drugs by which documents are called that state an amount of them."""
    called: dict[str, set[str]] = {}
    stated: set[str] = set()
    for document, chunks in pairs:
        names = {
            folded(word) for word in re.findall(r"[^\W\d_]{5,}", document.title) if is_drug(word)
        }
        for name in names:
            called.setdefault(other_names(name)[0] if is_listed(name) else name, set()).add(
                document.doc_id
            )
        stated |= {
            name
            for name in names
            for chunk in chunks
            for sentence in re.split(r"[.\n]", chunk.text)
            if name in folded(sentence) and AMOUNT.search(sentence)
        }
    return [
        Drawn(DOSES, f"{name} dose", frozenset(called[name]))
        for name in sorted(called)
        if name in stated
    ]


def _arms(pairs: list[Pair]) -> list[Drawn]:
    """Arms of several words that only one trial has."""
    trials: dict[str, set[str]] = {}
    for document, _ in pairs:
        _, _, listed = document.title.partition(f"{document.doc_id}: ")
        for arm in filter(None, listed.split("; ")):
            trials.setdefault(arm, set()).add(document.doc_id)
    return [
        Drawn(ARMS, arm, frozenset(documents))
        for arm, documents in sorted(trials.items())
        if len(documents) == 1 and 2 <= len(arm.split()) <= 6 and not _GENERAL.search(arm)
    ]


def _absent(pairs: list[Pair]) -> list[Drawn]:
    """Doses of drugs that no document has by any name."""
    texts = (
        one for document, chunks in pairs for one in (document.title, *(c.text for c in chunks))
    )
    said = {word for one in texts for word in re.findall(r"[^\W\d_]+", folded(one))}
    names = (name for name in listed_names() if name.isascii() and name.isalpha() and len(name) > 5)
    absent = [name for name in names if said.isdisjoint(" ".join(other_names(name)).split())]
    return [Drawn(ABSENT, f"{name} dose", frozenset()) for name in absent]


def main() -> int:
    """Print the questions that go wrong."""
    from reproduce.run import DATA

    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    pairs = collection(HERE / "heldout.yaml", Path(os.environ.get("ASSAY_SHARED_DATA", DATA)))
    with indexed("heldout", pairs) as home:
        for question in drawn(pairs, seed):
            counted = {*_counted(home, question, SearchOptions())}
            if not counted & {f"{question.kind}: own first", f"{question.kind}: said so"}:
                print(f"{question.kind}: {question.ask} -> {', '.join(sorted(question.documents))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
