"""What does a reader return for each document, and where was it found?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay import limits
from assay.errors import DuplicateError, FormatError, InputError, LimitError
from assay.model.document import Chunk, Document, check_doc_id

_ROW = re.compile(r"\[\d+\]\Z")


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file and, for formats with meaningful lines, a line in it."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"

    @property
    def file(self) -> str:
        """The source without the number of a row in it: ``a.parquet`` for ``a.parquet[3]``."""
        return _ROW.sub("", self.source)

    def format_error(self, message: str, *, hint: str | None = None) -> FormatError:
        """The error for content in the wrong form."""
        return FormatError(message, source=self.source, line=self.line, hint=hint)

    def duplicate_error(self, message: str, *, hint: str | None = None) -> DuplicateError:
        """The error for something that occurs twice."""
        return DuplicateError(message, source=self.source, line=self.line, hint=hint)

    def limit_error(self, message: str, *, hint: str | None = None) -> LimitError:
        """The error for something above its limit."""
        return LimitError(f"{self}: {message}", hint=hint)

    def checked_id(self, value: object, what: str = "doc_id") -> str:
        """The id, if it is valid; integers become text."""
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        try:
            checked = check_doc_id(value, what)
        except InputError as problem:
            raise self.format_error(problem.message, hint=problem.hint) from None
        if what == "doc_id" and len(checked) > limits.MAX_DOC_ID_CHARS:
            raise self.format_error(
                f"the doc_id {checked:.40}... has {len(checked)} characters",
                hint=f"up to {limits.MAX_DOC_ID_CHARS}, so that its chunks can be numbered",
            )
        return checked


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document as its reader parsed it.

    ``chunks`` came ready-made, with ids of their own, and are kept as they are; if there are none,
    the chunker splits the document. One that ``revises`` takes the place of an earlier one with its
    id, which is otherwise an error.
    """

    document: Document
    location: FileLocation
    chunks: tuple[Chunk, ...] = ()
    revises: bool = False
