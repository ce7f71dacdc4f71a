"""Does an installed wheel score as it should? It needs nothing but the wheel.

python ci/try_wheel.py [--compiled]

With ``--compiled``, the compiled loops must have come with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import assay
from assay import compiled

EXAMPLE = Path(assay.__file__).parent / "data" / "example"


def main() -> int:
    """0 where the figures are right."""
    qrels = assay.load_qrels(EXAMPLE / "judgments.jsonl")
    first, second = (
        assay.score(qrels, EXAMPLE / name, "nDCG@10 MAP") for name in ("bm25.trec", "hybrid.trec")
    )
    found = [round(run["nDCG@10"] or 0.0, 4) for run in (first, second)]
    p = assay.compare(first, second).contrasts[0].t_test.p or 0.0
    loops = "compiled" if compiled.library() is not None else "plain"
    print(f"assay {assay.__version__}: nDCG@10 {found}, p {p:.4f}, {loops} loops")
    wanted = "--compiled" not in sys.argv or loops == "compiled"
    return 0 if found == [0.4859, 0.5572] and round(p, 4) == 0.0205 and wanted else 1


if __name__ == "__main__":
    sys.exit(main())
