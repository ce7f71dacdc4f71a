"""Is a chunk's text exactly what its spans cover, wherever a document is cut?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest import PROFILES, Profile, chunk_document, tokens
from assay.ingest.parsed import FileLocation
from assay.ingest.tables import simple_table, table_text
from assay.model.document import Chunk, Document, Section, SpeakerRole, check_id

SMALL = Profile("small", 1, 20, 5)
WORDS = st.sampled_from(
    ["itch", "rash,", "5-HT2A", "The", "dose.", "p<0.05", "Dr.", "\n", "\n\n", "头痛", "é",
     "\u2028", "x" * 200, "(see", "below).", "\u0085", "🙂"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=150).map(" ".join) | st.text(max_size=300)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    sections = [
        Section(
            start,
            end,
            label=draw(st.sampled_from(["", "methods", "results"])),
            is_table=draw(st.booleans()),
            table_html="<table></table>",
            speaker_role=draw(st.sampled_from(list(SpeakerRole))),
        )
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    return Document("d", text, sections=tuple(sections))


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    size = draw(st.integers(8, 60))
    return Profile(
        "mine", 1, size, draw(st.integers(0, (size - 1) // 2)),
        draw(st.sampled_from(["section", "turn"])), draw(st.booleans()),
    )  # fmt: skip


def whole(document: Document, chunk: Chunk) -> str:
    return "".join(document.text[start:end] for start, end in chunk.spans)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(documents(), profiles())
def test_chunks_are_their_spans_and_lose_nothing(document: Document, profile: Profile) -> None:
    chunks = chunk_document(document, profile)
    covered: set[int] = set()
    for number, chunk in enumerate(chunks):
        assert chunk.chunk_id == f"d:chunk_{number}"
        assert chunk.text == whole(document, chunk)
        assert chunk.text.strip()
        assert tokens.count(chunk.text) <= profile.size
        for start, end in chunk.spans:
            assert 0 <= start < end <= len(document.text)
            covered.update(range(start, end))
    missed = "".join(letter for place, letter in enumerate(document.text) if place not in covered)
    assert not missed.strip()


@settings(deadline=None, max_examples=150)
@given(TEXTS, profiles())
def test_no_word_is_cut_that_fits_into_a_chunk(text: str, profile: Profile) -> None:
    for chunk in chunk_document(Document("d", text), profile):
        for start, end in chunk.spans:
            for place in (start, end):
                inside = 0 < place < len(text) and not (
                    text[place - 1].isspace() or text[place].isspace()
                )
                if inside:
                    before = text[:place].rsplit(maxsplit=1)[-1]
                    after = text[place:].split(maxsplit=1)[0]
                    assert tokens.count(before + after) > profile.size // 2


@settings(deadline=None)
@given(documents(), profiles())
def test_overlap_stays_within_what_the_profile_allows(document: Document, profile: Profile) -> None:
    chunks = chunk_document(document, profile)
    for one, other in pairwise(chunks):
        if not (one.is_table or other.is_table):
            overlap = document.text[other.spans[0][0] : one.spans[-1][1]]
            assert tokens.count(overlap) <= profile.overlap


@settings(deadline=None)
@given(documents(), profiles())
def test_the_same_document_gives_the_same_chunks(document: Document, profile: Profile) -> None:
    assert chunk_document(document, profile) == chunk_document(replace(document), profile)


def test_cuts_are_at_sentence_ends_and_about_equal() -> None:
    text = " ".join(f"This is sentence number {number} here." for number in range(12))
    chunks = chunk_document(Document("d", text), replace(SMALL, overlap=8))
    assert all(chunk.text.endswith("here.") for chunk in chunks)
    assert all(chunk.text.startswith("This") for chunk in chunks)
    sizes = [tokens.count(chunk.text) for chunk in chunks]
    assert max(sizes) <= 20
    assert min(sizes) > 10


def test_chunks_carry_what_is_known_of_them() -> None:
    section = Section(0, 5, "dosage", "2 DOSE", "dose", start_time=1.0, end_time=2.0)
    document = Document("d", "5 mg.", "Title", (section,), "spl", metadata={"year": "2020"})
    (chunk,) = chunk_document(document, SMALL)
    assert (chunk.title, chunk.section_label, chunk.intent_hint) == ("Title", "dosage", "dose")
    assert chunk.metadata == {"year": "2020", "heading": "2 DOSE"}
    assert chunk.chunker_version == SMALL.chunker_version
    assert (chunk.source, chunk.start_time, chunk.end_time) == ("spl", 1.0, 2.0)


def sectioned(*pieces: tuple[str, str]) -> Document:
    text, sections = "", []
    for label, words in pieces:
        text += "\n\n" if text else ""
        sections.append(Section(len(text), len(text) + len(words), label, heading=label))
        text += words
    return Document("d", text, sections=tuple(sections))


def test_short_neighbours_of_a_kind_share_a_chunk_if_the_profile_says_so() -> None:
    document = sectioned(("methods", "a b"), ("methods", "c d"), ("results", "e"), ("methods", "f"))
    apart = [chunk.text for chunk in chunk_document(document, SMALL)]
    assert apart == ["a b", "c d", "e", "f"]
    joined = chunk_document(document, replace(SMALL, join=True))
    assert [chunk.text for chunk in joined] == ["a b\n\nc d", "e", "f"]
    long = sectioned(("methods", "w " * 15), ("methods", "v " * 15))
    assert len(chunk_document(long, replace(SMALL, join=True))) == 2


def test_text_outside_sections_is_not_lost() -> None:
    document = Document("d", "before here after", sections=(Section(7, 11, "methods"),))
    chunks = chunk_document(document, SMALL)
    assert [(chunk.text, chunk.section_label) for chunk in chunks] == [
        ("before", ""), ("here", "methods"), ("after", ""),
    ]  # fmt: skip


def table_document(rows: int, caption: str = "Table 1. Harms") -> Document:
    table = simple_table(caption, ["Event", "A"], [[f"Rash {n}", "1"] for n in range(rows)])
    text = table_text(table, FileLocation("t"))
    section = Section(0, len(text), "adverse_events", "Table 1", "ae", True, "<table></table>")
    return Document("d", text, sections=(section,))


def test_a_table_that_fits_is_one_chunk() -> None:
    (chunk,) = chunk_document(table_document(2), PROFILES["imrad"])
    assert chunk.is_table
    assert chunk.table_html == "<table></table>"
    assert chunk.intent_hint == "ae"


def test_a_long_table_is_cut_between_rows_under_its_repeated_head() -> None:
    document = table_document(20)
    chunks = chunk_document(document, replace(PROFILES["imrad"], size=40, overlap=10))
    head = "Table 1. Harms\nEvent | A\n\n"
    assert len(chunks) == 3
    rows: list[str] = []
    for chunk in chunks:
        assert chunk.text == whole(document, chunk)
        assert chunk.text.startswith(head)
        rows += chunk.text.removeprefix(head).split("\n")
    assert rows == [f"Rash {number} | 1" for number in range(20)]
    assert [chunk.table_html for chunk in chunks] == ["<table></table>", "", ""]
    assert [chunk.metadata.get("table_part") for chunk in chunks] == [None, "1", "2"]
    assert chunks[1].spans[0] == (0, len(head))


def test_a_head_too_long_to_repeat_is_not_repeated() -> None:
    document = table_document(20, "Table 1. " + "Harms " * 30)
    chunks = chunk_document(document, replace(PROFILES["imrad"], size=40, overlap=10))
    assert [len(chunk.spans) for chunk in chunks] == [1] * len(chunks)
    assert len(chunks) > 2


def spoken(*turns: tuple[str, str]) -> Document:
    text, sections = "", []
    for speaker, words in turns:
        text += "\n" if text else ""
        role = SpeakerRole.PATIENT if speaker == "Pat" else SpeakerRole.CLINICIAN
        start = len(text)
        text += words
        sections.append(Section(start, len(text), "turn", speaker, speaker_role=role))
    return Document("d", text, sections=tuple(sections))


@pytest.mark.parametrize(
    ("headings", "shared"),
    [
        (["Methods > Design", "Methods > Blinding"], "Methods"),
        (["Methods > Design", "Methods > Design > Figure 1"], "Methods > Design"),
        (["Design", "Blinding"], None),
        (["Design", "Design"], "Design"),
    ],
)
def test_sections_that_share_a_chunk_are_under_what_stands_above_both(
    headings: list[str], shared: str | None
) -> None:
    first, second = headings
    sections = (Section(0, 1, "methods", first), Section(2, 3, "methods", second))
    (chunk,) = chunk_document(Document("d", "a b", sections=sections), PROFILES["imrad"])
    assert chunk.metadata.get("heading") == shared


def test_turns_are_chunks_and_only_a_profile_joins_them() -> None:
    document = spoken(("Doc", "Hello."), ("Doc", "Pain?"), ("Pat", "Yes."), ("Pat", "long " * 30))
    chunks = chunk_document(document, replace(PROFILES["transcript"], size=20))
    texts = [chunk.text for chunk in chunks]
    assert texts[:3] == ["Hello.", "Pain?", "Yes."]
    assert len(texts) == 5
    assert {chunk.speaker_role for chunk in chunks[2:]} == {SpeakerRole.PATIENT}
    joined = chunk_document(document, replace(PROFILES["transcript-joined"], size=20))
    assert joined[0].text == "Hello.\nPain?"
    assert joined[1].text == "Yes."


def test_whole_makes_one_chunk_of_everything() -> None:
    document = sectioned(("methods", "a " * 500), ("results", "b " * 500))
    (chunk,) = chunk_document(document, PROFILES["whole"])
    assert chunk.text == document.text.strip()
    assert chunk.section_label == ""


def test_stopwords_are_text() -> None:
    (chunk,) = chunk_document(Document("d", "the of and to"), SMALL)
    assert chunk.text == "the of and to"


def test_blank_text_has_no_chunks() -> None:
    assert chunk_document(Document("d", " \n "), SMALL) == ()


def test_ids_of_chunks_are_ids() -> None:
    from assay import limits

    document = Document("d" * limits.MAX_DOC_ID_CHARS, "x")
    (chunk,) = chunk_document(document, SMALL)
    check_id(chunk.chunk_id)
    check_id(f"{document.doc_id}:chunk_9999999")


@pytest.mark.parametrize("length", [20, 21, 40, 41, 399, 400, 401])
def test_sizes_at_the_border(length: int) -> None:
    chunks = chunk_document(Document("d", "word " * length), replace(SMALL, overlap=0))
    sizes = [tokens.count(chunk.text) for chunk in chunks]
    assert sum(sizes) == length
    assert len(sizes) == -(-length // 20)


def test_of_a_long_section_only_the_parts_that_list_events_have_their_intent() -> None:
    prose = "Trials differ in many ways and so do their rates of harm. " * 30
    listed = "\n".join(f"- event number {number}" for number in range(200))
    text = f"{prose}\n{listed}"
    section = Section(0, len(text), "adverse_events", "Harms", "ae")
    chunks = chunk_document(Document("d", text, sections=(section,)), PROFILES["label"])
    assert (chunks[0].text[:6], chunks[0].intent_hint) == ("Trials", "")
    assert (chunks[-1].text[:7], chunks[-1].intent_hint) == ("- event", "ae")


def test_a_hint_that_was_given_stays_with_every_part() -> None:
    text = "Trials differ in many ways and so do their rates of harm. " * 99
    section = Section(0, len(text), "adverse_events", "Harms", "ae")
    chunks = chunk_document(Document("d", text, sections=(section,)), PROFILES["label"])
    assert len(chunks) > 2
    assert {chunk.intent_hint for chunk in chunks} == {"ae"}
