"""Does any text, whoever wrote it, hold up the interpreter through a regular expression?

Python's engine tries again from every character. A pattern that reads on to the end of a run of
digits or blanks each time takes the square of its length, and one that can split the same run in
many ways takes for ever.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

import pytest

import assay
from assay import limits
from assay.analysis.sentence_ends import split_sentences
from assay.answers import extractive
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

LONG = 4_096
MOST_S = 0.1
"""Of processor time for such a text; patterns that take its square need 0.2 s and more."""
REPEATED = (
    "<top>", "<topic ", "<topic number='1'>", " key", "key", "?key", "&pass",
    "1", "1.5,", "12-", "a", "A", "a-", "--", " ", "\t", "\xa0", " \n", "(", "()", "[", "[1] ", '"',
    "mg/", "e.g. ", "A. ", "1 mg ", "2019 ", "| ", "<a", "&", "a:", "(see ", "what is the ",
    "dose of ",
    "中a", "_", "?", "x1", "and ", "was ",
)  # fmt: skip
AMBIGUOUS = (
    "a1" + "a" * 50 + "_",
    "1" * 50 + "!",
    "a-" * 25 + "!",
    " " * 50 + "_",
    "a.1" * 17 + "_",
)

ASKED = limits.MAX_ASKED_CHARS
SHORT = {
    "assay.analysis.asked": ASKED,
    "assay.analysis.drugs": 60,  # one word
    "assay.analysis.names": 60,
    "assay.analysis.sentence_ends._ABBREVIATION": 80,  # before the end of a sentence
    "assay.analysis.words._COUNTED": 60,
    "assay.analysis.words._HYPHENED": ASKED,
    "assay.analysis.words._TIME": ASKED,
    "assay.analysis.words._PAIRED_WITH_GREEK": 60,
    "assay.annotation.suggest": 1_024,  # lines of titles and captions
    "assay.answers.extractive._USE": ASKED,
    "assay.evaluation.documents": limits.MAX_ID_BYTES,
    "assay.evidence.criteria": ASKED,
    "assay.evidence.gather._HAPPENED": ASKED,
    "assay.evidence.numbers._RANGE": ASKED,
    "assay.measures.parse": 256,
    "assay.model.conditions": 256,
    "assay.options": 256,
    "assay.search": ASKED,
    "assay.settings": 256,  # addresses
}
"""Patterns, or modules of them, that read short texts only, and how long these may be."""


class TookTooLongError(Exception):
    """A pattern was stopped."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop what takes longer, in processor time; patterns look for signals while they search."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


Reading: TypeAlias = Callable[[str], object]


def _readings() -> dict[str, Reading]:
    """How every pattern for text that a module of ours keeps is used, by its name, each once."""
    for module in pkgutil.walk_packages(assay.__path__, "assay."):
        if not module.name.endswith(("__main__", "_kernels")):
            try:
                importlib.import_module(module.name)
            except (assay.AssayError, ImportError):
                continue  # for frameworks that are not here
    found: dict[re.Pattern[str], str] = {}
    for name, loaded in sorted(sys.modules.items()):
        if name.startswith("assay."):
            for attribute, value in vars(loaded).items():
                for one in _within(value):
                    found.setdefault(one, f"{name}.{attribute}")
    return {f"{name} {one.pattern}": _reading(one, name) for one, name in found.items()}


def _reading(pattern: re.Pattern[str], name: str) -> Reading:
    """From one place where no more is done, everywhere otherwise."""
    module, _, attribute = name.rpartition(".")
    source = inspect.getsource(sys.modules[module])
    used = set(re.findall(rf"\b{attribute}\.([a-z]+)\b", source))
    if used == {"fullmatch"}:
        return pattern.fullmatch
    return pattern.match if used and used <= {"fullmatch", "match"} else pattern.findall


def _within(value: Any) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            if one is not value:
                yield from _within(one)
    elif isinstance(value, dict):
        yield from _within([*value.values()])


def _is_slow(read: Reading, text: str) -> bool:
    for _ in range(3):  # other programs may be at work
        try:
            with at_most(MOST_S):
                read(text)
                return False
        except TookTooLongError:
            continue
    return True


def test_no_pattern_takes_the_square_of_a_text() -> None:
    slow = []
    for name, read in _readings().items():
        longest = next((most for of, most in SHORT.items() if name.startswith(of)), LONG)
        texts = [(one * LONG)[:longest] for one in REPEATED] + [one[:longest] for one in AMBIGUOUS]
        if text := next((one for one in texts if _is_slow(read, one)), ""):
            slow.append((name[:200], text[:20]))
    assert slow == []


@pytest.mark.parametrize(
    "question",
    [*AMBIGUOUS, *(f"which code is {one}?" for one in AMBIGUOUS)],
    ids=lambda text: text[:20] + text[-3:],
)
def test_a_short_question_is_answered(question: str, tmp_path: Path) -> None:
    """One of 53 characters held up a service for ever."""
    chunk = Chunk("a:0", "a", "Metformin has the code A10BA02.", title="Metformin")
    with filled(tmp_path / "home", [chunk], components="bm25") as workspace, at_most(10):
        found = workspace.answer(question).answer
    assert found.text or found.refusal_reason


QUESTIONS = (
    "what is the maximum dose of metformin",
    "what is the half-life of metformin",
    "how often is metformin given",
    "how many patients received metformin",
    "when was metformin approved and who sponsored the trial",
    "which code has metformin",
)


@pytest.mark.parametrize(
    "repeated",
    ["1", "1.5,", "1,", "a-", "12-", "AB-1", "--", "|", "dose|", "A. ", "Fig. ", "2019 ", "(see "],
)
def test_a_long_passage_is_answered_from(repeated: str, tmp_path: Path) -> None:
    """Corpora that bring their own chunks may have chunks of any length."""
    text = f"Metformin, {AMBIGUOUS[0]} {repeated * 16_384}"[:16_384]
    chunk = Chunk("a:0", "a", text, title="Metformin")
    with filled(tmp_path / "home", [chunk], components="bm25") as workspace:
        for question in QUESTIONS:
            began = time.process_time()
            with at_most(20):
                workspace.answer(question)
            assert time.process_time() - began < 4, question


def test_sentences_of_nothing_but_abbreviations_are_split_in_time() -> None:
    with at_most(5):
        assert len([*split_sentences("A. " * 100_000)]) == 1
    assert [*split_sentences("Dr. A. B. Lee came. She left e.g. St. Ives. Then")] == [
        "Dr. A. B. Lee came.",
        "She left e.g. St. Ives.",
        "Then",
    ]


def test_codes_are_found_as_before() -> None:
    text = "A10BA02, I21.4, mk-3475, E11.9. L858R; A-1 B a_1 AB12C-D3. x y-"
    assert extractive._CODE.findall(text) == [
        "A10BA02", "I21.4", "mk-3475", "E11.9", "L858R", "A-1", "AB12C-D3",
    ]  # fmt: skip
