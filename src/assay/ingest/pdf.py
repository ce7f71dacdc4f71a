"""What does a PDF say, heading by heading and page by page?

Larger lines and names of sections are headings; lines that come again at the edge of most pages are
not text. Each section of a page is a section here, so that a chunk knows its page. Columns of a
table are kept apart by bars. A scan without text holds nothing to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay import extras, limits
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.pages import PAGE, clean, page_entry
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.pdf_lines import Line, page_lines
from assay.ingest.tables import JOIN
from assay.ingest.watch import Watch
from assay.ingest.xml_tree import Element, etree
from assay.model.sections import label_of

SUFFIXES = frozenset({".pdf"})
MAGIC = b"%PDF-"
EDGE = 2  # lines at the top and at the bottom that may come again on other pages
LARGER = 1.12  # of the size of running text: a heading
LONGEST = 200  # characters of a heading
NEW, NEW_HEADING = 1.9, 1.25  # sizes from line to line: a new paragraph, a new heading
LEVELS = 5
_DIGITS = re.compile(r"\d+")
_NAMED = re.compile(r"(?:[\dIVX]+(?:\.\d+)*[.)]?\s+)?[A-Z][^.!?;|]{2,60}:?")
_JUNK = re.compile(r"untitled|microsoft word|\.(?:docx?|pdf|indd|qxd|tex)$|^\W*$", re.IGNORECASE)


def read_pdf(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The document in a file, or in every PDF of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            location = FileLocation(str(file))
            watch.opened(location.source)
            page, title = _page(file, location)
            watch.consumed(file.stat().st_size)
            yield page_entry(page, id_of(file, path, watch), location, "pdf", title=title)


def _page(file: Path, location: FileLocation) -> tuple[Element, str]:
    """The document as HTML, whose elements say which page they are from, and its title."""
    extras.require("pypdfium2")
    import pypdfium2

    if file.stat().st_size > limits.MAX_PDF_BYTES:
        raise location.limit_error(f"more than {limits.MAX_PDF_BYTES:,} bytes", hint="split it")
    try:
        pdf = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as problem:
        if "password" in str(problem).lower():
            raise location.format_error(
                "the PDF is protected by a password", hint="save it without one"
            ) from None
        raise location.format_error(
            f"the PDF is damaged: {problem}", hint="fetch the file again"
        ) from None
    try:
        pages = [page_lines(page) for page in pdf]
        title = str(pdf.get_metadata_value("Title") or "")
    except pypdfium2.PdfiumError as problem:
        raise location.format_error(f"the PDF is damaged: {problem}") from None
    finally:
        pdf.close()
    if not any(pages):
        raise location.format_error(
            "the PDF holds no text", hint="if it is a scan, recognise its text first"
        )
    title = clean(" ".join(title.split())) or ""
    return _as_html(_without_running(pages)), "" if _JUNK.search(title) else title


def _without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without lines that come again at the edge of most of them, but for numbers."""
    seen = Counter(key for lines in pages for key in {_key(line) for line in _edges(lines)})
    often = {key for key, count in seen.items() if count >= max(3, len(pages) / 2)}
    return [
        [line for line in lines if not (_key(line) in often and line in _edges(lines))]
        for lines in pages
    ]


def _edges(lines: Sequence[Line]) -> list[Line]:
    by_height = sorted(lines, key=lambda line: line.base)
    return [*by_height[:EDGE], *by_height[-EDGE:]]


def _key(line: Line) -> str:
    return _DIGITS.sub("#", line.text)


def _as_html(pages: list[list[Line]]) -> Element:
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    lines = [line for page in pages for line in page]
    usual = _usual_size(lines)
    sizes = sorted({_rounded(line.size) for line in lines if _is_larger(line, usual)}, reverse=True)
    for number, page in enumerate(pages, 1):
        for tag, text in _blocks(page, usual, sizes):
            etree.SubElement(body, tag, {PAGE: str(number)}).text = clean(text)
    return root


def _blocks(lines: list[Line], usual: float, sizes: list[float]) -> Iterator[tuple[str, str]]:
    """Headings and paragraphs of a page."""
    tag, text = "", ""
    before: Line | None = None
    for line in lines:
        now = _tag(line, usual, sizes)
        if now != tag or before is None or _is_apart(before, line, now):
            if text:
                yield tag, text
            tag, text = now, line.text
        else:
            text += line.text if before.cut else f" {line.text}"
        before = line
    if text:
        yield tag, text


def _is_apart(before: Line, line: Line, tag: str) -> bool:
    """Does a paragraph or heading begin with this line? Rows of a table stand alone."""
    if JOIN in line.text or JOIN in before.text:
        return True
    space = NEW if tag == "p" else NEW_HEADING
    return abs(before.base - line.base) > space * line.size


def _tag(line: Line, usual: float, sizes: list[float]) -> str:
    if _is_larger(line, usual):
        return f"h{min(sizes.index(_rounded(line.size)) + 1, LEVELS)}"
    named = _NAMED.fullmatch(line.text) and label_of(line.text) != "other" and not line.cut
    return f"h{LEVELS + 1}" if named and len(line.text.split()) <= LEVELS else "p"


def _is_larger(line: Line, usual: float) -> bool:
    return (
        line.size >= LARGER * usual
        and len(line.text) <= LONGEST
        and any(map(str.isalpha, line.text))
    )


def _usual_size(lines: list[Line]) -> float:
    """The size of most characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[_rounded(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0]


def _rounded(size: float) -> float:
    return round(size * 2) / 2
