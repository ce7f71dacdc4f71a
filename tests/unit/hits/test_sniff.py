"""Is a file's kind told by its content?"""

from __future__ import annotations

import io

import pytest

from assay.hits.sniff import Kind, sniff
from assay.hits.sources import Bytes


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q1 Q0 a 1 1 t\n", Kind.TREC),
        (b"", Kind.TREC),
        (b"{}", Kind.JSON),
        (b"\n \t[", Kind.JSON),
        (b'\xef\xbb\xbf\r\n{"a"', Kind.JSON),
        (b"PAR1....", Kind.PARQUET),
        (b"\xff\xfe{\0}\0", Kind.TREC),
        (b"PAR", Kind.TREC),
    ],
)
def test_kinds(content: bytes, kind: Kind) -> None:
    assert sniff(Bytes(io.BytesIO(content), "a")) == (kind, content)
