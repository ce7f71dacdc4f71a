"""How is a test set exported to other tools: TREC, BEIR, a golden list, a workflow dataset?

Every form but our own loses something: only ours has spans, expectations and the held-out part.
``lost`` lists what, so that it surprises nobody later. Which queries are synthetic goes along:
BEIR and golden lists have a field for it, and TREC gets one more file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from assay.errors import UsageError
from assay.hits.trec_lines import column
from assay.model.answers import Expect
from assay.model.testset import GoldenQuery, SpeakerFilter, TestSet
from assay.testsets.write import as_plain, as_yaml, quoted

TOPICS = ".topics.tsv"


def files(test_set: TestSet, form: str) -> dict[str, str]:
    """The files of a form, by their relative names."""
    if form not in FORMS:
        raise UsageError(
            f"the form {form!r:.40} is unknown", hint=f"it is one of {', '.join(FORMS)}"
        )
    return FORMS[form](test_set)


def lost(test_set: TestSet, form: str) -> list[str]:
    """What a form cannot express of this set."""
    if form in ("yaml", "json"):
        return []
    queries = test_set.queries
    kept: dict[str, bool] = {
        "spans": any(item.spans for query in queries for item in query.relevant_docs),
        "the held-out part": test_set.held_out is not None,
        "which queries were skipped": bool(test_set.skipped),
        "expect: nothing": any(query.expect is Expect.NOTHING for query in queries),
        "which queries are synthetic": form == "workflow" and bool(test_set.synthetic_ids),
        "who judged": bool(test_set.judged_by),
        "right answers": any(query.reference or query.nuggets for query in queries),
    }
    if form != "golden-list":
        kept["expect: refusal"] = any(query.expect is Expect.REFUSAL for query in queries)
        kept["must_contain and forbidden"] = any(
            query.must_contain or query.forbidden for query in queries
        )
    if form in ("trec", "beir"):
        kept["query types"] = any(query.query_type for query in queries)
        kept["speaker filters"] = any(
            query.speaker_filter is not SpeakerFilter.ALL for query in queries
        )
    else:
        kept["grades"] = any(item.grade > 1 for query in queries for item in query.relevant_docs)
    return [what for what, there in kept.items() if there]


def _yaml(test_set: TestSet) -> dict[str, str]:
    return {f"{test_set.name}.yaml": as_yaml(test_set)}


def _json(test_set: TestSet) -> dict[str, str]:
    return {f"{test_set.name}.json": _dumped(as_plain(test_set))}


def _trec(test_set: TestSet) -> dict[str, str]:
    """Topics as ``id<TAB>text`` lines, and qrels."""
    topics = [f"{query.query_id}\t{_one_line(query.query_text)}" for query in test_set.queries]
    rows = [
        f"{column(query.query_id, first=True)} 0 {column(item.id)} {item.grade}"
        for query in test_set.queries
        for item in query.relevant_docs
    ]
    made = [f"{query.query_id}\t{query.synthetic}" for query in test_set.queries if query.synthetic]
    topics_file = f"{test_set.name}{TOPICS}"
    return {
        topics_file: _joined(topics),
        f"{test_set.name}.qrels": _joined(rows),
        **({marks_beside(topics_file): _joined(made)} if made else {}),
    }


def marks_beside(topics: str) -> str:
    """The name of the file that says which topics are synthetic, and the passage of each."""
    return f"{topics.removesuffix(TOPICS)}.synthetic.tsv"


def _beir(test_set: TestSet) -> dict[str, str]:
    texts = [
        json.dumps(
            {
                "_id": query.query_id,
                "text": query.query_text,
                **({"metadata": {"synthetic": query.synthetic}} if query.synthetic else {}),
            },
            ensure_ascii=False,
        )
        for query in test_set.queries
    ]
    rows = [
        f"{column(query.query_id, first=True)}\t{column(item.id)}\t{item.grade}"
        for query in test_set.queries
        for item in query.relevant_docs
    ]
    return {
        "queries.jsonl": _joined(texts),
        "qrels/test.tsv": _joined(["query-id\tcorpus-id\tscore", *rows]),
    }


def _golden_list(test_set: TestSet) -> dict[str, str]:
    lines = ["# A query whose expected_doc_ids and expected_chunk_ids are empty should be refused."]
    for query in test_set.queries:
        if query.expect is Expect.NOTHING:
            continue  # an empty list would mean that the system should refuse
        rows = _golden_entry(query)
        lines.append(f"- id: {quoted(query.query_id)}")
        lines.append(f"  query: {quoted(query.query_text)}")
        lines += [f"  {key}: [{', '.join(map(quoted, found))}]" for key, found in rows.items()]
        if query.synthetic:
            lines.append(f"  synthetic: {quoted(query.synthetic)}")
    return {f"{test_set.name}.golden.yaml": _joined(lines)}


def _golden_entry(query: GoldenQuery) -> Mapping[str, list[str]]:
    relevant = [item for item in query.relevant_docs if item.grade > 0]
    chunks = [item for item in relevant if item.document != item.id]
    documents = [item.document for item in relevant if item.document is not None]
    return {
        "expected_doc_ids": list(dict.fromkeys(documents)),
        "expected_chunk_ids": [item.id for item in chunks],
        "must_contain": list(query.must_contain),
        "forbidden": list(query.forbidden),
    }


def _workflow(test_set: TestSet) -> dict[str, str]:
    return {f"{test_set.name}.dataset.json": _dumped(as_workflow(test_set))}


def as_workflow(test_set: TestSet) -> dict[str, Any]:
    """The dataset of the evaluation workflow, as values for JSON."""
    queries = []
    for query in test_set.queries:
        row: dict[str, Any] = {
            "query_id": query.query_id,
            "query_text": query.query_text,
            "relevant_segment_ids": [item.id for item in query.relevant_docs if item.grade > 0],
            "speaker_filter": query.speaker_filter.value,
        }
        if query.ingestion_mode is not None:
            row["ingestion_mode"] = query.ingestion_mode.value
        if query.query_type is not None:
            row["query_type"] = query.query_type.value
        queries.append(row)
    return {
        "dataset_id": test_set.name,
        "version": test_set.version,
        "interview_ids": list(test_set.provenance.get("interview_ids", [])),
        "test_queries": queries,
        "total_queries": len(queries),
    }


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


FORMS: Mapping[str, Callable[[TestSet], dict[str, str]]] = {
    "yaml": _yaml,
    "json": _json,
    "trec": _trec,
    "beir": _beir,
    "golden-list": _golden_list,
    "workflow": _workflow,
}
