"""Which measures are there?

The one registry: a new measure is a file with a ``Definition`` and a row here.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.measures.answers import ANSWER_DEFINITIONS
from assay.measures.average_precision import AP
from assay.measures.bpref import BPREF
from assay.measures.claims import CLAIM_DEFINITIONS
from assay.measures.decisions import DECISION_DEFINITIONS
from assay.measures.expected_reciprocal_rank import ERR
from assay.measures.inferred_ap import INFAP
from assay.measures.judged import JUDGED
from assay.measures.ndcg import NDCG
from assay.measures.precision import RPREC, P
from assay.measures.rank_biased import RBP
from assay.measures.recall import RECALL
from assay.measures.reciprocal_rank import RR
from assay.measures.success import SUCCESS

if TYPE_CHECKING:
    from assay.measures.base import Definition

DEFINITIONS: tuple[Definition, ...] = (
    NDCG,
    RECALL,
    P,
    RR,
    AP,
    SUCCESS,
    RPREC,
    BPREF,
    INFAP,
    RBP,
    ERR,
    JUDGED,
    *DECISION_DEFINITIONS,
    *ANSWER_DEFINITIONS,
    *CLAIM_DEFINITIONS,
)


def _by_spelling() -> dict[str, Definition]:
    spellings: dict[str, Definition] = {}
    for definition in DEFINITIONS:
        for text in (definition.name, definition.key, definition.bare_key, *definition.aliases):
            if text is not None:
                other = spellings.setdefault(text.lower(), definition)
                assert other is definition, f"{text} names two measures"
    return spellings


BY_SPELLING = MappingProxyType(_by_spelling())
