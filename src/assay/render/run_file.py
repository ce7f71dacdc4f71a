"""How is a stored run written as a run file that any tool scores in the same order?

trec_eval sorts by score, in 32 bits before its version 10, and breaks ties by id. Our order has
its own ties, so a score that would tie is lowered by the smallest step that 32 bits can show.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import numpy as np

from assay.hits.trec_lines import column
from assay.model.runs import QueryOutcome, RankedResult
from assay.render.escape import one_line


def trec_run(outcomes: Iterable[QueryOutcome], tag: str, *, documents: bool = False) -> str:
    """``query Q0 id rank score tag``, a line for each result.

    With ``documents`` the first chunk of each document is written under the document's id; later
    ones keep their own, so that every result keeps its rank, as matching by document has it. A
    file names nothing twice, so a result that repeats an earlier one is written as ``id#rank``.
    """
    word = "_".join(one_line(tag).split()) or "assay"
    lines = []
    for one in outcomes:
        if one.error is None:
            ranked = one.results
            names = _documents(ranked) if documents else [result.chunk_id for result in ranked]
            scores = falling([result.score for result in ranked])
            lines += [
                f"{column(one.query_id, first=True)} Q0 {column(name)} {rank} {score:.9g} {word}"
                for rank, (name, score) in enumerate(zip(_apart(names), scores, strict=True), 1)
            ]
    return "\n".join(lines)


def _documents(ranked: Sequence[RankedResult]) -> list[str]:
    seen: set[str] = set()
    names = []
    for result in ranked:
        names.append(result.chunk_id if result.doc_id in seen else result.doc_id)
        seen.add(result.doc_id)
    return names


def _apart(names: Sequence[str]) -> list[str]:
    """The names, with the rank behind one that stands there before."""
    if len(set(names)) == len(names):
        return list(names)
    taken, first = set(names), set[str]()
    found = []
    for rank, name in enumerate(names, 1):
        own = name
        while own in (first if own == name else taken):
            own = f"{own}#{rank}"
        first.add(name)
        taken.add(own)
        found.append(own)
    return found


def json_run(outcomes: Iterable[QueryOutcome]) -> str:
    """``{query: [{"id": ..., "score": ...}]}``, with documents and spans where they are known."""
    content = {
        one.query_id: [
            {
                "id": result.chunk_id,
                "doc_id": result.doc_id,
                **({} if result.score is None else {"score": result.score}),
                **({"spans": result.spans} if result.spans else {}),
            }
            for result in one.results
        ]
        for one in outcomes
        if one.error is None
    }
    return json.dumps(content, allow_nan=False)


def falling(scores: list[float | None]) -> list[float]:
    """The scores in 32 bits, each strictly below the one before it."""
    below = np.float32(-np.inf)
    found: list[float] = []
    for at, score in enumerate(scores):
        value = np.float32(len(scores) - at) if score is None else np.float32(score)
        if found:
            value = min(value, np.nextafter(np.float32(found[-1]), below))
        found.append(float(value))
    return found
