"""Which loops run as compiled code, where there is any?

``kernels.c`` holds the innermost loops of scoring (``hits/kernels.py``) and of search
(``index/postings.py``, ``words.py``, ``sparse.py`` and ``top.py``). A wheel for a platform brings
them compiled, and an installation from source compiles them where it finds a C compiler. Everywhere
else array operations do the same, more slowly (design/008). A call lets other threads go on.
"""

from __future__ import annotations

import ctypes
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any

LIBRARY = Path(__file__).with_name("_kernels.so")
SOURCE = LIBRARY.with_name("kernels.c")

_WHOLE, _REAL, _PLACE = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_WIDE = ctypes.c_double
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "assay_cut": (_WHOLE, [ctypes.c_char_p, _WHOLE, _WHOLE, _WHOLE, *[_PLACE] * 4]),
    "assay_cut_qrels": (_WHOLE, [ctypes.c_char_p, *[_WHOLE] * 6, *[_PLACE] * 4]),
    "assay_judge": (
        _WHOLE,
        [
            *[ctypes.c_char_p, *[_PLACE] * 5, _WHOLE],
            *[ctypes.c_char_p, *[_PLACE] * 7, _WHOLE],
            *[_PLACE] * 5,
        ],
    ),
    "assay_match": (ctypes.c_int32, [_PLACE, _PLACE, _WHOLE, *[_PLACE] * 4]),
    "assay_add_columns": (
        ctypes.c_int32,
        [_PLACE, _WHOLE, _PLACE, _PLACE, _WHOLE, _PLACE, _PLACE, _WHOLE, _PLACE, _WHOLE],
    ),
    "assay_place_terms": (None, [_PLACE, _PLACE, _WHOLE, _PLACE, _WHOLE]),
    "assay_find_terms": (
        None,
        [_PLACE, _WHOLE, ctypes.c_char_p, _PLACE, _WHOLE, _PLACE],
    ),
    "assay_count_terms": (ctypes.c_int32, [_PLACE, _WHOLE, _PLACE, _WHOLE, _PLACE]),
    "assay_have_terms": (
        ctypes.c_int32,
        [_PLACE, _WHOLE, _PLACE, _WHOLE, _WHOLE, _PLACE, _WHOLE, _PLACE],
    ),
    "assay_phrase": (_WHOLE, [_PLACE, _PLACE, _WHOLE, _PLACE, _WHOLE, _PLACE]),
    "assay_best_by_terms": (
        _WHOLE,
        [_PLACE, _WHOLE, *[_PLACE] * 3, _WHOLE, _PLACE, _WHOLE, *[_PLACE] * 4, _WHOLE],
    ),
    "assay_multiply_bytes": (None, [_PLACE, _WHOLE, _WHOLE, _PLACE, _WIDE, _WIDE, *[_PLACE] * 2]),
    "assay_read_rows": (
        ctypes.c_int32,
        [ctypes.c_int32, _WHOLE, _WHOLE, _PLACE, _WHOLE, _PLACE],
    ),
    "assay_walk": (
        _WHOLE,
        [
            *[_PLACE, _WHOLE, _WHOLE, _PLACE, _PLACE, _WHOLE, _PLACE, _WHOLE],
            *[_PLACE, _PLACE, _WHOLE, _PLACE, _PLACE],
        ],
    ),
    "assay_best_by_impacts": (
        _WHOLE,
        [_PLACE, _WHOLE, *[_PLACE] * 3, _WHOLE, _PLACE, _WHOLE, *[_PLACE] * 4, _WHOLE],
    ),
    "assay_best": (_WHOLE, [_PLACE, _WHOLE, _WHOLE, _REAL, *[_PLACE] * 3, _WHOLE]),
}


def _is_current(found: Any) -> bool:
    """Whether a library was compiled from the source beside it; a wheel has no source."""
    if not SOURCE.exists():
        return True
    return bool(found.assay_form() == zlib.crc32(SOURCE.read_bytes()) >> 1)


@cache
def library() -> Any:
    """The compiled loops, or None."""
    try:
        found = ctypes.CDLL(str(LIBRARY))
        if not _is_current(found) or sys.byteorder != "little" or sys.maxsize < 1 << 62:
            return None
        for name, (gives, takes) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = gives, takes
    except (OSError, AttributeError):  # not compiled, or for another kind of machine
        return None
    return found
