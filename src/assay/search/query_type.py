"""How is a query worded: exact terms, everyday words, or a whole clinical case?

Three counts decide. **Conditions** of a case (who, against what, under which circumstances,
numbers, commas, length): four or more make a query ``complex_clinical``. **Everyday** signs (a
question, you and I, small words, plain words for body and medicine) against **technical** signs
(abbreviations, numbers, the endings of drug and disease names) separate ``paraphrase`` from
``exact_term``. The word lists are deliberately short: they hold what people say in any field of
medicine, not names.
"""

from __future__ import annotations

import re
import unicodedata

from assay import limits
from assay.model.testset import QueryType

_WORD = re.compile(r"[^\W_]+(?:[-'’/][^\W_]+)*")
_TECHNICAL_ENDING = (
    *(
        "mab",
        "nib",
        "vir",
        "pril",
        "olol",
        "sartan",
        "statin",
        "azole",
        "mycin",
        "cillin",
        "formin",
    ),
    *("gliptin", "gliflozin", "glutide", "xaban", "parin", "zole", "amide", "idine", "oxacin"),
    *("itis", "osis", "emia", "aemia", "opathy", "oma", "uria", "plegia", "trophy", "algia"),
    *("ectomy", "otomy", "plasty", "oscopy", "graphy", "genic", "toxicity", "receptor"),
)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ASKING = _set(
    "what why how who whom whose which when where can could do does did is are was were should"
    " would will may might has have"
)
_PERSONAL = _set(
    "i i'm my me mine you your we our us someone somebody people anyone he she they it this"
)
_SMALL = _set(
    "a an the of to in on at for from by with without and or but that than as be been if so then"
    " not no do does is are was can will your my it there this these those who when while after up"
    " down out off over all some any every too much many more"
)
_EVERYDAY = _set(
    "pill pills tablet medicine medicines drug drugs shot shots doctor doctors hospital tired"
    " tiredness sick ill numb resting hurt hurts hurting ache sore swollen swell itchy itching"
    " dizzy lump trouble help ways way things thing cure keep keeping get gets getting got stop"
    " stopping lose losing loss feel feeling feels find make makes making turn turning bad good"
    " best better safe worse worst wrong worried belly tummy stomach skin bones heart blood brain"
    " breath breathe sleep food foods eat eating drink drinking walk walking baby babies toddler"
    " kid kids child mother grandmother body sugar fat salt hair night day old age easily"
    " naturally natural without yellow red hard high low fever flu cold bug shaking forgetting"
    " memory mind weight machine spray morning evening feet fingers legs hands head"
)
_WHO = _set(
    "patient patients adult adults woman women man men child children infant infants newborns"
    " neonates adolescents elderly aged year-old years-old pregnant postmenopausal residents"
    " recipients donors participants smokers female male survivors premature"
)
_AGAINST = _set(
    "versus vs compared comparison compare comparing placebo plus alone superior noninferior"
    " safer preferred alternatives alternative instead switching addition adding added combination"
    " biosimilar sequencing randomized randomised"
)
_CIRCUMSTANCE = _set(
    "with without after before during undergoing despite refractory resistant prior previous"
    " previously history stage grade class below above over under older between within requiring"
    " receiving treated untreated failing failure intolerant progression progressing progressed"
    " relapsed recurrent metastatic advanced severe moderate comorbid uncontrolled adjuvant"
    " neoadjuvant maintenance first-line second-line third-line low-dose high-dose high-risk"
    " survival mortality remission outcome outcomes incidence efficacy safety risk response"
    " duration allergic hospitalized hospitalised critically newly on"
)


def classify(query: str) -> QueryType:
    """The type of a query; an empty one counts as exact."""
    text = unicodedata.normalize("NFKC", query[: limits.MAX_QUERY_CHARS])
    written = _WORD.findall(text)
    words = [word.casefold().replace("’", "'") for word in written]
    technical, everyday = _technical(written, words), _everyday(words)
    if _conditions(text, words, technical) >= 4:
        return QueryType.COMPLEX_CLINICAL
    return QueryType.PARAPHRASE if everyday > technical + 1 else QueryType.EXACT_TERM


def _conditions(text: str, words: list[str], technical: int) -> int:
    """How many conditions of a clinical case a query has."""
    return (
        min(3, len(_CIRCUMSTANCE.intersection(words)))
        + (not _WHO.isdisjoint(words) or "year-old" in text)
        + 2 * (not _AGAINST.isdisjoint(words))
        + ("," in text)
        + any(word[0].isdigit() for word in words)
        + sum(len(words) >= length for length in (6, 8, 12))
        + (technical >= 2 and len(words) >= 4)
        - 2 * (not _PERSONAL.isdisjoint(words))
        - (bool(words) and words[0] in _ASKING)
    )


def _everyday(words: list[str]) -> float:
    """Signs of a question in everyday words."""
    if not words:
        return 0.0
    return (
        2.0 * (words[0] in _ASKING and len(words) > 3)
        + 2.0 * (not _PERSONAL.isdisjoint(words))
        + 1.0 * len(_EVERYDAY.intersection(words))
        + 0.5 * sum(word in _SMALL for word in words)
        + 0.5 * (words[0].endswith("ing") and len(words) > 2)
        + 0.5 * (len(words) > 4)
    )


def _technical(written: list[str], words: list[str]) -> int:
    """The number of abbreviations, codes, numbers, and words that end like drugs or diseases."""
    return sum(map(_is_name, written)) + sum(word.endswith(_TECHNICAL_ENDING) for word in words)


def _is_name(word: str) -> bool:
    """Two capitals, or a digit; most words are lower case, which is quick to check."""
    if word.isalpha() and word.islower():
        return False
    return sum(letter.isupper() for letter in word) >= 2 or any(map(str.isdigit, word))
