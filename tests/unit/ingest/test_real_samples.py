"""Do real articles, labels, trials, abstracts and dialogues come out as a person counts them?

The counts of one document in each collection were made by looking at the file itself; they stand
beside what was looked at. Totals are those of the collections' own descriptions, where they say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.ingest import read_corpus, tokens
from assay.ingest.profiles import PROFILES
from assay.model.document import Chunk, Document, check_id
from tests.unit.ingest.samples import parts

Pairs = list[tuple[Document, tuple[Chunk, ...]]]


def read(path: Path, *, skip_empty: bool = False) -> Pairs:
    return list(read_corpus(path, skip_empty=skip_empty))


def check_chunks(pairs: Iterable[tuple[Document, tuple[Chunk, ...]]]) -> None:
    for document, chunks in pairs:
        assert chunks
        size = PROFILES[document.profile].size
        for number, chunk in enumerate(chunks):
            check_id(chunk.chunk_id)
            assert chunk.chunk_id == f"{document.doc_id}:chunk_{number}"
            assert chunk.text == "".join(document.text[start:end] for start, end in chunk.spans)
            assert 0 < tokens.count(chunk.text) <= size
            assert chunk.is_table or not chunk.table_html


@pytest.fixture(scope="module")
def articles(shared_data: Path) -> Pairs:
    return read(shared_data / "rct_tables" / "jats_ccby_ae")


def test_articles(articles: Pairs) -> None:
    """60 articles with 224 ``table-wrap`` and 155 ``fig`` elements in all (counted with XPath)."""
    assert len(articles) == 60
    check_chunks(articles)
    sections = [section for document, _ in articles for section in document.sections]
    tables = [section for section in sections if section.is_table]
    assert len(tables) == 224
    assert all(table.table_html.startswith("<table>") for table in tables)
    captions = [
        section for section in sections
        if not section.is_table and section.heading.split(" > ")[-1].lower().startswith("fig")
    ]  # fmt: skip
    assert len(captions) == 155
    # Articles were chosen for words of adverse events in a table; four have them in other tables,
    # by what their captions say (PMC2729726, PMC4223282, PMC5029174, PMC5142154).
    with_events = [
        document for document, _ in articles
        if any(part.is_table and part.intent_hint == "ae" for part in document.sections)
    ]  # fmt: skip
    assert len(with_events) == 56


def test_one_article(articles: Pairs) -> None:
    """PMC2941605.nxml: one abstract with 4 inner ``sec``; 9 ``sec`` in the body, of which RESULTS
    has no text of its own; 3 tables of 37 ``tr`` together; no figure; 16 references; one footnote
    group. So 1 + 8 + 3 + 1 sections.
    """
    document = next(found for found, _ in articles if found.doc_id == "PMC2941605")
    assert document.title == (
        "Comparison of vinorelbine with cisplatin in concomitant chemoradiotherapy in head and "
        "neck carcinoma"
    )
    assert [(label, heading) for label, heading, _ in parts(document)] == [
        ("abstract", "Abstract"),
        ("introduction", "INTRODUCTION"),
        ("methods", "PATIENTS AND METHODS"),
        ("methods", "PATIENTS AND METHODS > Treatment protocol"),
        ("baseline", "RESULTS > Patient characteristics"),
        ("baseline", "RESULTS > Patient characteristics > Table 1"),
        ("results", "RESULTS > Response to treatment"),
        ("outcomes", "RESULTS > Response to treatment > Table 2"),
        ("adverse_events", "RESULTS > Acute toxicity"),
        ("adverse_events", "RESULTS > Acute toxicity > Table 3"),
        ("adverse_events", "RESULTS > Late toxicity"),
        ("discussion", "DISCUSSION"),
        ("back_matter", "Footnotes"),
    ]
    toxicity = parts(document)[9][2]
    assert toxicity == (
        "Table 3. Toxicity\nToxicity | Arm A (RT+Cisplatin) | Arm B (RT+Vinorelbine)\n\n"
        "Mucositis | 20 | 19\nSkin reaction | 14 | 07\nNausea | 16 | 04\nMyelosuppression | 13 | 06"
    )
    rows = sum(section.table_html.count("<tr>") for section in document.sections)
    assert rows == 37
    assert "References" not in document.text


def test_labels(shared_data: Path) -> None:
    """7 labels with 48 tables outside the highlights, as the collection says."""
    pairs = read(shared_data / "spl_labels" / "original")
    check_chunks(pairs)
    tables = Counter(
        {
            document.title: sum(section.is_table for section in document.sections)
            for document, _ in pairs
        }
    )
    assert len(pairs) == 7
    assert tables.total() == 48
    labels = Counter(chunk.section_label for _, chunks in pairs for chunk in chunks)
    for label in ("indications", "dosage", "contraindications", "warnings", "adverse_events"):
        assert labels[label] >= 5


def test_one_label(shared_data: Path) -> None:
    """cough.xml: 19 ``section``, of which the product data, Warnings and the package panel have no
    words of their own, so 16 with text; one ``table`` of 4 rows, in Directions.
    """
    ((document, chunks),) = read(shared_data / "spl_labels" / "original" / "cough.xml")
    assert document.doc_id == "00f66f25-3469-4c16-9baf-fba21e9628bd"
    found = parts(document)
    assert len(found) == 17
    assert [heading for label, heading, _ in found if label == "warnings"] == [
        f"Warnings > {heading}"
        for heading in (
            "Ask a doctor before use if the child has",
            "Ask a doctor or pharmacist before use if the child is",
            "When using this product",
            "Stop use and ask a doctor if",
            "Keep out of reach of children.",
        )
    ]
    (table,) = [chunk for chunk in chunks if chunk.is_table]
    assert (table.section_label, table.intent_hint) == ("dosage", "dose")
    assert table.table_html.count("<tr>") == 4
    assert "children 6 to under 12 years of age | 2 teaspoonfuls (10 mL)" in table.text


def test_trial_sections(shared_data: Path) -> None:
    """999 trials with four sections each: 3,996 rows; the fourth row has 22 lines, seen by eye."""
    pairs = read(shared_data / "nli4ct")
    check_chunks(pairs)
    assert len(pairs) == 3996
    labels = Counter(document.sections[0].label for document, _ in pairs)
    assert labels == {
        "interventions": 999, "eligibility": 999, "results": 999, "adverse_events": 999,
    }  # fmt: skip
    document, (chunk,) = pairs[3]
    assert document.doc_id == "NCT00001832#AdverseEvents"
    assert len(document.text.split("\n")) == 22
    assert (chunk.intent_hint, chunk.text) == ("ae", document.text)


def test_abstracts(shared_data: Path) -> None:
    """NFCorpus has 3,633 documents; the first, MED-10, has a text of 1,724 characters."""
    pairs = read(shared_data / "nfcorpus")
    check_chunks(pairs)
    assert len(pairs) == 3633
    document, (chunk,) = pairs[0]
    assert (document.doc_id, len(document.text)) == ("MED-10", 1724)
    assert chunk.spans == ((0, 1724),)
    assert max(len(chunks) for _, chunks in pairs) > 1


def test_passages_with_offsets(shared_data: Path) -> None:
    pairs = read(shared_data / "covidqa")
    check_chunks(pairs)
    assert len(pairs) == 2340
    assert pairs[0][0].metadata["doc"] == "PMC2752805"


def test_dialogues(shared_data: Path) -> None:
    """1,388 dialogues of 17,049 turns; the first has 8, clinician and patient by turns."""
    pairs = read(shared_data / "dialogues" / "dialogues.jsonl.gz")
    check_chunks(pairs)
    assert len(pairs) == 1388
    assert sum(len(document.sections) for document, _ in pairs) == 17049
    document, chunks = pairs[0]
    assert document.doc_id == "mts-train-0"
    assert [chunk.speaker_role.value for chunk in chunks] == ["CLINICIAN", "PATIENT"] * 4
    assert chunks[3].text == "No."
    assert chunks[0].metadata["speaker"] == "Doctor"
    roles = Counter(part.speaker_role.value for document, _ in pairs for part in document.sections)
    # By the collection's own labels: 8,870 clinician, 7,522 patient, 657 family.
    assert roles == {"CLINICIAN": 8870, "PATIENT": 7522, "UNKNOWN": 657}
