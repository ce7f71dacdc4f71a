"""How is XML read safely?

Entities are not resolved, no DTD is loaded, nothing is fetched, and trees are bounded in size and
depth. A document that declares entities is rejected, whether they are a bomb, point at files, or
are harmless. Named characters that a DTD would define (``&mdash;``) are those of HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path
from typing import Any

from lxml import etree

from assay import limits
from assay.ingest.files import whole
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch

Element = etree._Element
# Markers in text while it is gathered; XML cannot contain them.
BREAK = "\x01"  # a line break
GLUE = "\x02"  # no line break, whatever follows
_SPACE = re.compile(r"\s+")
_GLUED = re.compile(rf"{GLUE}[ {BREAK}{GLUE}]*")
_BREAKS = re.compile(rf"[ {BREAK}]*{BREAK}[ {BREAK}]*")
_RAISED = re.compile(r"[-+−–]?\w{1,4}[-+−]?(?:[,–-]\w{1,3})*|[*†‡§¶]+")
_PLAIN_RAISED = re.compile(r"(?:st|nd|rd|th|TM|SM|o)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ElementRules:
    """How the elements of one format become text.

    ``skip`` are left out, ``blocks`` get their own lines, ``bullets`` begin with a dash, and
    ``led`` are followed on the same line by what they label, after the given separator.
    """

    skip: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    bullets: frozenset[str] = frozenset()
    led: Mapping[str, str] = field(default_factory=dict)


def read_xml(path: Path, watch: Watch) -> Element:
    """The root of an XML file, its elements and attributes named without namespaces."""
    return parse_xml(whole(path, watch, limits.MAX_XML_BYTES), FileLocation(str(path)))


def parse_xml(data: bytes, location: FileLocation) -> Element:
    """The root of an XML document; see ``read_xml``."""
    if b"<!ENTITY" in data:
        raise _declares_entities(location)
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as problem:
        line = problem.lineno or None
        raise FileLocation(location.source, line).format_error(
            f"not XML: {problem.msg or problem}"
        ) from None
    except ValueError as problem:
        raise location.format_error(f"not XML: {problem}") from None
    dtd: Any = root.getroottree().docinfo.internalDTD
    # In UTF-16 and the like the check of the bytes finds nothing, but the declarations end up here.
    if dtd is not None and next(iter(dtd.iterentities()), None) is not None:
        raise _declares_entities(location)
    check_depth(root, location)
    _drop_namespaces(root)
    return root


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
    """The line that an element begins on."""
    line: Any = element.sourceline
    return int(line) if line else None


def plain(element: Element | None, reading: ElementRules) -> str:
    """The readable text of this element, in tidy lines."""
    if element is None:
        return ""
    if not len(element):  # most cells of most tables
        return _SPACE.sub(" ", element.text or "").strip()
    parts: list[str] = []
    _gather(element, reading, parts)
    text = _GLUED.sub("", _SPACE.sub(" ", "".join(parts)))
    return _BREAKS.sub("\n", text).strip(" \n" + BREAK)


def one_line(element: Element | None, reading: ElementRules) -> str:
    """The readable text of this element, on one line."""
    return plain(element, reading).replace("\n", " ")


def _gather(element: Element, reading: ElementRules, parts: list[str]) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        tag: object = child.tag
        if not isinstance(tag, str):
            parts.append(_entity(child))
        elif tag in reading.skip:
            parts.append(" ")
        elif tag == "sup":
            parts.append(_raised(child, reading))
        else:
            mark = BREAK if tag in reading.blocks else ""
            parts.append(f"{mark}- {GLUE}" if tag in reading.bullets else mark)
            _gather(child, reading, parts)
            parts.append(reading.led[tag] + GLUE if tag in reading.led else mark)
        if child.tail:
            parts.append(child.tail)


def _entity(node: Element) -> str:
    return unescape(node.text or "") if node.tag is etree.Entity else ""


def _raised(element: Element, reading: ElementRules) -> str:
    """10^6 and score^a, but 5th; references to the literature are dropped."""
    if _only_citations(element):
        return ""
    text = one_line(element, reading)
    after = " " if "".join(map(str, element.itertext()))[-1:].isspace() else ""
    if _RAISED.fullmatch(text) and not _PLAIN_RAISED.match(text):
        return f"^{text}{after}"
    return text + after


def _only_citations(element: Element) -> bool:
    kinds = {child.get("ref-type") for child in element.iter("xref")}
    return kinds == {"bibr"}


def markup(element: Element, reading: ElementRules) -> str:
    """The content of a table cell as HTML that holds nothing but text, sup, sub and br."""
    parts = [escape(element.text or "")]
    for child in element:
        tag: object = child.tag
        if not isinstance(tag, str):
            parts.append(escape(_entity(child)))
        elif tag in {"sup", "sub"}:
            parts.append(f"<{tag}>{markup(child, reading)}</{tag}>")
        elif tag in {"br", "break"}:
            parts.append("<br>")
        elif tag not in reading.skip:
            mark = "<br>" if tag in reading.blocks and len(parts) > 1 else ""
            parts.append(mark + markup(child, reading))
        parts.append(escape(child.tail or ""))
    return _SPACE.sub(" ", "".join(parts)).strip()


def children(element: Element, *tags: str) -> Iterator[Element]:
    """The children with one of these names."""
    return (child for child in element if child.tag in tags)


def children_but(element: Element, tags: frozenset[str]) -> Iterator[Element]:
    """The children with none of these names."""
    return (child for child in element.iterchildren(etree.Element) if child.tag not in tags)
