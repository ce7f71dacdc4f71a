"""How large may a corpus and its parts get?

The caps of reading corpora, until they stand in ``assay.limits`` with the others.
"""

_MIB = 1 << 20

MAX_CORPUS_LINE_BYTES = 32 * _MIB  # one line of a JSON-lines corpus
MAX_CORPUS_JSON_BYTES = 512 * _MIB  # one JSON file that is not line by line
MAX_XML_BYTES = 64 * _MIB  # one XML file
MAX_XML_DEPTH = 200  # levels of nesting in XML
MAX_TEXT_FILE_BYTES = 32 * _MIB  # one plain text, Markdown or WebVTT file
MAX_CORPUS_FILES = 1_000_000  # files in one folder
MAX_DOCUMENT_CHARS = 16 * _MIB  # the text of one document
MAX_SECTIONS = 50_000  # sections, tables or turns of one document
MAX_DOC_ID_CHARS = 114  # leaves room for ":chunk_" and seven digits in 128
MAX_TITLE_CHARS = 4_096  # the title of one document, or one heading
MAX_METADATA_KEYS = 64  # entries in the metadata of one document
MAX_METADATA_CHARS = 2_048  # one value in the metadata
MAX_TABLE_HTML_CHARS = 2 * _MIB  # the markup of one table
MAX_TABLE_CELLS = 100_000  # cells of one table, spans counted out
MAX_TABLE_NESTING = 4  # tables within tables
BOMB_FLOOR_BYTES = 64 * _MIB  # below this nothing is a compression bomb
