"""What happens between a passage on the screen and the key that grades it?

One key a grade where a terminal is there, one line a grade where input comes from a file. A grade
is on the disk before the next passage shows: leaving, or losing the machine, costs nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from assay.app.desk import Desk, Dispute
from assay.cli.streams import printable
from assay.model.annotation import ItemKey, Task
from assay.plural import counted

HELP = """\
  3  answers the question fully
  2  answers a part of it, or all of it less directly
  1  is on the topic and helps
  0  does not help
  x  cannot be judged    c  comment, then grade    s  later
  u  undo                ?  this help              q  leave"""
PROMPT = "0-3 grade, x cannot judge, c comment, u undo, s later, q leave, ? help > "
GRADES = {"0": 0, "1": 1, "2": 2, "3": 3, "x": None}
WIDTH = 100
Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Keyboard:
    """Where keys and lines come from; an empty key is the end of input."""

    key: Callable[[], str]
    line: Callable[[], str]


def keyboard() -> Keyboard:
    """Single keys from a terminal, else lines from stdin."""
    if sys.stdin is None or not sys.stdin.isatty():
        return Keyboard(_line_key, _line)
    return Keyboard(_single_key, _line)


class Screen:
    """A person in front of passages."""

    def __init__(self, keys: Keyboard, show: Show | None = None) -> None:
        self._keys = keys
        self.show = show or _shown
        self._query = ""

    def ask(self, task: Task, extra: str = "") -> tuple[str, str]:
        """Show a passage until a key means something: the key, and a comment."""
        if task.query_id != self._query:
            self._query = task.query_id
            self.show(f"\n=== {task.query_text}")
        heading = " · ".join(part for part in (task.title, task.section_label) if part)
        self.show(f"\n[{task.number} of {task.total}] {heading}\n{_wrapped(task.text)}\n{extra}")
        comment = ""
        while True:
            self.show(PROMPT)
            key = self._keys.key()
            if key in GRADES or key in ("u", "s", "q"):
                return key, comment
            if not key:
                return "q", comment
            if key == "c":
                self.show("comment > ")
                comment = self._keys.line()
            else:
                self.show(HELP)


def judge(at: Desk, person: str, screen: Screen) -> int:
    """Work through what is left, until it is done or the person leaves."""
    later: set[ItemKey] = set()
    while True:
        task = _next(at, person, later)
        if task is None:
            break
        key, comment = screen.ask(task)
        item = (task.query_id, task.chunk_id)
        if key == "q":
            break
        if key == "s":
            later.add(item)
        elif key == "u":
            undone = at.undo(person)
            said = "there is nothing to undo"
            if undone is not None:
                later.discard(undone.key)
                said = f"took back {_word(undone.grade)}"
            screen.show(said)
        else:
            at.grade(person, item, GRADES[key], comment)
            screen.show(f"{_word(GRADES[key])}, saved")
    progress = at.progress(person)
    left = progress.total - progress.done
    screen.show(
        f"\n{progress.done} of {progress.total} judged"
        + (f"; {left} to go, same command" if left else "; thank you")
    )
    return 0


def decide(at: Desk, person: str, screen: Screen) -> int:
    """Settle what the annotators disagree about, one passage after the other."""
    for dispute in at.disputes(person):
        key, comment = screen.ask(dispute.task, _both(dispute))
        if key == "q":
            break
        if key in GRADES:
            task = dispute.task
            at.decide(person, (task.query_id, task.chunk_id), GRADES[key], comment)
            screen.show(f"{_word(GRADES[key])}, saved")
        elif key == "u":
            screen.show("a decision is changed by assay testset adjudicate, or by deciding again")
    screen.show(f"\n{counted(len(at.disputes(person)), 'difference', 'is')} open")
    return 0


def _next(at: Desk, person: str, later: set[ItemKey]) -> Task | None:
    """The next passage; what was put off comes when nothing else is left."""
    done = {one.key for one in at.grades(person)}
    waiting = [task for task in at.tasks(person) if (task.query_id, task.chunk_id) not in done]
    now = [task for task in waiting if (task.query_id, task.chunk_id) not in later]
    if not now:
        later.clear()
    return next(iter(now or waiting), None)


def _both(dispute: Dispute) -> str:
    said = " and ".join(_word(grade) for grade in dispute.grades)
    comments = "".join(f"\n  {printable(comment)}" for comment in dispute.comments)
    return f"\nthe annotators said {said}{comments}\n"


def _word(grade: int | None) -> str:
    return "cannot judge" if grade is None else f"grade {grade}"


def _wrapped(text: str) -> str:
    width = min(WIDTH, shutil.get_terminal_size().columns - 2)
    lines = [
        textwrap.fill(line, max(width, 20), initial_indent="  ", subsequent_indent="  ")
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def _shown(text: str) -> None:
    """To stdout; a prompt stays on its line."""
    end = "" if text.endswith("> ") else "\n"
    sys.stdout.write(f"{printable(text)}{end}")
    sys.stdout.flush()


def _line() -> str:
    return sys.stdin.readline().strip() if sys.stdin is not None else ""


def _line_key() -> str:
    """A key that stands on a line of its own; an empty line asks for help."""
    read = sys.stdin.readline() if sys.stdin is not None else ""
    return (read.strip().lower() or "?") if read else ""


def _single_key() -> str:
    with _unbuffered():
        key = os.read(sys.stdin.fileno(), 1).decode(errors="replace").lower()
    sys.stdout.write("\n")
    return "" if key == "\x04" else key


@contextmanager
def _unbuffered() -> Iterator[None]:
    """Keys come one by one and are not echoed; Ctrl-C still interrupts."""
    import termios
    import tty

    place = sys.stdin.fileno()
    before = termios.tcgetattr(place)
    try:
        tty.setcbreak(place)
        yield
    finally:
        termios.tcsetattr(place, termios.TCSADRAIN, before)
