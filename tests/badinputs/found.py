"""Which inputs did fuzzing find that once ended in something else than a typed error?"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from assay.annotation.exchange import read_grades
from assay.app.drafts import add_query
from assay.app.layout import Layout
from assay.encode.tensors import read_tensors
from assay.errors import AssayError
from assay.evaluation.baseline import side_of_file
from assay.index.manifest import load
from assay.measures.parse import parse_measures
from tests.badinputs.case import Entry, Outcome, accepted, refused
from tests.badinputs.ways import Bench, as_folder
from tests.unit.testsets.samples import golden


def _outcome(error: AssayError) -> Outcome:
    return Outcome(error.exit_code, str(error))


def as_index_manifest(bench: Bench, given: str) -> Outcome:
    """The manifest of an index, as it is."""
    bench.write("MANIFEST.json", given)
    try:
        load(Path("."))
    except AssayError as error:
        return _outcome(error)
    return Outcome(0, "")


def as_sealed_manifest(bench: Bench, given: object) -> Outcome:
    """The same with the checksum that belongs to it."""
    text = json.dumps(given, sort_keys=True, separators=(",", ":"))
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return as_index_manifest(bench, json.dumps({**json.loads(text), "checksum": checksum}))


def as_model(bench: Bench, given: object) -> Outcome:
    """The header of a model's weights."""
    del bench
    header = json.dumps(given).encode()
    try:
        found = read_tensors(len(header).to_bytes(8, "little") + header, "weights")
    except AssayError as error:
        return _outcome(error)
    return Outcome(0, f"{len(found)} arrays")


def as_baseline(bench: Bench, given: str) -> Outcome:
    """The file that a gate holds a run against."""
    try:
        side_of_file(bench.write("baseline.json", given), parse_measures("Recall@10"))
    except AssayError as error:
        return _outcome(error)
    return Outcome(0, "")


def as_label_studio(bench: Bench, given: object) -> Outcome:
    """Grades from Label Studio."""
    del bench
    tasks = [{"data": {"query_id": "q1", "chunk_id": "c1"}, "annotations": [{"result": given}]}]
    try:
        return Outcome(0, f"{len(read_grades(json.dumps(tasks).encode(), 'grades'))} grades")
    except AssayError as error:
        return _outcome(error)


def as_edited_set(bench: Bench, given: bytes) -> Outcome:
    """A test set that a page adds a query to, after somebody edited it."""
    (bench.folder / "testsets").mkdir()
    (bench.folder / "testsets" / "mine.yaml").write_bytes(given)
    try:
        add_query(Layout(bench.folder), "mine", golden("new"))
    except AssayError as error:
        return _outcome(error)
    return Outcome(0, "")


def as_measure(bench: Bench, given: str) -> Outcome:
    """What is to be measured."""
    del bench
    try:
        return Outcome(0, str(parse_measures(given)[0]))
    except AssayError as error:
        return _outcome(error)


PARTS: dict[str, object] = {"bm25": None, "segments": [], "dead": None, "models": {}, "card": {}}
SOUND = {"format": 1, "generation": 1, "applied": 1, **PARTS}
ELSEWHERE = {"folder": "../x", "rows": 1, "files": {}}

CASES: tuple[Entry, ...] = (
    accepted("manifest", as_sealed_manifest, SOUND),
    refused("manifest-deep", as_index_manifest, "[" * 100_000, "is not readable", 1),
    refused("manifest-no-format", as_sealed_manifest, {}, "another format", 1),
    refused("manifest-no-parts", as_sealed_manifest, {"format": 1}, "is not a manifest", 1),
    refused("manifest-kinds", as_sealed_manifest, {**SOUND, "applied": "x"}, "is not a manifest", 1),
    refused("manifest-segments", as_sealed_manifest, {**SOUND, "segments": 3}, "is not a manifest", 1),
    refused("manifest-outside", as_sealed_manifest, {**SOUND, "bm25": ELSEWHERE}, "not a manifest", 1),
    accepted("tensor-kind", as_model, {"a": {"dtype": ["F32"]}}, "0 arrays"),
    refused("tensor-shape", as_model, {"a": {"dtype": "F32", "shape": "x"}}, "no shape"),
    refused("baseline-types", as_baseline, '{"metrics": {}, "per_query_type": "x"}', "per_query_type"),
    refused("baseline-queries", as_baseline, '{"metrics": {}, "per_query": [1]}', "per_query is not"),
    refused("baseline-degraded", as_baseline, '{"metrics": {}, "degraded_queries": []}', "degraded_q"),
    refused(
        "baseline-digits", as_baseline, '{"metrics": {"recall_at_10": ' + "9" * 400 + "}}",
        "not a number or null",
    ),
    accepted("label-studio-name", as_label_studio, [{"from_name": [], "value": {}}], "0 grades"),
    refused("edited-set-latin-1", as_edited_set, b"name: caf\xe9\n", "not UTF-8"),
    refused("measure-digits", as_measure, f"Recall(rel={'9' * 40})@100", "between 1 and 1000"),
    refused("measure-more-digits", as_measure, f"Recall(rel={'9' * 5000})@100", "not a whole number"),
    refused("measure-infinite", as_measure, "RBP(p=1e999)", "not a number"),
    refused("fhir-entries", as_folder, {"a.json": b'{"resourceType": "Bundle", "entry": 7}'}, "no list"),
)  # fmt: skip
