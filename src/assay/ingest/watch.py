"""How far has reading progressed, and what should the user know about it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from assay.errors import InputError, MissingFileError
from assay.ingest.parsed import FileLocation

SKIP_EMPTY = "use assay ingest --skip-empty"


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of reading; ``note`` and ``problem`` are empty unless there is one to report.

    ``withdrawn`` are documents that the corpus asks to delete; they are named once, at the end.
    ``left_out`` are files that are not read, which the note is about.
    """

    source: str
    documents: int
    read_bytes: int
    total_bytes: int
    note: str = ""
    problem: str = ""
    withdrawn: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of a row that hold its id, its text (several are joined) and its title."""

    id: str = ""
    text: tuple[str, ...] = ()
    title: str = ""

    def __bool__(self) -> bool:
        return bool(self.id or self.text or self.title)


class Watch:
    """Counts what one pass over a corpus reads, and reports it after every document.

    ``root`` is the root of the corpus: a file without an id is named by its path from there. With
    ``skip_empty``, documents without text are skipped instead of being errors. With ``keep_going``,
    what cannot be read is reported as a problem and left out, and the rest is read. With
    ``strict``, a file that would be left out is an error. ``columns`` are the fields that the
    caller named.
    """

    def __init__(
        self,
        report: Report | None = None,
        root: Path | None = None,
        *,
        skip_empty: bool = False,
        keep_going: bool = False,
        strict: bool = False,
        columns: Columns | None = None,
    ) -> None:
        self.root = root
        self._strict = strict
        self.columns = columns or Columns()
        self._skip_empty = skip_empty
        self.keep_going = keep_going
        self._report = report
        self._source = ""
        self._documents = 0
        self._read = 0
        self._total = 0
        self._told: set[str] = set()
        self._withdrawn: dict[str, None] = {}
        self._shown = ("", "")  # a folder of ours, and what users know it by

    def expect(self, size: int) -> None:
        """Announce how many stored bytes will be read."""
        self._total += size

    def opened(self, source: str) -> None:
        """Note that reading continues in this file."""
        self._source = source

    def consumed(self, size: int) -> None:
        """Note that this many more stored bytes were read."""
        self._read += size

    def document(self, doc_id: str) -> None:
        """Count a document; one that was withdrawn before is back."""
        self._documents += 1
        self._withdrawn.pop(doc_id, None)
        self._tell("")

    def withdraw(self, doc_id: str) -> None:
        """Note that the corpus asks to delete a document, whether it was read here or earlier."""
        self._withdrawn[doc_id] = None

    def ended(self) -> None:
        """Report what is withdrawn."""
        if self._withdrawn:
            self._tell("", withdrawn=tuple(self._withdrawn))

    @contextmanager
    def within(self, folder: Path, shown: str) -> Iterator[None]:
        """Read a folder that users know by another name; messages and ids go by that."""
        root, before = self.root, self._shown
        self.root, self._shown = folder.parent, (f"{folder}/", shown)
        try:
            yield
        except InputError as problem:
            if str(folder) not in problem.message:
                raise
            raise InputError(self._said(problem.message), hint=problem.hint) from None
        finally:
            self.root, self._shown = root, before

    def _said(self, text: str) -> str:
        folder, shown = self._shown
        if not folder:
            return text
        return text.replace(folder, shown).replace(folder.rstrip("/"), shown.rstrip("!"))

    def passing(self) -> _Passing:
        """For a ``with`` around what is read at once, a file or a row.

        A problem there ends it alone where reading goes on regardless.
        """
        return _Passing(self)

    def passes(self, problem: BaseException | None) -> bool:
        """Report a problem with the input, if reading goes on regardless; False if it does not."""
        if not self.keep_going or not isinstance(problem, InputError | MissingFileError):
            return False
        self._tell("", str(problem))
        return True

    def empty(self, what: str, location: FileLocation) -> None:
        """Reject a document or chunk without text, or note that it is skipped."""
        message = f"{what} has no text"
        if not self._skip_empty:
            raise location.format_error(message, hint=f"add text, remove it, or {SKIP_EMPTY}")
        self.note(f"{location}: {message}: skipped")

    def note(self, text: str) -> None:
        """Tell the user that something was left out or handled differently."""
        self._tell(text)

    def left_out(self, text: str, *files: Path) -> None:
        """Tell that files are not read, or refuse that."""
        if self._strict:
            raise InputError(
                self._said(text), hint="every file must be read: leave --strict out, or move it"
            )
        if text not in self._told:
            self._told.add(text)
            self._tell(text, left_out=tuple(self._said(str(file)) for file in files))

    def note_once(self, text: str) -> None:
        """A note that is reported only once, not for every document."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def _tell(
        self,
        note: str,
        problem: str = "",
        *,
        withdrawn: tuple[str, ...] = (),
        left_out: tuple[str, ...] = (),
    ) -> None:
        if self._report is not None:
            read = (self._said(self._source), self._documents, self._read, self._total)
            said = (self._said(note), self._said(problem))
            self._report(Progress(*read, *said, withdrawn, left_out))


class _Passing:
    """Swallows what its watch passes over."""

    __slots__ = ("_watch",)

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def __enter__(self) -> None:
        """Begin to read something."""

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> bool:
        return problem is not None and self._watch.passes(problem)
