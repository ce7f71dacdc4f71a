"""Does a question ask for what is not on a list?

Passages list what is a contraindication, a side effect or an interaction. Quoted to someone who
asks which is *not* one, the same sentence says the opposite of what is true. Who must not take a
drug, or is not eligible for a trial, is another matter: that is listed.
"""

from __future__ import annotations

import re

_CHOICE = re.compile(r"\b(?:what|which|name|list)\b", re.IGNORECASE)
_LISTED = (
    r"contraindicat\w+|(?:side|adverse|unwanted) (?:effects?|events?|reactions?)|aes?"
    r"|(?:ex|in)clusion criteri\w+|indicat(?:ion|ions|ed)|interactions?|warnings?|precautions?"
    r"|risk factors?|symptoms?|complications?"
)
_NOT = re.compile(
    r"\b(?:(?:is|are|was|were)(?: not|n['\u2019]t|nt)|not|never) "
    r"(?:(?:a|an|the|of|one|among|any|known|common|listed|reported|as|absolute|approved) ){0,5}"
    rf"(?:{_LISTED})\b|\b(?:do|does)(?: not|n['\u2019]t|nt) interact\b",
    re.IGNORECASE,
)


def asks_what_is_not(question: str) -> bool:
    """Whether a question asks which is none: "What is not a contraindication to Lipitor?"."""
    return bool(_NOT.search(question) and _CHOICE.search(question))
