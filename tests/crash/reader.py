"""Opens the index again and again while somebody writes.

Called as ``python -m tests.crash.reader HOME SECONDS``. The writer adds documents in pairs, so a
half-written generation would show an odd number of them, or components that disagree.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from assay.index.reader import open_generation
from tests.unit.index.helpers import DENSE, SPARSE


def main() -> None:
    home, until = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    seen: set[int] = set()
    looks = 0
    while time.monotonic() < until:
        generation = open_generation(home / "index")
        if not generation.segments:
            continue
        found = [
            {hit.chunk_id for hit in part.search("observation report heart failure", 10_000)}
            for part in (generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE))
        ]
        assert found[0] == found[1] == found[2], "components disagree"
        assert len(found[0]) % 2 == 0, "half a pair"
        assert len(found[0]) == len(generation.chunk_ids), "rows are missing"
        assert generation.manifest.generation >= max(seen, default=0), "went back in time"
        seen.add(generation.manifest.generation)
        looks += 1
    print(looks, len(seen))


if __name__ == "__main__":
    main()
