"""Are documents of Word read with headings, lists, tables, symbols, boxes and notes?"""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import pytest

from assay import limits
from assay.errors import FormatError, LimitError
from assay.ingest import detect
from tests.unit.ingest.samples import entries, only, parts

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@pytest.fixture
def protocol(tmp_path: Path) -> Path:
    document = docx.Document()
    document.add_heading("Protocol", 0)
    document.add_paragraph("First words.")
    document.add_heading("Methods", 1)
    counted = document.add_paragraph("We used 10")
    counted.add_run("6").font.superscript = True
    counted.add_run(" draws.")
    document.add_paragraph("Adults", style="List Bullet")
    document.add_heading("Dosage", 2)
    table = document.add_table(rows=3, cols=3)
    for row, cells in enumerate(("Week Dose Note", "0 150mg x", "4 300mg y")):
        for column, text in enumerate(cells.split()):
            table.cell(row, column).text = text
    table.cell(1, 2).merge(table.cell(2, 2))
    document.add_heading("Results", 1)
    document.add_paragraph("Fewer itched.")
    path = tmp_path / "protocol.docx"
    document.save(str(path))
    return path


def made(folder: Path, body: str, **others: str) -> Path:
    path = folder / "made.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        content = f"<w:document {W}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", content)
        for name, text in others.items():
            archive.writestr(name, text)
    return path


def test_headings_lists_and_tables(protocol: Path) -> None:
    assert detect(protocol) == "docx"
    document = only("docx", protocol)
    assert (document.doc_id, document.title) == ("protocol", "Protocol")
    assert parts(document) == [
        ("other", "Protocol", "Protocol\nFirst words."),
        ("methods", "Methods", "Methods\nWe used 10^6 draws.\n- Adults"),
        ("dosage", "Methods > Dosage > Table",
         "Week | Dose | Note\n\n0 | 150mg | x; y\n4 | 300mg | x; y"),
        ("results", "Results", "Results\nFewer itched."),
    ]  # fmt: skip


def test_what_was_deleted_and_a_note_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Take </w:t></w:r><w:del><w:r><w:delText>5</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>10 mg</w:t></w:r></w:ins>"
        '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:tab/><w:t>daily</w:t></w:r></w:p>'
    )
    assert only("docx", made(tmp_path, body)).text == "Take 10 mg daily"


def run(inner: str, properties: str = "") -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr>{inner}</w:r></w:p>"


def symbol(code: str, font: str = "Symbol") -> str:
    return f'<w:sym w:font="{font}" w:char="{code}"/>'


def test_symbols_of_fonts_are_the_characters_that_they_show(tmp_path: Path) -> None:
    codes = ("F06D", "F0B3", "F0A3", "F0B0", "F0B1", "F062", "F0B4")
    body = run("<w:t>10 g</w:t>" + "".join(map(symbol, codes)))
    notes: list[str] = []
    path = made(tmp_path, body + run(symbol("00B5", "Arial") + symbol("F0FC", "Wingdings")))
    assert only("docx", path).text == "10 gμ≥≤°±β×\nµ✓"
    path = made(tmp_path, run("<w:t>Dose</w:t>" + symbol("F041", "Logos")))
    (entry,) = entries("docx", path, notes)
    assert entry.document.text == "Dose"
    assert notes == [f"{path}: the symbol F041 of the font Logos is not known: left out"]


def test_boxes_of_text_are_read_once(tmp_path: Path) -> None:
    inner = f"<w:txbxContent>{run('<w:t>Keep away from children</w:t>')}</w:txbxContent>"
    both = (
        f"<mc:Choice><w:drawing>{inner}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{inner}</w:pict></mc:Fallback>"
    )
    space = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    body = run(f"<w:t>Before</w:t><mc:AlternateContent {space}>{both}</mc:AlternateContent>")
    assert only("docx", made(tmp_path, body)).text == "Before\nKeep away from children"
    older = run(f"<w:t>Before</w:t><w:pict>{inner}</w:pict>")
    assert only("docx", made(tmp_path, older)).text == "Before\nKeep away from children"


def test_notes_are_read_where_they_are_cited_and_at_the_end(tmp_path: Path) -> None:
    body = run('<w:t>Take 5 mg</w:t><w:endnoteReference w:id="2"/><w:t> daily</w:t>') + run(
        '<w:t>with water</w:t><w:footnoteReference w:id="2"/>',
        '<w:vertAlign w:val="superscript"/>',
    )
    parts = {
        "word/footnotes.xml": f'<w:footnotes {W}><w:footnote w:id="0" w:type="separator">'
        f'{run("<w:t>---</w:t>")}</w:footnote><w:footnote w:id="2">{run("<w:t>Not milk.</w:t>")}'
        f'</w:footnote><w:footnote w:id="3">{run("<w:t>Cited nowhere.</w:t>")}</w:footnote>'
        "</w:footnotes>",
        "word/endnotes.xml": f'<w:endnotes {W}><w:endnote w:id="2">'
        f"{run('<w:t>Contraindicated in pregnancy.</w:t>')}</w:endnote></w:endnotes>",
    }
    assert only("docx", made(tmp_path, body, **parts)).text == (
        "Take 5 mg [note 1] daily\nwith water [note 2]\n\n"
        "Notes\n[note 1] Contraindicated in pregnancy.\n[note 2] Not milk."
    )


def test_deleted_rows_and_hidden_words_are_not_read(tmp_path: Path) -> None:
    def row(text: str, properties: str = "") -> str:
        cell = f"<w:tc>{run(f'<w:t>{text}</w:t>')}</w:tc>"
        return f"<w:tr><w:trPr>{properties}</w:trPr>{cell}{cell}</w:tr>"

    table = f"<w:tbl>{row('kept')}{row('gone', '<w:del/>')}{row('kept too')}</w:tbl>"
    hidden = run("<w:t>hidden</w:t>", "<w:vanish/>")
    shown = run("<w:t>shown</w:t>", '<w:vanish w:val="false"/>')
    text = only("docx", made(tmp_path, table + hidden + shown)).text
    assert ("gone" in text, "hidden" in text) == (False, False)
    assert "kept too" in text
    assert text.endswith("shown")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04 and nothing else", "not a Word document"),
        (b"words", "not a Word document"),
        (b"", "not a Word document"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.docx"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        entries("docx", path)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "x")
    with pytest.raises(FormatError, match=r"no word/document\.xml"):
        entries("docx", path)


def test_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE d [<!ENTITY a "b">]><d>&a;</d>')
    with pytest.raises(FormatError, match="declares entities"):
        entries("docx", path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path, f"<w:p><w:r><w:t>{'x' * 5_000}</w:t></w:r></w:p>")
    monkeypatch.setattr(limits, "MAX_XML_BYTES", 1_000)
    with pytest.raises(LimitError, match="unpacks to more than 1,000 bytes"):
        entries("docx", path)


def test_a_part_that_ends_too_early_is_told_as_any_damage(tmp_path: Path) -> None:
    path = tmp_path / "made.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<d><body><p/></body></d>")
    damaged = bytearray(path.read_bytes())
    damaged[29] = 1  # the part begins 256 bytes later than it does
    path.write_bytes(damaged)
    with pytest.raises(FormatError, match="not a Word document"):
        only("docx", path)
