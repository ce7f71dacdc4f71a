"""How far do judges agree with people about relevance, and what do they save?

``python -m reproduce.relevance --data FOLDER`` takes the first ten documents by words for some
queries of NFCorpus (test), MED and CovidQA, and lets ``words`` and ``entailment`` grade them. What
people did not judge counts as irrelevant. Kappa is of "relevant" against the rest, and quadratic
over grades. Then the precision and nDCG of the list are estimated a thousand times from thirty
queries that people judged, alone and together with the judge's grades of all others.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import assay
from assay.annotation.joint import MEASURES
from assay.app.engine import judge_of
from assay.judges.relevance import relevance
from assay.settings import configure
from assay.stats.kappa import cohen_kappa
from assay.stats.prediction_powered import prediction_powered_mean
from reproduce.data import existing, json_lines, judged, query_texts

DEPTH, QUERIES, LABELS, DRAWS, SEED = 10, 120, 30, 1_000, 0
HIGHEST = 3
COLLECTIONS = {"NFCorpus test": "nfcorpus", "MED": "med1033", "CovidQA": "covidqa"}
WORDS_ONLY = {"components": "bm25", "dense_model": "none", "splade_model": "none"}


@dataclass(frozen=True, slots=True)
class Pool:
    """Queries with their passages, best first, and the grades of people."""

    texts: Mapping[str, str]
    passages: Mapping[str, Sequence[str]]
    grades: Mapping[str, Sequence[int]]


def pooled(folder: Path, scratch: Path) -> Pool:
    """The first documents by words for some queries, drawn at random."""
    known = judged(folder, "test").by_query
    texts = query_texts(folder)
    names = random.Random(SEED).sample(
        sorted(known.keys() & texts.keys()), k=min(QUERIES, len(known))
    )
    rows = {row["_id"]: row for row in json_lines(existing(folder / "corpus.jsonl"))}
    passages: dict[str, list[str]] = {}
    grades: dict[str, list[int]] = {}
    settings = configure({"home": scratch / folder.name, **WORDS_ONLY})
    with assay.Workspace(settings) as workspace:
        workspace.add(
            {"id": name, "title": row.get("title", ""), "text": row["text"] or "-"}
            for name, row in rows.items()
        )
        for name in names:
            found = workspace.search(texts[name], k=DEPTH, floor=False, boosts=False)
            ids = list(dict.fromkeys(one.chunk.doc_id for one in found.results))
            passages[name] = [_text(rows[one]) for one in ids]
            grades[name] = [min(max(known[name].get(one, 0), 0), HIGHEST) for one in ids]
    return Pool({name: texts[name] for name in names}, passages, grades)


def _text(row: Mapping[str, str]) -> str:
    return f"{row.get('title', '')}\n{row['text']}".strip()


def opinions(spec: str, pool: Pool) -> dict[str, list[int]]:
    """What a judge says of each passage."""
    judge = judge_of(configure({}), spec)
    return {
        name: [one.grade or 0 for one in relevance(judge, text, pool.passages[name])]
        for name, text in pool.texts.items()
    }


def agreement(pool: Pool, said: Mapping[str, Sequence[int]]) -> tuple[float, float]:
    """Kappa of relevant against the rest, and quadratic over grades."""
    people = [grade for name in pool.texts for grade in pool.grades[name]]
    judge = [grade for name in pool.texts for grade in said[name]]
    plain = cohen_kappa([one > 0 for one in people], [one > 0 for one in judge])
    graded = cohen_kappa(people, judge, weights="quadratic", categories=tuple(range(HIGHEST + 1)))
    return plain.value or 0.0, graded.value or 0.0


def saved(measure: str, pool: Pool, said: Mapping[str, Sequence[int]]) -> str:
    """The cells of one measure: by people, by the judge, intervals and queries saved."""
    y, f = (
        np.array([MEASURES[measure](list(enumerate(by[name], 1)), DEPTH) for name in pool.texts])
        for by in (pool.grades, said)
    )
    rng = np.random.default_rng(SEED)
    held, widths, more = [], [], []
    for _ in range(DRAWS):
        order = rng.permutation(len(y))
        few, others = order[:LABELS], order[LABELS:]
        found = prediction_powered_mean(y[few], f[few], f[others])
        ends = (found.interval, found.labelled_interval)
        held.append([(one.low or 0.0) <= y.mean() <= (one.high or 0.0) for one in ends])
        widths.append([(one.high or 0.0) - (one.low or 0.0) for one in ends])
        more.append(found.saved or 0)
    covers, wide = np.mean(held, axis=0), np.mean(widths, axis=0)
    return (
        f"{y.mean():.3f} / {f.mean():.3f} | {covers[0]:.3f}, {wide[0]:.3f} "
        f"| {covers[1]:.3f}, {wide[1]:.3f} | {np.median(more):.0f}"
    )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, default=Path("bench/work/relevance"))
    given = parser.parse_args()
    print("| collection | judge | measure | kappa, quadratic | mean: people / judge "
          "| joint: covers, width | queries alone | queries saved of 30 |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for title, name in COLLECTIONS.items():
        pool = pooled(given.data / name, given.scratch)
        for spec in ("words", "entailment"):
            said = opinions(spec, pool)
            kappas = "{:.3f}, {:.3f}".format(*agreement(pool, said))
            for measure in MEASURES:
                cells = "— | — | — | —" if len(pool.texts) <= LABELS else saved(measure, pool, said)
                print(f"| {title} ({len(pool.texts)}) | {spec} | {measure}@{DEPTH} | {kappas} "
                      f"| {cells} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
