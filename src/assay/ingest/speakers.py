"""Which role does a speaker's label stand for, and which turns does a plain text have?

A text is a conversation where lines begin with speakers (``Doctor: ...``) and they take turns. A
note that begins with ``Patient: John Smith`` and ``Doctor: Lee`` is none. Where a D or an I talks
with a P, these are a doctor or an interviewer, and the patient.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from assay.model.document import SpeakerRole

_CLINICIAN = re.compile(
    r"\b(?:clinicians?|clinican|doctor|docotr|dr|physician|gp|nurse|interviewer|therapist"
    r"|practitioner|surgeon|psychiatrist|psychologist|pharmacist|midwife|counsell?or|provider)\b"
)
_COMPANION = re.compile(
    r"\b(?:guest|gest|family|relative|carer|caregiver|mother|mom|mum|father|dad|parent|wife"
    r"|husband|spouse|partner|son|daughter|sister|brother|sibling|grand\w+|aunt|uncle|cousin"
    r"|nephew|niece|(?:boy|girl)?friend|neighbou?r|advocate|interpreter|non patient)\b"
)
# of "patient of Dr. Lee" and "nurse's patient" only the patient speaks
_OTHERS = re.compile(r"^.*['’]s?\s|\b(?:of|for|with)\b.*$")
_PATIENT = re.compile(r"\b(?:patient|pt|interviewee)\b")
_LETTERS = re.compile(r"[^a-z]+")
_LINE = re.compile(
    r"\s*+[\[(]?(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)?[\])]?\s*+-?\s*+"
    r"\**+(?P<voice>[^\W\d_][\w .,'’()#/-]{0,60}?)\**\s*:\**\s+(?P<said>\S.*)"
)
A_SENTENCE = 3  # words; fewer may be a name
_SPOKEN = re.compile(r"[^\W\d_A-Z].*|.*(?<![A-Z]\.)[.?!…]", re.DOTALL)  # no name reads so
INITIALS = {"D": "Doctor", "I": "Interviewer"}  # beside a P, who is the patient


class Said(NamedTuple):
    """What someone says in a row; ``voice`` and ``time`` are empty where they are not given."""

    voice: str
    words: str
    time: str = ""


def role_of(label: str) -> SpeakerRole:
    """The role of a speaker; unknown for anyone who is neither clinician nor patient."""
    words = _LETTERS.sub(" ", _OTHERS.sub("", label.lower()))
    if _CLINICIAN.search(words):
        return SpeakerRole.CLINICIAN
    if _COMPANION.search(words) or not _PATIENT.search(words):
        return SpeakerRole.UNKNOWN
    return SpeakerRole.PATIENT


def turns_of(text: str) -> list[Said]:
    """The turns of a conversation; empty if the text is none."""
    lines = [line for line in text.split("\n") if line.strip()]
    named = [found for line in lines if (found := _LINE.fullmatch(line.rstrip()))]
    often = Counter(found["voice"] for found in named)
    if "P" in often and (other := INITIALS.keys() & often.keys()):
        full = {"P": "Patient", **{one: INITIALS[one] for one in other}}
        whole = [_LINE.sub(partial(_spelled, full), line) for line in lines]
        return turns_of("\n".join(whole))
    roles = [found for found in named if role_of(found["voice"]) is not SpeakerRole.UNKNOWN]
    others = [found for found in named if is_companion(found["voice"]) and found not in roles]
    if not _take_turns([found["voice"] for found in roles]) and (
        len(roles) + len(others) < len(lines) or not _is_exchange(roles)
    ):
        return []
    speakers = {
        voice
        for voice, count in often.items()
        if role_of(voice) is not SpeakerRole.UNKNOWN or is_companion(voice) or count > 1
    }
    return list(_gathered(lines, speakers))


def is_companion(label: str) -> bool:
    """Is it someone who came with the patient?"""
    return bool(_COMPANION.search(_LETTERS.sub(" ", label.lower())))


def _take_turns(voices: list[str]) -> bool:
    """Does someone speak again after someone else?"""
    changes = [one for one, other in zip(voices, [None, *voices], strict=False) if one != other]
    return len(changes) > len(set(changes))


def _is_exchange(roles: list[re.Match[str]]) -> bool:
    """Do several speak, and not just have names?"""
    said = [found["said"].strip() for found in roles]
    spoken = all(len(one.split()) >= A_SENTENCE or _SPOKEN.fullmatch(one) for one in said)
    asked = any(one.endswith("?") for one in said)
    return (spoken or asked) and len({role_of(one["voice"]) for one in roles}) > 1


def _spelled(full: dict[str, str], found: re.Match[str]) -> str:
    """The line with the whole word for an initial."""
    line, start = found[0], found.start("voice") - found.start()
    name = full.get(found["voice"], found["voice"])
    return line[:start] + name + line[start + len(found["voice"]) :]


def _gathered(lines: list[str], speakers: set[str]) -> Iterator[Said]:
    voice, time = "", ""
    words: list[str] = []
    for line in lines:
        found = _LINE.fullmatch(line.rstrip())
        if found and found["voice"] in speakers:
            if words:
                yield Said(voice, " ".join(words), time)
            voice, time, words = found["voice"], found["time"] or "", [found["said"].strip()]
        else:
            words.append(line.strip())
    if words:
        yield Said(voice, " ".join(words), time)
