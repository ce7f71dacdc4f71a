"""What does a row say under this name, in the type that we need?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from assay import limits
from assay.ingest.entry import Place
from assay.ingest.watch import Watch
from assay.model.document import IngestionMode, SpeakerRole

_Choice = TypeVar("_Choice", bound=StrEnum)

DOC_ID_NAMES = ("doc_id", "_id", "id")
CLOCK = re.compile(r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]?\d(?:[.,]\d{1,9})?)")


def first_of(row: Mapping[str, Any], names: tuple[str, ...]) -> object:
    """The value of the first of these names that the row has, or None."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def string(row: Mapping[str, Any], names: tuple[str, ...], place: Place) -> str:
    """The text under the first of these names that the row has; empty when there is none."""
    value = first_of(row, names)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise place.bad(f"{names[0]} is {type(value).__name__}, and text is expected")
    return value


def short(row: Mapping[str, Any], names: tuple[str, ...], place: Place) -> str:
    """A heading or label: one line, within its cap."""
    value = " ".join(string(row, names, place).split())
    if len(value) > limits.MAX_TITLE_CHARS:
        raise place.too_large(
            f"{names[0]} has more than {limits.MAX_TITLE_CHARS:,} characters", hint="shorten it"
        )
    return value


def title(row: Mapping[str, Any], place: Place, watch: Watch) -> str:
    """The title on one line, cut at its cap."""
    return cut_title(" ".join(string(row, ("title",), place).split()), place, watch)


def cut_title(words: str, place: Place, watch: Watch) -> str:
    """As much of a title as is stored with every chunk; that it was cut is noted."""
    if len(words) > limits.MAX_TITLE_CHARS:
        watch.note(f"{place}: the title is cut at {limits.MAX_TITLE_CHARS:,} characters")
    return words[: limits.MAX_TITLE_CHARS]


def doc_id(row: Mapping[str, Any], place: Place) -> str:
    """The id of the document, under any of its usual names."""
    value = first_of(row, DOC_ID_NAMES)
    if value is None:
        raise place.bad("no doc_id", hint="doc_id, _id or id names the document")
    return place.checked_id(value)


def seconds(row: Mapping[str, Any], names: tuple[str, ...], place: Place) -> float | None:
    """A time as seconds: a number, or ``[hh:]mm:ss[.mmm]``."""
    value = first_of(row, names)
    if value is None:
        return None
    if isinstance(value, str):
        return clock(value, place)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise place.bad(f"{names[0]} {value!r:.40} is not a time")
    if value < 0:
        raise place.bad(f"{names[0]} {value!r:.40} lies before the beginning")
    return float(value)


def clock(value: str, place: Place) -> float:
    """Seconds from ``[hh:]mm:ss[.mmm]``."""
    found = CLOCK.fullmatch(value.strip())
    if found is None:
        raise place.bad(f"{value!r:.40} is not a time", hint="seconds, or hh:mm:ss.mmm")
    hours, minutes, rest = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(rest.replace(",", "."))


def flag(row: Mapping[str, Any], name: str, place: Place) -> bool:
    """True or false; false when there is none."""
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise place.bad(f"{name} is {value!r:.40}, and true or false is expected")


def speaker_role(row: Mapping[str, Any], place: Place) -> SpeakerRole:
    """Who speaks; unknown when the row does not say."""
    return _one_of(SpeakerRole, row, "speaker_role", SpeakerRole.UNKNOWN, place)


def ingestion_mode(row: Mapping[str, Any], place: Place) -> IngestionMode:
    """How the text came; from a file when the row does not say."""
    return _one_of(IngestionMode, row, "ingestion_mode", IngestionMode.OFFLINE, place)


def _one_of(
    kind: type[_Choice], row: Mapping[str, Any], name: str, default: _Choice, place: Place
) -> _Choice:
    value = row.get(name)
    if value is None:
        return default
    try:
        return kind(str(value).upper())
    except ValueError:
        known = ", ".join(kind)
        raise place.bad(f"{name} {value!r:.40} is none of {known}") from None


def metadata(value: object, place: Place, watch: Watch) -> dict[str, str]:
    """Metadata as text: numbers are written out, lists joined, what is nested left out, noted."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise place.bad(f"metadata is {type(value).__name__}, and an object is expected")
    if len(value) > limits.MAX_METADATA_KEYS:
        raise place.too_large(f"more than {limits.MAX_METADATA_KEYS} entries in metadata")
    found: dict[str, str] = {}
    for key, item in value.items():
        if item is None:
            continue
        written = _written(item)
        if written is None or len(written) > limits.MAX_METADATA_CHARS:
            reason = "is nested" if written is None else "is too long"
            watch.note_once(f"{place.source}: metadata.{key:.80} {reason} and is left out")
        else:
            found[key] = written
    return found


def _written(value: object) -> str | None:
    if isinstance(value, list):
        parts = [_written(item) for item in value if not isinstance(item, list | dict)]
        return "; ".join(part for part in parts if part) if len(parts) == len(value) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if isinstance(value, dict) else "" if value is None else str(value)


def decoded(data: bytes, place: Place) -> str:
    """Text from UTF-8, with plain newlines and without a byte-order mark."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = 1 + data.count(b"\n", 0, problem.start)
        raise Place(place.source, line).bad("not UTF-8", hint="save it as UTF-8") from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise Place(place.source, line).bad("a NUL character", hint="is this a text file?")
    return text.replace("\r\n", "\n").replace("\r", "\n")
