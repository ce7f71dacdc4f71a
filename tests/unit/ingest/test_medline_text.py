"""Are citations read that PubMed saved as text?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.ingest import read_documents
from assay.ingest.watch import Progress

RECORD = """
PMID- 501
OWN - NLM
DP  - 2019 Feb 3
TI  - Drug A for itch:
      a trial.
LID - 10.1/itch [doi]
AB  - Itch is common. Fewer
      itched.
AU  - Roe AB
PT  - Randomized Controlled Trial
LA  - eng
JT  - Made-up Letters
MH  - Pruritus/*drug therapy/genetics
RN  - 0 (Drug A)
PMC - PMC77

PMID- 502
TI  - A title only.
DP  - 1998 Nov-Dec
"""


def test_fields_go_on_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "set.nbib"
    path.write_text(RECORD)
    first, second = (one.document for one in read_documents(path))
    assert (first.doc_id, first.title) == ("501", "Drug A for itch: a trial.")
    assert first.text == "Itch is common. Fewer itched."
    assert first.metadata == {
        "pmid": "501", "pmcid": "PMC77", "doi": "10.1/itch", "journal": "Made-up Letters",
        "year": 2019, "published_date": "2019-02-03", "authors": ("Roe AB",),
        "publication_types": ("Randomized Controlled Trial",), "language": "eng",
        "mesh": ("Pruritus", "Pruritus/drug therapy", "Pruritus/genetics"),
        "chemicals": ("Drug A",), "names": ("Pruritus", "Drug A", "501", "PMC77", "10.1/itch"),
        "identifiers": ("501", "PMC77", "10.1/itch"),
    }  # fmt: skip
    assert (second.text, second.metadata["published_date"]) == ("A title only.", "1998-11")


def test_a_line_that_is_no_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "set.nbib"
    path.write_text("PMID- 1\nTI  - Itch\nwhat is this\n\nPMID- 2\nTI  - Rash\n")
    with pytest.raises(FormatError, match=r"set.nbib:3: what is this is not a field"):
        list(read_documents(path))
    problems: list[str] = []

    def told(step: Progress) -> None:
        problems.extend(filter(None, [step.problem]))

    assert len(list(read_documents(path, progress=told, keep_going=True))) == 2
    assert len(problems) == 1
