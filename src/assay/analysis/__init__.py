"""How does text become words, the same for documents, queries, highlights and a cluster?"""

from assay.analysis.spelling import base
from assay.analysis.words import Token, Words, analyse, tokens

__all__ = ["Token", "Words", "analyse", "base", "tokens"]
