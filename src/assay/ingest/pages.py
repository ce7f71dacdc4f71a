"""What does a page of HTML say, heading by heading?

The main part is read (``main``, ``article``), without menus, forms and scripts. Headings open
sections, and tables are sections of their own. Word's documents and PDF are turned into such a page
and go the same way (``word.py``, ``pdf.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from assay import limits
from assay.ingest.compose import Composer
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.files import whole
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.tables import table_kind
from assay.ingest.watch import Watch
from assay.ingest.xml_input import ElementRules, check_depth, one_line, plain
from assay.ingest.xml_tables import xml_table
from assay.ingest.xml_tree import Element, etree
from assay.model.document import Document, MetadataValue
from assay.model.sections import label_of

SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
ROOT = "html"
PAGE = "data-page"  # set by pdf.py: the number of the page that an element stands on
HEADINGS = {f"h{level}": level for level in range(1, 7)}
LEFT_OUT = frozenset({
    "head", "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form",
    "button", "select", "svg", "math", "iframe", "object", "audio", "video", "canvas", "dialog",
})  # fmt: skip
LEAVES = frozenset({"p", "li", "dt", "dd", "pre", "figcaption", "summary", "address"})
HOLDERS = frozenset({
    "html", "body", "main", "article", "section", "div", "ul", "ol", "dl", "figure", "blockquote",
    "details", "center", "tbody", "thead", "tfoot", "tr", "td", "th", "fieldset", "hgroup",
})  # fmt: skip
BLOCKS = LEAVES | HOLDERS | {*HEADINGS, "table", "br", "hr", "caption"}
APART = BLOCKS | LEFT_OUT
READING = ElementRules(
    skip=LEFT_OUT,
    blocks=LEAVES | {"br", "div", "ul", "ol", "dl", "blockquote"},
    bullets=frozenset({"li"}),
)
CELL = replace(READING, bullets=frozenset(), parted=frozenset({"li", "p"}))
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
# the names by which publishers and registries describe a page to indexers
META = {
    "citation_pmid": "pmid", "citation_doi": "doi", "dc.identifier": "doi",
    "citation_journal_title": "journal", "citation_publication_date": "published_date",
    "citation_date": "published_date", "citation_language": "language",
}  # fmt: skip


def read_pages(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The page in a file, or in every HTML file of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            location = FileLocation(str(file))
            data = whole(file, watch, limits.MAX_XML_BYTES)
            page = parse_page(data, location)
            yield page_entry(page, id_of(file, path, watch), location, "html")


def parse_page(data: bytes, location: FileLocation) -> Element:
    """The root of a page, however badly it is written."""
    parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True,
                              encoding=_encoding(data))  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as problem:
        raise location.format_error(f"not HTML: {problem}") from None
    if root is None:
        raise location.format_error("not HTML: nothing in it")
    check_depth(root, location)
    for element in root.iter(etree.Element):
        element.text, element.tail = clean(element.text), clean(element.tail)
    return root


def page_entry(
    page: Element, doc_id: str, location: FileLocation, source: str, *, title: str = ""
) -> ParsedDocument:
    """The page as a document; without a title, its first heading is that, else what it says."""
    heading, named = page.find(".//h1"), page.find("head/title")
    title = title or one_line(heading, READING) or one_line(named, READING)
    reading = _Reading(location, title)
    reading.read(_main(page))
    reading.end()
    document = Document(
        doc_id=location.checked_id(doc_id),
        text=reading.composer.text,
        title=title,
        sections=reading.composer.sections,
        source=source,
        profile="text",
        metadata=_metadata(page),
    )
    return ParsedDocument(document, location)


def _encoding(data: bytes) -> str | None:
    """UTF-8 where the bytes are that; else the parser goes by what the page says."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _main(page: Element) -> Element:
    """The part that is marked as the main one; all of it where that holds less than half."""
    body = page.find("body")
    whole = page if body is None else body
    marked = page.xpath("//main | //*[@role='main']") or page.xpath("//article")
    if isinstance(marked, list) and len(marked) == 1 and isinstance(marked[0], etree._Element):
        main, all_of_it = (len(plain(part, READING)) for part in (marked[0], whole))
        return marked[0] if 2 * main >= all_of_it else whole
    return whole


@dataclass(frozen=True, slots=True)
class _Open:
    """A heading whose section goes on: the page it stands on, and how many sections came before."""

    level: int
    label: str
    words: str
    page: str
    before: int
    under: ExitStack


class _Reading:
    """Walks a page and composes its text; paragraphs wait until their section ends.

    A heading with nothing below it is a paragraph, unless it is the title, which is kept as that.
    """

    def __init__(self, location: FileLocation, title: str) -> None:
        self.composer = Composer(location)
        self._location = location
        self._title = title.casefold()
        self._waiting: list[str] = []
        self._page = ""
        self._open: list[_Open] = []

    def read(self, holder: Element) -> None:
        """Read what an element holds: words of its own, and blocks."""
        run = _run(holder.text)
        for child in holder.iterchildren(etree.Element):
            tag = str(child.tag)
            if tag in APART:
                self._wait(plain(run, READING))
                self._block(child, tag)
                run = _run(child.tail)
            else:
                run.append(deepcopy(child))
        self._wait(plain(run, READING))

    def end(self) -> None:
        """Write what waits, and close what is open."""
        self._close(0)

    def _block(self, element: Element, tag: str) -> None:
        if tag in LEFT_OUT:
            return
        if (page := element.get(PAGE, self._page)) != self._page:
            self._write()
            self._page = page
        if tag in HEADINGS:
            self._heading(element, HEADINGS[tag])
        elif tag == "table" and not _is_layout(element):
            self._table(element)
        elif tag in LEAVES and not _holds_blocks(element):
            text = plain(element, READING)
            self._wait(f"- {text}" if text and tag == "li" else text)
        else:
            self.read(element)

    def _heading(self, element: Element, level: int) -> None:
        words = one_line(element, READING)
        if not words:
            return
        self._close(level)
        label = label_of(words, self._label)
        under = ExitStack()
        under.enter_context(self.composer.under(words[: limits.MAX_TITLE_CHARS]))
        before = len(self.composer.sections)
        self._open.append(_Open(level, label, words, self._page, before, under))

    def _table(self, element: Element) -> None:
        self._write()
        caption = one_line(element.find("caption"), READING)
        table = xml_table(element, CELL, self._location, caption=caption)
        label = table_kind(table) or self._label or "other"
        self.composer.add_table(table, label, self._location, name="Table")

    @property
    def _label(self) -> str:
        label = self._open[-1].label if self._open else ""
        return "" if label == "other" else label

    def _wait(self, text: str) -> None:
        if text:
            self._waiting.append(text)

    def _write(self) -> None:
        if self._waiting:
            self._add("\n".join(self._waiting), self._page)
            self._waiting = []

    def _add(self, text: str, page: str) -> None:
        details = {"page": page} if page else {}
        self.composer.add(text, self._label or "other", details=details)

    def _close(self, level: int) -> None:
        """End every section of this level or a lower one."""
        self._write()
        while self._open and self._open[-1].level >= level:
            ended = self._open.pop()
            ended.under.close()
            bare = len(self.composer.sections) == ended.before
            if bare and ended.words.casefold() != self._title:
                self._add(ended.words, ended.page)


def _run(text: str | None) -> Element:
    """An element to collect words in that stand between blocks."""
    run = etree.Element("p")
    run.text = text
    return run


def clean(text: str | None) -> str | None:
    """The text without characters that XML cannot hold; parsers of HTML let them pass."""
    return _CONTROL.sub("", text) if text else text


def _is_layout(table: Element) -> bool:
    """Does a table place parts of a page instead of showing data?"""
    if table.get("role") in {"presentation", "none"}:
        return True
    return any(table.find(f".//{tag}") is not None for tag in (*HEADINGS, "main", "article"))


def _holds_blocks(element: Element) -> bool:
    """Does a leaf hold what must be read apart: a table or a heading?"""
    return any(True for _ in element.iter("table", *HEADINGS))


def _metadata(page: Element) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    authors: list[str] = []
    keywords: list[str] = []
    for meta in page.iter("meta"):
        name, text = (meta.get("name") or "").lower(), (meta.get("content") or "").strip()
        if name in META and text:
            found.setdefault(META[name], text.removeprefix("doi:"))
        elif name == "citation_author" and text:
            authors.append(text)
        elif name in {"keywords", "citation_keywords"}:
            keywords += text.replace(";", ",").split(",")
    date = str(found.get("published_date", "")).replace("/", "-")
    known = {**found, "published_date": date, "year": year_of(date),
             "authors": distinct(authors), "keywords": distinct(keywords)}  # fmt: skip
    ids = (str(found[name]) for name in ("pmid", "doi") if name in found)
    return facts(known, names=distinct(keywords), identifiers=ids)
