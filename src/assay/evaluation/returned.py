"""Which ranking did a retriever return, whatever form it chose?

It may return ids, ``(id, score)`` pairs, ``{id: score}``, dicts or objects with an id and perhaps a
score, rank, document and spans, a data frame (pandas, polars, arrow) or a dict of columns with one
result a row, a response that has ``results``, or a finished outcome. Answers of OpenSearch, qdrant,
Chroma and engines of LlamaIndex are read as they come. A response may say what it cost (``cost``,
``tokens``, ``usage``).

A system that also answers returns its ``answer`` beside the results or ``passages``: a text, whose
``[1]`` is the first of them unless ``citations`` name them, or ``{text, citations, grounded,
refusal_reason}``. One that cites nothing and only says that there is no answer is a refusal, unless
``grounded`` is true. The ``text`` of each passage is what numbers and claims are held against;
passages that are texts without ids, as in rows of ragas and DeepEval, go by a digest of the text.

The order that the engine gave is the ranking: its rank where results have one, else the place in
the list. Scores do not move anything, since they may be distances; where they contradict the order,
that is said. Only ``{id: score}`` has no order of its own and is ranked by score. ``rank_by``, in
the call or in the response, says otherwise.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from assay import limits
from assay.digests import digest_of
from assay.errors import InputError, UnreachableError
from assay.evidence.claims import citing
from assay.evidence.numbers import check_numbers
from assay.evidence.refusals import refuses
from assay.hits.columns import columns_of, is_frame, is_labelled, is_series
from assay.hits.live import ordered
from assay.hits.numbers import is_whole, shown
from assay.model.answers import (
    COST_NAMES,
    TOKEN_NAMES,
    Answer,
    NumberCheck,
    Passage,
    Usage,
    read_answer,
)
from assay.model.document import OTHER_IDS, Chunk, is_made_id
from assay.model.judgments import Span
from assay.model.ranking import RankBy, Result, document_id, falling
from assay.model.runs import REFUSED_IN_WORDS, QueryOutcome, RankedResult

CHUNK_NAMES = ("chunk_id", "id", "segment_id", "node_id", "_id", "id_")
_OWN_FIRST = (
    "chunk_id",
    "id",
    "doc_id",
    "segment_id",
    "document_id",
    "docno",
    "docid",
    "corpus_id",
)
ID_NAMES = tuple(dict.fromkeys((*_OWN_FIRST, "node_id", "_id", "id_", *OTHER_IDS)))
"""In the order of preference; whatever is an id in a corpus is one here."""
SCORE_NAMES = ("score", "similarity", "_score")
QUERY_NAMES = ("query_id", "qid")
TEXT_NAMES = ("text", "page_content", "content", "contents", "passage", "chunk_text")
LIST_NAMES = (
    *("results", "source_nodes", "passages", "contexts", "context", "documents", "sources"),
    *("retrieved_contexts", "retrieval_context"),
)
"""Where a response keeps its results; all but the first two only beside an answer."""
ANSWER_TEXTS = ("response", "actual_output")  # of rows of ragas and DeepEval
DOCUMENT_NAMES = ("doc_id", "document_id", "ref_doc_id")
INNER = ("metadata", "meta", "payload", "_source")
"""Where objects of other libraries keep the ids of their owner, also one within the other."""
HELD = ("chunk", "node", "document")  # what a hit holds that has the id
USAGE_NAMES = ("usage", "usage_metadata")
MADE_IDS = "answered with ids that a library made (UUIDs or hashes)"
RANKED_BY_SCORE = "came as {id: score} with rising scores: ranked by score, the highest first"


def as_outcome(
    query_id: str,
    returned: Any,
    rank_by: RankBy | None = None,
    judged: Iterable[str] = (),
) -> QueryOutcome:
    """The outcome of a query, from whatever the retriever returned.

    An id that a library made gives way to the owner's, unless such ids were ``judged``.
    """
    made = any(map(is_made_id, judged))
    if isinstance(returned, QueryOutcome):
        if returned.query_id != query_id:
            _refuse(query_id, f"the retriever answered query {returned.query_id!r:.80}")
        return returned
    if not _is_response(returned):
        results, warnings = _ranked(query_id, opened(returned), rank_by, made)
        return QueryOutcome(query_id, results=results, warnings=warnings)
    rank_by = rank_by or _rank_by(query_id, _field(returned, "rank_by"))
    listed = opened(_listed(returned))
    if _answers(returned):
        listed = _identified(listed)
    results, warnings = _ranked(query_id, listed, rank_by, made)
    outcome = QueryOutcome(
        query_id,
        results=results,
        degraded=bool(_field(returned, "degraded")),
        component_errors=_words(_field(returned, "component_errors")),
        warnings=(*_words(_field(returned, "warnings")), *warnings),
        timings_ms=_numbers(_field(returned, "timings_ms")),
        usage=_usage(query_id, returned),
    )
    if not _answers(returned):
        return outcome
    return _answered(outcome, returned, _texts(query_id, listed, results, made))


def _listed(returned: Any) -> Any:
    """The results of a response."""
    return next(found for name in LIST_NAMES if (found := _field(returned, name)) is not None)


def _answers(returned: Any) -> bool:
    """Whether a response brings an answer; an empty one is a refusal."""
    if isinstance(returned, Mapping) and "answer" in returned:
        return True
    return _said(returned) is not None


def _said(returned: Any) -> Any:
    """The answer of a response; under a name of another library only if it is a text."""
    if (found := _field(returned, "answer")) is not None or _field(returned, "results") is not None:
        return found
    texts = (_field(returned, name) for name in ANSWER_TEXTS)
    return next((text for text in texts if isinstance(text, str)), None)


def _identified(listed: Any) -> Any:
    """The passages beside an answer; where they are texts, each with an id made of its text."""
    texts = isinstance(listed, (list, tuple)) and all(isinstance(one, str) for one in listed)
    if not texts or not any(len(one.split()) > 1 for one in listed):
        return listed
    return [{"id": digest_of(one).replace(":", "-"), "text": one} for one in listed]


def _answered(outcome: QueryOutcome, returned: Any, texts: Mapping[str, str]) -> QueryOutcome:
    """The outcome with the answer, checked against the passages that came with it."""
    answer = _answer(outcome, returned)
    if answer.grounded and not answer.citations and not _insists(returned) and refuses(answer.text):
        answer = Answer(answer.text, grounded=False, refusal_reason="its words say so")
        outcome = replace(outcome, warnings=(*outcome.warnings, REFUSED_IN_WORDS))
    known = frozenset(answer.citations).intersection(one.chunk_id for one in outcome.results)
    return replace(
        outcome,
        answer=replace(answer, usage=None),
        usage=outcome.usage or answer.usage,
        known_citations=known,
        numbers=checked_numbers(answer, known, texts),
        passages=texts,
    )


def checked_numbers(
    answer: Answer, known: Set[str], texts: Mapping[str, str]
) -> NumberCheck | None:
    """The numbers of an answer held against what it cites; None where a cited text is lacking."""
    if not texts or not known <= texts.keys():
        return None
    return check_numbers(answer, [Passage(Chunk(one, one, text)) for one, text in texts.items()])


def _insists(returned: Any) -> bool:
    """Whether a system says itself that its answer is no refusal."""
    said = _said(returned)
    inside = isinstance(said, Mapping) and said.get("grounded") is True
    return inside or isinstance(said, Answer) or _field(returned, "grounded") is True


def _answer(outcome: QueryOutcome, returned: Any) -> Answer:
    said, reason = _said(returned), _field(returned, "refusal_reason")
    if said is not None and not isinstance(said, str | Mapping | Answer):
        said = _named(said, ("content", "text", "response"), inner=False)  # a message
    if said is None or (isinstance(said, str) and not said.strip()):
        return Answer("", grounded=False, refusal_reason=str(reason or "it gave no answer"))
    if not isinstance(said, str):
        return read_answer(said, f"query {outcome.query_id!r}: the system")
    if _field(returned, "grounded") is False:
        return Answer(said, grounded=False, refusal_reason=str(reason or "it said so"))
    citations = _field(returned, "citations")
    if citations is None:
        return citing(said, [one.chunk_id for one in outcome.results])
    cited = [str(one) for one in citations if _is_id(one)]
    return read_answer({"text": said, "citations": cited}, f"query {outcome.query_id!r}")


def _texts(
    query_id: str, listed: Any, results: Sequence[RankedResult], made_ids: bool
) -> dict[str, str]:
    """The texts of the results that have one, best first, cut where they are very long."""
    if isinstance(listed, Mapping) and not _is_table(listed):
        return {}  # {id: score}
    found: dict[str, str] = {}
    for one in _items(query_id, listed):
        pair = isinstance(one, (tuple, list)) and len(one) == 2
        whole = _chunk(one[0] if pair else one)
        text = None if isinstance(whole, str) else _named(whole, TEXT_NAMES)
        if isinstance(text, str):
            name = str(_ids(whole, made_ids=made_ids).chunk)
            found.setdefault(name, text[: limits.MAX_PASSAGE_CHARS])
    kept = results[: limits.MAX_KEPT_PASSAGES]
    return {one.chunk_id: found[one.chunk_id] for one in kept if one.chunk_id in found}


def opened(returned: Any) -> Any:
    """The list in the answer of an engine's client: OpenSearch, qdrant, Chroma; else the same."""
    if is_frame(returned) or isinstance(returned, (list, tuple, str)):
        return returned
    body = getattr(returned, "body", None)  # which Elasticsearch wraps
    returned = body if isinstance(body, Mapping) else returned
    hits = _field(returned, "hits")
    if hits is not None and isinstance(found := _field(hits, "hits"), list):
        require_whole(returned)
        return found
    if isinstance(points := _field(returned, "points"), list):
        return points
    ids = _field(returned, "ids")
    if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], list):
        return _nested(returned, ids[0])
    return _only_list(returned) if isinstance(returned, Mapping) else returned


def _only_list(returned: Mapping[Any, Any]) -> Any:
    """The only list of an answer such as ``{"items": [...], "total": 7}``; else the same."""
    lists = [value for value in returned.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 and lists[0] and _has_id(lists[0][0]) else returned


def require_whole(answer: Any) -> None:
    """Refuse an answer of OpenSearch that lacks what some shards would have found."""
    shards = _field(answer, "_shards")
    failed, every = (_field(shards, name) for name in ("failed", "total"))
    if is_whole(failed) and int(failed) > 0:
        raise UnreachableError(
            f"the answer is incomplete: {failed} of {every} shards failed",
            hint="check the health of the cluster, and try again",
        )
    if _field(answer, "timed_out") is True:
        raise UnreachableError(
            "the answer is incomplete: the search timed out (timed_out)",
            hint="give the search more time",
        )


def _nested(returned: Any, found: list[Any]) -> list[dict[str, Any]]:
    """The results of Chroma: lists of lists, one for each query; its distances rise."""
    distances, about = (
        (_field(returned, name) or [[]])[0] or [None] * len(found)
        for name in ("distances", "metadatas")
    )
    return [
        {"id": one, "score": None if far is None else -far, "metadata": more}
        for one, far, more in zip(found, distances, about, strict=True)
    ]


def renamed(returned: Any, id_field: str | None, doc_field: str | None) -> Any:
    """The same answer, with the ids and documents that stand in fields of the caller's own."""
    if isinstance(returned, QueryOutcome):
        return returned
    response = _is_response(returned)
    listed = opened(_listed(returned) if response else returned)
    results = [_with_ids(one, id_field, doc_field) for one in _items("", listed, id_field)]
    if not response:
        return results
    beside = ("citations", "grounded", "refusal_reason") if _answers(returned) else ()
    kept = ("rank_by", "degraded", "component_errors", "warnings", "timings_ms", *beside)
    told = {name: _field(returned, name) for name in (*kept, *USAGE_NAMES, *COST_NAMES, "tokens")}
    return {"results": results, **told, **({"answer": _said(returned)} if beside else {})}


def _with_ids(one: Any, id_field: str | None, doc_field: str | None) -> dict[str, Any]:
    pair = isinstance(one, (tuple, list)) and len(one) == 2
    value, one = (one[1], one[0]) if pair else (None, one)
    whole = _chunk(one)
    ids = _ids(whole, id_field)
    if ids.chunk is None:
        raise InputError(
            f"a result has no {id_field or 'id'} ({_seen(one)})",
            hint="id_field names the field that holds the ids, as in pmid or metadata.pmid",
        )
    document = ids.document if doc_field is None else _named(whole, (doc_field,))
    return {
        "chunk_id": ids.chunk,
        "score": value if pair else _named(one, SCORE_NAMES, inner=False),
        "rank": _field(one, "rank"),
        "spans": _field(whole, "spans"),
        "text": _named(whole, TEXT_NAMES),
        **({"doc_id": document} if _is_id(document) else {}),
    }


def _usage(query_id: str, returned: Any) -> Usage | None:
    """What the query cost, where the response says so."""
    places = [returned, *(_field(returned, name) for name in USAGE_NAMES)]
    cost = _first_named(places, COST_NAMES)
    if cost is not None and not (_is_number(cost) and 0 <= float(cost) < math.inf):
        _refuse(query_id, f"the cost is {shown(cost)}, not an amount", hint="such as 0.002")
    counts = {name: _first_named(places, names) for name, names in TOKEN_NAMES.items()}
    for name, count in counts.items():
        if count is not None and not (is_whole(count) and int(count) >= 0):
            said = f"{name} is {shown(count)}, not a number of tokens"
            _refuse(query_id, said, hint="such as 812")
    whole = {name: int(count) for name, count in counts.items() if count is not None}
    if whole and "tokens" not in whole:
        whole["tokens"] = sum(whole.values())
    if cost is None and not whole:
        return None
    return Usage(None if cost is None else float(cost), **whole)


def _first_named(places: Iterable[Any], names: Iterable[str]) -> Any:
    found = (_named(place, names, inner=False) for place in places if place is not None)
    return next((one for one in found if one is not None), None)


def _is_response(returned: Any) -> bool:
    if is_frame(returned):
        return False
    if isinstance(_field(returned, "source_nodes"), list):  # of an engine of LlamaIndex
        return True
    if not isinstance(returned, Mapping):
        return hasattr(returned, "results") or (_answers(returned) and _brings_passages(returned))
    if "results" in returned:
        return not _is_number(returned["results"])
    return _answers(returned) and _brings_passages(returned)


def _brings_passages(returned: Any) -> bool:
    return any(isinstance(_field(returned, name), (list, tuple)) for name in LIST_NAMES)


def _rank_by(query_id: str, value: Any) -> RankBy | None:
    try:
        return None if value is None else RankBy(value)
    except ValueError:
        _refuse(query_id, f"rank_by is {value!r:.40}, not order or score")


def _ranked(
    query_id: str, listed: Any, rank_by: RankBy | None, made_ids: bool
) -> tuple[tuple[RankedResult, ...], tuple[str, ...]]:
    """The results in order, and what should be said about it."""
    scores_only = isinstance(listed, Mapping) and not _is_table(listed)
    found: list[RankedResult] = []
    ranks: list[int | None] = []
    instead: dict[str, None] = {}
    for at, one in enumerate(_items(query_id, listed)):
        if at >= limits.MAX_STORED_RESULTS:
            break
        result, rank, place = _result(query_id, f"result {at + 1}", one, made_ids)
        found.append(result)
        ranks.append(rank)
        if place:
            instead[place] = None
    places = [
        Result(str(at), score=one.score, rank=rank)
        for at, (one, rank) in enumerate(zip(found, ranks, strict=True))
    ]
    by = rank_by or (RankBy.SCORE if scores_only else RankBy.ORDER)
    results = tuple(found[int(place.id)] for place in ordered(places, query_id, by))
    scores = [one.score for one in found]
    odd = scores_only and rank_by is None and not falling(scores) and falling(scores[::-1])
    owners = f"{MADE_IDS}: {', '.join(instead)} was taken instead"
    said = ((RANKED_BY_SCORE, odd), (owners, instead))
    return results, tuple(text for text, holds in said if holds)


def _items(query_id: str, listed: Any, id_field: str | None = None) -> Iterable[Any]:
    """The results one by one, each in a form that ``_result`` reads."""
    if is_frame(listed) or (isinstance(listed, Mapping) and _is_table(listed)):
        return _rows(query_id, columns_of(listed), id_field)
    if isinstance(listed, Mapping):
        if any(isinstance(value, Mapping | list) for value in listed.values()):
            names = ", ".join(map(str, listed))
            _refuse(
                query_id, f"the retriever returned a dict without a list of results ({names:.200})"
            )
        return listed.items()  # {id: score}
    if is_series(listed):  # scores under their ids, or ids
        return tuple(listed.items() if is_labelled(listed) else listed.to_list())
    if listed is None:
        _refuse(query_id, "the retriever returned None; where nothing was found, return []")
    if isinstance(listed, Set):
        _refuse(query_id, "the retriever returned a set, which has no order")
    iterable = isinstance(listed, Iterable) and not hasattr(type(listed), "model_fields")
    if isinstance(listed, (str, bytes)) or not iterable:  # a model of pydantic yields its fields
        _refuse(query_id, f"the retriever returned {type(listed).__name__}, not a list of results")
    results: Iterable[Any] = listed
    return results


def _is_table(listed: Mapping[Any, Any]) -> bool:
    """Whether this is a dict of columns, ``{"id": [...], "score": [...]}``."""
    columns = (list, tuple, np.ndarray)
    return bool(listed) and all(isinstance(v, columns) or is_series(v) for v in listed.values())


def _rows(
    query_id: str, columns: Mapping[str, list[Any]], id_field: str | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a table of results; a table that names no ids is refused."""
    if not any(columns.values()):
        return  # no row: nothing was found
    wanted = ID_NAMES if id_field is None else (id_field, id_field.partition(".")[0])
    if columns.keys().isdisjoint(wanted):
        names = ", ".join(columns) or "none"
        _refuse(
            query_id,
            f"no column holds the ids of the results (columns: {names:.200})",
            hint=f"name it one of: {', '.join(ID_NAMES)}; scores: {', '.join(SCORE_NAMES)}",
        )
    for name in QUERY_NAMES:
        if len(set(columns.get(name, ()))) > 1:
            _refuse(query_id, f"the table holds results of several queries (column {name})")
    if len(set(map(len, columns.values()))) > 1:
        _refuse(query_id, "the columns of the table differ in length")
    for row in zip(*columns.values(), strict=True):
        yield dict(zip(columns, row, strict=True))


def _result(
    query_id: str, place: str, one: Any, made_ids: bool
) -> tuple[RankedResult, int | None, str]:
    """One result, the rank that the engine gave it, and the field that a made id gave way to."""
    if isinstance(one, np.ndarray):
        one = one.tolist()
    pair = isinstance(one, (tuple, list)) and len(one) == 2 and _named(one, ID_NAMES) is None
    value, one = (one[1], one[0]) if pair else (None, one)
    if _is_id(one):
        name = _id(query_id, place, one)
        return RankedResult(name, document_id(name), _score(query_id, place, value)), None, ""
    whole = _chunk(one)
    ids = _ids(whole, made_ids=made_ids)
    name = _id(query_id, place, ids.chunk, one)
    unknown = not made_ids and is_made_id(ids.document) and not is_made_id(name)
    document = None if unknown else ids.document  # nobody judged what a library named
    rank = _field(one, "rank")
    score = value if pair else _named(one, SCORE_NAMES, inner=False)
    result = RankedResult(
        chunk_id=name,
        doc_id=_id(query_id, place, document) if _is_id(document) else document_id(name),
        score=_score(query_id, place, score),
        spans=_spans(query_id, place, _field(whole, "spans")),
        chunker_version=str(_field(whole, "chunker_version") or ""),
        component_scores=_numbers(_field(one, "component_scores")),
        ranks={key: int(value) for key, value in _numbers(_field(one, "ranks")).items()},
    )
    return result, int(rank) if is_whole(rank) else None, ids.instead


class _Ids(NamedTuple):
    """The ids of a result, and the field that was read instead of a made id."""

    chunk: Any
    document: Any
    instead: str = ""


def _ids(whole: Any, id_field: str | None = None, made_ids: bool = False) -> _Ids:
    """The ids of a result: the first that is named, unless a library made it.

    Then the owner's counts: as that of the chunk, or as that of the document where its name says
    so, since several chunks may have it.
    """
    names = ID_NAMES if id_field is None else (id_field,)
    chunk, document = _named(whole, names), _named(whole, DOCUMENT_NAMES)
    every = _filled(whole, (*names, *DOCUMENT_NAMES))
    own = {} if made_ids or not is_made_id(chunk) else {p: v for p, v in every if not is_made_id(v)}
    if not own:
        return _Ids(chunk, document)
    of_chunk = CHUNK_NAMES if id_field is None else (_field_of(id_field),)
    chunks = [place for place in own if _field_of(place) in of_chunk]
    documents = [place for place in own if place not in chunks]
    taken = (chunks or documents)[0]
    return _Ids(
        own[taken] if chunks else chunk,
        own[documents[0]] if documents else None,
        "" if _field_of(taken) in DOCUMENT_NAMES else taken,
    )


def _field_of(path: str) -> str:
    return path.rpartition(".")[2]


def _chunk(one: Any) -> Any:
    """What has the id: the result, or the chunk, node or document that a hit holds."""
    held = (_field(one, name) for name in HELD)
    return next((part for part in held if part is not None and _has_id(part)), one)


def _has_id(held: Any) -> bool:
    return not isinstance(held, str) and _named(held, ID_NAMES) is not None


def _named(thing: Any, names: Iterable[str], *, inner: bool = True) -> Any:
    """The first of these fields that is filled, also among the metadata of the thing."""
    return next((value for _, value in _filled(thing, names, inner=inner)), None)


def _filled(thing: Any, names: Iterable[str], *, inner: bool = True) -> Iterator[tuple[str, Any]]:
    """The fields of these names that are filled, each with where it stands."""
    for place, held in _places(thing) if inner else [("", thing)]:
        for name in names:
            value = _field(held, name)
            if value is not None and not _is_empty(value):
                yield f"{place}{name}", value


def _places(thing: Any, place: str = "", depth: int = 2) -> Iterator[tuple[str, Any]]:
    """A thing and its metadata; LangChain keeps metadata within the payload of qdrant."""
    yield place, thing
    if depth:
        for name in INNER:
            if (held := _field(thing, name)) is not None:
                yield from _places(held, f"{place}{name}.", depth - 1)


def _is_empty(value: Any) -> bool:
    return isinstance(value, str) and not value


def _field(thing: Any, name: str) -> Any:
    """A key of a mapping or an attribute of an object; None where there is none.

    ``metadata.pmid`` is the field of a field, unless there is one of that name.
    """
    found = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
    if found is None and "." in name and thing is not None:
        outer, _, inner = name.partition(".")
        return _field(_field(thing, outer), inner)
    return found


def _id(query_id: str, place: str, value: Any, whole: Any = None) -> str:
    if not _is_id(value) or not str(value):
        seen = _seen(whole) if value is None else shown(value)
        _refuse(
            query_id,
            f"{place} has no id ({seen})",
            hint=f"ids are read from {', '.join(ID_NAMES)}, also of {', '.join(INNER)}; "
            "assay.system(..., id_field=...) names another field",
        )
    name = str(value)
    if len(name.encode("utf-8", "surrogatepass")) > limits.MAX_ID_BYTES:
        _refuse(query_id, f"the id of {place} is longer than {limits.MAX_ID_BYTES} bytes")
    return name


def _seen(thing: Any) -> str:
    """What a result is, with the names of its fields, and of those in its metadata."""
    fields = (
        [*thing]
        if isinstance(thing, Mapping)
        else [*getattr(type(thing), "model_fields", ()), *getattr(thing, "__dict__", ())]
    )
    inside = [
        f"{name} ({', '.join(map(str, held))[:80] or 'empty'})"
        for name in INNER
        if isinstance(held := _field(thing, name), Mapping)
    ]
    names = dict.fromkeys(str(name) for name in fields if name not in INNER)
    listed = ", ".join([*names, *inside])
    return f"{type(thing).__name__} with {listed:.200}" if listed else shown(thing)


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, uuid.UUID)) or is_whole(value)


def _score(query_id: str, place: str, value: Any) -> float | None:
    if value is None:
        return None
    if not _is_number(value):
        _refuse(query_id, f"the score of {place} is {value!r:.80}, not a number")
    number = float(value)
    if not math.isfinite(number):
        _refuse(query_id, f"the score of {place} is {number}, which has no order")
    return number


def _spans(query_id: str, place: str, value: Any) -> tuple[Span, ...]:
    try:
        return tuple((int(start), int(end)) for start, end in value or ())
    except (TypeError, ValueError):
        _refuse(query_id, f"the spans of {place} are not pairs of offsets")


def _is_number(value: Any) -> bool:
    # numpy's scalars are numbers, too
    return not isinstance(value, (bool, str, bytes)) and hasattr(value, "__float__")


def _numbers(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): float(number)
        for name, number in value.items()
        if _is_number(number) and math.isfinite(float(number))
    }


def _words(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()


def _refuse(query_id: str, what: str, hint: str | None = None) -> NoReturn:
    raise InputError(
        f"query {query_id!r}: {what}",
        hint=hint
        or "return ids, (id, score) pairs, {id: score}, dicts or rows with id and score, or Result",
    )
