"""Are PDFs read in order, with headings, pages, tables and raised digits?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

from assay.errors import AssayError, FormatError
from assay.ingest import detect, read_corpus
from assay.ingest.pdf_lines import Char, lines_of
from tests.unit.ingest.samples import entries, only, parts

STYLES = getSampleStyleSheet()


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def edges(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.drawString(50, 820, "Letters of itch")
        canvas.drawString(50, 20, f"page {document.page} of 3")

    def said(text: str, style: str = "BodyText") -> Paragraph:
        return Paragraph(text, STYLES[style])

    path = tmp_path_factory.mktemp("pdf") / "itch.pdf"
    flow = [
        said("Itch in adults", "Title"),
        said("Abstract", "Heading1"),
        said("We studied itch in many more adults than fit on one line of this page. " * 2),
        said("Methods", "Heading1"),
        said("We counted 10<super>6</super> cells."),
        said("Participants", "Heading2"),
        said("Adults."),
        PageBreak(),
        said("Results", "Heading1"),
        Table([["Event", "Drug", "Placebo"], ["Rash", "12", "3"]]),
        said("Fewer itched."),
        PageBreak(),
        said("They itched less."),
    ]
    made = SimpleDocTemplate(str(path), title="Itch in adults", pagesize=(595, 842))
    made.build(flow, onFirstPage=edges, onLaterPages=edges)
    return path


def test_headings_pages_and_figures(article: Path) -> None:
    assert detect(article) == "pdf"
    document = only("pdf", article)
    assert (document.doc_id, document.title) == ("itch", "Itch in adults")
    sentence = "We studied itch in many more adults than fit on one line of this page."
    assert parts(document) == [
        ("abstract", "Abstract", f"Abstract\n{sentence} {sentence}"),
        ("methods", "Methods", "Methods\nWe counted 10^6 cells."),
        ("eligibility", "Methods > Participants", "Participants\nAdults."),
        ("results", "Results", "Results\nEvent | Drug | Placebo\nRash | 12 | 3\nFewer itched."),
        ("results", "Results", "They itched less."),
    ]


def test_chunks_know_their_page(article: Path) -> None:
    ((_, chunks),) = read_corpus(article)
    assert [chunk.metadata["page"] for chunk in chunks] == ["1", "1", "1", "2-3"]


def test_raised_digits_and_signs_of_formulas_that_a_font_has_of_its_own(tmp_path: Path) -> None:
    """As typesetting programs write them: a glyph is what its font says that it means."""
    means = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> "
        b"endcodespacerange 2 beginbfchar <80> <0036> <81> <D835DEFC> endbfchar endcmap end"
    )
    shown = b"BT /F 12 Tf 20 100 Td (We counted 10\x80 cells, \x81 = 0.05.) Tj ET"
    path = tmp_path / "a.pdf"
    path.write_bytes(b"""%%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R
/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length %d>>stream
%s
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding 7 0 R/ToUnicode 6 0 R>>endobj
6 0 obj<</Length %d>>stream
%s
endstream endobj
7 0 obj<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[128/threesuperior/a]>>endobj
trailer<</Root 1 0 R>>
""" % (len(shown), shown, len(means), means))  # fmt: skip
    assert only("pdf", path).text == "We counted 10^6 cells, 𝛼 = 0.05."


def test_a_scan_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    canvas = Canvas(str(path))
    canvas.rect(10, 10, 100, 100)
    canvas.save()
    with pytest.raises(FormatError, match=r"holds no text .*scan"):
        entries("pdf", path)


def test_a_password_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "closed.pdf"
    canvas = Canvas(str(path), encrypt="secret")
    canvas.drawString(50, 50, "x")
    canvas.save()
    with pytest.raises(FormatError, match="password"):
        entries("pdf", path)


def test_a_truncated_file_is_called_damaged(article: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.pdf"
    path.write_bytes(article.read_bytes()[:200])
    with pytest.raises(FormatError, match="damaged") as caught:
        entries("pdf", path)
    assert "password" not in str(caught.value)


def test_no_heading_of_a_page_is_lost(tmp_path: Path) -> None:
    """The properties of a file may have another title than its page shows."""
    path = tmp_path / "named.pdf"
    shown = [("Title", "Itch in adults"), ("Heading1", "Methods"), ("BodyText", "We counted. " * 9),
             ("Heading1", "A heading with nothing below")]  # fmt: skip
    made = SimpleDocTemplate(str(path), title="Meta title", pagesize=(595, 842))
    made.build([Paragraph(text, STYLES[style]) for style, text in shown])
    document = only("pdf", path)
    assert document.title == "Meta title"
    assert document.text.startswith("Itch in adults\n\nMethods\nWe counted.")
    assert document.text.endswith("A heading with nothing below")


def drawn(path: Path, *pages: Sequence[tuple[float, float, str]]) -> Path:
    """A PDF with these texts at these places, from the left and from below, on sheets of A4."""
    canvas = Canvas(str(path), pagesize=(595, 842))
    for page in pages:
        for left, base, text in page:
            canvas.drawString(left, base, text)
        canvas.showPage()
    canvas.save()
    return path


def test_an_empty_cell_stays_empty(tmp_path: Path) -> None:
    rows = (
        ("Event", "Drug", "Placebo"),
        ("Nausea", "12", "3"),
        ("Rash", "", "1"),
        ("Itch", "4", ""),
    )
    cells = [
        (70 + 120 * column, 700 - 16 * row, text)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
        if text
    ]
    text = only("pdf", drawn(tmp_path / "t.pdf", cells)).text
    assert text.splitlines()[2:] == ["Rash | | 1", "Itch | 4 |"]


LEFT = "The left column begins here and speaks about aspirin for adults, who take it every day."
RIGHT = "Another text on the right is about warfarin and bleeding in patients who were followed on."


def test_columns_that_are_drawn_line_by_line_are_read_one_by_one(tmp_path: Path) -> None:
    left, right = LEFT.split(), RIGHT.split()
    words = [
        (x, 700 - 14 * at, " ".join(column[4 * at : 4 * at + 4]))
        for at in range(4)
        for x, column in ((72.0, left), (330.0, right))
    ]
    beside = [(72.0, 600.0, "Nausea and vomiting"), (330.0, 600.0, "of the first day")]
    path = drawn(tmp_path / "two.pdf", [*words, *beside])
    assert only("pdf", path).text == f"{LEFT}\n{RIGHT}\nNausea and vomiting | of the first day"


def test_a_table_of_two_columns_stays_one(tmp_path: Path) -> None:
    rows = [
        ("Nausea in the first week", "Stop for a day"),
        ("Rash of the whole skin", "Stop for good"),
        ("Cough at night or day", "Go on as before"),
        ("Pain of the upper back", "Half the dose"),
    ]
    heights = range(700, 600, -20)
    cells = [
        (x, y, text)
        for y, row in zip(heights, rows, strict=False)
        for x, text in zip((72, 330), row, strict=True)
    ]
    path = drawn(tmp_path / "table.pdf", cells)
    assert only("pdf", path).text == "\n".join(" | ".join(row) for row in rows)


def test_what_was_filled_into_a_form_is_read_after_its_name(tmp_path: Path) -> None:
    path = tmp_path / "form.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(72, 700, "Drug:")
    canvas.acroForm.textfield(name="drug", x=120, y=693, value="aspirin", width=200, height=20)
    canvas.drawString(72, 660, "Pregnant")
    canvas.acroForm.checkbox(name="p", x=140, y=655, checked=True)
    canvas.drawString(72, 620, "Smoker")
    canvas.acroForm.checkbox(name="s", x=140, y=615, checked=False)
    canvas.acroForm.textfield(name="note", x=72, y=500, value="Itch at night", width=200, height=40)
    canvas.save()
    lines = only("pdf", path).text.split("\n")
    assert [*filter(None, lines)] == ["Drug: aspirin", "Pregnant ☑", "Smoker", "Itch at night"]


def test_text_that_is_alike_on_most_pages_is_text(tmp_path: Path) -> None:
    pages = [
        [(70, 820, "Confidential"), (70, 700, "Dose: 5 mg daily"), (70, 680, f"Visit {number}"),
         (70, 20, f"Page {number} of 4"), (70, 40, f"Subject {number * number}")]
        for number in range(1, 5)
    ]  # fmt: skip
    text = only("pdf", drawn(tmp_path / "visits.pdf", *pages)).text
    assert text.count("Dose: 5 mg daily") == text.count("Visit") == 4
    assert ("Confidential" in text, "Page" in text) == (False, False)
    assert "Subject 16" in text, "a number that does not count pages is no number of a page"
    two = only("pdf", drawn(tmp_path / "two.pdf", *(
        [(70, 820, "Letters"), (70, 800, f"Visit {number}"), (70, 700, "Well."),
         (70, 20, f"- {number} -")]
        for number in (1, 2)
    ))).text  # fmt: skip
    assert two.split() == ["Visit", "1", "Well.", "Visit", "2", "Well."]
    alike = [[(70, 820, "Only this")]] * 3
    assert only("pdf", drawn(tmp_path / "alike.pdf", *alike)).text.count("Only this") == 3


def test_pages_without_text_are_told(tmp_path: Path) -> None:
    notes: list[str] = []
    path = drawn(tmp_path / "some.pdf", [(70, 700, "First words")], [], [(70, 700, "Last words")])
    entries("pdf", path, notes)
    assert notes == [f"{path}: no text on 1 page (2): scans are not read"]


@pytest.mark.parametrize("how", ["sheet", "text", "both"])
def test_pages_and_texts_on_their_side_are_read_in_order(tmp_path: Path, how: str) -> None:
    path = tmp_path / "turned.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842))
    if how != "text":
        canvas.setPageRotation(90)
    if how != "sheet":
        canvas.translate(300, 100)
        canvas.rotate(90)
    for number, words in enumerate(("One tablet every", "morning with water", "for adults")):
        canvas.drawString(50, 200 - 14 * number, words)
    canvas.save()
    assert only("pdf", path).text == "One tablet every morning with water for adults"


def test_hyphens_at_the_end_of_lines(tmp_path: Path) -> None:
    lines = (
        "Patients had immuno-",
        "therapy in the long-",
        "term study of IL-",
        "6 and can-",
        "cer.",
    )
    placed = [(70.0, 700.0 - 14 * number, text) for number, text in enumerate(lines)]
    text = only("pdf", drawn(tmp_path / "hyphens.pdf", placed)).text
    assert text == "Patients had immunotherapy in the long-term study of IL-6 and cancer."


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(article: Path, data: st.DataObject) -> None:
    content = bytearray(article.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = article.parent / "damaged.pdf"
    path.write_bytes(content)
    caught: AssayError | None = None
    try:
        list(read_corpus(path, "pdf"))
    except AssayError as problem:
        caught = problem
    assert caught is None or caught.exit_code == 2


def chars(text: str, left: float = 0, base: float = 100, size: float = 10) -> Iterator[Char]:
    for place, char in enumerate(text):
        yield Char(char, left + place * 5, left + place * 5 + 5, base, size)


def test_a_word_that_is_cut_goes_on() -> None:
    first, second = lines_of(iter([*chars("haemor\x02"), *chars("rhage", base=88)]))
    assert (first.text, first.cut, second.text) == ("haemor", True, "rhage")


def test_a_bullet_is_no_column() -> None:
    (line,) = lines_of(iter([*chars("•"), *chars("Adults", left=30)]))
    assert line.text == "- Adults"


def test_lowered_digits_stay_in_their_word() -> None:
    lowered = chars("2", left=5, base=98, size=6)
    (line,) = lines_of(iter([*chars("H"), *lowered, *chars("O", left=10)]))
    assert line.text == "H2O"


def test_raised_numbers_at_words_are_citations() -> None:
    raised = chars("12", left=25, base=104, size=6)
    (line,) = lines_of(iter([*chars("study"), *raised, *chars(".", left=35)]))
    assert line.text == "study [12]."
