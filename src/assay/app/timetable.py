"""Which evaluations does the clock start, and where is that written down?

Those of the setting ``schedule`` can be changed by whoever runs the service. Others are files of
the workspace, one for each, which those who may evaluate make, change and remove while it runs.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay import limits
from assay.app import testsets
from assay.app.evaluation import check_request
from assay.app.evaluation_request import EvaluationRequest, refuse_what_stays_here
from assay.app.layout import Layout
from assay.app.schedule import MAX_ENTRIES, ScheduleEntry, parse_clock, parse_schedule
from assay.durable import alone_in, storing, sync_folder, write_atomically
from assay.errors import AssayError, ConfigError, LimitError, MissingFileError, UsageError
from assay.model.codec import decode, encode
from assay.model.document import check_id
from assay.model.moments import now
from assay.model.testset import TestSet
from assay.plain_file import read_plain
from assay.settings import Settings
from assay.strict_json import values

if TYPE_CHECKING:
    from assay.app.workspace import Workspace

HERE = "this machine"
"""The owner of an entry that was made beside the workspace."""
SUFFIX = ".json"
LONGEST_NAME = 80
"""Characters of the name of a test set that the id of an entry begins with."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """What the settings say, what the workspace says, and which of its files cannot be read."""

    fixed: tuple[ScheduleEntry, ...]
    own: tuple[ScheduleEntry, ...]
    problems: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[ScheduleEntry, ...]:
        """Everything that the clock starts."""
        return (*self.fixed, *self.own)


def timetable(settings: Settings, layout: Layout) -> Timetable:
    """Every entry; a file that cannot be read is reported and holds up no other."""
    own: list[ScheduleEntry] = []
    problems: list[str] = []
    for path in sorted(layout.schedule.glob(f"*{SUFFIX}")):
        try:
            own.append(_read(layout, path.stem))
        except AssayError as problem:
            problems.append(str(problem))
    return Timetable(parse_schedule(settings.schedule), tuple(own), tuple(problems))


def scheduled(layout: Layout, entry_id: str) -> ScheduleEntry:
    """One entry of the workspace."""
    check_id(entry_id, "scheduled evaluation")
    if not layout.scheduled(entry_id).is_file():
        raise MissingFileError(
            f"there is no scheduled evaluation {entry_id}", hint="it may have been removed"
        )
    return _read(layout, entry_id)


def schedule(
    workspace: Workspace,
    when: str,
    wanted: EvaluationRequest,
    *,
    owner: str = HERE,
    entry_id: str = "",
) -> ScheduleEntry:
    """Have the clock start an evaluation; with an id, that entry is changed.

    The request names one test set of the workspace, which is read anew each time.
    """
    layout = workspace.layout
    test_set = named_test_set(wanted)
    testsets.load(layout, test_set, lenient=True)
    check_request(workspace, wanted)
    try:
        parse_clock(when)
    except ConfigError as problem:
        raise UsageError(problem.message.removeprefix("schedule: "), hint=problem.hint) from None
    entry = ScheduleEntry(
        entry_id=entry_id or f"{test_set[:LONGEST_NAME]}_{secrets.token_hex(3)}",
        when=" ".join(when.split()),
        test_set=test_set,
        request={key: one for key, one in encode(wanted).items() if key != "test_set"},
        owner=owner,
        changed_at=now("seconds"),
    )
    with alone_in(layout.schedule):
        if entry_id:
            scheduled(layout, entry_id)
        elif sum(1 for _ in layout.schedule.glob(f"*{SUFFIX}")) >= MAX_ENTRIES:
            raise LimitError(
                f"{MAX_ENTRIES} evaluations are scheduled, the most allowed",
                hint="remove one first",
            )
        text = json.dumps(encode(entry), indent=2, ensure_ascii=False)
        write_atomically(layout.scheduled(entry.entry_id), text.encode())
    return entry


def named_test_set(wanted: EvaluationRequest) -> str:
    """The one test set by its name; refused where a service could not run the request."""
    refuse_what_stays_here(wanted)
    if len(wanted.test_sets) != 1:
        raise UsageError(
            "a scheduled evaluation has exactly one test set", hint="name one: assay testset list"
        )
    if wanted.run_id is not None:
        raise UsageError(
            "a scheduled evaluation makes a new run each time", hint="leave out the id"
        )
    return wanted.test_sets[0]


def unschedule(layout: Layout, entry_id: str) -> ScheduleEntry:
    """Remove an entry; what it started goes on."""
    with alone_in(layout.schedule):
        entry = scheduled(layout, entry_id)
        path = layout.scheduled(entry_id)
        with storing(path):
            path.unlink()
            sync_folder(path.parent)
    return entry


def request_of(entry: ScheduleEntry, test_set: TestSet) -> EvaluationRequest:
    """The evaluation that an entry means, with its test set as it is now."""
    content: Mapping[str, Any] = {**entry.request, "test_set": encode(test_set)}
    return decode(EvaluationRequest, content, f"schedule {entry.entry_id}")


def _read(layout: Layout, entry_id: str) -> ScheduleEntry:
    path = layout.scheduled(entry_id)
    found = values(read_plain(path, limits.MAX_CONFIG_BYTES), str(path))
    entry = decode(ScheduleEntry, found[0][1] if found else None, str(path))
    parse_clock(entry.when)
    return replace(entry, entry_id=entry_id)
