"""What do JATS articles (PubMed Central's XML) say, section by section?

The abstract is one section with its inner headings. Each ``sec`` of the body is a section under its
path of headings; its text comes first, then its tables and figure captions, so that running text is
not interrupted where a table happens to be anchored. References, translated abstracts and what a
journal attaches to the article (``sub-article``, ``response``) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.ingest.compose import Composer
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.tables import table_kind
from assay.ingest.watch import Watch
from assay.ingest.xml_input import (
    ElementRules,
    children,
    children_but,
    local_line,
    one_line,
    plain,
    read_xml,
)
from assay.ingest.xml_tables import is_within_table, xml_table
from assay.ingest.xml_tree import Element
from assay.model.document import Document, MetadataValue
from assay.model.sections import label_of
from assay.model.values import iso_date

SUFFIXES = frozenset({".xml", ".nxml"})
FLOATS = ("table-wrap", "fig", "table-wrap-group", "fig-group")
READING = ElementRules(
    skip=frozenset({
        "table-wrap", "table-wrap-group", "fig", "fig-group", "supplementary-material", "media",
        "graphic", "inline-graphic", "tex-math", "object-id", "hr",
    }),
    blocks=frozenset({
        "p", "list", "list-item", "def-list", "def-item", "disp-quote", "disp-formula", "title",
        "boxed-text", "sec", "break", "verse-group", "fn", "statement", "preformat",
    }),
    bullets=frozenset({"list-item"}),
    led={"term": ": ", "label": " "},
)  # fmt: skip
CELL = replace(READING, bullets=frozenset(), parted=frozenset({"list-item", "p"}))
SECTIONS = frozenset({"sec", "app"})
# What a section holds besides its running text.
NOT_TEXT = READING.skip | SECTIONS | {"title", "label", "sec-meta", "ref-list", "permissions"}
UNIT_NOT_TEXT = frozenset({*FLOATS, "title"})
BACK_NAMES = {"ack": "Acknowledgements", "glossary": "Glossary", "fn-group": "Footnotes"}
BACK_PARTS = ("sec", "app-group", "app", "notes", "ack", "glossary", "fn-group", "bio")


def read_jats(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The articles of an XML file, or of every XML file in a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            for article in _articles(file, watch):
                with watch.passing():
                    location = FileLocation(str(file), local_line(article))
                    document = _article(article, location, id_of(file, path, watch))
                    yield ParsedDocument(document, location)


def _articles(file: Path, watch: Watch) -> list[Element]:
    root = read_xml(file, watch)
    articles = [root] if root.tag == "article" else list(root.iter("article"))
    if not articles:
        raise FileLocation(str(file)).format_error(
            f"a JATS article is expected, but the root is <{root.tag!s:.40}>"
        )
    return articles


def _article(article: Element, location: FileLocation, fallback: str) -> Document:
    composer = Composer(location)
    meta = article.find("front/article-meta")
    for abstract in children(meta, "abstract") if meta is not None else ():
        named = one_line(abstract.find("title"), READING) or "Abstract"
        _unit(abstract, named, "abstract", composer, location)
    for part in children(article, "body"):
        # Text before the first heading is an introduction; without headings there are no sections.
        _section(part, "introduction" if part.find("sec") is not None else "", composer, location)
    for back in children(article, "back"):
        for part in children(back, *BACK_PARTS):
            _back(part, composer, location)
    for group in children(article, "floats-group"):
        _section(group, "other", composer, location)
    return Document(
        doc_id=location.checked_id(_article_id(meta) or fallback),
        text=composer.text,
        title=one_line(article.find("front/article-meta/title-group/article-title"), READING),
        sections=composer.sections,
        source="jats",
        profile="imrad",
        metadata=_metadata(article, meta),
    )


def _unit(
    part: Element, heading: str, label: str, composer: Composer, location: FileLocation
) -> None:
    """Append one section with all its content, such as the abstract: text, then floats."""
    body = [plain(child, READING) for child in children_but(part, UNIT_NOT_TEXT)]
    with composer.under(heading):
        composer.add("\n".join(filter(None, body)), label)
        _floats(part, frozenset(), label, composer, location)


def _section(part: Element, parent: str, composer: Composer, location: FileLocation) -> None:
    """A ``sec`` (or body, or appendix): its text, its floats, then the sections below it."""
    title = _title(part)
    label = label_of(title, parent)
    paragraphs = [plain(child, READING) for child in children_but(part, NOT_TEXT)]
    with composer.under(title):
        composer.add("\n".join(filter(None, paragraphs)), label)
        _floats(part, SECTIONS, label, composer, location)
        for inner in children(part, *SECTIONS):
            _section(inner, "" if part.tag == "body" else label, composer, location)


def _title(part: Element) -> str:
    number = one_line(part.find("label"), READING)
    return " ".join(filter(None, (number, one_line(part.find("title"), READING))))


def _back(part: Element, composer: Composer, location: FileLocation) -> None:
    if part.tag in {"app-group", "app", "sec"}:
        _section(part, "back_matter" if part.tag == "sec" else "appendix", composer, location)
    else:
        named = one_line(part.find("title"), READING) or BACK_NAMES.get(str(part.tag), "Notes")
        _unit(part, named, "back_matter", composer, location)


def _floats(
    part: Element, apart: frozenset[str], label: str, composer: Composer, location: FileLocation
) -> None:
    """Tables and figures of this section, but not of the subsections in ``apart``."""
    for element in (found for child in children_but(part, apart) for found in child.iter(*FLOATS)):
        if element.tag == "table-wrap":
            if element.find(".//table") is None or not is_within_table(element):
                _table(element, label, composer, location)  # else it is a part of that table
        else:
            name = _number(element) or ("Table" if "table" in element.tag else "Figure")
            composer.add(_caption(element), label, name=name)


def _number(element: Element) -> str:
    return one_line(element.find("label"), READING).rstrip(".: ")


def _caption(element: Element) -> str:
    caption = one_line(element.find("caption"), READING)
    return ". ".join(filter(None, (_number(element), caption)))


def _table(wrap: Element, label: str, composer: Composer, location: FileLocation) -> None:
    caption = _caption(wrap)
    feet = [plain(foot, READING) for foot in children(wrap, "table-wrap-foot")]
    notes = tuple(note for foot in feet for note in foot.split("\n") if note)
    name = _number(wrap) or "Table"
    found = [table for table in wrap.iter("table") if not is_within_table(table)]
    if not found:  # an image of a table: the surrounding words are all there is
        composer.add("\n".join(filter(None, (caption, *notes))), label, name=name)
    for number, table in enumerate(found):
        here = FileLocation(location.source, local_line(table))
        last = number == len(found) - 1
        value = xml_table(
            table, CELL, here, caption="" if number else caption, notes=notes if last else ()
        )
        composer.add_table(value, table_kind(value) or label, here, name=name)


def _ids(meta: Element | None) -> dict[str, str]:
    """The ids of the article by kind: ``pmcid`` (with its PMC), ``pmid`` and ``doi``."""
    found: dict[str, str] = {}
    for identifier in meta.findall("article-id") if meta is not None else ():
        kind, text = identifier.get("pub-id-type"), one_line(identifier, READING)
        if kind in {"pmc", "pmcid"} and text:
            found["pmcid"] = text if text.upper().startswith("PMC") else f"PMC{text}"
        elif kind in {"pmid", "doi"} and text:
            found[str(kind)] = text
    return found


def _article_id(meta: Element | None) -> str:
    """The PMC id, else the PubMed id, else the DOI; empty if the article has none."""
    ids = _ids(meta)
    if "pmcid" in ids:
        return ids["pmcid"]
    if "pmid" in ids:
        return f"PMID{ids['pmid']}"
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", ids.get("doi", ""))


def _metadata(article: Element, meta: Element | None) -> dict[str, MetadataValue]:
    if meta is None:
        return {}
    ids = _ids(meta)
    keywords, mesh = _keywords(meta)
    published, year = _published(meta)
    found: dict[str, MetadataValue] = {
        **ids,
        "article_type": article.get("article-type") or "",
        "journal": one_line(next(article.iter("journal-title"), None), READING),
        "year": year,
        "published_date": published,
        "keywords": keywords,
        "mesh": mesh,
    }
    return facts(found, names=(*keywords, *mesh), identifiers=ids.values())


def _keywords(meta: Element) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The authors' keywords, and headings of MeSH."""
    keywords: list[str] = []
    mesh: list[str] = []
    for group in meta.findall("kwd-group"):
        named = f"{group.get('kwd-group-type')} {group.get('vocab')}".lower()
        own = mesh if "mesh" in named else keywords
        own += [one_line(word, READING) for word in group.iter("kwd", "compound-kwd")]
    return distinct(keywords), distinct(mesh)


def _published(meta: Element) -> tuple[str, int | str]:
    """The earliest date of publication, and the year of the issue, else of that date."""
    dates = [
        (str(date.get("pub-type") or date.get("publication-format")), _date(date))
        for date in meta.findall("pub-date")
    ]
    given = [(kind, date) for kind, date in dates if date]
    if not given:
        return "", ""
    issue = (date for kind, date in given if kind in {"ppub", "collection", "print"})
    # 2010-03 before 2010: of equal dates the one that says more
    earliest = min((date for _, date in given), key=lambda date: (date[:4], -len(date), date))
    return earliest, year_of(next(issue, given[0][1]))


def _date(element: Element) -> str:
    year, month, day = (one_line(element.find(part), READING) for part in ("year", "month", "day"))
    return iso_date(year, month, day)
