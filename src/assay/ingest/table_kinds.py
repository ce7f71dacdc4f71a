"""What does this table show: adverse events, baseline, outcomes or doses?"""

from __future__ import annotations

import re

_CAPTION = (
    ("adverse_events", r"adverse|side[- ]effect|toxicit|\bsafety\b|tolerab|\bharms?\b|\bS?AEs?\b"
     r"|treatment-emergent|complication"),
    ("baseline", r"baseline|demographic|(patient|participant|subject|clinical)s?'? characteristics"
     r"|characteristics of (the )?(study )?"
     r"(patient|participant|subject|women|men|population|sample|cohort)"),
    ("dosage", r"\bdos(e|es|age|ing)\b(?!.*(respon|outcome|effect))|titration"),
    ("outcomes", r"outcome|end-?point|efficacy|effects? of|respon[sd]|survival|changes? "
     r"|comparison of|results of|mean difference|odds ratio|hazard ratio|relative risk"),
)  # fmt: skip
_HEADER = (
    ("adverse_events", r"adverse (event|effect|reaction)|side[- ]effect|toxicit|grade [1-5]"
     r"|any grade|\bAEs?\b|preferred term|system organ class"),
    ("outcomes", r"\bp[- ]?values?\b|95 ?% ?ci|confidence interval|hazard ratio|odds ratio|outcome"
     r"|difference|\bHR\b|\bOR\b|\bRR\b"),
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
    for patterns, text in ((_CAPTIONS, caption), (_HEADERS, header)):
        for kind, pattern in patterns:
            if pattern.search(text):
                return kind
    return ""
