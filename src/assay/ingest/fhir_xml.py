"""What would a FHIR resource written as XML look like in JSON?

The two forms say the same: an element with a ``value`` is a plain value, one with elements inside
is an object, and a narrative is XHTML. Only JSON says what is a list, so that fields which
``fhir.py`` reads as lists are named here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.ingest.json_rows import Row
from assay.ingest.watch import Watch
from assay.ingest.xml_input import read_xml
from assay.ingest.xml_tree import Element, etree

NAMESPACE = b"http://hl7.org/fhir"
KEY = "resourceType"
_LISTS = frozenset({
    "answer", "coding", "component", "condition", "contained", "content", "doseAndRate",
    "dosageInstruction", "entry", "identifier", "interpretation", "item", "manifestation", "note",
    "payload", "presentedForm", "reaction", "section",
})  # fmt: skip
_HOLDERS = frozenset({"contained", "resource"})  # their one element is a resource


def xml_resource(path: Path, watch: Watch) -> Row:
    """The resource or bundle in a file."""
    return _resource(read_xml(path, watch))


def _resource(element: Element) -> Row:
    return {KEY: element.tag, **_fields(element)}


def _fields(element: Element) -> Row:
    found: Row = {}
    for child in element.iterchildren(etree.Element):
        name, value = child.tag, _value(child)
        if name in _LISTS:
            found.setdefault(name, []).append(value)
        elif name in found:
            first = found[name]
            found[name] = [*first, value] if isinstance(first, list) else [first, value]
        else:
            found[name] = value
    return found


def _value(element: Element) -> Any:
    if element.tag == "div":
        return etree.tostring(element, encoding="unicode", with_tail=False)
    if element.tag in _HOLDERS and len(element):
        return _resource(element[0])
    plain = element.get("value")
    return _fields(element) if plain is None else plain
