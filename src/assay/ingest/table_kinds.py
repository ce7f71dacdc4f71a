"""What does this table show: adverse events, eligibility, baseline, doses or outcomes?"""

from __future__ import annotations

import re

LOOKED_AT = 2_000  # characters of caption or header: patterns take their time
_CAPTION = (
    ("adverse_events", r"adverse|side[- ]effect|toxicit|tolerab|\bharms?\b"
     r"|\bsafety\b(?! (?:analysis )?(?:population|set|sample|cohort|data ?set))"  # who, not what
     r"|(?-i:\bS?AEs?\b)|treatment-emergent|complication"),
    ("eligibility", r"(in|ex)clusion criteria|eligib"),
    # What changed since the baseline, or is set beside it, is no longer about the start.
    ("baseline", r"demograph|characteristics|\A(?!.*(?:\bchange|from (?:the )?baseline|\bafter\b"
     r"|baseline (?:and(?! (?:clinical|operative|medical|social|laboratory|disease))|to)\b"
     r"|follow-?up|\bpost(?!-?(?:menopaus|trauma|natal))|improve|over time)).*\bbaseline"),
    ("dosage", r"\bdos(e|es|age|ing)\b(?!.*(respon|outcome|effect))|titration"),
    ("outcomes", r"outcome|end-?point|efficacy|effects? of|respon[sd]|survival|changes? "
     r"|comparison of|results of|mean difference|odds ratio|hazard ratio|relative risk"),
)  # fmt: skip
_HEADER = (
    ("adverse_events", r"adverse (event|effect|reaction)|side[- ]effect|toxicit|grade [1-5]"
     r"|any grade|(?-i:\bAEs?\b)|preferred term|system organ class"),
    ("outcomes", r"\bp[- ]?values?\b|95 ?% ?ci|confidence interval|hazard ratio|odds ratio|outcome"
     r"|difference|(?-i:\b(HR|OR|RR)\b)"),
    ("dosage", r"\b(starting|maximum|daily|recommended) dos(e|age)\b|^dos(e|age)\b"
     r"|dos(e|age) \("),
    ("baseline", r"characteristic|demographic|\bbaseline variable"),
)  # fmt: skip
_FLAGS = re.IGNORECASE | re.MULTILINE
_CAPTIONS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _CAPTION)
_HEADERS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _HEADER)


def kind_of_table(caption: str, header: str) -> str:
    """The section label that fits the table, or nothing; the caption counts before the header.

    ``header`` holds one header cell per line.
    """
    for patterns, text in ((_CAPTIONS, caption[:LOOKED_AT]), (_HEADERS, header[:LOOKED_AT])):
        for kind, pattern in patterns:
            if pattern.search(text):
                return kind
    return ""
