"""Which sentences of the best passages answer the question?

A sentence scores by the key words of the question that it contains, rare ones more, half if only
its heading or title contains them, and a little by the rank of its passage. Sentences are picked
one after the other; words that the answer already contains count half. No model runs and nothing is
random: the same passages give the same answer. ``gate.py`` decides whether to answer at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.answers.gate import ENOUGH, confidence, signals
from assay.answers.sentences import sentences
from assay.answers.words import key_words, words
from assay.model.answers import Answer, Passage

PASSAGES = 8
SENTENCES = 3
_CONTEXT = 0.5  # the value of a word in the heading, relative to one in the sentence
_RANK = 0.1
_REPEATED = 0.5


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    rank: int
    held: frozenset[str]
    base: float


@dataclass(frozen=True, slots=True)
class ExtractiveAnswerer:
    """Answers with literal sentences, each with its source; declines below ``gate``.

    ``dense_model`` is the model behind the passages' dense scores, which decides how they are read.
    """

    dense_model: str = ""
    gate: float = ENOUGH
    most: int = SENTENCES

    @property
    def name(self) -> str:
        """Identifies everything that affects an answer."""
        return f"extractive(gate={self.gate:g},sentences={self.most},dense={self.dense_model})"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The best sentences with their sources, or a refusal."""
        best = list(passages[:PASSAGES])
        if not best:
            return Answer("", grounded=False, refusal_reason="nothing was found")
        sure = confidence(signals(question, best), self.dense_model)
        if sure < self.gate:
            odds = f"confidence {sure:.3f}, and {self.gate:g} is needed"
            reason = f"the results do not seem to answer this ({odds})"
            return Answer("", grounded=False, refusal_reason=reason)
        chosen = _chosen(question, best, self.most)
        ranks = list(dict.fromkeys(candidate.rank for candidate in chosen))
        marked = [f"{one.text} [{ranks.index(one.rank) + 1}]" for one in chosen]
        return Answer(" ".join(marked), tuple(best[rank].chunk.chunk_id for rank in ranks))


def _chosen(question: str, passages: Sequence[Passage], most: int) -> list[_Candidate]:
    wanted = frozenset(key_words(question))
    rows = [
        (one, rank, words(one.text) & wanted, words(one.context) & wanted)
        for rank, passage in enumerate(passages)
        for one in sentences(passage.chunk)
    ]
    rarity = {
        word: _rarity(sum(word in held for *_, held, _ in rows), len(rows)) for word in wanted
    }
    whole = sum(rarity.values()) or 1.0
    candidates: dict[str, _Candidate] = {}
    for one, rank, held, around in rows:
        direct = math.fsum(rarity[word] for word in held)
        nearby = math.fsum(rarity[word] for word in around - held)
        base = (direct + _CONTEXT * nearby) / whole + _RANK / (1 + rank)
        candidates.setdefault(one.text, _Candidate(one.text, rank, held, base))
    return _greedy(list(candidates.values()), rarity, whole, most)


def _greedy(
    candidates: list[_Candidate], rarity: dict[str, float], whole: float, most: int
) -> list[_Candidate]:
    """The best sentence, then again the best of the rest; ties go to the earlier one."""
    chosen: list[_Candidate] = []
    said: frozenset[str] = frozenset()
    while candidates and len(chosen) < most:

        def worth(one: _Candidate, said: frozenset[str] = said) -> float:
            return (
                one.base - _REPEATED * math.fsum(rarity[word] for word in one.held & said) / whole
            )

        best = max(candidates, key=worth)
        if chosen and not best.held:  # it contains nothing of the question
            break
        chosen.append(best)
        candidates.remove(best)
        said |= best.held
    return chosen


def _rarity(there: int, of: int) -> float:
    return math.log(1 + of / (0.5 + there))
