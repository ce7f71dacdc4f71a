"""Are answers about what was asked, right, and refused where nothing answers?

``answers.yaml`` and ``heldout_answers.yaml`` hold the questions; ``over`` of a file names the
experiment whose collection they are asked over. ``part`` of a run is the part that it asks.
Figures: ``right answers`` (share of the questions with an answer whose facts are all said, citing
documents about the subject only), ``wrong-subject answers`` (how many cite a document about
something else, or answer where nothing is about the subject), ``refusals right`` (share of all
questions that were refused or answered as they should), ``refused where absent`` and ``refused
where unanswerable`` (shares of those classes), ``answered where right`` (share), ``grounded``
(share of the answers whose every sentence is in a cited passage), ``unsupported numbers`` (how many
numbers of answers no cited passage has). Run this file to see the questions that go wrong:
``python -m reproduce.answering [dev|test] [NAME]``.
"""

from __future__ import annotations

import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from assay.app.answers import Answered, answer
from assay.app.workspace import Workspace
from assay.search.request import SearchOptions
from reproduce.data import indexed
from reproduce.experiment import HERE, Experiment
from reproduce.groups import PATIENCE
from reproduce.outcome import Outcome
from reproduce.questions import Question, questions, text
from reproduce.trust import collection, share

RIGHT, ABSENT, UNANSWERABLE = "right", "absent", "unanswerable"
_MARK = re.compile(r"\[\d+\]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Given:
    """A question and the answer to it."""

    question: Question
    answered: Answered

    @property
    def refused(self) -> bool:
        """Did the system decline?"""
        return not self.answered.answer.grounded

    @property
    def refused_rightly(self) -> bool:
        """Was it answered or declined as it should?"""
        return self.refused == (self.question.kind != RIGHT)

    @property
    def strays(self) -> bool:
        """Does an answer rest on a document about something else?"""
        return not self.refused and not all(
            self.question.is_about(source.doc_id or "") for source in self.answered.sources
        )

    @property
    def is_right(self) -> bool:
        """Does it say every fact, about the subject?"""
        said = plain(self.answered.answer.text)
        return (
            not self.refused
            and not self.strays
            and all(
                any(plain(form) in said for form in fact.split("|"))
                for fact in self.question.answer
            )
        )

    @cached_property
    def passages(self) -> str:
        """What the answer cites, in one text."""
        each = (f"{source.title} {source.text}" for source in self.answered.sources)
        return plain(" ".join(each))

    @property
    def is_grounded(self) -> bool:
        """Is every cited piece of the answer in a cited passage?"""
        pieces = _MARK.split(self.answered.answer.text)
        return all(plain(piece).strip(" .") in self.passages for piece in pieces)

    @property
    def unsupported(self) -> list[str]:
        """The numbers that no cited passage has."""
        there = set(_NUMBER.findall(self.passages))
        said = _NUMBER.findall(plain(_MARK.sub(" ", self.answered.answer.text)))
        return [number for number in said if number not in there]


def run(experiment: Experiment, folder: Path) -> Iterator[Outcome]:
    """Every run of the experiment."""
    path = HERE / f"{experiment.name}.yaml"
    asked, over = questions(path), text(path, "over")
    with indexed(over, collection(HERE / f"{over}.yaml", folder.parent)) as home:
        for one in experiment.runs:
            began = time.perf_counter()
            rows = given(home, asked, one.more["part"], one.options)
            took = (time.perf_counter() - began) / len(rows) * 1000
            yield Outcome(one, figures(rows), took)


def given(home: Workspace, asked: list[Question], part: str, options: SearchOptions) -> list[Given]:
    """The answers to every question of a part."""
    patient = replace(options, component_timeout_ms=PATIENCE)
    rows = [Given(one, answer(home, one.ask, patient)) for one in asked if one.part == part]
    assert not any(row.answered.degraded for row in rows)
    return rows


def figures(rows: list[Given]) -> dict[str, float]:
    """Everything that a run can be expected to have."""
    answers = [row for row in rows if not row.refused]
    by_kind = {
        kind: [row for row in rows if row.question.kind == kind]
        for kind in (RIGHT, ABSENT, UNANSWERABLE)
    }
    return {
        "right answers": share([row.is_right for row in by_kind[RIGHT]]),
        "wrong-subject answers": float(sum(row.strays for row in rows)),
        "refusals right": share([row.refused_rightly for row in rows]),
        "refused where absent": share([row.refused for row in by_kind[ABSENT]]),
        "refused where unanswerable": share([row.refused for row in by_kind[UNANSWERABLE]]),
        "answered where right": share([not row.refused for row in by_kind[RIGHT]]),
        "grounded": share([row.is_grounded for row in answers]),
        "unsupported numbers": float(sum(len(row.unsupported) for row in answers)),
    }


def plain(text: str) -> str:
    """Text in one form of letters, case and spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).casefold().strip()


def main() -> int:
    """Print the questions of a part that go wrong, with their answers."""
    from reproduce.run import DATA

    part = sys.argv[1] if len(sys.argv) > 1 else "dev"
    path = HERE / f"{sys.argv[2] if len(sys.argv) > 2 else 'answers'}.yaml"
    over = text(path, "over")
    pairs = collection(HERE / f"{over}.yaml", Path(os.environ.get("ASSAY_SHARED_DATA", DATA)))
    with indexed(over, pairs) as home:
        for row in given(home, questions(path), part, SearchOptions()):
            wanted = row.is_right if row.question.kind == RIGHT else row.refused
            if not wanted or row.unsupported:
                told = row.answered.answer
                print(f"{row.question.kind}: {row.question.ask} -> {row.question.answer}")
                print(f"    {told.text or told.refusal_reason} {list(told.citations)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
