"""Are the cues of WebVTT read with voices and times?"""

from __future__ import annotations

import pytest

from assay.errors import DuplicateError, FormatError
from assay.ingest.vtt import cues, header
from tests.unit.ingest.samples import VTT


def test_cues() -> None:
    assert [(cue.voice, cue.text, cue.start, cue.end, cue.line) for cue in cues(VTT, "v")] == [
        ("Dr. Ames", "How are you & yours?", 1.0, 4.0, 6),
        ("Dr. Ames", "Any pain?", 4.5, 6.0, 9),
        ("Patient", "My head hurts.", 6.0, 9.25, 12),
        ("Mother", "He slept badly.", 6.0, 9.25, 12),
    ]


def test_cues_without_voices_are_nobodys() -> None:
    (cue,) = cues("WEBVTT\n\n00:01.000 --> 00:02.000\nhello\nthere", "v")
    assert (cue.voice, cue.text) == ("", "hello there")


def test_the_header_is_about_the_file() -> None:
    content = (
        "WEBVTT - visit\nInterview_ID: i-7\ntitle: Visit: the second\nX-TIMESTAMP-MAP=LOCAL:0\n"
        "\nNOTE title: not this\n\n00:01.000 --> 00:02.000\nhi"
    )
    assert header(content, "v") == {"interview_id": "i-7", "title": "Visit: the second"}
    assert header("WEBVTT\n\n00:01.000 --> 00:02.000\ntitle: a film", "v") == {}


def test_a_header_that_contradicts_itself_has_a_line() -> None:
    with pytest.raises(DuplicateError, match="v:3: the header names title twice"):
        header("WEBVTT\ntitle: a\nTitle: b", "v")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "v:1: a WebVTT file begins"),
        ("WEBVTTX\n", "v:1"),
        ("WEBVTT\n\nhello", "v:3: a cue without times"),
        ("WEBVTT\n\n00:05.000 --> 00:01.000\nx", "v:3: a cue ends before it starts"),
        ("WEBVTT\n\nsoon --> later\nx", "v:3: .* is not a time"),
        ("WEBVTT\n\n00:05.000 -->\nx", "v:3"),
    ],
)
def test_what_is_wrong_has_a_line(content: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        list(cues(content, "v"))


def test_names_in_front_of_what_is_said_are_voices_where_they_name_a_role() -> None:
    text = (
        "WEBVTT\n\n00:00.000 --> 00:02.000\nPatient: I cannot sleep.\n\n"
        "00:02.000 --> 00:03.000\nDoctor: Since when?\nPatient: Note: two weeks\n\n"
        "00:03.000 --> 00:04.000\nRemember: she said no\n"
    )
    assert [(cue.voice, cue.text) for cue in cues(text, "zoom.vtt")] == [
        ("Patient", "I cannot sleep."),
        ("Doctor", "Since when?"),
        ("Patient", "Note: two weeks"),
        ("", "Remember: she said no"),
    ]
