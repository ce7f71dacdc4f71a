"""What does a Word document say, heading by heading?

A ``.docx`` file is a zip archive of XML. Its paragraphs, lists, tables and text boxes are turned
into a page of HTML, which ``pages.py`` reads; footnotes and endnotes stand at its end. What was
deleted under tracked changes, hidden text, comments and pictures are left out.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay import limits
from assay.errors import MissingFileError
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.pages import page_entry
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch
from assay.ingest.xml_input import children, parse_xml
from assay.ingest.xml_tree import Element, etree

SUFFIXES = frozenset({".docx", ".docm"})
BODY, STYLES, CORE = "word/document.xml", "word/styles.xml", "docProps/core.xml"
NOTES = {"footnoteReference": "word/footnotes.xml", "endnoteReference": "word/endnotes.xml"}
SPACE = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
LEFT_OUT = frozenset({
    "del", "moveFrom", "pPr", "rPr", "drawing", "pict", "object", "commentReference", "instrText",
    "delText",
})  # fmt: skip
RAISED = {"superscript": "sup", "subscript": "sub"}
# what the font Symbol shows for the codes of letters and signs (Adobe's encoding of it)
SYMBOL: Mapping[int, str] = {
    **dict(enumerate(" !∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_", 0x20)),
    **dict(enumerate("αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼", 0x61)),
    **dict(enumerate("€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…", 0xA0)),
    **dict(enumerate("ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊", 0xC0)),
    0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
DINGBATS = {
    ("Wingdings", 0xFC): "✓", ("Wingdings", 0xFB): "✗", ("Wingdings", 0xFE): "☑",
    ("Wingdings", 0xFD): "☒", ("Wingdings", 0xA8): "☐", ("Wingdings", 0x6F): "☐",
    ("Wingdings", 0xE0): "→", ("Wingdings", 0xDF): "←", ("Wingdings", 0xE8): "→",
    ("Wingdings", 0x6C): "●", ("Wingdings", 0xA7): "▪", ("Wingdings", 0xD8): "➢",
    ("Wingdings", 0x76): "❖", ("Wingdings 2", 0x50): "✓", ("Wingdings 2", 0x4F): "✗",
    ("Wingdings 2", 0x52): "☑", ("Wingdings 2", 0xA3): "☐",
}  # fmt: skip
_HEADING = re.compile(r"heading ([1-6])$", re.IGNORECASE)

BROKEN = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError,
    RuntimeError,
)  # fmt: skip


def read_word(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The document in a file, or in every Word file of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            location = FileLocation(str(file))
            watch.opened(location.source)
            page = _page(file, location, watch)
            watch.consumed(file.stat().st_size)
            yield page_entry(page, id_of(file, path, watch), location, "docx")


def _page(file: Path, location: FileLocation, watch: Watch) -> Element:
    """The document as HTML."""
    try:
        with zipfile.ZipFile(file) as archive:
            body, styles, core = (_part(archive, name, location) for name in (BODY, STYLES, CORE))
            notes = {tag: _part(archive, name, location) for tag, name in NOTES.items()}
    except BROKEN as problem:
        hint = "a document with a password is saved without it first"
        raise location.format_error(f"not a Word document: {problem}", hint=hint) from None
    except OSError as problem:
        raise MissingFileError(f"{file} cannot be read: {problem.strerror}") from None
    if body is None or (content := body.find("body")) is None:
        raise location.format_error(f"not a Word document: no {BODY}")
    page = etree.Element("html")
    head, target = etree.SubElement(page, "head"), etree.SubElement(page, "body")
    etree.SubElement(head, "title").text = None if core is None else core.findtext("title")
    reading = _Reading(_names(styles), _notes_by_id(notes))
    reading.fill(target, content)
    reading.add_notes(target)
    for font, code in sorted(reading.unknown):
        watch.note_once(f"{file}: the symbol {code} of the font {font} is not known: left out")
    return page


def _notes_by_id(parts: Mapping[str, Element | None]) -> dict[tuple[str, str], Element]:
    """Footnotes and endnotes by the tag that points to them and their id; separators are none."""
    return {
        (tag, note.get("id") or ""): note
        for tag, part in parts.items()
        if part is not None
        for note in part.iterchildren("footnote", "endnote")
        if note.get("type") in {None, "normal"}
    }


def _part(archive: zipfile.ZipFile, name: str, location: FileLocation) -> Element | None:
    """A part of the archive, read no further than its limit, whatever the archive claims."""
    try:
        with archive.open(name) as part:
            data = part.read(limits.MAX_XML_BYTES + 1)
    except KeyError:
        return None
    if len(data) > limits.MAX_XML_BYTES:
        raise location.limit_error(f"{name} unpacks to more than {limits.MAX_XML_BYTES:,} bytes")
    root = parse_xml(data, location)
    for element in root.iter(etree.Element):  # attributes have namespaces, too
        for key in map(str, list(element.attrib)):
            if key.startswith("{"):
                element.set(key.rpartition("}")[2], element.attrib.pop(key))
    return root


def _names(styles: Element | None) -> dict[str, str]:
    """The tag of each style that is more than a paragraph; by name, since ids are translated."""
    found: dict[str, str] = {}
    for style in children(styles, "style") if styles is not None else ():
        words = _value(style.find("name"))
        if heading := _HEADING.match(words):
            found[style.get("styleId") or ""] = f"h{heading[1]}"
        elif words.lower() == "title":
            found[style.get("styleId") or ""] = "h1"
        elif words.lower().startswith("list"):
            found[style.get("styleId") or ""] = "li"
    return found


@dataclass(slots=True)
class _Reading:
    """One document on its way into a page: the tags of its styles, and its notes."""

    tags: dict[str, str]
    notes: dict[tuple[str, str], Element]
    cited: dict[tuple[str, str], int] = field(default_factory=dict)
    unknown: set[tuple[str, str]] = field(default_factory=set)

    def fill(self, target: Element, content: Element, *, plainly: bool = False) -> None:
        """Append paragraphs and tables, also those in boxes of content.

        ``plainly`` makes paragraphs of headings: one in a cell is no heading of the document.
        """
        for part in content.iterchildren(etree.Element):
            if part.tag == "p":
                self._paragraph(target, part, plainly=plainly)
            elif part.tag == "tbl":
                self._table(target, part)
            elif part.tag in {"sdt", "sdtContent", "ins", "moveTo", "customXml"}:
                self.fill(target, part, plainly=plainly)

    def add_notes(self, target: Element) -> None:
        """Append the notes that the text points to; a note may point to none."""
        if self.cited:
            etree.SubElement(target, "h2").text = "Notes"
        for key, number in list(self.cited.items()):
            block = etree.SubElement(target, "div")
            self.fill(block, self.notes[key], plainly=True)
            if len(block):
                block[0].text = f"[note {number}] {(block[0].text or '').lstrip()}"

    def _paragraph(self, target: Element, part: Element, *, plainly: bool) -> None:
        tag = "p" if plainly else self.tags.get(_value(part.find("pPr/pStyle")), "p")
        listed = tag == "p" and part.find("pPr/numPr") is not None
        element = etree.SubElement(target, "li" if listed else tag)
        self._runs(element, part)
        for box in _boxes(part):
            self.fill(target, box, plainly=True)

    def _runs(self, element: Element, part: Element) -> None:
        """Append the words of a paragraph; raised and lowered ones are marked."""
        for run in part.iterchildren(etree.Element):
            if run.tag in LEFT_OUT or run.tag == "AlternateContent":
                continue
            if run.tag != "r":  # a link, an insertion, a field
                self._runs(element, run)
                continue
            if _is_on(run.find("rPr/vanish")):
                continue
            tag = RAISED.get(_value(run.find("rPr/vertAlign")))
            if any(run.find(one) is not None for one in NOTES):
                tag = None  # the number of a note is raised, too
            words = "".join(self._words(run))
            if tag and words.strip():
                etree.SubElement(element, tag).text = words
            elif len(element):
                element[-1].tail = (element[-1].tail or "") + words
            else:
                element.text = (element.text or "") + words

    def _words(self, run: Element) -> Iterator[str]:
        for part in run.iterchildren(etree.Element):
            tag = str(part.tag)
            key = (tag, part.get("id") or "")
            if tag == "t":
                yield part.text or ""
            elif tag == "sym":
                yield self._symbol(part)
            elif key in self.notes:
                yield f" [note {self.cited.setdefault(key, len(self.cited) + 1)}]"
            else:
                yield SPACE.get(tag, "")

    def _symbol(self, part: Element) -> str:
        """The character that a font of symbols shows; an unknown one is remembered."""
        font, code = part.get("font") or "", (part.get("char") or "").upper()
        if re.fullmatch(r"[0-9A-F]{4}", code):
            number = int(code, 16)
            private = 0xF000 <= number <= 0xF0FF
            if not private and not 0xD800 <= number < 0xF900:
                return chr(number) if number >= 0x20 else ""  # as it is
            if private and font == "Symbol" and (number & 0xFF) in SYMBOL:
                return SYMBOL[number & 0xFF]
            if private and (known := DINGBATS.get((font, number & 0xFF))):
                return known
        self.unknown.add((font[:40], code[:10]))
        return ""

    def _table(self, target: Element, part: Element) -> None:
        """Append a table; a cell that continues the one above it makes that one higher."""
        table = etree.SubElement(target, "table")
        begun: dict[int, Element] = {}  # by column: the cell that others may continue
        for row in children(part, "tr"):
            if row.find("trPr/del") is not None:
                continue
            line = etree.SubElement(table, "tr")
            kind = "td" if row.find("trPr/tblHeader") is None else "th"
            column = 0
            for cell in children(row, "tc"):
                wide = _whole(_value(cell.find("tcPr/gridSpan")))
                merged = cell.find("tcPr/vMerge")
                above = begun.get(column) if _is_continued(merged) else None
                if above is not None:
                    above.set("rowspan", str(_whole(above.get("rowspan", "1")) + 1))
                else:
                    element = etree.SubElement(line, kind, colspan=str(wide))
                    self.fill(element, cell, plainly=True)
                    begun.pop(column, None)
                    if merged is not None:
                        begun[column] = element
                column += wide


def _boxes(part: Element) -> Iterator[Element]:
    """The text boxes of a paragraph, each once: programs write them again for older readers."""
    for inner in part.iterchildren(etree.Element):
        if inner.tag == "txbxContent":
            yield inner
        elif inner.tag == "AlternateContent":
            yield from (box for one in list(inner)[:1] for box in _boxes(one))
        elif inner.tag not in {"del", "moveFrom"}:
            yield from _boxes(inner)


def _is_on(switch: Element | None) -> bool:
    return switch is not None and _value(switch) not in {"0", "false", "off"}


def _is_continued(merged: Element | None) -> bool:
    return merged is not None and _value(merged) != "restart"


def _value(element: Element | None) -> str:
    return "" if element is None else element.get("val") or ""


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[1-9]\d{0,3}", text) else 1
