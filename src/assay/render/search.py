"""How does an answer read, in words that a newcomer understands?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.plural import counted, share_of
from assay.search.boost.detect import TABULAR
from assay.search.response import SearchHit, SearchResponse
from assay.search.subject import By
from assay.search.why import Why

NAMED = 5
"""Folded passages that are named."""
SURE = 0.5
"""How sure it must be that something is about a query, for its results not to be called weak."""
BEST = 10
"""Results of a component among which a match is not weak."""


def headline(response: SearchResponse) -> str:
    """How many, from where, how and how fast."""
    parts = [
        share_of(len(response.results), response.total_candidates, "candidate")
        + _after_folding(response),
        " + ".join(response.components_used),
        _method(response),
    ]
    if response.reranked:
        parts.append(f"reranked by {response.reranker_model}")
    parts.append(f"{response.timings_ms.get('total', 0):.0f} ms")
    return " · ".join(parts) + (" (from memory)" if response.cached else "")


def _after_folding(response: SearchResponse) -> str:
    folded = response.total_candidates - response.total_results
    return f" ({folded} folded under others)" if response.total_results and folded else ""


def _method(response: SearchResponse) -> str:
    metadata = response.fusion_metadata
    if len(response.components_used) == 1:
        return "one component"
    weights = " ".join(f"{name}={weight:.2f}" for name, weight in metadata["weights"].items())
    if kind_of_query := metadata.get("weights_for"):
        weights += f" for {kind_of_query.replace('_', ' ')}"
    if model := metadata.get("weights_of_model"):
        weights += f" (tuned for {model})"
    if metadata["method"] != "rrf":
        return f"weighted {weights}"
    plain = len({round(weight, 9) for weight in metadata["weights"].values()}) < 2
    return f"rrf k={metadata['k']}" + ("" if plain else f" {weights}")


def understood(response: SearchResponse) -> list[str]:
    """What was read out of the query."""
    lines = [
        f"asks for {kind(intent['intent'])}: {_lifted(intent, response)}"
        + (f' ("{intent["phrase"]}")' if intent["phrase"] else " (asked for)")
        for intent in response.intents
    ]
    if (about := subject(response)) and response.intents:
        lines.append(about)
    if response.synonyms:
        lines.append(f"also looked for: {', '.join(response.synonyms)}")
    lines += response.notes
    if said := weakness(response):
        lines.append(said)
    if response.did_you_mean and not response.searched_for:
        lines.append(f"did you mean: {response.did_you_mean}")
    return lines


def subject(response: SearchResponse) -> str:
    """What the query is about, and whether anything here is; empty where it names nothing."""
    if response.subject_by == By.TITLE:
        return "is the title of a document: nothing is lifted"
    if response.subject_by not in (By.NAMES, By.TEXT):
        return ""
    about = f"is about {', '.join(response.subject)}"
    speaking = sum(hit.about_subject for hit in response.results)
    if response.subject_by == By.NAMES:
        return about if speaking else f"{about}: nothing shown is"
    shown = "nothing shown speaks"
    if speaking:
        shown = share_of(speaking, len(response.results), "result", "speaks")
    return f"{about}: no document is named so, and {shown} of it"


def _lifted(intent: Mapping[str, Any], response: SearchResponse) -> str:
    """By how much it lifted what is shown; it does nothing beside a larger factor."""
    applied = (one for hit in response.results for one in hit.boosts if one.applied)
    if any(one.intent == intent["intent"] for one in applied):
        return f"lifted ×{intent['factor']:.2g}"
    return "lifted nothing of what is shown"


def weakness(response: SearchResponse) -> str:
    """That the results may not be about the query, as far as that can be told; else empty."""
    sure = response.confidence
    if not response.results or sure is None or sure >= SURE:
        return ""
    return f"weak matches: it is {sure:.0%} sure that any of them is about the query"


def weak(hit: SearchHit) -> str:
    """Why a result is a weak match: no component has it among its best. Empty where one does."""
    ranks = [rank for rank in hit.ranks.values() if rank is not None]
    if len(hit.ranks) < 2 or not ranks or min(ranks) <= BEST:
        return ""
    return f"no component has it among its best {BEST}"


def kind(intent: str) -> str:
    """What a question asks for, in the words of people."""
    return "tables" if intent == TABULAR else intent.replace("_", " ")


def troubles(response: SearchResponse) -> list[str]:
    """What is missing from the answer, loudly; nothing where it is whole."""
    lines = []
    if response.component_errors:
        part = [name for name in response.component_errors if name.endswith("_partial")]
        gone = [name for name in response.component_errors if name not in part]
        if gone:
            lines.append(f"DEGRADED: {', '.join(gone)} (left out of this answer)")
        if part:
            lines.append(f"DEGRADED: {', '.join(part)} (only a part of the data was reached)")
    if response.reranker_error:
        lines.append(f"DEGRADED: not reranked: {response.reranker_error}")
    return lines + [f"  {warning}" for warning in response.warnings]


def found_by(hit: SearchHit) -> list[str]:
    """Each component that found it, with its rank there."""
    return [f"{name} {rank}" for name, rank in hit.ranks.items() if rank is not None]


def boost(hit: SearchHit) -> str:
    """The factor that was applied and why; empty where none was."""
    applied = next((one for one in hit.boosts if one.applied), None)
    return "" if applied is None else f"×{applied.factor:.2g} {kind(applied.intent)}"


def facets(response: SearchResponse) -> list[str]:
    """What the candidates have in common: a line for each field."""
    lines = []
    for one in response.facets:
        values = [f"{value.value} ({value.count})" for value in one.values]
        values += [f"{one.more} more"] if one.more else []
        values += [f"not known ({one.missing})"] if one.missing else []
        lines.append(f"{one.field}: {', '.join(values) or 'nothing found'}")
    return lines


def folded(hit: SearchHit) -> list[str]:
    """What a result stands for beside itself: how many passages, why, and which."""
    lines = []
    for reason in dict.fromkeys(one.reason for one in hit.folded):
        ids = [one.chunk_id for one in hit.folded if one.reason == reason]
        cut = hit.folded_count > len(hit.folded)  # what is not listed has a reason nobody knows
        more = ", ..." if cut or len(ids) > NAMED else ""
        named = ", ".join(ids[:NAMED])
        number = f"{'at least ' if cut else ''}{counted(len(ids), 'more passage')}"
        lines.append(f"and {number} ({reason}): {named}{more}")
    return lines


def account(hit: SearchHit) -> list[str]:
    """Where every part of a score comes from, in sentences."""
    parts = [
        f"{name} {share:.4f} (rank {hit.ranks[name]}, its score {hit.component_scores[name]:.4g})"
        for name, share in hit.contributions.items()
        if share is not None
    ]
    lines = [f"fused {hit.fused:.4f} = {' + '.join(parts)}: rank {hit.rank_fused}"]
    lines += terms(hit)
    missed = [name for name, rank in hit.ranks.items() if rank is None]
    if missed:
        lines.append(f"not found by {', '.join(missed)}")
    for one in hit.boosts:
        effect = one.reason
        if one.applied:
            effect = f"{hit.fused:.4f} × {one.factor:.2g} = {hit.boosted:.4f}"
            effect += f": rank {hit.rank_boosted}" + (f" ({one.reason})" if one.reason else "")
        lines.append(f"boost {kind(one.intent)} ×{one.factor:.2g} ({one.matched}): {effect}")
    if hit.reranker_score is not None:
        share = 1.0 if hit.reranker_share is None else hit.reranker_share
        counts = (
            "" if share == 1 else f", counts {share:.0%} beside the order before: {hit.score:.4f}"
        )
        lines.append(f"reranker {hit.reranker_score:.4f}{counts}: rank {hit.rank}")
    return lines


def terms(hit: SearchHit) -> list[str]:
    """The terms that gave each component its score; none where nobody asked for them."""
    return [
        f"{name} {hit.component_scores[name]:.4g} = "
        + " + ".join(f"{term} {share:.3g}" for term, share in those.items())
        for name, those in hit.terms.items()
    ]


def absence(why: Why) -> list[str]:
    """Why a document is not there, step by step."""
    lines = [f"{why.document}: {why.verdict.replace('_', ' ')}", f"  {why.sentence}"]
    if why.verdict == "not_in_index":
        lines.append(
            "  assay corpus show says whether it was ingested, assay index update indexes it"
        )
    lines += [f"  above it: {one.chunk_id} at {one.rank}, {one.reason}" for one in why.overtaken_by]
    for one in why.boosts:
        effect = f": {one.reason}" if one.reason else ""
        lines.append(f"  boost {kind(one.intent)} ×{one.factor:.2g} ({one.matched}){effect}")
    return lines
