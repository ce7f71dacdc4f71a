"""Which judgments does a regular qrels file hold?

Regular is what nearly every file is: four columns, single blanks, grades of one digit, the
judgments of a query together, no document twice. Anything else is None, and the careful reader's.
"""

from __future__ import annotations

import numpy as np

from assay import limits
from assay.hits.fields import Field, Text, cut, hash_field
from assay.hits.rows import group_starts, pair_keys
from assay.model.judgments import Qrels

COLUMNS = 4
QUERY, DOC, GRADE = 0, 2, 3
_DIGIT_ZERO = ord("0")


def qrels_from_text(data: bytes) -> Qrels | None:
    """The judgments in columns, or None."""
    if not data.isascii():
        return None
    text = Text(data) if data.endswith(b"\n") else Text(data, b"\n")
    lines = cut(text, COLUMNS)
    if lines is None or lines.longest() > limits.MAX_LINE_BYTES:
        return None
    query, doc, grade = (lines.column(at) for at in (QUERY, DOC, GRADE))
    digits = text.content[grade.start]
    longest = max(int(query.length.max()), int(doc.length.max()))
    if longest > limits.MAX_ID_BYTES or int(grade.length.max()) > 1 or not _are_digits(digits):
        return None
    query_hash = hash_field(text, query)
    starts = group_starts(query_hash)
    names = tuple(item.decode() for item in query.at(starts).bytes(text))
    keys = np.sort(pair_keys(query_hash, hash_field(text, doc)))
    if len(set(names)) < len(names) or (keys[1:] == keys[:-1]).any():
        return None
    return Qrels(
        queries=names,
        query=np.repeat(np.arange(len(starts)), np.diff(starts, append=len(lines))),
        docs=_texts(text, doc),
        grade=digits.astype(np.int64) - _DIGIT_ZERO,
    )


def _are_digits(bytes_: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bool:
    return bool(((bytes_ >= _DIGIT_ZERO) & (bytes_ <= ord("9"))).all())


def _texts(text: Text, field: Field) -> tuple[str, ...]:
    """The fields as text; cutting one string is faster than decoding many."""
    whole = text.data.decode()
    pairs = zip(field.start.tolist(), field.end.tolist(), strict=True)
    return tuple([whole[start:end] for start, end in pairs])
