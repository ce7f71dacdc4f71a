"""How does ``assay --server ADDRESS eval run`` evaluate the search of a service?

The service runs the test set as a job and keeps the run; a test set that is a file here is sent
along, any other name is one of the service's own. What only works beside the workspace is refused
by name; ``eval show --per-component --waterfall`` looks into the run afterwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.console import emit_json, note
from assay.cli.options import DEGRADED
from assay.cli.remote import client
from assay.errors import UsageError
from assay.evaluation.scores import shown
from assay.render.tables import Table
from assay.testsets.join import join
from assay.testsets.load import read_test_set
from assay.testsets.write import as_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.cli.eval_job import Job

KEPT = 100
MAX_ERRORS = 10


def evaluate(job: Job, parameters: Mapping[str, Any]) -> int:
    """Evaluate at the service, tag the run there, and show what came out."""
    _check(job)
    body = _test_set(job.testsets)
    given = {name: _word(value) for name, value in parameters.items() if value is not None}
    if job.measures:
        given["measures"] = job.measures
    if job.name:
        given["name"] = job.name
    with client(job.config) as service:
        result = service.evaluate(body, per_query=_word(job.per_query), **given)
        for tag in job.tags:
            service.tag(result["run_id"], tag)
    if result["cached"]:
        note(f"note: run {result['run_id']} has the answer already and nothing was searched")
    if job.as_json:
        emit_json(result)
    else:
        from assay.cli.tables import show_tables

        show_tables([_table(result)], job.config.color)
    for line in result["warnings"]:
        note(f"warning: {line}")
    return DEGRADED if result["degraded"] or result["failed_queries"] else 0


def _test_set(names: Sequence[str]) -> dict[str, Any]:
    """Files are sent; a name that is none is that of a test set of the service."""
    unknown = [name for name in names if not Path(name).exists()]
    if not unknown:
        return as_plain(join([read_test_set(Path(name)).sound() for name in names]))
    if len(names) == 1:
        return {"dataset_id": names[0]}
    raise UsageError(
        f"{unknown[0]} is no file here, and a service runs one of its own test sets at a time",
        hint="name one test set, or files",
    )


def _check(job: Job) -> None:
    if not job.testsets:
        raise UsageError("no test set is named", hint="--testset NAME; assay testset list")
    refuse_with_server(
        "assay eval run",
        per_component=job.per_component,
        waterfall=job.waterfall,
        answers=job.answers,
        keep=job.kept != KEPT,
        retriever=job.retriever,
        mapping=job.mapping,
        run=job.run_file,
        protocol=job.protocol,
        match=job.match not in ("exact", "chunk"),
        mode=job.mode != "as-written",
        part=job.split,
        by_group=job.by_group,
        resume=job.resume,
        no_cache=not job.cache,
        max_errors=job.max_errors != MAX_ERRORS,
        publish=job.publish,
    )


def _table(result: Mapping[str, Any]) -> Table:
    rows = tuple(
        (entry["measure"], shown(entry.get("mean", entry.get("value"))), _ci(entry))
        for entry in result["aggregates"].values()
    )
    title = f"{result['run_id']}: {result['scored_queries']} of {result['total_queries']} queries"
    return Table(("measure", "mean", "CI"), rows, title=title)


def _ci(entry: Mapping[str, Any]) -> str:
    ends = entry.get("ci")
    return "—" if not ends else f"[{ends[0]:.4f}, {ends[1]:.4f}]"


def _word(value: Any) -> Any:
    """Switches of an address are words."""
    return str(value).lower() if isinstance(value, bool) else value
