"""Which rankings and judgments are scored, and where do they lie?

Every workload lies in ``bench/work/NAME``, made by ``bench.generate``. A is like MS MARCO's
development set, B like TREC-COVID. Nothing heavy is imported here: the worker measures how
long imports take.
"""

from __future__ import annotations

import os
from typing import NamedTuple

WORK = os.path.join(os.path.dirname(__file__), "work")
SIZES = (1, 5, 10, 20)  # millions of rows
QUICK_SIZES = (0.5, 1)


class Workload(NamedTuple):
    """A recipe: ids and grades like which collection, how many queries, results and judgments.

    ``forms`` adds dicts and frames to the TREC files. A leaderboard has many runs (``bench.many``).
    """

    name: str
    like: str
    queries: int
    depth: int = 1000
    judged: int = 1
    seed: int = 1
    forms: bool = True
    version: int = 1
    runs_made: int = 1

    def path(self, file: str) -> str:
        return os.path.join(WORK, self.name, file)

    @property
    def run(self) -> str:
        return self.path("run.trec")

    @property
    def runs(self) -> list[str]:
        """The runs of a leaderboard."""
        folder = self.path("runs")
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    @property
    def qrels(self) -> str:
        return self.path("qrels.trec")

    @property
    def rows(self) -> int:
        return self.queries * self.depth * self.runs_made


def size_name(millions: float) -> str:
    return f"size-{millions}M"


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("A", "msmarco", 6_980),
        Workload("B", "covid", 50, judged=1_320),
        Workload("many", "leaderboard", 50, runs_made=200),
        Workload("many-quick", "leaderboard", 50, runs_made=10),
        Workload("A-quick", "msmarco", 300),
        Workload("A-warm", "msmarco", 40),
        *(
            Workload(size_name(size), "msmarco", int(size * 1000), forms=False)
            for size in dict.fromkeys((*QUICK_SIZES, *SIZES))
        ),
    )
}
