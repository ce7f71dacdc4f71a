"""Which corpora must be refused with a line, or made harmless?"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile

import zstandard

from tests.badinputs.case import Covered, Entry, accepted, refused
from tests.badinputs.ways import as_article, as_corpus, as_document, as_folder, as_found, as_prose

BLANK = b" " * 99_999 + b"\n"
SOUND = '{"doc_id": "d1", "title": "T", "text": "warfarin dose"}\n'


def row(**fields: object) -> str:
    return (
        json.dumps({"doc_id": "d1", "text": "warfarin dose", **fields}, ensure_ascii=False) + "\n"
    )


def table(markup: str) -> str:
    """A chunk that came ready-made with the markup of a table."""
    fields = {"chunk_id": "d1:chunk_0", "is_table": True, "table_html": markup}
    return row(**fields)


def in_cell(markup: str) -> str:
    return table(f"<table><tr><td>dose{markup}</td></tr></table>")


def tar(name: str, link: str = "") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        if link:
            entry.type, entry.linkname = tarfile.SYMTYPE, link
        archive.addfile(entry)
    return target.getvalue()


def zipped(name: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, "x")
    return target.getvalue()


def bomb() -> bytes:
    return gzip.compress(SOUND.encode() + BLANK * 1_000)


def zstd_bomb() -> bytes:
    return bytes(zstandard.ZstdCompressor().compress(SOUND.encode() + BLANK * 1_000))


ENTITIES = "".join(f'<!ENTITY e{at + 1} "{f"&e{at};" * 10}">' for at in range(9))
LAUGHS = f'<!DOCTYPE article [<!ENTITY e0 "ha">{ENTITIES}]><article><body>&e9;</body></article>'
OUTSIDE = (
    '<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<article><body><p>&x;</p></body></article>"
)
CITED = (
    '<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file:///etc/passwd">]><PubmedArticleSet>'
    "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>&x;</ArticleTitle>"
    "</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
SOUND_INDEX = "tests/unit/index/test_vector_checks.py"

CASES: tuple[Entry, ...] = (
    accepted("u2028-in-text", as_document, row(text="one\u2028two"), r"one\u2028two"),
    accepted("u0085-in-text", as_corpus, row(text="one\u0085two"), "1 added"),
    refused("half-last-line", as_corpus, SOUND + '{"doc_id": "d2", "te', "input.jsonl:2: "),
    refused("100mb-line", as_corpus, lambda: b"x" * 100_000_000, "input.jsonl"),
    refused(
        "100mb-line/json", as_corpus,
        lambda: SOUND.encode() + b'{"doc_id": "d2", "text": "' + b"x" * 100_000_000 + b'"}\n',
        "input.jsonl:2: a line of more than",
    ),
    accepted("id-twice-same", as_corpus, SOUND * 2, "1 added"),
    accepted("id-twice-same/note", as_corpus, SOUND * 2, "d1 again, the same as at input.jsonl:1"),
    refused(
        "id-twice-other", as_corpus, SOUND + row(text="another"),
        "input.jsonl:2: the document d1 has another title, text or metadata at input.jsonl:1",
    ),
    refused("text-missing", as_corpus, SOUND + '{"doc_id": "d2"}\n', "input.jsonl:2: "),
    refused("text-empty", as_corpus, row(text=""), "input.jsonl:1: "),
    refused("text-empty/blank", as_corpus, row(text=" \n "), "input.jsonl:1: "),
    refused("id-dotdot", as_corpus, row(doc_id="../../etc/passwd"), "input.jsonl:1: the doc_id"),
    accepted("id-slash", as_found, (row(doc_id="10.1/b"), "warfarin"), "10.1/b:chunk_0"),
    refused("id-slash/up", as_corpus, row(doc_id="a/../b"), "input.jsonl:1: the doc_id"),
    refused("id-300", as_corpus, row(doc_id="x" * 300), "input.jsonl:1: the doc_id"),
    refused("id-dash", as_corpus, row(doc_id="-rf"), "input.jsonl:1: the doc_id"),
    accepted("only-stopwords", as_found, (row(text="the of and"), "the of and"), '"results": ['),
    accepted("html-script", as_document, in_cell("<script>alert(1)</script>"), "<td>dose</td>"),
    accepted("html-onerror", as_document, in_cell("<img src=x onerror=alert(1)>"), "<td>dose</td>"),
    accepted(
        "html-javascript", as_document, in_cell("<a href='javascript:alert(1)'>x</a>"), "<td>dosex"
    ),
    accepted("html-svg", as_document, in_cell("<svg onload=alert(1)></svg>"), "<td>dose</td>"),
    accepted(
        "html-style-url", as_document, in_cell("<b style='background:url(x)'>y</b>"), "<td>dosey</td>"
    ),
    accepted("html-unclosed", as_document, table("<table><tr><td>dose"), "<td>dose</td></tr>"),
    refused("html-10k-nested", as_corpus, table("<table><tr><td>" * 10_000), "tables nested more"),
    Covered("vectors-dimension", f"{SOUND_INDEX}::test_matrices"),
    Covered("vectors-nan", f"{SOUND_INDEX}::test_matrices"),
    Covered("vectors-zero", f"{SOUND_INDEX}::test_queries"),
    refused("archive-dotdot", as_corpus, tar("../../etc/passwd"), "input.jsonl: this is a tar"),
    refused("archive-dotdot/zip", as_corpus, zipped("../x"), "input.jsonl: this is a zip archive"),
    refused("archive-links", as_corpus, tar("x", "/etc/passwd"), "input.jsonl: this is a tar"),
    refused("archive-bomb", as_corpus, bomb, "unpacks to more than"),
    refused("archive-bomb/zstd", as_corpus, zstd_bomb, "unpacks to more than"),
    refused("xml-laughs", as_article, LAUGHS, "input.xml"),
    refused("xml-outside", as_article, OUTSIDE, "input.xml"),
    refused("xml-deep", as_article, "<article>" + "<sec>" * 5000, "input.xml"),
    refused(
        "archive-bomb/beside", as_folder, {"a.jsonl": SOUND.encode(), "b.zip": zipped("../x")},
        "corpus/b.zip: '../x' is no plain file in here, left out",
    ),
    refused("archive-bomb/damaged", as_folder, {"b.tar.gz": b"\x1f\x8bno"}, "archive is damaged"),
    refused("archive-bomb/docx", as_folder, {"b.docx": zipped("word/document.xml")}, "b.docx"),
    refused("archive-bomb/pdf", as_folder, {"a.pdf": b"%PDF-1.7 and nothing"}, "is damaged"),
    refused("archive-bomb/parquet", as_folder, {"a.parquet": b"PAR1 x"}, "not parquet"),
    refused("archive-bomb/csv", as_folder, {"a.csv": b"id,text\n1,a,b\n"}, "3 cells, but 2 columns"),
    refused("xml-deep/medline", as_article, "<PubmedArticleSet>" + "<a>" * 5000, "input.xml"),
    refused("xml-laughs/medline", as_article, LAUGHS.replace("article", "PubmedArticleSet"), "input.xml"),
    refused("xml-outside/medline", as_article, CITED, "the XML declares entities"),
    refused("xml-laughs/ctgov", as_article, LAUGHS.replace("article", "clinical_study"), "input.xml"),
    refused("xml-deep/ctgov", as_article, "<clinical_study>" + "<a>" * 5000, "input.xml"),
    refused("half-last-line/fhir", as_folder, {"a.json": b'{"resourceType": "Bundle", "entry": ['}, "a.json"),
    refused("half-last-line/fhir-xml", as_folder, {"a.xml": b'<Bundle xmlns="http://hl7.org/fhir"><entry>'}, "a.xml"),
    refused("xml-laughs/fhir", as_article, LAUGHS.replace("article", "Bundle").replace("<Bundle", '<Bundle xmlns="http://hl7.org/fhir"', 1), "input.xml"),
    refused("half-last-line/ndjson", as_folder, {"a.ndjson": b'{"resourceType": "Patient"}\n{"resou'}, "a.ndjson:2"),
    refused("half-last-line/csv", as_folder, {"a.csv": b'id,text\n1,"open'}, "a.csv"),
    refused("id-dotdot/nbib", as_folder, {"a.nbib": b"PMID- ../../etc\nTI  - x\n"}, "a.nbib:1"),
    refused("half-last-line/nbib", as_folder, {"a.nbib": b"PMID- 1\nTI  - x\nA"}, "a.nbib:3"),
    refused("text-missing/csv", as_folder, {"a.csv": b"id,year\n1,2019\n"}, "a.csv"),
    refused("text-missing/langchain", as_corpus, '{"page_content": null, "metadata": {}}\n', "input.jsonl:1"),
    refused("id-dotdot/csv", as_folder, {"a.csv": b"id,text\n../../etc,x\n"}, "a.csv:2"),
    refused("archive-links/zip", as_folder, {"b.zip": zipped("/etc/passwd")}, "b.zip"),
    refused("archive-bomb/empty", as_folder, {"b.zip": b""}, "b.zip"),
    refused("html-unclosed/as-text", as_prose, "<a><b>dose</b>", "this is XML or HTML, not prose"),
    refused("html-script/as-text", as_prose, "<!DOCTYPE html><script>alert(1)</script>", "this is HTML"),
    refused("xml-outside/as-text", as_prose, OUTSIDE, "this is HTML, not prose"),
    refused("half-last-line/utf-16", as_folder, {"a.txt": "Itch.".encode("utf-16") + b"x"}, "a.txt: this starts as UTF-16"),
    refused("text-missing/utf-16", as_folder, {"a.txt": "\ufeff".encode("utf-16")}, "the document a has no text"),
    refused("text-missing/utf-16-unmarked", as_folder, {"a.txt": "Itch.".encode("utf-16-le")}, "no file in a known corpus format"),
    refused("half-last-line/utf-16-csv", as_folder, {"a.csv": "id,text\n1,Itch".encode("utf-16") + b"\x00\xd8"}, "a.csv"),
    accepted("u2028-in-text/front-matter", as_folder, {"a.md": "---\ntitle: a\u2028b\n---\nItch.\n".encode()}, "1 added"),
    accepted("half-last-line/front-matter", as_folder, {"a.md": b"---\ntitle: [x\n---\nItch.\n"}, "a.md:3: not valid YAML"),
    accepted("half-last-line/front-matter-toml", as_folder, {"a.md": b"+++\ntitle = [x\n+++\nItch.\n"}, "not valid TOML"),
    accepted("archive-bomb/front-matter", as_folder, {"a.md": b"---\na: &a [x]\nb: [*a, *a]\n---\nItch.\n"}, "the anchor &a is not allowed"),
    refused("text-missing/front-matter", as_folder, {"a.md": b"---\nyear: 2020\n---\n"}, "the document a has no text"),
    refused("xml-deep/html", as_folder, {"a.html": b"<html>" + b"<div>" * 5000}, "a.html"),
)  # fmt: skip
