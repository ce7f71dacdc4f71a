"""Does a passage with the rare words of a query side by side keep its place after fusion?

"Granuloma annulare" may stand in one passage of a collection. BM25 has that passage first; the
models do not know the words, and what all of them find somewhat alike comes above it. So the best
passage by BM25 that has every content word of a short query side by side does not fall out of the
first ten, unless it only mentions them where the query asks more (``evidence/together.py``). Where
few have them and the first candidate has not, it comes first, if the query is these words and
nothing more. The account says so: the rule ``side_by_side``, with the factor by
which its score grew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from assay.analysis.words import vocabulary
from assay.evidence.terms import are_beside, content_stems, is_name_alone
from assay.evidence.together import is_in_passing
from assay.model.document import ChunkLabels
from assay.model.query import Hit
from assay.model.sections import section_of
from assay.search.boost import Boosted, Reordered
from assay.search.response import Boost
from assay.search.texts import Texts

RULE = "side_by_side"
READ = 10  # of BM25's list
FIRST_TEN = 10
FEW = 3  # passages with the words: where more have them, the words are not rare
MOST_WORDS = 4  # of a query; longer ones describe what they look for
PLAIN = 3  # words of a query that is a name and nothing more


def keep_words_together(
    pool: Sequence[Boosted],
    query: str,
    by_words: Sequence[Hit],
    texts: Texts,
    is_mention: Callable[[int], bool] = lambda key: False,
) -> Sequence[Boosted]:
    """The pool, with the best passage that has the words side by side in the first ten."""
    words = content_stems(query)
    if not 2 <= len(words) <= MOST_WORDS or not pool or not by_words:
        return pool
    best = [hit.key for hit in by_words[:READ]]
    if not is_name_alone(query):
        best = [key for key in best if not is_mention(key)]
    first = pool[0].fused.key
    read = texts(texts.with_all(words, [*best, first]))
    having = [key for key in best if are_beside(words, read.get(key, ""))]
    if not having:
        return pool
    is_first = is_name_alone(query) and len(words) <= PLAIN and len(having) <= FEW
    to = 0 if is_first and not are_beside(words, read.get(first, "")) else FIRST_TEN - 1
    at = next((at for at, one in enumerate(pool) if one.fused.key == having[0]), 0)
    if at <= to:
        return pool
    raised = _raised(pool[at], pool[to].score, query, to)
    return Reordered([*pool[:to], raised, *pool[to:at]], pool)


def mentions(
    query: str, labels: Mapping[int, ChunkLabels], sections: Collection[str]
) -> Callable[[int], bool]:
    """Tells whether a passage of a document that is called otherwise has the words in passing.

    ``sections`` are those that are asked for.
    """
    words = frozenset(content_stems(query))

    def is_mention(key: int) -> bool:
        section = section_of(labels[key].section_label)
        if section in sections or not is_in_passing(section):
            return False
        return not vocabulary(labels[key].names).among(words)

    return is_mention


def _raised(one: Boosted, score: float, query: str, to: int) -> Boosted:
    factor = score / one.fused.score if one.fused.score else 1.0
    place = "the first ten have" if to else "the first place is for"
    reason = f"{place} what has the words side by side"
    lift = Boost(RULE, RULE, 1.0, factor, query, applied=True, reason=reason)
    others = tuple(replace(boost, applied=False) for boost in one.boosts)
    return one._replace(score=score, boosts=(lift, *others))
