"""Which options does everything take that searches?"""

from typing import Annotated, TypeAlias

import typer

Components: TypeAlias = Annotated[
    str | None, typer.Option(help="Of bm25, splade, dense; as in bm25,dense.")
]
Fusion: TypeAlias = Annotated[str | None, typer.Option(help="rrf or weighted.")]
Weights: TypeAlias = Annotated[str | None, typer.Option(help="As in bm25=.3,splade=.2,dense=.5.")]
RrfK: TypeAlias = Annotated[int | None, typer.Option(help="The constant of rrf.")]
PerTypeWeights: TypeAlias = Annotated[
    bool | None, typer.Option("--per-type-weights/--one-weight", help="Weights by query type.")
]
Normalization: TypeAlias = Annotated[
    str | None, typer.Option(help="min-max, z-score or dbsf, for weighted fusion.")
]
Depth: TypeAlias = Annotated[int | None, typer.Option(help="Candidates of each component.")]
Rerank: TypeAlias = Annotated[
    bool | None, typer.Option("--rerank/--no-rerank", help="Let a cross-encoder have its say.")
]
Reranker: TypeAlias = Annotated[str | None, typer.Option(help="Which cross-encoder.")]
Boosts: TypeAlias = Annotated[
    bool | None, typer.Option("--boosts/--no-boosts", help="Lift what the query asks for.")
]


def switch(flag: bool | None) -> str | None:
    """A flag as its setting says it; None where it was not given."""
    return None if flag is None else "on" if flag else "off"
