"""Which weights and thresholds make grades of relevance from vectors (``judges/meaning.py``)?

``python -m bench.judge_relevance --data FOLDER`` takes, for some queries, the first seven documents
by words and two others at random. It fits on NFCorpus (dev), Cranfield and every other short
answer of CovidQA, beside an answer to another question, and prints AUROC and kappa of "relevant" on
these and on what was not used: NFCorpus (test), MED, passages and the other answers of CovidQA.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from assay.app.engine import shipped_encoder
from assay.evidence.confidence import key_words
from assay.judges.meaning import features
from assay.model.arrays import FloatArray
from assay.settings import configure
from reproduce.data import existing, json_lines, opened

SETS = {
    "NFCorpus dev": ("nfcorpus", "dev", 80),
    "Cranfield": ("cranfield", "test", 80),
    "NFCorpus test": ("nfcorpus", "test", 80),
    "MED": ("med1033", "test", 30),
    "CovidQA": ("covidqa", "test", 80),
}
FITTED = ("NFCorpus dev", "Cranfield")
BEST, OTHERS, ANSWERS, SEED = 7, 2, 240, 0
SHARES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Questions beside texts, as numbers, and whether people find a text relevant."""

    x: FloatArray
    y: FloatArray


def passages(folder: Path, split: str, count: int) -> Iterator[tuple[str, str, bool]]:
    """Question, passage and whether it is relevant."""
    known: dict[str, dict[str, int]] = {}
    with opened(existing(folder / "qrels" / f"{split}.tsv")) as lines:
        for query, document, grade in list(csv.reader(lines, delimiter="\t"))[1:]:
            known.setdefault(query, {})[document] = int(grade)
    rows = list(json_lines(existing(folder / "corpus.jsonl")))
    texts = [f"{row.get('title', '')}\n{row['text']}".strip() or "." for row in rows]
    postings = _postings(texts)
    asked = {
        row["_id"]: row["text"]
        for row in json_lines(existing(folder / "queries.jsonl"))
        if row["_id"] in known
    }
    chance = random.Random(SEED)
    for name in chance.sample(sorted(asked), k=min(count, len(asked))):
        scores: Counter[int] = Counter()
        for word in set(key_words(asked[name])):
            scores.update(postings.get(word, {}))
        first = [at for at, _ in scores.most_common(BEST)]
        for at in {*first, *chance.sample(range(len(rows)), OTHERS)}:
            yield asked[name], texts[at], known[name].get(rows[at]["_id"], 0) > 0


def _postings(texts: Sequence[str]) -> dict[str, dict[int, float]]:
    """BM25 of every word, by document."""
    words = [Counter(key_words(text)) for text in texts]
    count, mean = (
        Counter(w for one in words for w in one),
        sum(map(Counter.total, words)) / len(texts),
    )
    found: dict[str, dict[int, float]] = {}
    for at, one in enumerate(words):
        long = 1.2 * (0.25 + 0.75 * one.total() / mean)
        for word, times in one.items():
            rare = math.log(1 + (len(texts) - count[word] + 0.5) / (count[word] + 0.5))
            found.setdefault(word, {})[at] = rare * times * 2.2 / (times + long)
    return found


def answers(folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Questions of CovidQA with their own short answer and with that to another question."""
    rows = [
        (row["text"], row["metadata"]["answers"][0])
        for row in json_lines(existing(folder / "queries.jsonl"))
        if row["metadata"].get("answers")
    ]
    drawn = random.Random(SEED).sample(rows, k=min(ANSWERS, len(rows)))
    for at, (question, answer) in enumerate(drawn):
        yield question, answer, True
        yield question, drawn[(at + 7) % len(drawn)][1], False


def read(rows: Sequence[tuple[str, str, bool]]) -> Pairs:
    """The same as numbers."""
    model = shipped_encoder(configure({}))
    x = [features(model, question, [text])[0] for question, text, _ in rows]
    return Pairs(np.array(x), np.array([right for _, _, right in rows], np.float64))


def fitted(parts: Sequence[Pairs]) -> LogisticRegression:
    """A logistic model to which every part counts alike."""
    weights = np.concatenate([np.full(len(one.y), 1 / len(one.y)) for one in parts])
    x, y = np.concatenate([one.x for one in parts]), np.concatenate([one.y for one in parts])
    return LogisticRegression(C=100).fit(x, y, sample_weight=weights * len(y))


def report(name: str, pairs: Pairs, model: LogisticRegression) -> str:
    """AUROC, and kappa at every threshold."""
    said = model.predict_proba(pairs.x)[:, 1]
    kappas = (f"{share}: {cohen_kappa_score(pairs.y, said >= share):.3f}" for share in SHARES)
    return f"{name:16} AUROC {roc_auc_score(pairs.y, said):.3f}  kappa {'  '.join(kappas)}"


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    found: Mapping[str, Pairs] = {
        name: read(list(passages(data / folder, split, count)))
        for name, (folder, split, count) in SETS.items()
    }
    short = list(answers(data / "covidqa"))
    mine, rest = (read([*short[at::4], *short[at + 1 :: 4]]) for at in (0, 2))
    model = fitted([*(found[name] for name in FITTED), mine])
    print(
        "cosine, terms, short:", np.round(model.coef_[0], 3), "bias:", np.round(model.intercept_, 2)
    )
    for name, pairs in {**found, "CovidQA answers": rest}.items():
        print(report(f"{name}{' (fitted)' if name in FITTED else ''}", pairs, model))


if __name__ == "__main__":
    main()
