"""Is the index intact, and what does it hold?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import StorageError
from assay.index import manifest as manifests
from assay.index.checksums import verify
from assay.index.dense import Vectors
from assay.index.manifest import Manifest
from assay.index.origin import BEHIND, FOREIGN, Origin, is_foreign
from assay.index.quantised import LINKS
from assay.index.reader import Generation, verify_once
from assay.plural import counted

SAMPLE = 50
DEPTH = 100


def card(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Sizes, models and, if dense search is approximate, its measured recall."""
    parts = {
        "bm25": list(manifest.bm25),
        "segments": list(manifest.segments),
        "dead": [manifest.dead] if manifest.dead else [],
    }
    sizes = {
        name: sum(int(size) for part in listed for size, _ in part.files.values())
        for name, listed in parts.items()
    }
    graphs = sum(LINKS in part.files for part in manifest.segments)
    if graphs:
        verify_once(folder, manifest)
    return {
        "indexed_rows": sum(part.rows for part in manifest.segments),
        "dead_rows": manifest.dead.rows if manifest.dead else 0,
        "segments": len(manifest.segments),
        "models": dict(manifest.models),
        "bytes": sizes,
        "dense_search": "approximate" if graphs else "exact",
        "dense_recall_at_100": measured_recall(folder, manifest) if graphs else 1.0,
    }


def measured_recall(folder: Path, manifest: Manifest, seed: int = 42) -> float:
    """The share of the true nearest 100 that the graphs find, for vectors of the index itself."""
    rng = np.random.default_rng(seed)
    found = wanted = 0
    for part in manifest.segments:
        vectors = Vectors(folder / part.folder)
        if not vectors.approximate:
            continue
        depth = min(DEPTH, part.rows)
        for row in rng.choice(part.rows, size=min(SAMPLE, part.rows), replace=False):
            query = vectors.row(int(row))
            exact, _ = vectors.exact(query, depth)
            proposed, _ = vectors.nearest(query, depth)
            found += min(depth, len(np.intersect1d(exact, proposed)))
            wanted += depth
    return round(found / wanted, 4) if wanted else 1.0


def problems(folder: Path, chunks: int, store: Origin) -> list[str]:
    """All detectable problems: checksums, row counts, lag behind the store."""
    try:
        manifest = manifests.load(folder)
    except StorageError as problem:
        return [str(problem)]
    found = []
    for part in manifest.parts:
        for name, (size, checksum) in part.files.items():
            try:
                verify(folder / part.folder / name, size, checksum)
            except StorageError as problem:
                found.append(problem.message)
    if found:
        return found
    behind = store.last_change() - manifest.applied
    if is_foreign(manifest.applied, manifest.card, store):
        found.append(FOREIGN)
    elif behind:
        found.append(f"the index is {counted(behind, 'change')} {BEHIND}")
    else:
        alive = _alive(folder, manifest)
        if alive != chunks:
            found.append(f"the index holds {counted(alive, 'chunk')} and the store {chunks}")
    return found


def _alive(folder: Path, manifest: Manifest) -> int:
    generation = Generation(folder, manifest)
    return sum(
        len(segment.columns.keys) if segment.alive is None else int(segment.alive.sum())
        for segment in generation.segments
    )
