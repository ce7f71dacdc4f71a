"""How do queries fare by group: all, with an intent that search reads, with none, by intent?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import assay
from assay.app.workspace import Workspace
from assay.model.judgments import Qrels
from assay.search.request import SearchOptions

MEASURE = "nDCG@10"
ALL, READ, NOT_READ = "all", "intent read", "no intent read"
PATIENCE = 60_000.0  # a slow machine must not lose a component


def values_by_group(
    home: Workspace,
    asked: Mapping[str, str],
    qrels: Qrels,
    options: SearchOptions,
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, float]:
    """The mean of the measure in every group; ``groups`` are others that a query counts in."""
    patient = replace(options, component_timeout_ms=PATIENCE)
    ranked = {
        query: [hit.chunk.chunk_id for hit in home.search(text, patient).results]
        for query, text in asked.items()
    }
    values = assay.score(qrels, ranked, [MEASURE]).per_query(MEASURE)
    found: dict[str, list[float]] = {}
    for query, text in asked.items():
        read = home.search(text, replace(patient, boosts=True)).intents
        intents = {str(one["intent"]) for one in read}
        names = [ALL, READ if intents else NOT_READ, *(groups or {}).get(query, ())]
        names += [f"asking {intent}" for intent in sorted(intents)]
        for name in names:
            found.setdefault(name, []).append(values[query] or 0.0)
    return {name: round(sum(each) / len(each), 4) for name, each in found.items()}
