"""How is a sample written to a file that a person reviews before judging starts?

JSON lines, one query each: delete a line to drop a query; correct the words, or the type if the
classifier was wrong.
"""

from __future__ import annotations

import json
from typing import Any

from assay import limits
from assay.annotation.draw import DrawnQuery, Sample
from assay.annotation.questions import SYNTHETIC
from assay.errors import Problem, ProblemsError
from assay.model.annotation import RoundQuery
from assay.model.document import ID_FORM
from assay.model.testset import QueryType
from assay.strict_json import values

KINDS = ", ".join(QueryType)


def sample_lines(sample: Sample) -> str:
    """The sample as JSON lines."""
    rows = (sample_row(query, sample) for query in sample.queries)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def sample_row(query: DrawnQuery, sample: Sample) -> dict[str, Any]:
    """One query with its details, as a row."""
    return {
        "query_id": query.query_id,
        "query_text": query.query_text,
        "query_type": query.query_type.value,
        "origin": {
            "strategy": sample.strategy.value,
            "seed": sample.seed,
            "times": query.candidate.times,
            "zero_results": query.candidate.zero_results,
            "top_score": query.candidate.top_score,
            "scrubbed": list(query.scrubbed),
        },
    }


def read_sample(data: bytes, source: str) -> tuple[RoundQuery, ...]:
    """The queries of a sample file; all problems are listed at once."""
    found: dict[str, RoundQuery] = {}
    problems: list[Problem] = []
    for line, row in values(data, source):
        query = _query(row)
        if isinstance(query, str):
            problems.append(Problem(query, source, line))
        elif query.query_id in found:
            problems.append(Problem(f"{query.query_id} appears twice", source, line))
        else:
            found[query.query_id] = query
    if not found and not problems:
        problems.append(Problem("no query", source, None))
    if problems:
        raise ProblemsError(source, problems)
    return tuple(found.values())


def _query(row: Any) -> RoundQuery | str:
    """A query, or what is wrong with it."""
    if not isinstance(row, dict):
        return "a query is an object with query_id, query_text and query_type"
    name, text, kind = row.get("query_id"), row.get("query_text"), row.get("query_type")
    origin = row.get("origin", {})
    if not isinstance(name, str) or not ID_FORM.fullmatch(name):
        return f"the query_id {name!r:.60} is not allowed"
    if not isinstance(text, str) or not 0 < len(text.strip()) <= limits.MAX_QUERY_CHARS:
        return f"{name}: the query_text is empty or too long"
    if kind not in list(QueryType):
        return f"{name}: the query_type is one of {KINDS}"
    if not isinstance(origin, dict):
        return f"{name}: origin is an object"
    made = {key: str(row[key]) for key in (SYNTHETIC, "made_by") if row.get(key) is not None}
    return RoundQuery(name, " ".join(text.split()), QueryType(kind), {**origin, **made})
