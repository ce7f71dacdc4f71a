"""Which role does this speaker label stand for?"""

from __future__ import annotations

import re

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


def role_of(label: str) -> SpeakerRole:
    """The role of a speaker; unknown for anyone who is neither clinician nor patient."""
    words = _LETTERS.sub(" ", _OTHERS.sub("", label.lower()))
    if _CLINICIAN.search(words):
        return SpeakerRole.CLINICIAN
    if _COMPANION.search(words) or not _PATIENT.search(words):
        return SpeakerRole.UNKNOWN
    return SpeakerRole.PATIENT
