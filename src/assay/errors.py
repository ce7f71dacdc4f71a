"""What can go wrong, and what should the caller do about it?

Every error that leaves this package descends from ``AssayError`` and carries a stable ``code``, the
HTTP status a server answers with and the exit code a command ends with::

    AssayError                     internal            500  exit 1
    ├── UsageError                 usage               400  exit 2
    │   ├── UnknownMeasureError    unknown_measure     400  exit 2
    │   ├── UnknownModelError      unknown_model       400  exit 2
    │   └── ConfigError            config              400  exit 2
    ├── InputError                 bad_input           422  exit 2
    │   ├── PlacedError            bad_input           422  exit 2   (has file and line)
    │   │   ├── FormatError        bad_format          422  exit 2
    │   │   └── DuplicateError     duplicate           422  exit 2
    │   ├── ProblemsError          invalid             422  exit 2   (lists every problem)
    │   └── LimitError             too_large           413  exit 2
    ├── MissingFileError           not_found           404  exit 2
    │   ├── MissingModelError      model_missing       404  exit 2
    │   └── UnknownRunError        unknown_run         404  exit 2
    ├── ConflictError              conflict            409  exit 2
    ├── AgreementError             no_agreement        409  exit 3   (annotators differ too much)
    ├── TooManyErrorsError         too_many_errors     502  exit 1
    ├── StorageError               storage             500  exit 1
    │   ├── CorruptError           corrupt             500  exit 1   (names the file)
    │   ├── DiskFullError          disk_full           507  exit 1
    │   └── BusyError              busy                503  exit 1
    ├── SearchUnavailableError     search_unavailable  503  exit 1   (no component answered)
    ├── EngineError                engine              502  exit 1
    ├── GpuNotAvailableError       gpu_unavailable     503  exit 1
    ├── CorruptModelError          model_corrupt       503  exit 1
    ├── PullError                  pull_failed         502  exit 1
    ├── AnswererError              answerer_failed     502  exit 1
    ├── JudgeError                 judge_failed        502  exit 1
    ├── ModelServiceError          model_service_failed      502  exit 1
    ├── CacheUnavailableError      vector_cache_unavailable  507  exit 1
    ├── CorruptCacheError          vector_cache_corrupt      503  exit 1
    ├── UnreachableError           unreachable         502  exit 1   (another service)
    └── MissingDependencyError     missing_dependency  501  exit 2   (an extra is not installed)

A message says what happened and where; ``hint`` says what to do next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.plural import counted

_FOLDERS = re.compile(r"(?<!\S)/(?:[^\s/]+/)+(?=[^\s/])")


class AssayError(Exception):
    """Root of every error raised on purpose by this package."""

    code: str = "internal"
    http_status: ClassVar[int] = 500
    exit_code: int = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # an error may come from another process; what its class takes does not matter then
        return Exception.__new__, (type(self), *self.args), self.__dict__

    @property
    def public_message(self) -> str:
        """The message for a caller on another machine."""
        return self.message


class UsageError(AssayError):
    """The call itself is wrong: an option, a name, a combination."""

    code = "usage"
    http_status = 400
    exit_code = 2


class UnknownMeasureError(UsageError):
    """There is no measure of this name."""

    code = "unknown_measure"


class ConfigError(UsageError):
    """A setting has a value that is not allowed."""

    code = "config"


class InputError(AssayError):
    """The data cannot be used."""

    code = "bad_input"
    http_status = 422
    exit_code = 2


class PlacedError(InputError):
    """Bad data, with its location: ``file:line``."""

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        self.source = source
        self.line = line
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message, hint=hint)


class FormatError(PlacedError):
    """A line or value is not in the format it should be."""

    code = "bad_format"


class DuplicateError(PlacedError):
    """The same id or key appears twice where it must be unique."""

    code = "duplicate"


@dataclass(frozen=True, slots=True)
class Problem:
    """One of several things that are wrong with a file: what, where, and what to do."""

    message: str
    source: str = ""
    line: int | None = None
    query_id: str | None = None
    hint: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.source, self.line) if part)
        before = "".join(f"{part}: " for part in (place, self.query_id) if part)
        advice = f" ({self.hint})" if self.hint else ""
        return f"{before}{self.message}{advice}"


class ProblemsError(InputError):
    """A file was read to the end and has problems; ``problems`` lists them all."""

    code = "invalid"
    SHOWN: ClassVar[int] = 20

    def __init__(self, what: str, problems: Sequence[Problem], *, hint: str | None = None) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = [f"{what} has {counted(count, 'problem')}"]
        lines += [f"  {problem}" for problem in self.problems[: self.SHOWN]]
        if count > self.SHOWN:
            lines.append(f"  ... and {count - self.SHOWN} more")
        super().__init__("\n".join(lines), hint=hint)


class LimitError(InputError):
    """An input is larger than the cap in ``limits.py`` allows."""

    code = "too_large"
    http_status = 413


class MissingFileError(AssayError):
    """A file or folder does not exist, or cannot be read."""

    code = "not_found"
    http_status = 404
    exit_code = 2


class UnknownRunError(MissingFileError):
    """No stored run has this id, tag or name, or stands so far back."""

    code = "unknown_run"


class ConflictError(AssayError):
    """The request contradicts what is already stored."""

    code = "conflict"
    http_status = 409
    exit_code = 2


class AgreementError(AssayError):
    """The annotators of a round do not agree well enough to use their judgments."""

    code = "no_agreement"
    http_status = 409
    exit_code = 3


class TooManyErrorsError(AssayError):
    """So many queries of an evaluation failed that it was stopped."""

    code = "too_many_errors"
    http_status = 502


class AnswererError(AssayError):
    """The language model asked for an answer failed, or its reply is unreadable."""

    code = "answerer_failed"
    http_status = 502


class JudgeError(AssayError):
    """A judge of answers did not reply; its earlier opinions are kept."""

    code = "judge_failed"
    http_status = 502


class ModelServiceError(AssayError):
    """A service for vectors or scores failed, or its reply is unreadable.

    ``is_down``: it did not reply at all.
    """

    code = "model_service_failed"
    http_status = 502

    def __init__(self, message: str, *, hint: str | None = None, is_down: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_down = is_down


class MissingDependencyError(AssayError):
    """An optional package that is needed is not installed."""

    code = "missing_dependency"
    http_status = 501
    exit_code = 2


class StorageError(AssayError):
    """The workspace cannot be read or written: disk, permissions, format."""

    code = "storage"

    @property
    def public_message(self) -> str:
        """It names files, but not where they are."""
        return _FOLDERS.sub("", self.message)


class CorruptError(StorageError):
    """A file of ours is not what we wrote; nothing is served from it."""

    code = "corrupt"


class DiskFullError(StorageError):
    """The disk is full; everything written before is still there."""

    code = "disk_full"
    http_status = 507


class BusyError(StorageError):
    """Another process holds the lock."""

    code = "busy"
    http_status = 503


class SearchUnavailableError(AssayError):
    """No component answered; ``component_errors`` names each failure."""

    code = "search_unavailable"
    http_status = 503

    def __init__(
        self, message: str, *, hint: str | None = None, component_errors: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.component_errors = component_errors


class EngineError(AssayError):
    """The OpenSearch cluster refused, failed or did not answer in time."""

    code = "engine"
    http_status = 502


class GpuNotAvailableError(AssayError):
    """The model requires a GPU, and this machine has none."""

    code = "gpu_unavailable"
    http_status = 503


class UnknownModelError(UsageError):
    """The name is neither a known model nor a folder."""

    code = "unknown_model"


class MissingModelError(MissingFileError):
    """A known model has not been pulled yet."""

    code = "model_missing"


class CorruptModelError(AssayError):
    """A model file does not match its card."""

    code = "model_corrupt"
    http_status = 503


class PullError(AssayError):
    """A model could not be fetched."""

    code = "pull_failed"
    http_status = 502


class CacheUnavailableError(AssayError):
    """The vector cache cannot be read or written: disk full, read-only, locked."""

    code = "vector_cache_unavailable"
    http_status = 507


class CorruptCacheError(AssayError):
    """The vector cache is damaged, or the file is not one."""

    code = "vector_cache_corrupt"
    http_status = 503


class UnreachableError(AssayError):
    """A service that is needed does not answer; ``retry_after`` is when it will, if it said so."""

    code = "unreachable"
    http_status = 502

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after
