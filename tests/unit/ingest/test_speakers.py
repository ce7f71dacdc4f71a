"""Do names of speakers get the right role?"""

from __future__ import annotations

import pytest

from assay.ingest.speakers import role_of


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
