"""What is asked in the benchmark of hybrid search, and who turns questions into vectors?

Passages and their vectors are those of the benchmark of the index (``index_data.py``). Questions
are real ones of the collection. Where a figure counts encoding, the shipped models encode
the real question, and then the synthetic vector of that number is searched for, since the passages
have synthetic vectors too.
"""

from __future__ import annotations

import gzip
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from assay.search.question import ask
from bench.index_data import COLLECTION, QUERIES, Workload

ASKED, ASKED_QUICK = 1_000, 40
WARM_UP = 20
DENSE_MODEL, SPLADE_MODEL = "bge-small-en-v1.5", "splade-tiny"
# What boosts look at: a tenth of the passages are tables, the others belong to sections.
SECTIONS = ("methods", "results", "adverse_events", "eligibility", "")
HINTS = ("", "", "ae", "dose")


class Questions:
    """The questions of one workload; all differ, so that nothing is answered from memory."""

    def __init__(self, data: Workload) -> None:
        self._data = data
        self.asked = ASKED_QUICK if data.spec.name == "tiny" else ASKED
        self.spoken = _real_questions(self.asked + WARM_UP)
        if data.spec.name == "real":
            self.texts = self.spoken
        else:
            self.texts = [_turned(data.questions, number) for number in range(len(self.spoken))]
        self.numbers = {text: number for number, text in reversed([*enumerate(self.texts)])}

    def dense(self, number: int) -> Any:
        """The vector that is searched for."""
        return self._data.dense_queries[number % QUERIES]

    def sparse(self, number: int) -> Any:
        """Terms and weights that are searched for."""
        return self._data.sparse_queries[number % QUERIES]


def _real_questions(wanted: int) -> list[str]:
    """Real questions, in the form in which components get them; the demo's own otherwise."""
    if COLLECTION.is_dir():
        with gzip.open(COLLECTION / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
            found = [json.loads(line)["text"] for line in lines]
    else:
        from assay import load_test_set

        found = [query.query_text for query in load_test_set("test_set_v1").queries]
    different = list(dict.fromkeys(ask(text).text for text in found))
    rounds = -(-wanted // len(different))
    told = [f"{text} {turn}" if turn else text for turn in range(rounds) for text in different]
    return told[:wanted]


def _turned(questions: list[str], number: int) -> str:
    """The same words in another order: as hard to answer, and another question."""
    words = questions[number % len(questions)].split()
    at = number // len(questions) % len(words)
    return " ".join((*words[at:], *words[:at]))


class Models:
    """The shipped models, as an engine without its own lanes would use them: side by side."""

    def __init__(self, questions: Questions) -> None:
        from assay.app.engine import model_shelf
        from assay.encode.encoders import open_dense, open_sparse
        from assay.settings import configure

        self._questions, models = questions, model_shelf(configure())
        self.dense = open_dense(DENSE_MODEL, models, threads=1)
        self.sparse = open_sparse(SPLADE_MODEL, models, threads=1)
        self._pool = ThreadPoolExecutor(8)

    def encode(self, number: int, *, sparse: bool) -> None:
        """Encode one question and forget it; see the module's docstring."""
        text = [self._questions.spoken[number]]
        other = self._pool.submit(self.sparse.encode, text, "query") if sparse else None
        self.dense.encode(text, "query")
        if other is not None:
            other.result()

    def alone(self) -> dict[str, list[float]]:
        """Milliseconds of each model for each question, one after the other."""
        return {
            "dense": [self._timed(self.dense, text) for text in self._questions.spoken],
            "splade": [self._timed(self.sparse, text) for text in self._questions.spoken],
        }

    @staticmethod
    def _timed(encoder: Any, text: str) -> float:
        start = time.perf_counter()
        encoder.encode([text], "query")
        return 1e3 * (time.perf_counter() - start)
