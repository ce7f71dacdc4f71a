"""Which library unpacks Zstandard data here?"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from assay.errors import MissingDependencyError


def zstd_library() -> tuple[Callable[[], Any], type[Exception]]:
    """What begins a frame, and what it raises; both libraries name the rest alike."""
    try:
        standard: Any = importlib.import_module("compression.zstd")  # Python 3.14 and later
        return standard.ZstdDecompressor, standard.ZstdError
    except ImportError:
        pass
    try:
        library: Any = importlib.import_module("zstandard")
    except ImportError:
        raise MissingDependencyError(
            "reading Zstandard data needs the package zstandard", hint="pip install zstandard"
        ) from None
    return (lambda: library.ZstdDecompressor().decompressobj()), library.ZstdError
