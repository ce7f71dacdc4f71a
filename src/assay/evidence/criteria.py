"""Does a question ask who may take part in a trial or who may not, and does a criterion say it?

A criterion alone does not say it: "Diabetes" lets patients in or keeps them out, and the heading
above it decides. A list that goes on in the next chunk keeps its heading. In prose, a sentence says
it by itself: "were excluded". What stands before the first heading, if that one is of exclusion,
includes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from assay.model.document import Chunk


class Side(StrEnum):
    """What a criterion does with a patient."""

    INCLUSION = "inclusion"
    EXCLUSION = "exclusion"


BOTH = frozenset(Side)
_OUT = r"exclusions?|excluded?|ineligib\w+|non-?inclusion|not (?:be )?(?:eligible|included)"
_ASKS_OUT = re.compile(
    rf"\b(?:{_OUT})\b|\b(?:cannot|can['’]t|(?:can|could|may|might|must|should|was|were)"
    r" ?(?:not|n['’]t))\b.*\b(?:enrol|enter|join|participa|take part|allowed|permitted)",
    re.IGNORECASE,
)
_ASKS_IN = re.compile(
    r"\binclusion\b(?! bod)|\bcriteria (?:for|of) (?:entry|enrol\w+|participation)"
    r"|\bwho\b.*\b(?:can|could|may|might|(?:is|was) able to)\b.*"
    r"\b(?:enrol|enter|join|participa|take part)"
    r"|\b(?:who|which (?:patients|women|men|people|adults|children))\b.*"
    r"\b(?:eligible|included|qualif\w+)\b",
    re.IGNORECASE,
)
_MEASURED = (
    r"(?:ages?|albumin|bilirubin|bmi|counts?|creatinine|fraction|ferritin|ha?emoglobin|hba1c|levels?"
    r"|neutrophils?|platelets?|pressure|scores?|status|values?)"
)
_TO_ENTER = r"to (?:be (?:eligible|enrol\w+|included)|enrol|enter|join|participate|take part)"
_ASKS_BOTH = re.compile(
    r"\b(?:how (?:old|many|high|low|long)|what|which)\b.*\bdid\b.*\b(?:need|have) to (?:be|have)\b"
    r"|\bhow old must\b|\bhow many\b.* (?:an?|per) (?:day|week|month|year) (?:was|were) required\b"
    rf"|\b(?:what|which)\b.*\b{_MEASURED}\b.*\b(?:was|were|did)\b.*\b(?:allow|need|permit|requir)\w*"
    rf"|\b(?:had|have|needed|need|required) {_TO_ENTER}"
    r"|\b(?:minimum|maximum|lowest|highest) ages?\b.*\b(?:trial|study|NCT\d{8})"
    r"|\beligibility\b|\b(?:entry|enrol?lment|selection) criteria\b|\beligible for (?:the )?"
    r"(?:[\w-]+ )?(?:trial|study)\b",
    re.IGNORECASE,
)
_NOT_OUT = re.compile(r"\b(?:not|never) (?:be |been )?excluded\b", re.IGNORECASE)
_HEADING = re.compile(
    rf"^\W*(?:\d[\d.]*\s+)?(?:(?:key|main|major|additional|general|other|patient|subject|the)\s+)*"
    rf"(?:(?P<out>{_OUT})|(?P<into>inclusions?|eligib\w+))(?:\s+(?:criteri(?:a|on)|were|are|is|patients?|subjects?))*"
    r"\s*(?:\([^)]*\)\s*)?(?:[:.]|$|were\b|are\b|include\b)",
    re.IGNORECASE,
)
_SAYS_OUT = re.compile(rf"\b(?:{_OUT})\b", re.IGNORECASE)
_SAYS_IN = re.compile(
    r"(?<!not )(?<!non-)\b(?:eligible|inclusion|(?:were|was|be) included|were enrolled"
    r"|had to (?:be|have)|must (?:be|have)|were required to|required to have)\b",
    re.IGNORECASE,
)
_OF_REGISTRY = re.compile(
    r"^(?:(?:minimum |maximum )?age|sex|gender|healthy volunteers)\b[^:]{0,30}:", re.IGNORECASE
)
_SECTION = "eligibility"


def sides_asked(question: str) -> frozenset[Side]:
    """The kinds of criteria that a question asks for; none if it asks for something else."""
    out = _ASKS_OUT.search(question) is not None
    into = _ASKS_IN.search(_ASKS_OUT.sub(" ", question)) is not None
    if out or into:
        sides = ((Side.EXCLUSION, out), (Side.INCLUSION, into))
        return frozenset(side for side, is_asked in sides if is_asked)
    return BOTH if _ASKS_BOTH.search(question) else frozenset()


def side_of_heading(line: str) -> Side | None:
    """The kind that a line announces for those below it."""
    match = _HEADING.match(line)
    if match is None or (match["into"] or "").lower().startswith("eligib"):
        said = sides_said(line) if line.endswith(":") else frozenset[Side]()
        return next(iter(said)) if len(said) == 1 else None  # will be excluded if they have:
    return Side.EXCLUSION if match["out"] else Side.INCLUSION


def sides_said(sentence: str) -> frozenset[Side]:
    """The kinds of which a sentence speaks itself."""
    plain = _NOT_OUT.sub(" ", sentence)
    into = _SAYS_IN.search(plain) is not None
    found = ((Side.EXCLUSION, _SAYS_OUT.search(plain) is not None), (Side.INCLUSION, into))
    return frozenset(side for side, is_said in found if is_said)


def sides_of(sentence: str, heading: Side | None) -> frozenset[Side]:
    """The kinds of a criterion: its heading decides, and without one what it says itself."""
    if is_of_registry(sentence):
        return frozenset({Side.INCLUSION})
    return sides_said(sentence) if heading is None else frozenset({heading})


def is_of_registry(line: str) -> bool:
    """Whether a line has the ages or sexes that a registry adds below all criteria."""
    return _OF_REGISTRY.match(line) is not None


def side_at_start(chunk: Chunk, others: Sequence[Chunk] = ()) -> Side | None:
    """The kind of the criteria with which a chunk begins, where that is known.

    ``others`` may have the chunk before it. Without any heading, a whole section says what is
    needed to take part.
    """
    headings = [side for line in chunk.text.splitlines() if (side := side_of_heading(line.strip()))]
    if _begins_section(chunk):
        if chunk.section_label == _SECTION and (not headings or headings[0] is Side.EXCLUSION):
            return Side.INCLUSION
        return None
    before = chunk_before(chunk, others)
    if before is not None:
        return side_at_end(before, others)
    return Side.INCLUSION if headings[:1] == [Side.EXCLUSION] else None


def side_at_end(chunk: Chunk, others: Sequence[Chunk] = ()) -> Side | None:
    """The kind of the criteria with which a chunk ends."""
    for line in reversed(chunk.text.splitlines()):
        if side := side_of_heading(line.strip()):
            return side
    return side_at_start(chunk, others)


def without_exclusions(chunk: Chunk, others: Sequence[Chunk] = ()) -> str:
    """The text of a chunk of criteria without those that keep patients out; of others, all."""
    if chunk.section_label != _SECTION:
        return chunk.text
    side, kept = side_at_start(chunk, others), list[str]()
    for line in chunk.text.splitlines():
        side = side_of_heading(line.strip()) or side
        if side is not Side.EXCLUSION:
            kept.append(line)
    return "\n".join(kept)


def _begins_section(chunk: Chunk) -> bool:
    """Whether a chunk has the beginning of its section: its heading, or all of a short text."""
    heading = str(chunk.metadata.get("heading") or "").rpartition(" > ")[2]
    first = chunk.text.lstrip().partition("\n")[0].strip()
    return not chunk.spans or chunk.spans[0][0] == 0 or (bool(heading) and first == heading)


def chunk_before(chunk: Chunk, others: Sequence[Chunk]) -> Chunk | None:
    """The chunk of the same section that ends last before this one begins."""
    if not chunk.spans:
        return None
    start = chunk.spans[0][0]
    earlier = [
        one
        for one in others
        if one.doc_id == chunk.doc_id
        and one.section_label == chunk.section_label
        and one.spans
        and one.spans[0][0] < start
    ]
    nearest = max(earlier, key=lambda one: one.spans[-1][1], default=None)
    is_next = nearest is not None and start - nearest.spans[-1][1] <= _GAP
    return nearest if is_next else None


_GAP = 3  # characters that may stand between a chunk and the next: blanks and the end of a line
