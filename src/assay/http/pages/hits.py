"""How is a result shown: its text with the query words marked, its score in parts, its grade?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup, escape

from assay.http.pages.page import address
from assay.model.document import Label
from assay.render.markup import safe_table
from assay.render.search import account, weak
from assay.search.response import FoldedHit, SearchHit, SearchResponse
from assay.search.snippet import Snippet, snippet, wanted_stems

NOTHING = Markup()
WHOLE = 20_000
BAR = 1_000
MOST_WHOLE = 20
"""Results up to which a page holds their whole texts; longer lists lead to the documents."""
MOST_EXPLAINED = 100
"""Results up to which each shows its text and its score in parts; longer lists are titles."""


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
class Lift:
    """What a boost adds to a score, placed in the bar behind the shares."""

    intent: str
    factor: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class TermShares:
    """The terms that gave one component its score, each with its part of the largest (0 to 100)."""

    component: str
    score: float
    terms: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class HitView:
    """One result; ``moved`` is its rank in the other pane minus its own, None if absent.

    Those of a list of more than ``MOST_EXPLAINED`` have a title and nothing else to read.
    """

    hit: SearchHit
    href: str
    title: Markup
    weak: str
    summary: Markup = NOTHING
    whole: Markup = NOTHING
    table: Markup = NOTHING
    shares: tuple[Share, ...] = ()
    lift: Lift | None = None
    terms: tuple[TermShares, ...] = ()
    account: tuple[str, ...] = ()
    folded: tuple[tuple[FoldedHit, Label | None], ...] = ()
    more: int = 0
    moved: int | None = None


def hit_views(
    response: SearchResponse,
    other: SearchResponse | None = None,
    labels: Mapping[str, Label] | None = None,
) -> list[HitView]:
    """The results of a response; beside another one, with how far each has moved.

    ``labels`` are of results that are folded under others.
    """
    wanted = wanted_stems(response.query, response.synonyms)
    most = max((max(hit.fused, hit.boosted) for hit in response.results), default=0.0)
    ranks = {hit.chunk.chunk_id: hit.rank for hit in other.results} if other else {}
    whole = len(response.results) <= MOST_WHOLE
    explained = len(response.results) <= MOST_EXPLAINED
    return [
        _view(hit, response.query, wanted, most, ranks, labels or {}, whole, explained)
        for hit in response.results
    ]


def marked(text: Snippet) -> Markup:
    """Text with the words of the query marked."""
    parts, written = [], 0
    for start, end in text.marks:
        parts.append(escape(text.text[written:start]))
        parts.append(Markup("<mark>{}</mark>").format(text.text[start:end]))
        written = end
    return Markup("").join([*parts, escape(text.text[written:])])


def document_link(doc_id: str, chunk_id: str, query: str = "") -> str:
    """The page of a document at one of its chunks, with the words of a query marked."""
    chosen = chunk_id if chunk_id != doc_id else ""
    found = address(f"/documents/{quote(doc_id)}", {"chunk": chosen, "q": query})
    return f"{found}#{quote(chosen)}" if chosen else found


def _view(
    hit: SearchHit,
    query: str,
    wanted: set[str],
    most: float,
    ranks: dict[str, int],
    labels: Mapping[str, Label],
    whole: bool,
    explained: bool,
) -> HitView:
    chunk = hit.chunk
    before = ranks.get(chunk.chunk_id)
    moved = None if before is None else before - hit.rank
    href = document_link(chunk.doc_id, chunk.chunk_id, query)
    title = marked(snippet(chunk.title, wanted, WHOLE))
    if not explained:
        return HitView(hit=hit, href=href, title=title, weak=weak(hit), moved=moved)
    shares = _shares(hit, most)
    table = safe_table(chunk.table_html) if whole and chunk.table_html else ""
    return HitView(
        hit=hit,
        href=href,
        title=title,
        summary=marked(snippet(chunk.text, wanted)),
        whole=marked(snippet(chunk.text, wanted, WHOLE)) if whole else Markup(),
        table=Markup(table),  # noqa: S704
        shares=shares,
        lift=_lift(hit, most, shares),
        terms=_terms(hit),
        account=tuple(account(hit)),
        folded=tuple((one, labels.get(one.chunk_id)) for one in hit.folded),
        more=hit.folded_count - len(hit.folded),
        weak=weak(hit),
        moved=moved,
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


def _lift(hit: SearchHit, most: float, shares: tuple[Share, ...]) -> Lift | None:
    """The boost that was applied, as the end of the bar; None where nothing was lifted."""
    applied = next((one for one in hit.boosts if one.applied), None)
    if applied is None or not most or hit.boosted <= hit.fused:
        return None
    end = shares[-1].x + shares[-1].width if shares else 0.0
    return Lift(applied.intent, applied.factor, end, BAR * (hit.boosted - hit.fused) / most)


def _terms(hit: SearchHit) -> tuple[TermShares, ...]:
    found = []
    for name, terms in hit.terms.items():
        score, largest = hit.component_scores.get(name), max(terms.values(), default=0.0)
        if score is not None and largest > 0:
            shown = tuple((term, part, 100 * part / largest) for term, part in terms.items())
            found.append(TermShares(name, score, shown))
    return tuple(found)
