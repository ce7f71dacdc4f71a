"""Does an answer only say, in words, that there is no answer?

Most systems refuse in a sentence ("I don't know.", "The context does not mention it."). An answer
is read as a refusal where each of its sentences says such a thing or is a courtesy beside one. A
sentence about the world ("There is no evidence that aspirin prevents it.") is none.
"""

from __future__ import annotations

import re

from assay.analysis.sentence_ends import split_sentences

_SOURCES = (
    r"(?:(?:the|these|those|any|my|this|our|of|in|from|on|by) )*"
    r"(?:(?:provided|given|retrieved|supplied|available|above|cited|listed|search|source|reference)"
    r" )*(?:documents?|passages?|sources?|context|texts?|excerpts?|results?|information|articles?"
    r"|materials?|knowledge base|references|snippets?)(?: (?:provided|given|above|available|i have"
    r"|retrieved|supplied))*"
)
_NO = r"(?:do(?:es)? not|don't|doesn't|did not|didn't|cannot|can't|do(?:es)?n't seem to)"
_CANNOT = (
    r"(?:cannot|can not|can't|could not|couldn't|(?:am|'m|was|are|were) (?:unable|not able) to)"
)
_KNOWING = r"(?:information|evidence|data|details?|context|knowledge|answers?|mention)"
_TOO_LITTLE = (
    r"(?:no|not enough|insufficient|not sufficient|too little)(?: (?:relevant|specific|such))*"
)
_SAYING = r"(?:answer|say|tell|determine|respond|give|provide|conclude|know)"
_REFUSES = "|".join(
    (
        r"(?:i|we) (?:really )?(?:do not|don't) know\b",
        rf"(?:i|we) (?:do not|don't) have (?:(?:enough|sufficient|any|that|the|specific) )*"
        rf"{_KNOWING}",
        rf"(?:i|we) ?{_CANNOT} (?:{_SAYING}|find|locate|help|assist)",
        rf"{_SOURCES} {_NO} (?:\w+ly )?(?:contain|include|mention|provide|say|state|address|cover"
        r"|discuss|answer|specify|have|give|describe|report|tell|offer)",
        rf"{_SOURCES} (?:is|are|was|were) (?:not sufficient|insufficient|not enough) to",
        rf"there (?:is|are|was|were) {_TOO_LITTLE} {_KNOWING}(?: (?:available|provided|here))?"
        rf"(?: (?:{_SOURCES}|about (?:this|that|it)|on (?:this|that)))*(?: to {_SAYING}\b|[.!]?$)",
        rf"{_TOO_LITTLE} {_KNOWING}(?: (?:is|was) (?:available|provided|found|given))?"
        rf"(?: {_SOURCES})?(?: to {_SAYING}\b|[.!]?$)",
        r"(?:no|nothing)(?: relevant)?(?: (?:results?|documents?|passages?|sources?))? "
        r"(?:was|were|could be) found",
        rf"(?:this|that|it|the (?:question|answer)) (?:cannot|can't|could not) be "
        rf"(?:answered|determined|found|given) *(?:[.!]?$|{_SOURCES}|based on|with)",
        r"(?:the answer|this|that|it) is not (?:\w+ed |available |present |there )?"
        rf"{_SOURCES}[.!]?$",
        rf"(?:it is |it's )?(?:impossible|not possible) to {_SAYING}\b",
        rf"(?:not (?:stated|mentioned|specified|provided|available|found|known)|unknown|n/a|none"
        rf"|unanswerable)(?: {_SOURCES})?[.!]?$",
    )
)
_LEAD = (
    r"(?:(?:i'm |i am |we are )?(?:very )?sorry(?: about that)?|i apologi[sz]e|unfortunately"
    rf"|however|(?:based on|according to|from|in|with) {_SOURCES}|but|and"
    r"|as an ai(?: language model)?)"
)
_REFUSAL = re.compile(rf"(?:{_LEAD}[,;:]? *)*(?:{_REFUSES})", re.IGNORECASE)
_COURTESY = re.compile(
    rf"(?:{_LEAD}[,;:]? *)*(?:[.!]?$|please\b|if you\b|let me know\b|you (?:may|might|should|could)"
    r" (?:want to )?(?:ask|consult|check|see|speak|refer|try)\b|feel free\b|i recommend (?:asking|"
    r"consulting|checking)\b)",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether all that a text says is that it has no answer."""
    plain = " ".join(text.replace("\u2019", "'").split())
    sentences = [one.strip() for one in split_sentences(plain) if one.strip()]
    found = [bool(_REFUSAL.match(one)) for one in sentences]
    return any(found) and all(
        refused or _COURTESY.match(one) for refused, one in zip(found, sentences, strict=True)
    )
