"""Are interviews read turn by turn, whoever speaks?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import DuplicateError, FormatError
from assay.ingest.corpus import read_corpus
from tests.unit.ingest.samples import VTT, entries, write_lines

SEGMENTS: list[dict[str, Any]] = [
    {"segment_id": "uuid-1", "speaker": "PATIENT", "text": "My head hurts.", "start_time": 1.5,
     "end_time": 3},
    {"segment_id": "uuid-2", "speaker": "CLINICIAN", "text": "Since when?", "start_time": "00:04"},
    {"segment_id": "uuid-3", "speaker": "Mother", "text": "A week."},
]  # fmt: skip


def test_dialogues(tmp_path: Path) -> None:
    row = {"_id": "d-1", "source": "made-up", "split": "train", "note": "A summary.",
           "turns": [{"i": 0, "speaker": "CLINICIAN", "raw_speaker": "Doctor", "text": "Hello."},
                     {"i": 2, "speaker": "FAMILY", "raw_speaker": "Guest_family", "text": "Hi."},
                     {"i": 3, "speaker": "PATIENT", "text": " "}]}  # fmt: skip
    path = write_lines(tmp_path / "d.jsonl", row)
    ((document, chunks),) = read_corpus(path)
    assert document.text == "Hello.\nHi."
    assert (document.interview_id, document.source) == ("d-1", "made-up")
    assert document.metadata == {"split": "train"}
    assert [(chunk.chunk_id, chunk.text, chunk.speaker_role.value) for chunk in chunks] == [
        ("d-1:chunk_0", "Hello.", "CLINICIAN"),
        ("d-1:chunk_1", "Hi.", "UNKNOWN"),
    ]
    assert chunks[1].metadata == {"split": "train", "turn": "2", "speaker": "Guest_family"}
    assert chunks[0].section_label == "turn"
    assert {chunk.interview_id for chunk in chunks} == {"d-1"}


def test_silent_turns_are_left_out_and_counted(tmp_path: Path) -> None:
    said = {"speaker": "P", "text": "", "transcript": "It hurts."}
    rows = [{"_id": "a", "turns": [said, {"speaker": "P", "start": 3, "text": None}]},
            {"_id": "b", "turns": [{"speaker": "P", "text": ""}, said]}]  # fmt: skip
    notes: list[str] = []
    path = write_lines(tmp_path / "d.jsonl", *rows)
    assert [entry.document.text for entry in entries("transcript", path, notes)] == [
        "It hurts.", "It hurts.",
    ]  # fmt: skip
    assert [note for note in notes if note] == [f"{path}: 2 turns without words left out"]


@pytest.mark.req("W1")
@pytest.mark.parametrize("shape", ["interview", "rows", "array"])
def test_segments_keep_the_ids_that_judgments_name(tmp_path: Path, shape: str) -> None:
    head = {"interview_id": "interview_001", "ingestion_mode": "LIVE"}
    path = tmp_path / "s.json"
    if shape == "interview":
        path.write_text(json.dumps({**head, "segments": SEGMENTS}))
    elif shape == "rows":
        write_lines(path, *({**head, **segment} for segment in SEGMENTS))
    else:
        path.write_text(json.dumps([{**head, **segment} for segment in SEGMENTS]))
    ((document, chunks),) = read_corpus(path, "transcript")
    assert [chunk.chunk_id for chunk in chunks] == ["uuid-1", "uuid-2", "uuid-3"]
    assert [chunk.speaker_role.value for chunk in chunks] == ["PATIENT", "CLINICIAN", "UNKNOWN"]
    assert [(chunk.start_time, chunk.end_time) for chunk in chunks] == [
        (1.5, 3.0), (4.0, None), (None, None),
    ]  # fmt: skip
    assert {chunk.ingestion_mode.value for chunk in chunks} == {"LIVE"}
    assert {chunk.interview_id for chunk in chunks} == {"interview_001"} == {document.doc_id}
    assert chunks[2].metadata["speaker"] == "Mother"
    for chunk in chunks:
        ((start, end),) = chunk.spans
        assert document.text[start:end] == chunk.text


def test_a_named_profile_cuts_segments_anew(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", {"interview_id": "i", "segments": SEGMENTS})
    ((_, chunks),) = read_corpus(path, profile="transcript")
    assert chunks[0].chunk_id == "i:chunk_0"


def test_webvtt_joins_the_cues_of_one_speaker(tmp_path: Path) -> None:
    path = tmp_path / "Visit 1.vtt"
    path.write_text(VTT)
    ((document, chunks),) = read_corpus(path)
    assert document.doc_id == "Visit-1"
    assert [(chunk.text, chunk.speaker_role.value) for chunk in chunks] == [
        ("How are you & yours?\nAny pain?", "CLINICIAN"),
        ("My head hurts.", "PATIENT"),
        ("He slept badly.", "UNKNOWN"),
    ]
    assert (chunks[0].start_time, chunks[0].end_time) == (1.0, 6.0)
    ((_, apart),) = read_corpus(path, profile="transcript")
    assert len(apart) == 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"_id": "a", "text": "x"}], "neither turns nor an interview_id"),
        ([{"_id": "a", "turns": [1]}], "a turn is an object"),
        ([{"_id": "../a", "turns": []}], "not allowed"),
        ([{"turns": []}], "doc_id None"),
        ([{"_id": "a", "turns": [{"text": 5}]}], "text is int"),
        ([{"_id": "a", "turns": [{"text": "x"}, {"said": "y"}]}], "turn 1 has no text"),
        ([{"_id": "a", "turns": [{"text": "x", "start": 5, "end": 1}]}], "ends before it starts"),
        ([{"interview_id": "a", "ingestion_mode": "SOON", "segments": []}], "neither OFFLINE"),
        ([{"interview_id": "a", "segments": [{"segment_id": "a b", "text": "x"}]}], "segment id"),
        ([{"interview_id": "a", "segments": [{"segment_id": "s", "text": "x"}, {"text": "y"}]}],
         "some segments have ids"),
        ([{"interview_id": "a", "text": "x", "ingestion_mode": "LIVE"},
          {"interview_id": "a", "text": "y", "ingestion_mode": "OFFLINE"}], "both OFFLINE and"),
    ],
)  # fmt: skip
def test_wrong_rows_are_refused(tmp_path: Path, rows: list[Any], message: str) -> None:
    path = write_lines(tmp_path / "s.jsonl", *rows)
    with pytest.raises(FormatError, match=message):
        entries("transcript", path)


@pytest.mark.parametrize(
    "rows",
    [
        [{"interview_id": "a", "segments": [SEGMENTS[0], SEGMENTS[0]]}],
        [{"interview_id": "a", "text": "x"}, {"interview_id": "b", "text": "x"},
         {"interview_id": "a", "text": "y"}],
        [{"interview_id": "a", "segments": SEGMENTS}, {"interview_id": "b", "segments": SEGMENTS}],
    ],
)  # fmt: skip
def test_ids_that_stand_twice_are_refused(tmp_path: Path, rows: list[Any]) -> None:
    path = write_lines(tmp_path / "s.jsonl", *rows)
    with pytest.raises(DuplicateError):
        list(read_corpus(path, "transcript"))
