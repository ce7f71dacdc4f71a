"""How do corpora become documents and chunks?

The way of the data, file by file::

    walking     which files belong to the corpus
    opening     their bytes, unpacked and bounded
    detect      which format a file has, if nobody says; plan: and a folder
    readers     READERS: jsonl, beir, jats, ctgov, spl, transcript, text; a file each, over
                json_rows, fields, records, documents, ready_made (JSON), xml_input, xml_tables
                (XML), vtt and speakers (interviews)
    compose     one text per document, with sections that point into it; their labels are from
                sections, section_codes and table_kinds, tables from tables and table_html
    entry       what a reader hands on: a document, its place, its ready-made chunks if any
    profiles    PROFILES: how each kind of document is cut
    chunker     chunks whose text is exactly what their spans cover, by tokens and windows
    corpus      read_corpus: all of the above, each document checked and told once
    watch       how far it has come

    for document, chunks in read_corpus("articles/"):
        ...
"""

from assay.ingest.chunker import chunk_document
from assay.ingest.corpus import read_corpus, read_documents
from assay.ingest.detect import detect
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.profiles import PROFILES, Profile, profile_named
from assay.ingest.readers import READERS, Reader, reader_named
from assay.ingest.sections import INTENTS, LABELS
from assay.ingest.watch import Progress

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
