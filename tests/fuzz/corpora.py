"""Which files of ``assay ingest`` are fuzzed?"""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path

import polars

from assay.encode.folders import card_of_folder
from assay.encode.service import read_address
from assay.ingest import read_corpus
from tests.fuzz.harness import Harness, Target
from tests.unit.ingest.samples import ARTICLE, BUNDLE, CITATIONS, LABEL, PAGE, STUDY, VTT, fhir_xml
from tests.unit.ingest.test_ctgov_xml import STUDY as STUDY_XML

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


def read_utf16(path: Path, rng: random.Random) -> str:
    """The same text as prose, as a table or as rows of JSON."""
    name = rng.choice(("text", "table", "jsonl"))
    return reading(name)(path, rng)


def read_model_folder(path: Path, rng: random.Random) -> str:
    """What a folder of sentence-transformers declares: the file is one of its JSON files."""
    folder = path.parent / "model"
    whole = json.loads(DECLARED)
    for name, value in whole.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value))
    for name in ("model.safetensors", "tokenizer.json", "2_Dense/model.safetensors"):
        (folder / name).write_bytes(b"")
    (folder / rng.choice(sorted(whole))).write_bytes(path.read_bytes())
    return card_of_folder(folder).role


def read_model_address(path: Path, rng: random.Random) -> str:
    """The name of a model behind a service."""
    del rng
    return read_address(path.read_text(encoding="utf-8", errors="replace")).service


def _packed(**parts: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return target.getvalue()


SAVED = (
    b"PMID- 61\nTI  - Drug A for itch:\n      a trial.\nAB  - AIM: To learn.\n"
    b"AU  - Doe J\nMH  - Pruritus/*drug therapy\nDP  - 1998 Nov-Dec\nPT  - Trial\n\n"
    b"PMID- 62\nTI  - [Second].\nLA  - fre\nAID - 10.1/x [doi]\n"
)
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _word() -> bytes:
    """A document whose parts are not packed, so that mutations reach the XML."""
    box = "<w:pict><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></w:pict>"
    run = f'<w:r><w:t>10 </w:t><w:sym w:font="Symbol" w:char="F06D"/>{box}</w:r>'
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    row = "<w:tr><w:tc><w:p/></w:tc></w:tr>"
    body = f"<w:p>{run}{note}</w:p><w:tbl>{row}</w:tbl>"
    return _packed(
        word__document_xml=f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        word__footnotes_xml=f'<w:footnotes {_W}><w:footnote w:id="2"><w:p/></w:footnote>'
        "</w:footnotes>",
    )


def _parquet() -> bytes:
    target = io.BytesIO()
    polars.DataFrame({"pmid": [1, 2], "abstract": ["a b", "c"]}).write_parquet(target)
    return target.getvalue()


def _lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DOCX = _packed(
    word__document_xml=f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>Itch</w:t></w:r></w:p>'
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    "</w:body></w:document>"
)
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 37>>stream
BT /F 12 Tf 20 100 Td (Aspirin) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""
FRAMEWORKS = [
    {"page_content": "Aspirin.", "metadata": {"source": "a.pdf", "page": 1}, "id": "l1"},
    {"node": {"id_": "n1", "text": "Fever.", "metadata": {}}, "score": 0.5},
    {"id": "h1", "content": "Cough.", "meta": {"name": "x"}},
]
DECLARED = json.dumps({
    "config.json": {"model_type": "mpnet", "architectures": ["MPNetModel"], "hidden_size": 8,
                    "max_position_embeddings": 40},
    "modules.json": [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
    ],
    "1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "include_prompt": True},
    "2_Dense/config.json": {"in_features": 8, "out_features": 4, "bias": True,
                            "activation_function": "torch.nn.modules.activation.Tanh"},
    "sentence_bert_config.json": {"max_seq_length": 32, "do_lower_case": False},
    "config_sentence_transformers.json": {"prompts": {"query": "q: "}, "similarity_fn_name": None},
})  # fmt: skip
ADDRESS = b"http+openai:http://127.0.0.1:8080/v1#a/small?dimensions=8&query_prefix=q:%20&price=0.02"

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
    Harness("nbib", "ingest.medline_text", "citations as PubMed saves them: tags and lines",
            reading("medline"), (SAVED,), "input.nbib"),
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
    Harness("front-matter", "ingest.text", "YAML and TOML above Markdown", reading("text"),
            (b"---\ntitle: Itch\ntags: [a, b]\nyear: 2020\nby:\n  - name: Doe\n---\n# Methods\n\nWe asked.\n",
             b'+++\ntitle = "Itch"\ndate = 2020-01-02\n[by]\nname = "Doe"\n+++\nWords.\n'),
            "input.md"),
    Harness("utf-16", "ingest.files, text, tabular, jsonl", "what Excel and PowerShell write",
            read_utf16, ("# Title\n\nWords.\n".encode("utf-16"),
                         "id\ttext\n1\tItch\n2\tRash\n".encode("utf-16"),
                         _lines(ROWS[0]).decode().encode("utf-16")), "input.txt"),
    Harness("frameworks", "ingest.columns", "documents of LangChain, LlamaIndex, Haystack",
            reading("jsonl"), tuple(_lines(row) for row in FRAMEWORKS), "input.jsonl"),
    Harness("ctgov-xml", "ingest.ctgov_xml", "older studies in XML", reading("ctgov"),
            (STUDY_XML.encode(),), "input.xml"),
    Harness("fhir", "ingest.fhir", "records of patients: bundles and lines", reading("fhir"),
            (json.dumps(BUNDLE).encode(), _lines(BUNDLE)), "input.json"),
    Harness("fhir-xml", "ingest.fhir_xml", "the same as XML", reading("fhir"), (fhir_xml(BUNDLE),),
            "input.xml"),
    Harness("docx", "ingest.word", "documents of Word: XML in an archive", reading("docx"),
            (_word(), DOCX,), "input.docx"),
    Harness("pdf", "ingest.pdf", "pages of anybody: a binary format", reading("pdf"),
            (PDF,), "input.pdf"),
    Harness("parquet", "ingest.tabular", "tables in a binary format", reading("table"),
            (_parquet(),), "input.parquet"),
    Harness("archive", "ingest.archives", "whatever is packed together", reading("archive"),
            (_packed(a_txt="Itch.", b__c_csv="id,text\n1,Fever\n"),), "input.zip"),
    Harness("model-folder", "encode.folders, modules", "models of other people",
            read_model_folder, tuple(json.dumps(one).encode() for one in json.loads(DECLARED).values()),
            "input.json"),
    Harness("model-address", "encode.service", "typed by people", read_model_address, (ADDRESS,)),
)  # fmt: skip
