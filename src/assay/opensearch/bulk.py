"""How are chunks loaded into the cluster, completely and in bounded memory?

Chunks are read page by page, encoded, and sent in parts of a few megabytes. A chunk is written
under its key, so sending it again changes nothing; what a busy cluster rejects is sent again after
a pause. Nothing counts as loaded before the cluster has confirmed every single chunk.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.errors import EngineError
from assay.index.writer import Encoders, passage
from assay.model.document import KeyedChunk
from assay.opensearch.mapping import row_of
from assay.opensearch.transport import (
    BUSY,
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    PATIENCE_SECONDS,
    Transport,
)
from assay.plural import counted

PART_BYTES = 4 << 20
PART_ROWS = 500

Action = tuple[str, bytes]  # the id, and the lines that write or delete it


def load_chunks(
    transport: Transport,
    index: str,
    pages: Iterable[Sequence[KeyedChunk]],
    encoders: Encoders,
    done: Callable[[int, int], None],
) -> int:
    """Write every chunk; ``done`` is called after each page with its last key and size."""
    count = 0
    for page in pages:
        if not page:
            continue
        send(transport, _writes(index, page, encoders))
        count += len(page)
        done(page[-1].key, count)
    return count


def delete_chunks(transport: Transport, index: str, keys: Sequence[int]) -> None:
    """Remove chunks; missing ones are ignored."""
    send(transport, ((str(key), _line("delete", index, str(key))) for key in keys))


def send(transport: Transport, actions: Iterable[Action]) -> None:
    """Send all actions, in parts."""
    part: list[Action] = []
    size = 0
    for action in actions:
        part.append(action)
        size += len(action[1])
        if size >= PART_BYTES or len(part) >= PART_ROWS:
            _carry_out(transport, part)
            part, size = [], 0
    if part:
        _carry_out(transport, part)


def _carry_out(transport: Transport, part: list[Action]) -> None:
    """Send one part, and resend what the cluster had no room for."""
    until = time.monotonic() + PATIENCE_SECONDS
    pause = FIRST_PAUSE_SECONDS
    while part:
        answer = transport.bulk(b"".join(lines for _, lines in part))
        again, reason = [], ""
        for action, item in zip(part, answer["items"], strict=True):
            result = next(iter(item.values()))
            if result["status"] < 300 or _gone(item):
                continue
            reason = str(result.get("error", {}).get("reason", ""))[:300]
            if result["status"] not in BUSY:
                raise EngineError(f"OpenSearch refused chunk {action[0]}: {reason}")
            again.append(action)
        if again and time.monotonic() + pause > until:
            raise EngineError(
                f"OpenSearch did not take {counted(len(again), 'chunk')} "
                f"within {PATIENCE_SECONDS:.0f} s: {reason}",
                hint="run it again later: it resumes where it stopped",
            )
        part = again
        if part:
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _gone(item: dict[str, dict[str, object]]) -> bool:
    return "delete" in item and item["delete"]["status"] == 404


def _writes(index: str, page: Sequence[KeyedChunk], encoders: Encoders) -> Iterator[Action]:
    texts = [passage(row.chunk) for row in page]
    vectors, weights = encoders.vectors(texts)
    for at, row in enumerate(page):
        fields = row_of(
            row,
            None if weights is None else weights[at],
            None if vectors is None else vectors[at],
        )
        name = str(row.key)
        yield name, _line("index", index, name) + json.dumps(fields).encode() + b"\n"


def _line(action: str, index: str, name: str) -> bytes:
    return json.dumps({action: {"_index": index, "_id": name}}).encode() + b"\n"
