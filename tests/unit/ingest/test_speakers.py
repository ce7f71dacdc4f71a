"""Do names of speakers get the right role?"""

from __future__ import annotations

import pytest

from assay.ingest.speakers import Said, role_of, turns_of


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("Doctor", "CLINICIAN"), ("doctor", "CLINICIAN"), ("Dr. Ames", "CLINICIAN"),
        ("physician", "CLINICIAN"), ("Nurse 2", "CLINICIAN"), ("INTERVIEWER", "CLINICIAN"),
        ("CLINICIAN", "CLINICIAN"), ("Guest_clinician", "CLINICIAN"), ("Doctor_2", "CLINICIAN"),
        ("Patient", "PATIENT"), ("PATIENT", "PATIENT"), ("pt", "PATIENT"), ("PT:", "PATIENT"),
        ("Guest_family", "UNKNOWN"), ("patient_guest", "UNKNOWN"), ("Patient's mother", "UNKNOWN"),
        ("FAMILY", "UNKNOWN"), ("OTHER", "UNKNOWN"), ("", "UNKNOWN"), ("Drake", "UNKNOWN"),
        ("Optimist", "UNKNOWN"), ("Patient's sister", "UNKNOWN"), ("Non-patient", "UNKNOWN"),
        ("Patient’s boyfriend", "UNKNOWN"), ("Patient advocate", "UNKNOWN"),
        ("Patient's doctor", "CLINICIAN"),
        ("Patient of Dr. Lee", "PATIENT"), ("Nurse's patient", "PATIENT"),
    ],
)  # fmt: skip
def test_roles(label: str, role: str) -> None:
    assert role_of(label).value == role


TALK = "Doctor: Did it make you dizzy?\nPatient: Yes, very.\nEven in bed.\nDoctor: Then halve it.\n"


def test_turns_of_plain_text_have_their_speakers() -> None:
    assert turns_of(TALK) == [
        Said("Doctor", "Did it make you dizzy?"),
        Said("Patient", "Yes, very. Even in bed."),
        Said("Doctor", "Then halve it."),
    ]


@pytest.mark.parametrize(
    ("text", "voices"),
    [
        ("Dr. Lee: How are you today?\nPt: I am well enough.", ["Dr. Lee", "Pt"]),
        (
            f"{TALK}Wife: He forgets them.\nPlan: half of it.",
            ["Doctor", "Patient", "Doctor", "Wife"],
        ),
        (f"Visit of Monday\n\n{TALK}", ["", "Doctor", "Patient", "Doctor"]),
        (
            "[00:05] Nurse: Good?\n[00:09] Patient: Yes.\n[00:12] Nurse: Fine.",
            ["Nurse", "Patient", "Nurse"],
        ),
        (
            "Doctor: where?\nPatient: knee\nNurse: noted",
            ["Doctor", "Patient", "Nurse"],
        ),
        (
            "Nurse: Any allergies?\nPatient: None\nMother: Penicillin",
            ["Nurse", "Patient", "Mother"],
        ),
        (
            "D: any fever?\nP: Yes.\nD: how high?\nP: 39.",
            ["Doctor", "Patient", "Doctor", "Patient"],
        ),
        ("I: How did it start?\nP: With a cough last May.", ["Interviewer", "Patient"]),
        (
            "**Doctor:** Why?\n**Patient:** Pain.\n**Doctor:** Where?",
            ["Doctor", "Patient", "Doctor"],
        ),
    ],
)
def test_who_speaks(text: str, voices: list[str]) -> None:
    assert [turn.voice for turn in turns_of(text)] == voices


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Patient: John Smith\nDoctor: Lee\nDate: 2 May\nHe came with a cough.",
        "Patient: John Smith\nDoctor: Ann Lee",
        "Patient: John Smith\nDoctor: Ann Lee M.D.",
        "S: cough\nO: clear\nA: viral\nP: rest",
        "D: 5 mg\nP: 80",
        "Methods: we asked.\nResults: they answered.\nMethods: again.",
        "The patient said: no.",
    ],
)
def test_a_note_is_no_conversation(text: str) -> None:
    assert turns_of(text) == []
