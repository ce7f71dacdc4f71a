"""Which files of ``assay ingest`` are fuzzed?"""

from __future__ import annotations

import json
import random
from pathlib import Path

from assay.ingest import read_corpus
from tests.fuzz.harness import Harness, Target
from tests.unit.ingest.samples import ARTICLE, CITATIONS, LABEL, PAGE, STUDY, VTT

ROWS = [
    {"doc_id": "d1", "title": "T", "text": "One. Two.\n\nThree.", "metadata": {"year": 2020}},
    {"chunk_id": "c:1", "doc_id": "d2", "text": "x y", "spans": [[0, 3]], "is_table": True,
     "table_html": "<table><tr><td>1</td></tr></table>"},
    {"doc_id": "d4", "title": "T", "start_time": 3, "metadata": {"speaker": "Patient"},
     "table_html": "<table><caption>C</caption><tr><th>a<td>5<sup>b</sup><br>6</table>"},
    {"doc_id": "d3", "sections": [{"heading": "Methods", "text": "We did."}]},
]  # fmt: skip
TALK = {
    "interview_id": "i1",
    "turns": [
        {"segment_id": "s1", "speaker": "PATIENT", "text": "It hurts.", "start": 0, "end": 1.5},
        {"segment_id": "s2", "speaker": "CLINICIAN", "text": "Where?", "start": "00:00:02"},
    ],
}


def reading(name: str) -> Target:
    """Read the file as this format, or now and then as whatever it looks like."""

    def read(path: Path, rng: random.Random) -> str:
        form = name if rng.random() < 0.8 else "auto"
        found = list(read_corpus(path, form, skip_empty=rng.random() < 0.5))
        return "documents" if found else "nothing"

    return read


def _lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


HARNESSES = (
    Harness("jsonl", "ingest.jsonl, ready_made", "documents of any tool, line by line",
            reading("jsonl"), (_lines(*ROWS), *(_lines(row) for row in ROWS)), "input.jsonl"),
    Harness("beir", "ingest.beir", "public collections", reading("beir"),
            (_lines({"_id": "a", "title": "t", "text": "x", "metadata": {"section": "R"}}),),
            "corpus.jsonl"),
    Harness("jats", "ingest.jats, xml_input", "articles: XML with entities and tables",
            reading("jats"), (ARTICLE.encode(),), "input.xml"),
    Harness("spl", "ingest.spl", "drug labels: XML with nested sections", reading("spl"),
            (LABEL.encode(),), "input.xml"),
    Harness("medline", "ingest.medline, xml_input", "citations: XML, record by record",
            reading("medline"), (CITATIONS.encode(),), "input.xml"),
    Harness("table", "ingest.tabular, columns", "tables: CSV of other people", reading("table"),
            (b"pmid,abstract,year\n1,\"a, b\nc\",2019\n2,words,\n",), "input.csv"),
    Harness("html", "ingest.pages", "pages: HTML however written", reading("html"),
            (PAGE.encode(),), "input.html"),
    Harness("ctgov", "ingest.ctgov", "studies: deep JSON with optional parts", reading("ctgov"),
            (json.dumps(STUDY).encode(),), "input.json"),
    Harness("transcript", "ingest.transcript", "interviews in JSON", reading("transcript"),
            (json.dumps(TALK).encode(), _lines(TALK)), "input.json"),
    Harness("vtt", "ingest.vtt", "interviews in WebVTT", reading("transcript"), (VTT.encode(),),
            "input.vtt"),
    Harness("text", "ingest.text", "plain text and Markdown", reading("text"),
            (b"# Title\n\nWords.\n\n## Methods\n\nMore.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",),
            "input.md"),
)  # fmt: skip
