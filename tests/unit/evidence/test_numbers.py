"""A number in an answer that no cited passage has is counted, whichever way it is written."""

import pytest

from assay.evidence.numbers import check_numbers, numbers
from assay.model.answers import Answer, NumberCheck, Passage
from assay.model.document import Chunk


def lacking(answer: str, *texts: str, title: str = "") -> tuple[str, ...]:
    passages = [Passage(Chunk(f"d:{n}", "d", text, title)) for n, text in enumerate(texts)]
    cited = tuple(passage.chunk.chunk_id for passage in passages)
    checked = check_numbers(Answer(answer, cited), passages)
    assert checked is not None
    return checked.unsupported


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("at most 2550 mg a day", "The maximum is 2,550 mg per day."),
        ("at most 2,550 mg a day", "The maximum is 2550mg per day."),
        ("at most 2 550 mg", "The maximum is 2,550 mg."),
        ("at most 2\u202f550 mg", "The maximum is 2550 mg."),
        ("10mg twice daily", "10 mg twice daily"),
        ("10 mg", "Tablets of 10-mg strength"),
        ("10 mg", "10 to 20 mg once daily"),
        ("10-20 mg", "10\u201320 mg"),
        ("10 mg to 20 mg", "between 10 and 20 mg"),
        ("14% of patients", "14.0 % of patients"),
        ("14 percent", "14.0%"),
        ("1.0%", "Acute kidney injury, serious | 16 (1.0) | 29 (1.9)"),
        ("0.05", "p = .05"),
        ("fell by 2.5", "change \u22122.5"),
        ("RR 0.82 (0.72-0.94)", "a risk ratio of 0.82 (95% CI, 0.72 to 0.94)"),
        ("50 mcg", "50 \u00b5g inhaled"),
        ("50 \u03bcg", "50 micrograms"),
        ("stop it 3 days before", "stopped three days before surgery"),
        ("week 4: 150 mg", "Week 4 | 150 mg"),
        ("150 mg", "Week 4 150 mg"),
        ("4.5 10^9/L", "4.5 \u00d7 10\u2079/L"),
        ("grade 3", "grade-3 events"),
        ("1. Stop the tablets.\n2. Call a doctor. [1][2]", "Stop. Call."),
        ("IL-6, SGLT2 and CYP3A4 [1]", "interleukins and enzymes"),
        ("in 2021 [1, 2]", "published 2021"),
    ],
)
def test_a_number_is_the_same_in_every_spelling(answer: str, passage: str) -> None:
    assert lacking(answer, passage) == ()


@pytest.mark.parametrize(
    ("answer", "passage", "missing"),
    [
        ("20 mg", "10 mg once daily", ("20 mg",)),
        ("10 g", "10 mg once daily", ("10 g",)),
        ("12%", "given for 12 mL", ("12%",)),
        ("0.05 mg", "0.5 mg", ("0.05 mg",)),
        (".05", "0.5", (".05",)),
        ("25.5 mg", "2,550 mg or 255 mg", ("25.5 mg",)),
        ("5-20 mg", "10-20 mg", ("5",)),
        ("6 mg", "SGLT6 and CYP6", ("6 mg",)),
        ("NCT01234567 enrolled 40", "NCT07654321 enrolled 40", ("01234567",)),
        ("7, 7 and 8 days", "days", ("7", "8")),
    ],
)
def test_a_number_that_no_cited_passage_has_is_named(
    answer: str, passage: str, missing: tuple[str, ...]
) -> None:
    assert lacking(answer, passage) == missing


def test_only_cited_passages_support_a_number_and_their_titles_do() -> None:
    chunks = [Chunk("d:0", "d", "10 mg", "Study 12"), Chunk("d:1", "d", "20 mg")]
    passages = [Passage(chunk) for chunk in chunks]
    assert check_numbers(Answer("20 mg in study 12", ("d:0",)), passages) == NumberCheck(
        2, ("20 mg",), 1
    )
    assert check_numbers(Answer("20 mg"), passages) == NumberCheck(1, ("20 mg",), 1)


def test_a_number_is_misstated_without_its_unit_or_in_a_passage_of_another_sentence() -> None:
    passages = [Passage(Chunk("d:0", "d", "Dose (mg): 10")), Passage(Chunk("d:1", "d", "20 mg"))]

    def misstated(text: str) -> int | None:
        found = check_numbers(Answer(text, ("d:0", "d:1")), passages)
        assert found is not None
        assert not found.unsupported
        return found.misstated

    assert misstated("Take 10 mg [1]. Or take 20 mg [2].") == 0
    assert misstated("Take 10 mg [2]. Or take 20 mg [1].") == 2
    assert misstated("Take 10 g [1].") == 1  # a bare number supports every unit, but is not it
    assert misstated("Take 10 mg or 20 mg.") == 0  # without marks, everything cited counts


def test_a_refusal_states_nothing() -> None:
    assert check_numbers(Answer("", grounded=False, refusal_reason="0.3 is too low"), []) is None


def test_numbers_have_values_and_units() -> None:
    found = [(str(one.value), one.unit) for one in numbers("5 to 10 mg/kg, 2,5 % and 3 patients")]
    assert found == [("5", "mg"), ("10", "mg"), ("2.5", "%"), ("3", "")]


@pytest.mark.parametrize(
    ("answer", "title", "text"),
    [
        ("25-hydroxyvitamin D below 20 ng/mL", "Vitamin D", "25-hydroxyvitamin D below 20 ng/mL"),
        ("5 mg; 10 mg | twice daily", "Odd label", "5 mg; 10 mg | twice daily"),
        ("8 | 5 [note 1]", "Doses", "Month 1 | 20 mg\n8 | 5"),
        ("11-deoxycortisol rose", "Steroid", "11-deoxycortisol rose"),
    ],
)
def test_a_number_that_begins_a_line_is_there(answer: str, title: str, text: str) -> None:
    assert lacking(answer, text, title=title) == ()
    assert lacking(f"{answer} 77 mg", text, title=title) == ("77 mg",)
