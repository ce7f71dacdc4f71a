"""How is XML read safely?

Entities are not resolved, no DTD is loaded, nothing is fetched, and trees are bounded in size and
depth. A document that declares entities is rejected, whether they are a bomb, point at files, or
are harmless. Named characters that a DTD would define (``&mdash;``) are those of HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Any

from assay import limits
from assay.ingest import raised
from assay.ingest.files import blocks, whole
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch
from assay.ingest.xml_tree import Element, etree

# Markers in text while it is gathered; XML cannot contain them.
BREAK = "\x01"  # a line break
GLUE = "\x02"  # no line break, whatever follows
PART = "\x03"  # between things that stand below each other in a cell
_SPACE = re.compile(r"\s+")
_GLUED = re.compile(rf"{GLUE}[ {BREAK}{GLUE}]*")
_PARTS = re.compile(rf"([.,;:?!]?)(?<![ {BREAK}])[ {BREAK}]*{PART}[ {BREAK}]*")
_BREAKS = re.compile(rf"[ {BREAK}]*{BREAK}[ {BREAK}]*")
SAFELY: Mapping[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "dtd_validation": False,
    "attribute_defaults": False,
    "no_network": True,
    "huge_tree": False,
    "recover": False,
    "remove_comments": True,
    "remove_pis": True,
}
_BETWEEN = re.compile(r"[\s,;–-]*")  # citations in a row
LAST_LINE = 65_535  # libxml2 says this for every line from here on
LOOK_BACK = 80  # characters before raised text that tell what it is


@dataclass(frozen=True, slots=True)
class ElementRules:
    """How the elements of one format become text.

    ``skip`` are left out, ``blocks`` get their own lines, ``bullets`` begin with a dash, and
    ``led`` are followed on the same line by what they label, after the given separator. In a row
    of ``parted`` there is a semicolon between two. ``notes`` stand in brackets within their line.
    """

    skip: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    bullets: frozenset[str] = frozenset()
    led: Mapping[str, str] = field(default_factory=dict)
    parted: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()


def read_xml(path: Path, watch: Watch) -> Element:
    """The root of an XML file, its elements and attributes named without namespaces."""
    return parse_xml(whole(path, watch, limits.MAX_XML_BYTES), FileLocation(str(path)))


def parse_xml(data: bytes, location: FileLocation) -> Element:
    """The root of an XML document; see ``read_xml``."""
    if b"<!ENTITY" in data:
        raise _declares_entities(location)
    try:
        root = etree.fromstring(data, etree.XMLParser(**SAFELY))
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise _not_xml(problem, location) from None
    _refuse_entities(root, location)
    check_depth(root, location)
    _drop_namespaces(root)
    return root


def stream_xml(path: Path, watch: Watch, tags: Sequence[str]) -> Iterator[Element]:
    """The elements with these names in a file of any size, one after the other.

    An element is emptied when the next one is asked for, so memory holds a record and not a file.
    The parser itself bounds depth here (256 levels).
    """
    location = FileLocation(str(path))
    wanted = [f"{{*}}{tag}" for tag in tags]
    parser: Any = etree.XMLPullParser(events=("end",), tag=wanted, **SAFELY)
    pieces = blocks(path, watch)
    checked = False
    try:
        for piece in pieces:
            parser.feed(piece)
            for _, element in parser.read_events():
                if not checked:
                    _refuse_entities(element, location)
                    checked = True
                if element.tag[0] == "{":
                    _drop_namespaces(element)
                yield element
                _forget(element)
        parser.close()
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise _not_xml(problem, location) from None


def _forget(element: Element) -> None:
    """Free an element that was read, and everything before it."""
    above = element.getparent()
    element.clear()
    while above is not None and element.getprevious() is not None:
        del above[0]


def _not_xml(problem: etree.XMLSyntaxError | ValueError, location: FileLocation) -> Exception:
    line = getattr(problem, "lineno", None) or None
    reason = getattr(problem, "msg", None) or problem
    return FileLocation(location.source, line).format_error(f"not XML: {reason}")


def _refuse_entities(element: Element, location: FileLocation) -> None:
    """In UTF-16 and the like a look at the bytes finds nothing, but declarations end up here."""
    dtd: Any = element.getroottree().docinfo.internalDTD
    if dtd is not None and next(iter(dtd.iterentities()), None) is not None:
        raise _declares_entities(location)


def check_depth(root: Element, location: FileLocation) -> None:
    """Reject a tree that is nested too deeply to be walked."""
    if root.xpath("boolean(" + "/*" * (limits.MAX_XML_DEPTH + 1) + ")"):
        raise location.format_error(f"XML nested more than {limits.MAX_XML_DEPTH} deep")


def _declares_entities(location: FileLocation) -> Exception:
    return location.format_error(
        "the XML declares entities, which are not supported", hint="remove its DTD"
    )


def _drop_namespaces(root: Element) -> None:
    for element in root.iter(etree.Element):
        if element.tag[0] == "{":
            element.tag = element.tag.rpartition("}")[2]


def local_line(element: Element) -> int | None:
    """The line that an element begins on; None where the parser has lost count."""
    line: Any = element.sourceline
    return int(line) if line and line < LAST_LINE else None


def plain(element: Element | None, reading: ElementRules) -> str:
    """The readable text of this element, in tidy lines."""
    if element is None:
        return ""
    if not len(element):  # most cells of most tables
        return " ".join(element.text.split()) if element.text else ""
    parts: list[str] = []
    _gather(element, reading, parts)
    text = _GLUED.sub("", _SPACE.sub(" ", "".join(parts)))
    if reading.parted:
        text = _PARTS.sub(lambda found: f"{found[1] or ';'} ", text)
    return _BREAKS.sub("\n", text).strip(" \n" + BREAK)


def one_line(element: Element | None, reading: ElementRules) -> str:
    """The readable text of this element, on one line."""
    return plain(element, reading).replace("\n", " ")


def _gather(element: Element, reading: ElementRules, parts: list[str]) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        tag: object = child.tag
        tail = child.tail or ""
        if not isinstance(tag, str):
            parts.append(_entity(child))
        elif tag in reading.skip:
            parts.append(" ")
        elif tag == "sup":
            parts.append(_raised(child, reading, _end(parts)))
        elif tag in reading.notes:
            said = one_line(child, reading)
            parts.append(raised.mark(f"note: {said}", tail, cell=False) if said else "")
        elif tag == "xref" and (text := _reference(child, reading, _end(parts))) is not None:
            parts.append(text)
            if not text and _BETWEEN.fullmatch(tail) and _is_citation(child.getnext()):
                tail = ""
        else:
            mark = BREAK if tag in reading.blocks else ""
            if tag in reading.parted and _has_like_before(child):
                parts.append(PART)
            parts.append(f"{mark}- {GLUE}" if tag in reading.bullets else mark)
            _gather(child, reading, parts)
            parts.append(reading.led[tag] + GLUE if tag in reading.led else mark)
        if tail:
            parts.append(tail)


def _has_like_before(element: Element) -> bool:
    before = element.getprevious()
    return before is not None and before.tag == element.tag and not (before.tail or "").strip()


def _entity(node: Element) -> str:
    return unescape(node.text or "") if node.tag is etree.Entity else ""


def _end(parts: list[str]) -> str:
    """The last characters of what was gathered so far."""
    found = ""
    for part in reversed(parts):
        found = part + found
        if len(found) >= LOOK_BACK:
            break
    return found[-LOOK_BACK:]


def _raised(element: Element, reading: ElementRules, before: str) -> str:
    """10^6 and score^a, but 5th and study [2]; references to the literature are dropped."""
    kinds = {child.get("ref-type") for child in element.iter("xref")}
    if kinds == {"bibr"}:
        return ""
    inside = "".join(map(str, element.itertext()))
    after = " " if inside[-1:].isspace() else ""
    numbers = inside.strip()
    text = raised.raised(
        numbers if raised.NUMBERS.fullmatch(numbers) else one_line(element, reading),
        before,
        after or element.tail or "",
        note=bool(kinds & raised.NOTES),
        cell=_is_in_cell(element),
    )
    return text + after


def _reference(element: Element, reading: ElementRules, before: str) -> str | None:
    """How a reference reads that would be taken for a number of the text; None for others.

    A citation that would run into the word before it is dropped, others are put in brackets, and a
    note is marked.
    """
    text = _inside(element)
    note = element.get("ref-type") in raised.NOTES
    if note and raised.is_note(text) and raised.is_attached(before):
        return raised.mark(text, element.tail or "", cell=True)
    if not raised.NUMBERS.fullmatch(text):
        return None
    if _is_citation(element):
        return _cited(element, text, before)
    if not note and (raised.is_in_row(before) or not raised.is_attached(before)):
        return None
    return raised.mark(text, element.tail or "", cell=note or _is_in_cell(element))


def _cited(element: Element, text: str, before: str) -> str | None:
    end = "]" if _is_last(element) else ""
    if _goes_on(element, before):  # a row that was opened here
        return text + end
    if raised.is_listed(before):
        return f", {text}" if before[-1].isdigit() else None
    return "" if raised.is_attached(before) else f"[{text}{end}"


def _goes_on(element: Element, before: str) -> bool:
    """Does it stand in a row whose first citation was not in brackets, as in ``see 10,11``?"""
    first = element
    while (last := first.getprevious()) is not None and not _is_last(last):
        first = last
    if first is element:
        return False
    holder = element.getparent()
    above = first.getprevious()
    words = above.tail if above is not None else holder.text if holder is not None else ""
    return raised.is_listed(before) and not raised.is_listed(words or "")


def _is_last(element: Element) -> bool:
    """Is it no citation that another one follows in a row?"""
    following = element.getnext()
    if following is None or not (_is_citation(element) and _is_citation(following)):
        return True
    in_row = _BETWEEN.fullmatch(element.tail or "")
    return not (in_row and raised.NUMBERS.fullmatch(_inside(following)))


def _inside(element: Element) -> str:
    """All characters of an element."""
    return _SPACE.sub(" ", "".join(map(str, element.itertext()))).strip()


def _is_citation(element: Element | None) -> bool:
    return element is not None and element.tag == "xref" and element.get("ref-type") == "bibr"


def _is_in_cell(element: Element) -> bool:
    return next(element.iterancestors("td", "th"), None) is not None


def markup(element: Element, reading: ElementRules) -> str:
    """The content of a table cell as HTML that holds nothing but text, sup, sub and br."""
    parts = [escape(element.text or "")]
    for child in element:
        tag: object = child.tag
        tail = child.tail or ""
        if not isinstance(tag, str):
            parts.append(escape(_entity(child)))
        elif tag in {"sup", "sub"}:
            parts.append(f"<{tag}>{markup(child, reading)}</{tag}>")
        elif tag in {"br", "break"}:
            parts.append("<br>")
        elif tag == "xref" and (text := _reference(child, reading, _end(parts))) is not None:
            parts.append(
                f"<sup>{escape(''.join(map(str, child.itertext())))}</sup>" if text else ""
            )
            if not text and _BETWEEN.fullmatch(tail) and _is_citation(child.getnext()):
                tail = ""
        elif tag not in reading.skip:
            mark = "<br>" if tag in reading.blocks and len(parts) > 1 else ""
            parts.append(mark + markup(child, reading))
        parts.append(escape(tail))
    return _SPACE.sub(" ", "".join(parts)).strip()


def children(element: Element, *tags: str) -> Iterator[Element]:
    """The children with one of these names."""
    return (child for child in element if child.tag in tags)


def children_but(element: Element, tags: frozenset[str]) -> Iterator[Element]:
    """The children with none of these names."""
    return (child for child in element.iterchildren(etree.Element) if child.tag not in tags)
