"""In which language is a query, if not in English?

By its letters, or by small words that only one language has. Short texts leave doubts, so this is
asked only where the documents do not have the words of a query.
"""

from __future__ import annotations

import re
import unicodedata

from assay.analysis.spelling import folded

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = {
    "CYRILLIC": "Cyrillic letters",
    "GREEK": "Greek",
    "ARABIC": "Arabic letters",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari letters",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CJK": "Chinese characters",
    "THAI": "Thai",
}
_SMALL_WORDS = {
    "German": "der die das und ist mit bei von fur wie welche nach ein eine nicht wird des dem den"
    " zur zum auf wirkung behandlung nebenwirkungen dosierung herz krankheit",
    "French": "le la les des du et est avec pour dans une quels quelle sont chez sur aux effets"
    " maladie traitement posologie secondaires",
    "Spanish": "el la los las de del y es con para en una cuales cual que por son efectos"
    " enfermedad tratamiento dosis secundarios",
    "Italian": "il lo gli della dei e con per nel una quali che sono di effetti malattia"
    " trattamento terapia dose collaterali",
    "Portuguese": "os as do da dos das e com para em uma quais qual que sao efeitos doenca"
    " tratamento colaterais",
    "Dutch": "de het een en van met bij voor welke zijn niet bijwerkingen behandeling ziekte",
}
_SMALL = 4  # letters
_SHARE = 0.05  # of the words of a long text; names of people have some as well: de la Cruz
_BY_LANGUAGE = {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}


def language_of(text: str) -> str:
    """A language other than English, or its letters; "" where nothing speaks for one."""
    letters = [] if text.isascii() else [letter for letter in text if letter.isalpha()]
    strange = [letter for letter in letters if not folded(letter).isascii()]
    if letters and len(strange) * 2 > len(letters):
        name = unicodedata.name(strange[0], "").split(" ")[0].split("-")[0]
        return _SCRIPTS.get(name, "another script")
    words = set(_WORD.findall(folded(text)))
    counted = {name: len(words & small) for name, small in _BY_LANGUAGE.items()}
    best = max(counted, key=counted.__getitem__)
    return best if counted[best] >= max(2, len(words) * _SHARE) else ""


def small_words(text: str) -> frozenset[str]:
    """The articles and prepositions of the language of a text, folded; none of English."""
    words = _BY_LANGUAGE.get(language_of(text), frozenset())
    return frozenset(word for word in words if len(word) <= _SMALL)
