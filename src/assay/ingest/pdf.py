"""What does a PDF say, heading by heading and page by page?

Larger lines and names of sections are headings; lines that come again at the edge of most pages are
not text. Each section of a page is a section here, so that a chunk knows its page. Columns of a
table are kept apart by bars. What was filled into a form is read where it stands. A scan without
text holds nothing to read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay import extras, limits
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.pages import PAGE, clean, page_entry
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.pdf_forms import fields_of, with_fields
from assay.ingest.pdf_lines import Line, page_lines
from assay.ingest.tables import JOIN
from assay.ingest.watch import Watch
from assay.ingest.xml_tree import Element, etree
from assay.model.sections import label_of
from assay.plural import counted

SUFFIXES = frozenset({".pdf"})
MAGIC = b"%PDF-"
EDGE = 0.11  # of the height of the sheet: where lines may come again on other pages
LARGER = 1.12  # of the size of running text: a heading
LONGEST = 200  # characters of a heading
NEW, NEW_HEADING = 1.9, 1.25  # sizes from line to line: a new paragraph, a new heading
LEVELS = 5
SHOWN = 10  # numbers of pages in a note
FIRST_PARTS = frozenset({
    "long", "short", "high", "low", "well", "self", "double", "single", "triple", "cross", "half",
    "full", "open", "head", "real", "one", "two", "three", "four", "five", "six", "ten", "dose",
    "time", "age", "sex", "year", "week", "day", "month", "follow", "placebo", "drug", "non",
})  # fmt: skip
"""First parts of words that are written with a hyphen wherever they stand in a line."""
_WORD = re.compile(r"\w+(?:-\w+)*")
_LAST_WORD = re.compile(r"\w+$")
_DIGITS = re.compile(r"\d+")
_NAMED = re.compile(r"(?:[\dIVX]+(?:\.\d+)*[.)]?\s+)?[A-Z][^.!?;|]{2,60}:?")
_JUNK = re.compile(r"untitled|microsoft word|\.(?:docx?|pdf|indd|qxd|tex)$|^\W*$", re.IGNORECASE)


def read_pdf(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The document in a file, or in every PDF of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            location = FileLocation(str(file))
            watch.opened(location.source)
            page, title = _page(file, location, watch)
            watch.consumed(file.stat().st_size)
            yield page_entry(page, id_of(file, path, watch), location, "pdf", title=title)


def _page(file: Path, location: FileLocation, watch: Watch) -> tuple[Element, str]:
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
        pdf.init_forms()
        pages = [
            Page(page.get_height(), with_fields(page_lines(page), list(fields_of(pdf, page))))
            for page in pdf
        ]
        title = str(pdf.get_metadata_value("Title") or "")
    except pypdfium2.PdfiumError as problem:
        raise location.format_error(f"the PDF is damaged: {problem}") from None
    finally:
        pdf.close()
    if bare := [str(number) for number, page in enumerate(pages, 1) if not page.lines]:
        shown = ", ".join(bare[:SHOWN]) + (", ..." if len(bare) > SHOWN else "")
        watch.note(f"{file}: no text on {counted(len(bare), 'page')} ({shown}): scans are not read")
    if not any(page.lines for page in pages):
        raise location.format_error(
            "the PDF holds no text", hint="if it is a scan, run OCR on it first"
        )
    title = clean(" ".join(title.split())) or ""
    return _as_html(_without_running(pages)), "" if _JUNK.search(title) else title


@dataclass(frozen=True, slots=True)
class Page:
    """A page: how high the sheet is, and its lines."""

    height: float
    lines: list[Line]

    def is_edge(self, line: Line) -> bool:
        """Is it where heads and feet of pages stand?"""
        away = min(line.base, self.height - line.base)
        return not line.turns and away <= EDGE * self.height


def _without_running(pages: list[Page]) -> list[list[Line]]:
    """The lines of each page without those that come again at the edge of most pages.

    What differs may be the number of the page: another number makes another line.
    """
    seen: dict[str, list[tuple[int, tuple[int, ...]]]] = {}
    for number, page in enumerate(pages):
        for line in page.lines:
            if page.is_edge(line):
                seen.setdefault(_key(line), []).append((number, _numbers(line)))
    often = {key for key, found in seen.items() if _is_running(key, found, len(pages))}
    left = [
        [line for line in page.lines if not (_key(line) in often and page.is_edge(line))]
        for page in pages
    ]
    return left if any(left) else [page.lines for page in pages]


def _is_running(key: str, found: list[tuple[int, tuple[int, ...]]], pages: int) -> bool:
    """Does a line come again on most pages, with the same numbers but for one that counts pages?

    Two pages do not tell whether ``Visit 1`` counts pages: there, only figures without words may.
    """
    places = [place for place, _ in found]
    if len(set(places)) < max(2, pages / 2):
        return False
    counts = len(set(places)) > 2 or not any(map(str.isalpha, key))
    columns = zip(*(numbers for _, numbers in found), strict=True)
    return all(
        len(set(column)) == 1
        or (
            counts
            and len({number - place for number, place in zip(column, places, strict=True)}) == 1
        )
        for column in columns
    )


def _key(line: Line) -> str:
    return _DIGITS.sub("#", line.text)


def _numbers(line: Line) -> tuple[int, ...]:
    return tuple(int(digits[:9]) for digits in _DIGITS.findall(line.text))


def _as_html(pages: list[list[Line]]) -> Element:
    root = etree.Element("html")
    body = etree.SubElement(root, "body")
    lines = [line for page in pages for line in page]
    usual = _usual_size(lines)
    words = frozenset(_WORD.findall(" ".join(line.text for line in lines if not line.cut)))
    sizes = sorted({_rounded(line.size) for line in lines if _is_larger(line, usual)}, reverse=True)
    for number, page in enumerate(pages, 1):
        for tag, text in _blocks(page, usual, sizes, words):
            etree.SubElement(body, tag, {PAGE: str(number)}).text = clean(text)
    return root


def _blocks(
    lines: list[Line], usual: float, sizes: list[float], words: frozenset[str]
) -> Iterator[tuple[str, str]]:
    """Headings and paragraphs of a page; ``words`` are those of the document."""
    tag, text = "", ""
    before: Line | None = None
    for line in lines:
        now = _tag(line, usual, sizes)
        if now != tag or before is None or _is_apart(before, line, now):
            if text:
                yield tag, text
            tag, text = now, line.text
        else:
            text += _after_cut(text, line.text, words) if before.cut else f" {line.text}"
        before = line
    if text:
        yield tag, text


def _after_cut(before: str, after: str, words: frozenset[str]) -> str:
    """What follows a word that was cut at the end of a line, with its hyphen if it has one."""
    first, second = _LAST_WORD.search(before), _WORD.match(after)
    if not first or not second:
        return after
    one, other = first[0], second[0]
    if one + other in words:
        return after
    compound = (
        f"{one}-{other}" in words
        or not one[-1].islower()  # IL-6, PD-L1, COVID-19
        or other[0].isdigit()
        or one.lower() in FIRST_PARTS
        or (one in words and other in words)
    )
    return f"-{after}" if compound else after


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
