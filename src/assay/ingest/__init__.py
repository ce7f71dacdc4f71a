"""How do corpora become documents and chunks?

The modules, in the order of the data flow::

    folders     which files belong to the corpus
    files       their bytes, unpacked and bounded
    detect      which format a file has, unless the caller names it; plan: the same for a folder
    readers     READERS: jsonl, beir, jats, medline, ctgov, fhir, spl, transcript, table, html, pdf,
                docx, archive, text; a module each, built on json_rows, columns, fields, records,
                documents, ready_made (rows), xml_input, xml_tables, ctgov_xml (XML), pages (HTML,
                and what is turned into it), pdf_lines, markdown_tables, vtt and speakers
    compose     one text per document, with sections that point into it; sections has their
                labels, tables and table_html turn tables into text and safe markup
    parsed      what a reader returns: a document, its location, its ready-made chunks if any
    profiles    PROFILES: how each kind of document is chunked
    chunker     chunks whose text is exactly what their spans cover; tokens measures them
    corpus      read_corpus: all of the above, with every document checked
    watch       progress and notes

    for document, chunks in read_corpus("articles/"):
        ...
"""

from assay.ingest.chunker import chunk_document
from assay.ingest.corpus import read_corpus, read_documents
from assay.ingest.detect import detect
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.profiles import PROFILES, Profile, profile_named
from assay.ingest.readers import READERS, Reader, reader_named
from assay.ingest.watch import Progress
from assay.model.sections import INTENTS, LABELS

__all__ = [
    "INTENTS",
    "LABELS",
    "PROFILES",
    "READERS",
    "FileLocation",
    "ParsedDocument",
    "Profile",
    "Progress",
    "Reader",
    "chunk_document",
    "detect",
    "profile_named",
    "read_corpus",
    "read_documents",
    "reader_named",
]
