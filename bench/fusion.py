"""How long do fusion, boosts and the account of ten hits take, without any search?

    python -m bench.fusion

Three lists of 100 candidates; the lists share half of them, or none (the most there can be). The
figures are milliseconds of processor time for all of it: fuse, read the query, boost, explain ten.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence

from assay.model.document import Chunk
from assay.model.query import Hit
from assay.search.boost import apply_boosts, default_lexicon, detect
from assay.search.fusion import fuse
from assay.search.options import COMPONENTS, FusionMethod, Normalization, SearchOptions
from assay.search.query_type import classify

QUERY = "pembrolizumab dosage and adverse events in elderly patients with melanoma"
LABELS = ("adverse_events", "dosage", "methods", "results", "introduction")
ROUNDS = 1000


def lists(pool: int, seed: int) -> dict[str, list[Hit]]:
    """Three lists of 100 out of so many candidates."""
    draw = random.Random(seed)
    keys = list(range(pool))
    draw.shuffle(keys)
    found = {}
    for at, name in enumerate(COMPONENTS):
        chosen = keys[100 * at : 100 * at + 100] if pool >= 300 else draw.sample(keys, 100)
        scores = sorted((draw.random() * 20 for _ in chosen), reverse=True)
        found[name] = [
            Hit(key, f"PMC{key}:chunk_{key % 7}", score)
            for key, score in zip(chosen, scores, strict=True)
        ]
    return found


def once(given: Mapping[str, Sequence[Hit]], chunks: list[Chunk], options: SearchOptions) -> None:
    """What a search does after its components answered."""
    lexicon = default_lexicon()
    fused = fuse(given, options, classify(QUERY))
    rows = apply_boosts(fused, chunks.__getitem__, detect(QUERY, lexicon), lexicon)
    for row in rows[:10]:
        one = row.fused
        _ = one.ranks, one.raw, one.normalized, one.contributions


def main() -> None:
    """Print a line for every way to fuse."""
    chunks = [
        Chunk(f"c{key}", f"d{key}", "", section_label=LABELS[key % 5], is_table=key % 6 == 0)
        for key in range(300)
    ]
    weighted = FusionMethod.WEIGHTED
    ways = {
        "rrf": SearchOptions(),
        "weighted min-max": SearchOptions(fusion_method=weighted),
        "weighted z-score": SearchOptions(
            fusion_method=weighted, normalization=Normalization.Z_SCORE
        ),
        "weighted dbsf": SearchOptions(fusion_method=weighted, normalization=Normalization.DBSF),
    }
    for pool in (150, 300):
        given = lists(pool, seed=1)
        for name, options in ways.items():
            times = []
            for _ in range(ROUNDS):
                began = time.process_time()
                once(given, chunks, options)
                times.append(1000 * (time.process_time() - began))
            cuts = statistics.quantiles(times, n=100)
            print(f"{name}, {pool} in the pool: P50 {cuts[49]:.3f} P95 {cuts[94]:.3f} ms")


if __name__ == "__main__":
    main()
