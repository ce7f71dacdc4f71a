"""Whatever a file holds, is the worst that happens a typed error with a place?"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import AssayError
from assay.ingest import PROFILES, READERS, detect, read_corpus
from tests.unit.ingest.samples import ARTICLE, BUNDLE, CITATIONS, LABEL, PAGE, STUDY, VTT

CHUNK = {"chunk_id": "c", "doc_id": "d", "text": "x y", "spans": [[0, 3]], "table_html": "<table>"}


def word_document() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("word/document.xml", "<d><body><p><r><t>Words.</t></r></p></body></d>")
    return target.getvalue()


SEEDS = {
    "jats": ARTICLE.encode(),
    "spl": LABEL.encode(),
    "table": b'pmid,abstract,year\n1,"a, b\nc",2019\n2,words,\n',
    "html": PAGE.encode(),
    "pdf": b"%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\ntrailer <</Root 1 0 R>>\n",
    "docx": word_document(),
    "fhir": json.dumps(BUNDLE).encode(),
    "archive": word_document(),
    "medline": CITATIONS.encode(),
    "ctgov": json.dumps(STUDY).encode(),
    "transcript": VTT.encode(),
    "jsonl": json.dumps(CHUNK).encode() + b"\n",
    "beir": b'{"_id": "a", "text": "x", "metadata": {"section": "Results"}}\n',
    "text": b"# Title\n\nWords.\n\n## Methods\n\nMore.\n",
}
QUIET = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def damaged(draw: st.DrawFn, seed: bytes) -> bytes:
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["flip", "cut", "insert", "repeat"])):
            case "flip" if at < len(data):
                data[at] = draw(st.integers(0, 255))
            case "cut":
                del data[at : at + draw(st.integers(1, 40))]
            case "insert":
                data[at:at] = draw(st.sampled_from(
                    [b"<", b"&", b'"', b"]]>", b"\0", b"\xff", b"<table>", b"[" * 50, b"\\ud800",
                     b"1e999", b"null", b"{}", b"-->", "\u2028".encode()]))  # fmt: skip
            case _:
                data[at:at] = data[at : at + 30] * draw(st.integers(1, 5))
    return bytes(data)


def survives(work: Callable[[], object]) -> None:
    caught: AssayError | None = None
    try:
        work()
    except AssayError as problem:
        caught = problem
    assert caught is None or (caught.message and caught.exit_code == 2)


@pytest.mark.parametrize("name", SEEDS)
@QUIET
@given(data=st.data())
def test_damaged_files(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / {"beir": "corpus.jsonl", "archive": "file.zip"}.get(name, "file.txt")
    path.write_bytes(data.draw(damaged(SEEDS[name])))
    survives(lambda: list(read_corpus(path, name)))
    survives(lambda: detect(path))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["text", "_id", "doc_id", "chunk_id", "turns", "segments", "segment_id",
                         "interview_id", "protocolSection", "metadata", "sections", "spans",
                         "identificationModule", "nctId", "start", "end", "title", "speaker"]),
        inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("name", ["jsonl", "beir", "ctgov", "transcript"])
@QUIET
@given(rows=st.lists(JSON_VALUES, max_size=4))
def test_unexpected_json(name: str, rows: list[object], tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    survives(lambda: list(read_corpus(path, name)))


def test_every_reader_and_profile_is_covered() -> None:
    assert set(SEEDS) == set(READERS)
    assert "auto" not in PROFILES
