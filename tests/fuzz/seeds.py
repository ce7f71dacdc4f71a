"""Is at least one seed of a harness sound, so that changes of it get beyond the first line?"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from assay.errors import AssayError
from tests.fuzz.harness import Harness


def accepted(harness: Harness) -> bool:
    """Whether any seed is read as what it is, in a few tries: readers may choose how to read."""
    refusals = {"problems", "nothing"}
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / harness.file
        for seed in harness.seeds * 12:
            path.write_bytes(seed)
            try:
                if harness.read(path, rng) not in refusals:
                    return True
            except AssayError:
                continue
    return False
