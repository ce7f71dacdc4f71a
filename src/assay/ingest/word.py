"""What does a Word document say, heading by heading?

A ``.docx`` file is a zip archive of XML. Its paragraphs, lists and tables are turned into a page of
HTML, which ``pages.py`` reads. What was deleted under tracked changes, comments, notes and
drawings are left out.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from assay import limits
from assay.errors import MissingFileError
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.pages import page_entry
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch
from assay.ingest.xml_input import children, parse_xml
from assay.ingest.xml_tree import Element, etree

SUFFIXES = frozenset({".docx"})
BODY, STYLES, CORE = "word/document.xml", "word/styles.xml", "docProps/core.xml"
SPACE = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
LEFT_OUT = frozenset({
    "del", "moveFrom", "pPr", "rPr", "drawing", "pict", "object", "footnoteReference",
    "endnoteReference", "commentReference", "instrText", "delText",
})  # fmt: skip
RAISED = {"superscript": "sup", "subscript": "sub"}
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
            page = _page(file, location)
            watch.consumed(file.stat().st_size)
            yield page_entry(page, id_of(file, path, watch), location, "docx")


def _page(file: Path, location: FileLocation) -> Element:
    """The document as HTML."""
    try:
        with zipfile.ZipFile(file) as archive:
            body, styles, core = (_part(archive, name, location) for name in (BODY, STYLES, CORE))
    except BROKEN as problem:
        raise location.format_error(f"not a Word document: {problem}") from None
    except OSError as problem:
        raise MissingFileError(f"{file} cannot be read: {problem.strerror}") from None
    if body is None or (content := body.find("body")) is None:
        raise location.format_error(f"not a Word document: no {BODY}")
    page = etree.Element("html")
    head, target = etree.SubElement(page, "head"), etree.SubElement(page, "body")
    etree.SubElement(head, "title").text = None if core is None else core.findtext("title")
    _fill(target, content, _names(styles))
    return page


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


def _fill(target: Element, content: Element, tags: dict[str, str]) -> None:
    """Append paragraphs and tables, also those in boxes of content."""
    for part in content.iterchildren(etree.Element):
        if part.tag == "p":
            _paragraph(target, part, tags)
        elif part.tag == "tbl":
            _table(target, part, tags)
        elif part.tag in {"sdt", "sdtContent", "ins", "moveTo", "customXml"}:
            _fill(target, part, tags)


def _paragraph(target: Element, part: Element, tags: dict[str, str]) -> None:
    tag = tags.get(_value(part.find("pPr/pStyle")), "p")
    listed = tag == "p" and part.find("pPr/numPr") is not None
    element = etree.SubElement(target, "li" if listed else tag)
    _runs(element, part)


def _runs(element: Element, part: Element) -> None:
    """Append the words of a paragraph; raised and lowered ones are marked."""
    for run in part.iterchildren(etree.Element):
        if run.tag in LEFT_OUT:
            continue
        if run.tag != "r":  # a link, an insertion, a field
            _runs(element, run)
            continue
        tag = RAISED.get(_value(run.find("rPr/vertAlign")))
        words = "".join(_words(run))
        if tag and words.strip():
            etree.SubElement(element, tag).text = words
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + words
        else:
            element.text = (element.text or "") + words


def _words(run: Element) -> Iterator[str]:
    for part in run.iterchildren(etree.Element):
        if part.tag == "t":
            yield part.text or ""
        else:
            yield SPACE.get(str(part.tag), "")


def _table(target: Element, part: Element, tags: dict[str, str]) -> None:
    """Append a table; a cell that continues the one above it makes that one higher."""
    table = etree.SubElement(target, "table")
    begun: dict[int, Element] = {}  # by column: the cell that others may continue
    plain = dict.fromkeys(tags, "p")  # a heading in a cell is no heading of the document
    for row in children(part, "tr"):
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
                _fill(element, cell, plain)
                begun.pop(column, None)
                if merged is not None:
                    begun[column] = element
            column += wide


def _is_continued(merged: Element | None) -> bool:
    return merged is not None and _value(merged) != "restart"


def _value(element: Element | None) -> str:
    return "" if element is None else element.get("val") or ""


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[1-9]\d{0,3}", text) else 1
