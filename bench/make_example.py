"""Writes the example that ``assay demo`` scores: made-up judgments and two made-up runs, seeded.

Run from the repository root: ``python -m bench.make_example``. The files are committed; a test
checks that they are what this script writes.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "src" / "assay" / "data" / "example"
TYPES = ("exact_term", "paraphrase", "complex_clinical")
DEPTH = 30
# how far up a relevant document stands, by run and type: the two runs differ where people expect it
SKILL = {
    "bm25": {"exact_term": 2.4, "paraphrase": 0.7, "complex_clinical": 1.0},
    "hybrid": {"exact_term": 2.3, "paraphrase": 1.5, "complex_clinical": 1.3},
}


def main() -> None:
    """Write every file of the example."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def files(seed: int = 20261115) -> dict[str, str]:
    """Name and content of each file."""
    rng = random.Random(seed)
    documents = [
        f"PMC{number}:chunk_{rng.randint(0, 40)}" for number in rng.sample(range(10**6, 10**7), 400)
    ]
    judged: list[dict[str, object]] = []
    runs: dict[str, list[str]] = {name: [] for name in SKILL}
    for number in range(1, 51):
        query = f"q{number:03d}"
        kind = TYPES[0] if number <= 20 else TYPES[1] if number <= 35 else TYPES[2]
        pool = rng.sample(documents, 80)
        grades = {doc: rng.choice((1, 1, 2, 3)) for doc in pool[: rng.randint(2, 9)]}
        grades |= dict.fromkeys(pool[20:78], 0)
        judged.append(
            {
                "query_id": query,
                "query_type": kind,
                "relevant_docs": [{"doc_id": doc, "grade": grade} for doc, grade in grades.items()],
            }
        )
        luck = {doc: rng.gauss(0, 1) for doc in pool}  # shared, so that the runs are paired
        for name, skill in SKILL.items():
            scores = {
                doc: 0.7 * luck[doc]
                + 0.5 * rng.gauss(0, 1)
                + skill[kind] * (grades.get(doc, 0) > 0)
                for doc in pool
            }
            best = sorted(scores, key=lambda doc: -scores[doc])[:DEPTH]
            runs[name] += [
                f"{query} Q0 {doc} {rank} {20 + 4 * scores[doc]:.4f} {name}"
                for rank, doc in enumerate(best, 1)
            ]
    return {
        "judgments.jsonl": "".join(json.dumps(row) + "\n" for row in judged),
        **{f"{name}.trec": "\n".join(lines) + "\n" for name, lines in runs.items()},
    }


if __name__ == "__main__":
    main()
