"""What is the value of this field of a row, in the type that we need?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from assay import limits
from assay.ingest import facts
from assay.ingest.files import as_utf8
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch
from assay.model.document import IngestionMode, MetadataValue, SpeakerRole

_Choice = TypeVar("_Choice", bound=StrEnum)

DOC_ID_NAMES = ("doc_id", "_id", "id")
CLOCK = re.compile(r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d(?:[.,]\d{1,9})?)")


def first_of(row: Mapping[str, Any], names: tuple[str, ...]) -> object:
    """The value of the first of these fields that the row has, or None."""
    for name in names:
        if (value := row.get(name)) is not None:
            return value
    return None


def string(row: Mapping[str, Any], names: tuple[str, ...], location: FileLocation) -> str:
    """The text of the first of these fields that the row has; empty if there is none."""
    value = first_of(row, names)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise location.format_error(f"{names[0]} is {type(value).__name__}, but text is expected")
    return value


def short(row: Mapping[str, Any], names: tuple[str, ...], location: FileLocation) -> str:
    """A heading or label: one line, within the size limit."""
    value = " ".join(string(row, names, location).split())
    if len(value) > limits.MAX_TITLE_CHARS:
        raise location.limit_error(
            f"{names[0]} has more than {limits.MAX_TITLE_CHARS:,} characters", hint="shorten it"
        )
    return value


def title(row: Mapping[str, Any], location: FileLocation, watch: Watch) -> str:
    """The title on one line, shortened to the size limit."""
    return cut_title(" ".join(string(row, ("title",), location).split()), location, watch)


def cut_title(words: str, location: FileLocation, watch: Watch) -> str:
    """The title, shortened to what is stored with every chunk; a cut is noted."""
    if len(words) > limits.MAX_TITLE_CHARS:
        watch.note(f"{location}: the title is cut at {limits.MAX_TITLE_CHARS:,} characters")
    return words[: limits.MAX_TITLE_CHARS]


def doc_id(row: Mapping[str, Any], location: FileLocation) -> str:
    """The id of the document, from any of its usual fields."""
    value = first_of(row, DOC_ID_NAMES)
    if value is None:
        raise location.format_error("no doc_id", hint="give the document a doc_id, _id or id")
    return location.checked_id(value)


def seconds(row: Mapping[str, Any], names: tuple[str, ...], location: FileLocation) -> float | None:
    """A time as seconds: a number, or ``[hh:]mm:ss[.mmm]``."""
    value = first_of(row, names)
    if value is None:
        return None
    if isinstance(value, str):
        return clock(value, location)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise location.format_error(f"{names[0]} {value!r:.40} is not a time")
    if value < 0:
        raise location.format_error(f"{names[0]} {value!r:.40} is negative")
    return float(value)


def clock(value: str, location: FileLocation) -> float:
    """Seconds from ``[hh:]mm:ss[.mmm]``."""
    found = CLOCK.fullmatch(value.strip())
    if found is None:
        raise location.format_error(
            f"{value!r:.40} is not a time", hint="give seconds, or hh:mm:ss.mmm"
        )
    hours, minutes, rest = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(rest.replace(",", "."))


def flag(row: Mapping[str, Any], name: str, location: FileLocation) -> bool:
    """True or false; false if the field is missing."""
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise location.format_error(f"{name} is {value!r:.40}, but true or false is expected")


def speaker_role(row: Mapping[str, Any], location: FileLocation) -> SpeakerRole:
    """Who speaks; unknown if the row does not say."""
    return _one_of(SpeakerRole, row, "speaker_role", SpeakerRole.UNKNOWN, location)


def ingestion_mode(row: Mapping[str, Any], location: FileLocation) -> IngestionMode:
    """How the text came in; from a file if the row does not say."""
    return _one_of(IngestionMode, row, "ingestion_mode", IngestionMode.OFFLINE, location)


def _one_of(
    kind: type[_Choice], row: Mapping[str, Any], name: str, default: _Choice, location: FileLocation
) -> _Choice:
    value = row.get(name)
    if value is None:
        return default
    try:
        return kind(str(value).upper())
    except ValueError:
        known = ", ".join(kind)
        raise location.format_error(f"{name} {value!r:.40} is none of {known}") from None


def metadata(value: object, location: FileLocation, watch: Watch) -> dict[str, MetadataValue]:
    """Metadata in its own types: text, numbers, true and false, and lists of them.

    Nested values are dropped with a note, and so is what is too long.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise location.format_error(
            f"metadata is {type(value).__name__}, but an object is expected"
        )
    filled = {key: item for key, item in value.items() if item is not None}
    if len(filled) > limits.MAX_METADATA_KEYS:
        watch.note_once(
            f"{location.file}: more than {limits.MAX_METADATA_KEYS} fields of metadata; of each "
            "document the first that are filled are kept"
        )
    found: dict[str, MetadataValue] = {}
    for key, item in islice(filled.items(), limits.MAX_METADATA_KEYS):
        kept = _scalars(item)
        if kept is None:
            watch.note_once(f"{location.file}: metadata.{key:.80} is nested and was dropped")
        else:
            found[key] = kept
    return within_limits(found, FileLocation(location.file), watch.note_once)


def within_limits(
    found: Mapping[str, MetadataValue], location: FileLocation, note: Callable[[str], None]
) -> dict[str, MetadataValue]:
    """Metadata without what is too long to be stored with every chunk; that is noted."""
    kept: dict[str, MetadataValue] = {}
    for key, value in found.items():
        part = facts.bounded(value)
        if part is None:
            note(f"{location}: metadata.{key:.80} is too long and was dropped")
            continue
        if part is not value:
            note(f"{location}: metadata.{key:.80} is too long and was cut")
        kept[key] = part
    return kept


def _scalars(value: object) -> MetadataValue | None:
    if isinstance(value, list):
        parts = [item for item in value if item is not None]
        flat = all(isinstance(item, str | int | float) for item in parts)
        return tuple(parts) if flat else None
    return value if isinstance(value, str | int | float) else None


def decoded(data: bytes, location: FileLocation) -> str:
    """Text from UTF-8 or UTF-16, with plain newlines and without a byte-order mark."""
    data = b"".join(as_utf8([data], location))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        raise FileLocation(location.source, line).format_error(
            "not UTF-8", hint="save it as UTF-8"
        ) from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise FileLocation(location.source, line).format_error(
            "a NUL character", hint="is this a text file?"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")
