"""What can differ between two trainings?"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of one training; the defaults are those of the shipped weights."""

    name: str = "assay-bio"
    seed: int = 0
    mean: str = ""  # seeds whose weights are averaged instead of a training
    seconds: float = 500.0  # the learning rate falls to zero by then
    steps: int = 2300  # instead of seconds, unless it is 0
    batch: int = 192
    wrong: int = 3  # hard wrong answers a query
    rate: float = 1e-4
    short_rate: float = 2e-4  # of the short way's own layers
    head_rate: float = 5e-4
    warmup: float = 0.05
    width: int = 192
    query_width: int = 48
    anchor: float = 3.0  # how strongly vectors stay near those of the start
    contrast: float = 0.3  # the right answer against all others, dense
    sparse_contrast: float = 1.0
    likeness: float = 1.0  # the teachers' view of a whole batch
    sparse_likeness: float = 0.7
    together: float = 0.0  # share of all teachers in what vectors learn of it; the rest is bge's
    listwise: float = 1.0  # the order of a query's own candidates, with the cross-encoder
    teach_dense: float = 0.4
    teach_splade: float = 0.3
    teach_bm25: float = 0.3
    teach_judge: float = 0.3
    peak: float = 0.06  # how sharply the teachers' scores, between 0 and 1, tell passages apart
    whole: float = 0.35  # how often a passage keeps what its query was taken from
    keywords: float = 0.25  # how often a long query is cut to a few of its rare words
    claims: float = 0.03  # share of SciFact's claims among the queries
    mesh: float = 0.3  # graded targets from shared headings
    inner: float = 1.0  # the short way, which learns at every second step
    sparsity: float = 0.01
    cut: float = 0.3  # from which part of the training on passages keep 160 terms
    average: float = 0.998
    fold: int = 0  # claims kept for measuring: 1, 2 or 3; 0 keeps none
    headings: bool = True  # MeSH headings and synonyms as queries
    temperature: float = 0.02


def parse(arguments: list[str]) -> Recipe:
    """A recipe from ``key=value`` words."""
    kinds = {each.name: type(getattr(Recipe(), each.name)) for each in fields(Recipe)}
    values = {}
    for argument in arguments:
        key, _, text = argument.partition("=")
        if key not in kinds:
            raise SystemExit(f"{key} is not a setting; known: {', '.join(kinds)}")
        values[key] = text == "True" if kinds[key] is bool else kinds[key](text)
    return replace(Recipe(), **values)
