"""What kind of file is this? Told by its first bytes, not by its name."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.hits.sources import Bytes

HEAD_BYTES = 1 << 16


class Kind(Enum):
    """The kinds of file that hold runs and judgments."""

    TREC = "trec"
    JSON = "json"
    PARQUET = "parquet"


def sniff(stream: Bytes) -> tuple[Kind, bytes]:
    """The kind, and the bytes that were read to tell."""
    head = stream.read(HEAD_BYTES)
    if head.startswith(b"PAR1"):
        return Kind.PARQUET, head
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return (Kind.JSON if first in (b"{", b"[") else Kind.TREC), head
