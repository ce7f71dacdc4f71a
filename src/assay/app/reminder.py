"""Which test sets are due for a refresh?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from assay.annotation.due import Due, refresh_due
from assay.model.testset import TestSet
from assay.testsets.load import list_test_sets, read_test_set


def due_sets(home: Path, today: date | None = None) -> list[Due]:
    """Sets of a workspace that nothing has replaced, each with its date; shipped ones included."""
    day = today or datetime.now(UTC).date()
    sets = [
        reading.test_set
        for path in list_test_sets(home / "testsets").values()
        if (reading := read_test_set(path)).test_set is not None
    ]
    replaced = {_parent(one) for one in sets}
    return [refresh_due(one, day) for one in sets if one.name not in replaced]


def _parent(test_set: TestSet) -> str:
    parent = test_set.provenance.get("parent")
    return str(parent.get("name", "")) if isinstance(parent, Mapping) else ""
