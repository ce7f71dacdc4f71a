"""Can users change what queries are read by, and are mistakes placed?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import AssayError
from assay.model.sections import INTENTS, LABELS
from assay.search.boost import default_lexicon, detect, load_lexicon


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return path


def test_the_shipped_lexicon_knows_the_intents_and_covers_every_hint() -> None:
    lexicon = default_lexicon()
    assert list(lexicon.intents) == [
        *("eligibility", "adverse_events", "results", "methods", "dosage"),
        *("dosage_forms", "overdosage", "pharmacology", "storage", "indications"),
        *("contraindications", "interactions", "warnings", "boxed_warning"),
    ]
    assert {intent.base for intent in lexicon.intents.values()} == {3.0, 2.0}
    hints = {hint for intent in lexicon.intents.values() for hint in intent.hints}
    assert set(INTENTS) <= hints
    for intent in lexicon.intents.values():
        # Every label that carries an intent's hint is lifted as a section of that intent.
        labels = {label.name for label in LABELS.values() if label.intent in intent.hints}
        assert labels <= {*intent.sections} <= {*LABELS}


def test_a_file_adds_changes_and_removes(tmp_path: Path) -> None:
    path = own(
        tmp_path,
        """
tables: {Kaplan-Meier: 0.8, side effect: 0}
intents:
  dosage: {base: 2.5, phrases: {posology: 1.0, Dosages: 0.9}}
  contraindications:
    base: 2
    sections: [contraindications]
    phrases: {contraindicated: 0.9}
""",
    )
    lexicon = load_lexicon(path)

    def found(query: str) -> list[tuple[str, float]]:
        return [(one.intent, one.factor) for one in detect(query, lexicon)]

    assert found("kaplan meier curves") == [("tabular", 2.6)]
    assert found("side effects") == [("adverse_events", 1.6)]
    assert found("posology") == [("dosage", 2.5)]
    assert found("dosage") == [("dosage", 2.25)]
    assert found("contraindicated drugs") == [("contraindications", 1.8)]
    assert found("eligibility") == [("eligibility", 3.0)]


def test_bars_stand_between_words_of_which_each_makes_a_phrase(tmp_path: Path) -> None:
    path = own(tmp_path, "tables: {grid|matrix of|with: 0.8, matrix with: 0}")
    lexicon = load_lexicon(path)
    found = [q for q in ("grid of", "grid with", "matrix of", "matrix with") if detect(q, lexicon)]
    assert found == ["grid of", "grid with", "matrix of"]


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    lexicon = load_lexicon(own(tmp_path, "# nothing yet\n"))
    assert detect("adverse events", lexicon) == detect("adverse events", default_lexicon())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "own.yaml:1: the file must hold names and values"),
        ("tabels: {a: 1}", "there is no 'tabels' here"),
        ("tables: {a: 1.5}", "'1.5' is not from 0 to 1"),
        ("tables: {a: nan}", "'nan' is not from 0 to 1"),
        ("tables: {a: [1]}", "is not from 0 to 1"),
        ("tables: {'-- !': 1}", "holds no word"),
        (f"tables: {{'{' '.join(['a|b'] * 40)}': 1}}", "stands for too many phrases"),
        ("intents: {dosage: {weight: 1}}", "an intent has no 'weight'"),
        ("intents:\n  dosage: {sections: [nowhere]}", "own.yaml:2: this is not a name we know"),
        ("intents: {dosage: {sections: dosage}}", "a list is wanted"),
        ("intents: {dosage: {base: 0.5}}", "base: '0.5' is not from 1 to 100"),
        ("intents: {tabular: {base: 2}}", "cannot be called 'tabular'"),
        ("intents: {new one: {base: 2}}", "cannot be called 'new one'"),
        ("intents: {fresh: {base: 2}}", "lacks a base, or sections and hints"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AssayError) as caught:
        load_lexicon(own(tmp_path, text))
    assert message in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match="cannot read"):
        load_lexicon(tmp_path / "absent.yaml")
