"""What do PubMed's citations say: title, abstract and what indexers add?

One file of the yearly baseline holds 30,000 records, so they are read one by one. A structured
abstract is a section per label. The id of a document is its PMID, as judgments have it. Files of
updates hold records anew, which take the place of earlier ones, and lists of deleted PMIDs, which
are withdrawn. Of several versions the newest counts. What PubMed saved as text is read by
``medline_text.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay.ingest import medline_text
from assay.ingest.compose import Composer
from assay.ingest.facts import distinct, facts, year_of
from assay.ingest.files import head
from assay.ingest.folders import corpus_files
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.watch import Watch
from assay.ingest.xml_input import ElementRules, children, local_line, one_line, stream_xml
from assay.ingest.xml_tree import Element
from assay.model.document import Document, MetadataValue
from assay.model.sections import label_of
from assay.model.values import iso_date

SUFFIXES = frozenset({".xml"}) | medline_text.SUFFIXES
RECORDS = ("PubmedArticle", "PubmedBookArticle")
DELETED = ("DeleteCitation", "DeleteDocument")
OLDER, OLDER_RECORD = "MedlineCitationSet", "MedlineCitation"  # files of before 2016
ROOTS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", OLDER, *RECORDS})
READING = ElementRules()
NAME_PARTS = ("LastName", "Initials", "ForeName", "CollectiveName")
_SEASON = re.compile(r"([12]\d{3})(?:[ -]([A-Za-z]{3}))?")  # "2000 Nov-Dec", "1998-1999"


def read_medline(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The citations of a file, or of every such file in a folder, in the order of names."""
    newest: dict[str, int] = {}  # of what has more than one version
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            if head(file, 64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(medline_text.MAGIC):
                yield from medline_text.read_records(file, watch)
            else:
                yield from _of_xml(file, watch, newest)


def _of_xml(file: Path, watch: Watch, newest: dict[str, int]) -> Iterator[ParsedDocument]:
    empty = True
    records = (OLDER_RECORD,) if f"<{OLDER}".encode() in head(file, 4096) else RECORDS
    for element in stream_xml(file, watch, (*records, *DELETED)):
        empty = False
        if element.tag in DELETED:
            for pmid in children(element, "PMID"):
                if _version(pmid) >= newest.get(one_line(pmid, READING), 1):
                    watch.withdraw(one_line(pmid, READING))
            continue
        with watch.passing():
            location = FileLocation(str(file), local_line(element))
            document = _citation(element, location)
            version = _version(next(element.iter("PMID"), None))
            if version < newest.get(document.doc_id, 1):
                watch.note(f"{location}: an older version of {document.doc_id}: left out")
                continue
            if version > 1:
                newest[document.doc_id] = version
            if document.title or document.text:
                yield ParsedDocument(document, location, revises=True)
            else:
                watch.note(f"{location}: {document.doc_id} has no title: left out")
    if empty:
        watch.left_out(f"{file}: no citations in it", file)


def _citation(record: Element, location: FileLocation) -> Document:
    """One record: of an article, or of a book or its chapter."""
    citation = record if record.tag == OLDER_RECORD else record.find(OLDER_RECORD)
    citation = record.find("BookDocument") if citation is None else citation
    if citation is None:
        raise location.format_error(f"<{record.tag!s:.40}> without a citation")
    article = citation.find("Article")
    article = citation if article is None else article
    pmid = one_line(citation.find("PMID"), READING)
    if not pmid:
        raise location.format_error("a citation without a PMID")
    composer = Composer(location)
    _abstract(citation, article, composer)
    return Document(
        doc_id=location.checked_id(pmid),
        text=composer.text,
        title=_title(article),
        sections=composer.sections,
        source="medline",
        profile="citation",
        metadata=_metadata(record, citation, article, pmid),
    )


def _version(pmid: Element | None) -> int:
    text = "" if pmid is None else pmid.get("Version") or ""
    return int(text) if re.fullmatch(r"\d{1,6}", text) else 1


def _title(article: Element) -> str:
    """The title in English, else as it was written; books and their chapters have other names."""
    for path in ("ArticleTitle", "VernacularTitle", "Book/BookTitle"):
        if title := one_line(article.find(path), READING):
            return title
    return ""


def _abstract(citation: Element, article: Element, composer: Composer) -> None:
    """The authors' abstract; without one, another: in English, else in the language it has."""
    others = sorted(
        children(citation, "OtherAbstract"), key=lambda one: one.get("Language", "eng") != "eng"
    )
    every = (
        list(children(one, "AbstractText")) for one in (*children(article, "Abstract"), *others)
    )
    filled = (parts for parts in every if any(one_line(part, READING) for part in parts))
    for part in next(filled, ()):
        heading = " ".join((part.get("Label") or "").split())
        heading = "" if heading.upper() == "UNLABELLED" else heading
        category = label_of((part.get("NlmCategory") or "").replace("UNASSIGNED", ""))
        label = label_of(heading, "" if category == "other" else category)
        with composer.under(heading):
            composer.add(one_line(part, READING), "abstract" if label == "other" else label)


def _metadata(
    record: Element, citation: Element, article: Element, pmid: str
) -> dict[str, MetadataValue]:
    ids = {"pmid": pmid, **_other_ids(record, article)}
    headings = tuple(_headings(citation))
    chemicals = _texts(citation, "ChemicalList/Chemical/NameOfSubstance")
    keywords = _texts(citation, "KeywordList/Keyword")
    published = _published(article)
    languages = _texts(article, "Language")
    found: dict[str, MetadataValue] = {
        **ids,
        "journal": one_line(article.find("Journal/Title"), READING),
        "year": year_of(published),
        "published_date": published,
        "authors": distinct(filter(None, map(_author, article.iterfind("AuthorList/Author")))),
        "publication_types": _texts(article, "PublicationTypeList/PublicationType")
        or _texts(article, "PublicationType"),
        "language": languages[0] if len(languages) == 1 else languages,
        "mesh": distinct(one for heading in headings for one in medline_text.qualified(*heading)),
        "chemicals": chemicals,
        "keywords": keywords,
    }
    return facts(
        found,
        names=(*(name for name, _ in headings), *chemicals, *keywords),
        identifiers=ids.values(),
    )


def _other_ids(record: Element, article: Element) -> dict[str, str]:
    """DOI and PMC id; those of cited works stand in another list."""
    found: dict[str, str] = {}
    listed = (*record.iterfind("PubmedData/ArticleIdList/ArticleId"),
              *record.iterfind("PubmedBookData/ArticleIdList/ArticleId"),
              *article.iterfind("ArticleIdList/ArticleId"))  # fmt: skip
    for one in listed:
        kind, text = one.get("IdType"), one_line(one, READING)
        if kind == "doi" and text:
            found.setdefault("doi", text)
        elif kind == "pmc" and text:
            found.setdefault("pmcid", text)
    for one in article.iterfind("ELocationID"):
        if one.get("EIdType") == "doi" and one.get("ValidYN", "Y") == "Y":
            found.setdefault("doi", one_line(one, READING))
    return found


def _published(article: Element) -> str:
    """The date of the issue; of a work that appeared online only, that date."""
    for path in ("Journal/JournalIssue/PubDate", "ArticleDate", "Book/PubDate"):
        if (date := article.find(path)) is not None:
            parts = [one_line(date.find(part), READING) for part in ("Year", "Month", "Day")]
            if known := iso_date(*parts) or _season(one_line(date.find("MedlineDate"), READING)):
                return known
    return ""


def _season(text: str) -> str:
    """The beginning of a time like ``2000 Nov-Dec``."""
    found = _SEASON.search(text)
    return iso_date(found[1], found[2] or "") if found else ""


def _author(author: Element) -> str:
    """``Bainton RJ``, with the first name where there are no initials, or the name of a group."""
    said = {child.tag: one_line(child, READING) for child in author.iterchildren(*NAME_PARTS)}
    last, initials, first, group = (said.get(part, "") for part in NAME_PARTS)
    return " ".join(filter(None, (last, initials or first))) or group


def _headings(citation: Element) -> Iterator[tuple[str, list[str]]]:
    """The headings of MeSH, each with its qualifiers."""
    for heading in citation.iterfind("MeshHeadingList/MeshHeading"):
        name = one_line(heading.find("DescriptorName"), READING)
        yield name, [one_line(one, READING) for one in heading.iterchildren("QualifierName")]
    yield from ((name, []) for name in _texts(citation, "SupplMeshList/SupplMeshName"))


def _texts(element: Element, path: str) -> tuple[str, ...]:
    return distinct(one_line(one, READING) for one in element.iterfind(path))
