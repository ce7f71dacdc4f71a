"""What does a JSON file of a model say?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import FormatError, LimitError, MissingFileError


def read_json(path: Path) -> Any:
    """The value in a JSON file of a model."""
    try:
        if path.stat().st_size > limits.MAX_MODEL_JSON_BYTES:
            raise LimitError(f"{path} is larger than {limits.MAX_MODEL_JSON_BYTES} bytes")
        return _value(path.read_bytes(), str(path))
    except OSError as error:
        raise MissingFileError(f"{path}: {error.strerror or error}") from error


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of a model."""
    return _object(read_json(path), str(path))


def json_object(data: bytes, source: str) -> dict[str, Any]:
    """The JSON object in the content of a file."""
    return _object(_value(data, source), source)


def _value(data: bytes, source: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(
            "this is not JSON", source=source, hint="assay models pull fetches a model again"
        ) from error


def _object(value: Any, source: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError("this must be a JSON object", source=source)
    return value
