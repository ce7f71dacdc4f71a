"""What do the passages call what a question names?

Who asks for linseed is answered by passages that call it flaxseed. A word that no passage has gives
way to another name of the same thing (``data/synonyms/abbreviations.txt``) that they do have, and
so do everyday words for it; names of drugs need not, since all of them count (``asked.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.analysis.conditions import abbreviations, in_medical_words, stems
from assay.evidence.gather import own_texts
from assay.model.answers import Passage

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


def in_words_of(passages: Sequence[Passage], question: str) -> str:
    """The question with the names that the passages use."""
    medical = in_medical_words(question)
    named = [word for word in _WORD.findall(medical) if _names(word)]
    if not named:
        return question
    texts = (text for one in passages for text in own_texts(one.chunk))
    said = f" {' , '.join(' '.join(stems(text)) for text in texts)} "

    def is_said(name: str) -> bool:
        return f" {' '.join(stems(name))} " in said

    if medical != question and any(map(is_said, named)):
        question = medical
    for word in named:
        if not is_said(word):
            other = next(filter(is_said, _names(word)), word)
            question = re.sub(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", other, question)
    return question


def _names(word: str) -> tuple[str, ...]:
    return abbreviations().get(word) or abbreviations().get(word.lower(), ())
