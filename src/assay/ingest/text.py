"""What do plain text and Markdown files say, heading by heading?

The text is unchanged, except that front matter at the top of a Markdown file (YAML between ``---``
lines, TOML between ``+++`` lines) becomes title and metadata. In Markdown, ``#`` lines and
underlined lines are headings; in plain text, lines between blank ones that name a section
(``METHODS``, ``2. Results``). Tables of Markdown are sections of their own
(``markdown_tables.py``). The title is that of the front matter, else the first heading of level
one. Plain text whose lines begin with speakers (``Doctor: ...``) is an interview, read turn by
turn. Markup and data are no prose: they are refused, also where somebody asks for them as text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import limits
from assay.errors import InputError
from assay.ingest.columns import as_json
from assay.ingest.facts import completed
from assay.ingest.fields import decoded, metadata
from assay.ingest.files import whole
from assay.ingest.folders import corpus_files, id_of, suffix
from assay.ingest.markdown_tables import placed_lines, with_tables
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.speakers import turns_of
from assay.ingest.tabular import is_table
from assay.ingest.transcript import spoken_entry
from assay.ingest.watch import Watch
from assay.model.document import BELOW, Document, Section
from assay.model.sections import intent_of, label_of
from assay.strict_yaml import MappingNode, parse_yaml, plain_value

MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".qmd", ".rmd"})
SUFFIXES = MARKDOWN | {".txt", ".text"}
MARKUP_CHARS = 4096  # that tell whether a text is markup
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FRONT = re.compile(
    r"(?:---[ \t]*\n(?![ \t]*\n)(?P<yaml>(?:(?!(?:---|\.\.\.)[ \t]*\n).*\n)*)(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*\n(?P<toml>(?:(?!\+\+\+[ \t]*\n).*\n)*)\+\+\+)[ \t]*(?:\n|$)"
)
_ALONE = re.compile(r"^(?:[\dIVX]+(?:\.\d+)*[.)]?\s+)?[A-Z][^.!?:;|]{2,60}:?$")


_TAG = re.compile(r"<([A-Za-z][\w:.-]*)(\s+[\w:.-]+\s*=\s*(\"[^\"<]*\"|'[^'<]*'))*\s*/?>")
_CLOSING = re.compile(r"</[A-Za-z][\w:.-]*\s*>")
_COMMENTS = re.compile(r"\A(?:<!--(?:(?!-->).)*-->\s*)+", re.DOTALL)
_OBJECT = re.compile(r"[\[\s]*\{\s*\"[^\"\n]{0,80}\"\s*:")  # JSON, broken or not
_HEADERS = re.compile(
    r"(?:[A-Za-z][\w-]*:.*\n(?:[ \t].*\n)*)*?(?:Message-ID|MIME-Version|Received|Return-Path):",
    re.IGNORECASE,
)
_MARKS = {
    "{\\rtf": "RTF",
    "%PDF-": "a PDF",
    "%!PS": "PostScript",
    "PK\x03\x04": "an archive",
    "PMID- ": "MEDLINE",
    "TY  - ": "RIS",
    "\\documentclass": "TeX",
    "\\begin{document}": "TeX",
}
_NOT_PROSE = {
    **dict.fromkeys((".eml", ".mbox"), "e-mail"),
    **dict.fromkeys((".yaml", ".yml"), "YAML"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "JSON"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "a table"),
    ".nbib": "MEDLINE",
    ".ris": "RIS",
    ".bib": "BibTeX",
    ".tex": "TeX",
    ".toml": "TOML",
}


def kind_of(file: Path, text: str) -> str:
    """What a file is that is no prose, by its text or else by its name; empty if it is prose."""
    ending = suffix(file)
    return markup_of(text, marked=ending in MARKDOWN) or _NOT_PROSE.get(ending, "")


def markup_of(text: str, *, marked: bool = False) -> str:
    """What a text is that is no prose, as in ``XML``; empty if it is prose.

    Markdown (``marked``) may begin with a tag.
    """
    start = text[:MARKUP_CHARS].lstrip("\ufeff \t\r\n")
    lower = start[:20].lower()
    if lower.startswith(("<?xml", "<!doctype", "<html")):
        return "XML" if lower.startswith("<?xml") else "HTML"
    if not marked and _TAG.match(_COMMENTS.sub("", start, 1)) and _CLOSING.search(start):
        return "XML or HTML"
    if found := next((name for mark, name in _MARKS.items() if start.startswith(mark)), ""):
        return found
    return "" if marked else _data_of(text, start)


def _data_of(text: str, start: str) -> str:
    if _OBJECT.match(start) or (start[:1] in {"{", "["} and _is_json(text)):
        return "JSON"
    if _HEADERS.match(start):
        return "e-mail"
    return "a table" if is_table(start) else ""


def _is_json(text: str) -> bool:
    """Whether the whole text, or its first line, is JSON with names in it."""
    for part in (text.lstrip("\ufeff \t\r\n").partition("\n")[0], text.lstrip("\ufeff")):
        try:
            value = json.loads(part)
        except (ValueError, RecursionError):
            continue
        rows = value if isinstance(value, list) else [value]
        return any(isinstance(row, dict) and row for row in rows)
    return False


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where its line begins, its level and its words."""

    start: int
    level: int
    words: str


def read_text(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The text in a file, or in every text and Markdown file of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            yield _entry(file, id_of(file, path, watch), watch)


def _entry(file: Path, name: str, watch: Watch) -> ParsedDocument:
    location = FileLocation(str(file))
    text = decoded(whole(file, watch, limits.MAX_TEXT_FILE_BYTES), location)
    marked = suffix(file) in MARKDOWN
    if kind := kind_of(file, text):
        raise location.format_error(
            f"this is {kind}, not prose",
            hint="leave --format out if a reader knows it, else save its prose as .txt",
        )
    if not marked and (turns := turns_of(text)):
        return spoken_entry(location.checked_id(name), turns, location, watch)
    known, text = _front_matter(text, location, watch) if marked else ({}, text)
    found = list(_markdown(text) if marked else _plain(text))
    if len(found) > limits.MAX_SECTIONS:
        raise location.limit_error(f"more than {limits.MAX_SECTIONS:,} headings")
    named = known.pop("title", "")
    headings = (heading.words for heading in found if heading.level == 1)
    title = " ".join(str(named or "").split()) or next(headings, "")
    sections = _sections(text, found)
    document = Document(
        doc_id=location.checked_id(name),
        text=text,
        title=title[: limits.MAX_TITLE_CHARS],
        sections=with_tables(sections, text, location) if marked else sections,
        source="text",
        profile="text",
        metadata=completed(metadata(known, location, watch), name),
    )
    return ParsedDocument(document, location)


def _front_matter(text: str, location: FileLocation, watch: Watch) -> tuple[dict[str, Any], str]:
    """The fields of the front matter, and the text below it.

    A blank line after the first ``---`` makes it a horizontal rule, as in Pandoc, and so does
    anything but names and values. What cannot be read is left out with a note.
    """
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    below = text[found.end() :]
    try:
        if found["toml"] is not None:
            return {
                key: as_json(value) for key, value in tomllib.loads(found["toml"]).items()
            }, below
        node = parse_yaml(f"\n{found['yaml']}".encode(), source=location.source)
    except tomllib.TOMLDecodeError as problem:
        said = f"{location}: not valid TOML: {problem}"
    except InputError as problem:
        said = problem.message
    else:
        return (plain_value(node), below) if isinstance(node, MappingNode) else ({}, text)
    watch.note(f"{said}; the front matter is left out")
    return {}, below


def _markdown(text: str) -> Iterator[Heading]:
    fence = ""
    before = (0, "")
    for start, line in placed_lines(text):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        elif atx := _ATX.match(line):
            yield Heading(start, len(atx[1]), _without_closing(line[atx.end() :].strip()))
        elif before[1].strip() and (under := _UNDERLINE.match(line)) and "|" not in before[1]:
            yield Heading(before[0], 1 if under[1][0] == "=" else 2, before[1].strip())
            line = ""  # noqa: PLW2901 - the underline is used up
        before = (start, "" if fence or _ATX.match(line) else line)


def _without_closing(words: str) -> str:
    """``Methods`` for ``Methods ##``; by hand, since a regex for it could be made to crawl."""
    opened = words.rstrip("#")
    return opened.rstrip() if not opened or opened[-1].isspace() else words


def _plain(text: str) -> Iterator[Heading]:
    """Lines between blank ones that name a known section; all of level two."""
    lines = list(placed_lines(text))
    for number, (start, line) in enumerate(lines):
        words = line.strip()
        alone = not number or not lines[number - 1][1].strip()
        if alone and _ALONE.match(words) and label_of(words) != "other":
            yield Heading(start, 2, words.rstrip(":"))


def _sections(text: str, headings: list[Heading]) -> tuple[Section, ...]:
    """A section from each heading to the next; text before the first has no heading."""
    if not headings:
        return ()
    sections: list[Section] = []
    open_headings: list[tuple[int, str, str]] = []  # level, words, label
    if text[: headings[0].start].strip():
        sections.append(Section(0, headings[0].start))
    ends = [heading.start for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        while open_headings and open_headings[-1][0] >= heading.level:
            open_headings.pop()
        parent = open_headings[-1][2] if open_headings else ""
        label = label_of(heading.words, parent if parent != "other" else "")
        open_headings.append((heading.level, heading.words, label))
        path = BELOW.join(words for _, words, _ in open_headings)[: limits.MAX_TITLE_CHARS]
        hint = intent_of(label, text[heading.start : end])
        sections.append(Section(heading.start, end, label, path, hint))
    return tuple(sections)
