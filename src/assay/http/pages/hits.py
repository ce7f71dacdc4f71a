"""How is a result shown: its text with the query words marked, and its score in parts?"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from assay.render.markup import safe_table
from assay.render.search import account, folded
from assay.search.response import SearchHit, SearchResponse
from assay.search.snippet import Snippet, snippet, wanted_stems

WHOLE = 20_000
BAR = 1_000


@dataclass(frozen=True, slots=True)
class Share:
    """What one component adds to a score; ``x`` and ``width`` place it in the bar."""

    component: str
    rank: int
    raw: float
    contribution: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class HitView:
    """One result; ``moved`` is its rank in the other pane minus its own, None if absent."""

    hit: SearchHit
    title: Markup
    summary: Markup
    whole: Markup
    table: Markup
    shares: tuple[Share, ...]
    account: tuple[str, ...]
    folded: tuple[str, ...]
    moved: int | None = None


def hit_views(response: SearchResponse, other: SearchResponse | None = None) -> list[HitView]:
    """The results of a response; beside another one, with how far each has moved."""
    wanted = wanted_stems(response.query, response.synonyms)
    most = max((hit.fused for hit in response.results), default=0.0)
    ranks = {hit.chunk.chunk_id: hit.rank for hit in other.results} if other else {}
    return [_view(hit, wanted, most, ranks) for hit in response.results]


def marked(text: Snippet) -> Markup:
    """Text with the words of the query marked."""
    parts, written = [], 0
    for start, end in text.marks:
        parts.append(escape(text.text[written:start]))
        parts.append(Markup("<mark>{}</mark>").format(text.text[start:end]))
        written = end
    return Markup("").join([*parts, escape(text.text[written:])])


def _view(hit: SearchHit, wanted: set[str], most: float, ranks: dict[str, int]) -> HitView:
    chunk = hit.chunk
    before = ranks.get(chunk.chunk_id)
    return HitView(
        hit=hit,
        title=marked(snippet(chunk.title, wanted, WHOLE)),
        summary=marked(snippet(chunk.text, wanted)),
        whole=marked(snippet(chunk.text, wanted, WHOLE)),
        table=Markup(safe_table(chunk.table_html)) if chunk.table_html else Markup(),  # noqa: S704
        shares=_shares(hit, most),
        account=tuple(account(hit)),
        folded=tuple(folded(hit)),
        moved=None if before is None else before - hit.rank,
    )


def _shares(hit: SearchHit, most: float) -> tuple[Share, ...]:
    shares, x = [], 0.0
    for name, contribution in hit.contributions.items():
        rank, raw = hit.ranks[name], hit.component_scores[name]
        if contribution is None or rank is None or raw is None:
            continue
        width = BAR * contribution / most if most else 0.0
        shares.append(Share(name, rank, raw, contribution, x, width))
        x += width
    return tuple(shares)
