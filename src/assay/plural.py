"""How is a number of things put into words: "1 query is", "3 queries are"?"""

from __future__ import annotations

_VERBS = {"is": "are", "was": "were", "has": "have"}


def counted(count: int, noun: str, verb: str = "") -> str:
    """The number with its noun, and where given its verb, both named in the singular."""
    return f"{count:,} {noun if count == 1 else plural(noun)}{_agreeing(count, verb)}"


def share_of(part: int, whole: int, noun: str, verb: str = "") -> str:
    """A part of several: "1 of 3 queries is"; the noun goes by the whole, the verb by the part."""
    return f"{part:,} of {counted(whole, noun)}{_agreeing(part, verb)}"


def _agreeing(count: int, verb: str) -> str:
    if not verb:
        return ""
    return f" {verb if count == 1 else _VERBS.get(verb, verb.removesuffix('s'))}"


def plural(noun: str) -> str:
    """The plural of a regular English noun; of several words the last one changes."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
