"""How is a nested JSON record read when any part of it may be missing?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.ingest.parsed import FileLocation


class Record:
    """A JSON object that returns empty values for missing fields and rejects wrong types."""

    __slots__ = ("_place", "_row")

    def __init__(self, row: Mapping[str, Any], location: FileLocation) -> None:
        self._row = row
        self._place = location

    def __bool__(self) -> bool:
        return bool(self._row)

    def value(self, name: str) -> object:
        """The value under this name as it is; None if it is missing."""
        return self._row.get(name)

    def record(self, name: str) -> Record:
        """The object under this name; an empty one if it is missing."""
        value = self._row.get(name)
        return Record({} if value is None else self._typed(name, value, dict), self._place)

    def records(self, name: str) -> list[Record]:
        """The objects in the array under this name."""
        value = self._row.get(name)
        items = [] if value is None else self._typed(name, value, list)
        return [Record(self._typed(name, item, dict), self._place) for item in items]

    def text(self, name: str) -> str:
        """The text, number or boolean under this name, as text."""
        value = self._row.get(name)
        if value is None:
            return ""
        return self._written(name, value)

    def texts(self, name: str) -> list[str]:
        """The texts in the array under this name."""
        value = self._row.get(name)
        items = [] if value is None else self._typed(name, value, list)
        return [self._written(name, item) for item in items]

    def _written(self, name: str, value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float):
            return str(value).strip()
        raise self._wrong(name, value)

    def _typed(self, name: str, value: object, kind: type) -> Any:
        if not isinstance(value, kind):
            raise self._wrong(name, value)
        return value

    def _wrong(self, name: str, value: object) -> Exception:
        return self._place.format_error(
            f"{name} is {type(value).__name__}, which is not expected there"
        )
