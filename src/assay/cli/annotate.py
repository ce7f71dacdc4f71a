"""How does a person judge passages in a terminal?

One key a grade where a terminal is there, one line a grade where input comes from a file. A grade
is on the disk before the next passage shows: leaving, or losing the machine, costs nothing.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.console import emit_json
from assay.cli.options import JsonFlag, configuration
from assay.model.annotation import Purpose
from assay.model.codec import encode
from assay.plural import counted
from assay.render.escape import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.app.annotation import Desk, Dispute
    from assay.app.workspace import Workspace
    from assay.model.annotation import ItemKey, Task

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


def command(
    ctx: typer.Context,
    person: Annotated[str, typer.Option("--as", help="Your name in the round.")] = "",
    round_id: Annotated[str, typer.Option("--round", help="Id of the round.")] = ("latest"),
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Resolve disagreements between the annotators.")
    ] = False,
    judge_name: Annotated[
        str,
        typer.Option(
            "--judge",
            help="An automatic judge proposes grades: words, entailment, an address or "
            "module:function.",
        ),
    ] = "",
    show: Annotated[
        bool, typer.Option("--show/--hide", help="Whether annotators see proposed grades.")
    ] = False,
    review: Annotated[
        bool,
        typer.Option(
            "--review", help="Review passages that an automatic judge graded differently."
        ),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Judge passages by keyboard; stop and resume at any time."""
    from assay.app.annotation import open_desk
    from assay.app.workspace import Workspace
    from assay.errors import UsageError

    configured = configuration(ctx)
    if bool(person) == bool(judge_name):
        raise UsageError(
            "who judges?", hint="--as NAME for a person, or --judge words for an automatic judge"
        )
    with Workspace(configured) as workspace:
        desk = open_desk(workspace, round_id)
        if judge_name:
            return propose(workspace, desk, judge_name, show=show, json_output=json_output)
        if review:
            tasks = desk.to_review(person)
            if json_output:
                emit_json({"tasks": encode(tasks)})
                return 0
            return look_again(desk, person, Screen(keyboard()), tasks)
        if json_output:
            if adjudicate:
                emit_json({"disputes": desk.disputes(person)})
            else:
                emit_json(desk.turn(person))
            return 0
        screen = Screen(keyboard())
        return decide(desk, person, screen) if adjudicate else judge(desk, person, screen)


def propose(
    workspace: "Workspace", desk: "Desk", spec: str, *, show: bool, json_output: bool
) -> int:
    """Let an automatic judge grade everything, and say how far it agrees with people."""
    from assay.app.annotation import automatic
    from assay.render.annotation import voices_text

    desk = automatic(workspace, desk, spec, shown=show)
    voices = desk.voices()
    if json_output:
        emit_json({"round_id": desk.round.round_id, "voices": [one.to_dict() for one in voices]})
    else:
        write(voices_text(voices))
    return 0


def look_again(desk: "Desk", person: str, screen: "Screen", tasks: "Sequence[Task]") -> int:
    """Show a person's own grade beside another one, the furthest apart first."""
    own = {grade.key: grade.grade for grade in desk.grades(person)}
    changed = 0
    for task in tasks:
        key = (task.query_id, task.chunk_id)
        pressed, comment = screen.ask(task, f"\nyou said {_word(own[key])}; the judge differs\n")
        if pressed == "q":
            break
        if pressed in GRADES:
            desk.grade(person, key, GRADES[pressed], comment)
            changed += GRADES[pressed] != own[key]
    screen.show(f"\n{counted(changed, 'grade')} of {counted(len(tasks), 'passage')} changed")
    return 0


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
        self.show = show or write
        self._query = ""

    def ask(self, task: "Task", extra: str = "") -> tuple[str, str]:
        """Show a passage until a key means something: the key, and a comment."""
        if task.query_id != self._query:
            self._query = task.query_id
            self.show(f"\n=== {task.query_text}")
        heading = " · ".join(part for part in (task.title, task.section_label) if part)
        if task.proposed is not None:
            extra = f"\nan automatic judge proposes {_word(task.proposed)}\n{extra}"
        self.show(f"\n[{task.number} of {task.total}] {heading}\n{wrapped(task.text)}\n{extra}")
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


def judge(desk: "Desk", person: str, screen: Screen) -> int:
    """Work through what is left, until it is done or the person leaves."""
    later: set[ItemKey] = set()
    while (task := desk.next(person, later)) is not None:
        key, comment = screen.ask(task)
        item = (task.query_id, task.chunk_id)
        if item in later:  # nothing else is left
            later.clear()
        if key == "q":
            break
        if key == "s":
            later.add(item)
        elif key == "u":
            undone = desk.undo(person).undone
            if undone is None:
                screen.show("there is nothing to undo")
            else:
                later.discard(undone.key)
                screen.show(f"took back {_word(undone.grade)}")
        else:
            desk.grade(person, item, GRADES[key], comment)
            screen.show(f"{_word(GRADES[key])}, saved")
    progress = desk.progress(person)
    left = progress.total - progress.done
    screen.show(
        f"\n{progress.done} of {progress.total} judged"
        + (f"; {left} to go, same command" if left else "; thank you")
    )
    if desk.round.purpose is Purpose.FIRST and person == desk.round.annotators[0]:
        standing = desk.standing()
        screen.show(f"{standing}{': enough' if standing.enough else ''}")
    return 0


def decide(desk: "Desk", person: str, screen: Screen) -> int:
    """Settle what the annotators disagree about, one passage after the other."""
    for dispute in desk.disputes(person):
        key, comment = screen.ask(dispute.task, _both(dispute))
        if key == "q":
            break
        if key in GRADES:
            task = dispute.task
            desk.decide(person, (task.query_id, task.chunk_id), GRADES[key], comment)
            screen.show(f"{_word(GRADES[key])}, saved")
        elif key == "u":
            screen.show("a decision is changed by assay testset adjudicate, or by deciding again")
    screen.show(f"\n{counted(len(desk.disputes(person)), 'difference', 'is')} open")
    return 0


def _both(dispute: "Dispute") -> str:
    grades = " and ".join(_word(grade) for grade in dispute.grades)
    comments = "".join(f"\n  {visible(comment)}" for comment in dispute.comments)
    return f"\nthe annotators said {grades}{comments}\n"


def _word(grade: int | None) -> str:
    return "cannot judge" if grade is None else f"grade {grade}"


def wrapped(text: str) -> str:
    """A text as wide as the terminal, with a margin."""
    width = min(WIDTH, shutil.get_terminal_size().columns - 2)
    lines = [
        textwrap.fill(line, max(width, 20), initial_indent="  ", subsequent_indent="  ")
        for line in text.splitlines()
    ]
    return "\n".join(lines)


def write(text: str) -> None:
    """To stdout; a prompt stays on its line."""
    end = "" if text.endswith("> ") else "\n"
    sys.stdout.write(f"{visible(text)}{end}")
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

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
