"""Which measure catches which kind of invented answer?

``python -m reproduce.invented [--judge words]`` judges the fifty answers of ``cases/invented.yaml``
and the ten right ones. An answer is caught by a measure that is below 1 for it; of the right ones
that is a false alarm.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from assay.evaluation.answers import answer_values
from assay.evaluation.defaults import JUDGED_MEASURES
from assay.evaluation.verdicts import judge_answer
from assay.evidence.numbers import check_numbers
from assay.measures.answers import AnswerRecord
from assay.measures.parse import parse_measures
from assay.model.answers import Answer, Passage
from assay.model.document import Chunk
from assay.model.judges import Judge
from assay.model.testset import GoldenQuery, Nugget
from reproduce.judges import shipped

FILE = Path(__file__).parent / "cases" / "invented.yaml"
KINDS = ("right", "wrong_number", "wrong_drug", "false_sentence", "no_citation", "other_citation")
MEASURES = parse_measures(f"Groundedness CitationCoverage {JUDGED_MEASURES}")
IDS = ("source", "other")
CATCHING = ("NumberFidelity", "Faithfulness", "CitationPrecision", "CitationRecall")
"""What a right answer has at 1; the others say how complete and how much to the point it is."""


def record_of(judge: Judge, case: dict[str, object], kind: str) -> AnswerRecord:
    """One answer of a case, judged."""
    text = str(case[kind])
    marks = [name for number, name in enumerate(IDS, 1) if f"[{number}]" in text]
    said = text.replace("[2]", "[1]") if marks == ["other"] else text
    answer = Answer(said, tuple(marks))
    query = GoldenQuery(
        str(case["id"]), str(case["question"]), nuggets=(Nugget(str(case["nugget"])),)
    )
    texts = {name: str(case[name]) for name in IDS}
    passages = [Passage(Chunk(name, name, body)) for name, body in texts.items()]
    required = case["must_contain"]
    assert isinstance(required, list)
    return AnswerRecord(
        f"{case['id']}-{kind}",
        answer=answer,
        results=len(texts),
        must_contain=tuple(required),
        known_citations=frozenset(answer.citations),
        numbers=check_numbers(answer, passages),
        judged=judge_answer(judge, query, answer, texts),
        to_say=True,
    )


def caught(judge: Judge, cases: Sequence[dict[str, object]]) -> dict[str, dict[str, int]]:
    """How many answers of each kind each measure catches."""
    found: dict[str, dict[str, int]] = {}
    for kind in KINDS:
        records = [record_of(judge, case, kind) for case in cases]
        values = answer_values(records, MEASURES)
        found[kind] = {
            str(measure): sum(value < 1.0 for value in by_answer.values())
            for measure, by_answer in values.items()
        }
        below = {
            name
            for measure, by in values.items()
            if str(measure) in CATCHING
            for name, value in by.items()
            if value < 1.0
        }
        found[kind]["any"] = len(below)
    return found


def load() -> list[dict[str, object]]:
    """The cases."""
    content: list[dict[str, object]] = yaml.safe_load(FILE.read_text("utf-8"))
    return content


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", default="entailment")
    given = parser.parse_args()
    cases, judge = load(), shipped(given.judge)
    started = time.process_time()
    found = caught(judge, cases)
    spent = time.process_time() - started
    shown = ("Groundedness", *CATCHING, "Correctness", "any")
    print(f"| answers (10 of each) | {' | '.join(shown)} |")
    print(f"|---{'|---' * len(shown)}|")
    for kind, row in found.items():
        print(f"| {kind.replace('_', ' ')} | {' | '.join(str(row[name]) for name in shown)} |")
    print(f"{1000 * spent / (len(cases) * len(KINDS)):.0f} ms of processor time an answer")


if __name__ == "__main__":
    main()
