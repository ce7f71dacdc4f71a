"""Are BEIR folders read, and rows that are sections known as such?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.errors import InputError, UsageError
from tests.unit.ingest.samples import entries, only, write_lines

ROW = {"_id": "MED-1", "title": "T", "text": "Words.", "metadata": {"url": "u", "n": 3}}


def test_a_folder_gives_its_corpus(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROW).encode()))
    write_lines(tmp_path / "queries.jsonl", {"_id": "q", "text": "not a document"})
    document = only("beir", tmp_path)
    assert (document.doc_id, document.title, document.text) == ("MED-1", "T", "Words.")
    assert document.metadata == {"url": "u", "n": 3}
    assert (document.source, document.profile, document.sections) == ("beir", "text", ())


@pytest.mark.parametrize(
    ("section", "text", "label", "intent"),
    [
        ("Adverse Events", "Total: 0/3", "adverse_events", "ae"),
        ("Eligibility", "Adults", "eligibility", "eligibility"),
        ("Results", "Better", "results", "results"),
        ("Intervention", "Drug A 30 mg/kg", "interventions", "dose"),
        ("Intervention", "Talking", "interventions", ""),
    ],
)
def test_rows_of_trials_are_sections(
    tmp_path: Path, section: str, text: str, label: str, intent: str
) -> None:
    row = {"_id": "NCT00001832#X", "title": "", "text": text, "metadata": {"section": section}}
    document = only("beir", write_lines(tmp_path / "corpus.jsonl", row))
    (found,) = document.sections
    assert (found.label, found.intent_hint, found.heading) == (label, intent, section)
    assert (found.start, found.end) == (0, len(text))
    assert document.profile == "registry"


def test_rows_of_labels_and_interviews_are_known(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "corpus.jsonl",
        {"_id": "a", "text": "x", "metadata": {"loinc": "34070-3", "section": "4 When not"}},
        {"_id": "b", "text": "x", "metadata": {"speaker": "PATIENT", "source": "visits"}},
    )
    first, second = (entry.document for entry in entries("beir", path))
    assert first.sections[0].label == "contraindications"
    assert (second.sections[0].speaker_role.value, second.source) == ("PATIENT", "visits")


def test_folders_without_or_with_two_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no corpus\.jsonl here"):
        entries("beir", tmp_path)
    write_lines(tmp_path / "corpus.jsonl", ROW)
    (tmp_path / "corpus.jsonl.gz").write_bytes(b"")
    with pytest.raises(UsageError, match="name the one that you mean"):
        entries("beir", tmp_path)
