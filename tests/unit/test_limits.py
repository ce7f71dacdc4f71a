"""Is every cap in the table, under the name of its constant, with a help text?"""

from __future__ import annotations

import dataclasses

import pytest

from assay import limits


def test_the_table_lists_every_constant_once() -> None:
    constants = {name: value for name, value in vars(limits).items() if isinstance(value, int)}
    public = {name: value for name, value in constants.items() if not name.startswith("_")}
    assert {row.name: row.default for row in limits.TABLE} == public
    assert len(limits.TABLE) == len(public)


@pytest.mark.parametrize("row", limits.TABLE, ids=lambda row: str(row.name))
def test_a_row_is_positive_and_explained(row: limits.Limit) -> None:
    assert row.default > 0
    assert row.help
    assert not row.help.endswith(".")


def test_rows_cannot_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        limits.TABLE[0].default = 1  # type: ignore[misc]


def test_limits_that_depend_on_each_other() -> None:
    assert limits.MAX_ID_BYTES < limits.MAX_LINE_BYTES <= limits.STREAM_CHUNK_BYTES
    assert limits.MAX_CONFIG_BYTES < limits.MAX_YAML_BYTES
