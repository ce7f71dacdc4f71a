"""What do the passages call what a question names?

Who asks for linseed is answered by passages that call it flaxseed. A word that no passage has gives
way to another name of the same thing (``data/synonyms/abbreviations.txt``) that they do have; names
of drugs need not, since all of them count (``analysis/asked.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.analysis.conditions import names_in, stems
from assay.evidence.gather import own_texts
from assay.model.answers import Passage


def in_words_of(passages: Sequence[Passage], question: str) -> str:
    """The question with the names that the passages use."""
    groups = names_in(question)
    if not groups:
        return question
    texts = (text for one in passages for text in own_texts(one.chunk))
    said = f" {' , '.join(' '.join(stems(text)) for text in texts)} "

    def is_said(name: str) -> bool:
        return f" {' '.join(stems(name))} " in said

    for name, names in groups.items():
        if not is_said(name):
            other = next(filter(is_said, names), name)
            question = re.sub(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", other, question)
    return question
