"""How is a command of this folder used?

The docstring of each module begins with a question and shows the command. It is read from the
source, because most modules import torch, and help should not need it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = __package__ or "training"


def answer(command: Sequence[str]) -> None:
    """End the process where a command line of Python asks for help or lacks arguments."""
    words = list(command)
    at = next((n for n, word in enumerate(words) if word == "-m"), len(words))
    name = "".join(words[at + 1 : at + 2]).removeprefix(f"{PACKAGE}.")
    if not (source := HERE / f"{name}.py").is_file():
        return
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    given = words[at + 2 :]
    if {"-h", "--help"} & set(given):
        print(text)
        raise SystemExit(0)
    if (fewest := needed(text)) > sum("=" not in word for word in given):
        print(f"training.{name} needs at least {fewest} arguments.\n\n{text}", file=sys.stderr)
        raise SystemExit(2)


def needed(text: str) -> int:
    """The fewest arguments of the command lines in a docstring; 0 where it has none."""
    lines = [line.split() for line in text.splitlines() if line.strip().startswith("python -m")]
    counts = []
    for _, _, _, *words in lines:
        optional = next((n for n, word in enumerate(words) if word[0] == "["), len(words))
        counts.append(sum(word != "..." for word in words[:optional]))
    return min(counts, default=0)
