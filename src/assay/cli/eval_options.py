"""Which options do commands take that score, compare or draw intervals?"""

from typing import Annotated, TypeAlias

import typer

from assay.model.ranking import MatchName

Measures: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help='Measures, e.g. "nDCG@10 Recall@{5,10,20}".'),
]
Matching: TypeAlias = Annotated[
    MatchName,
    typer.Option("--match", help="By the ids that were judged, by document, or by span."),
]
PerComponent: TypeAlias = Annotated[
    bool, typer.Option("--per-component", help="Score every component beside the hybrid.")
]
Waterfall: TypeAlias = Annotated[
    bool, typer.Option("--waterfall", help="Say where each relevant document was lost.")
]
PerQuery: TypeAlias = Annotated[bool, typer.Option("--per-query", help="Show every query.")]
Confidence: TypeAlias = Annotated[
    float | None, typer.Option("--confidence", help="Level of the intervals.")
]
CiMethod: TypeAlias = Annotated[str | None, typer.Option("--ci-method", help="bca or percentile.")]
Resamples: TypeAlias = Annotated[
    int | None, typer.Option("--resamples", help="Bootstrap resamples.")
]
Seed: TypeAlias = Annotated[int | None, typer.Option("--seed", help="Seed of every random choice.")]
Alpha: TypeAlias = Annotated[float | None, typer.Option("--alpha", help="Significance level.")]
Margin: TypeAlias = Annotated[
    float | None, typer.Option("--margin", help="Differences below this do not matter.")
]
