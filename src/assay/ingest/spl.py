"""What do drug labels (HL7 Structured Product Labeling) say, section by section?

A section's label comes from its LOINC code; an unclassified section takes that of its parent, and
so does whatever stands within a dosage section. Some labels draw boxes around doses by the code of
boxed warnings: within another section such a box is one only if it says "warning". If a section has
a title and nothing below it, the title is its text: some labels list contraindications that way.
The set id names the label across versions, so it is the document's id.
Highlights (``excerpt``) repeat the sections and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.ingest.compose import Composer
from assay.ingest.facts import distinct, facts, whole_number, year_of
from assay.ingest.folders import corpus_files, id_of
from assay.ingest.parsed import FileLocation, ParsedDocument
from assay.ingest.tables import table_kind
from assay.ingest.watch import Watch
from assay.ingest.xml_input import ElementRules, children, local_line, one_line, plain, read_xml
from assay.ingest.xml_tables import xml_table
from assay.ingest.xml_tree import Element
from assay.model.document import Document, MetadataValue
from assay.model.sections import LOINC, label_of
from assay.model.values import iso_date

SUFFIXES = frozenset({".xml"})
READING = ElementRules(
    skip=frozenset({"table", "footnoteRef", "observationMedia"}),
    blocks=frozenset({"paragraph", "list", "item", "br", "caption", "renderMultiMedia"}),
    bullets=frozenset({"item"}),
    notes=frozenset({"footnote"}),
)
CELL = replace(READING, skip=frozenset({"footnoteRef", "footnote", "observationMedia"}),
               bullets=frozenset(), parted=frozenset({"item", "paragraph"}))  # fmt: skip
NOTE = replace(CELL, skip=frozenset({"footnoteRef"}))
TITLE = ElementRules(blocks=frozenset({"br", "suffix"}))
INGREDIENTS = ("ingredient", "activeIngredient")
NDC = "2.16.840.1.113883.6.69"
DOSAGE, BOX = "dosage", "boxed_warning"
WARNED_IN = frozenset({"", "other", "warnings", BOX})  # where a box is always a warning
WARNING = re.compile(r"\W*(?:boxed |black box )?warnings?\b", re.IGNORECASE)
LONGEST_NAME = 120  # characters of a title that names a drug; longer ones are sentences


def read_spl(path: Path, watch: Watch) -> Iterator[ParsedDocument]:
    """The label in an XML file, or those in every XML file of a folder."""
    for file in corpus_files(path, SUFFIXES, watch):
        with watch.passing():
            root = read_xml(file, watch)
            location = FileLocation(str(file), local_line(root))
            body = root.find("component/structuredBody")
            if root.tag != "document" or body is None:
                raise location.format_error(
                    f"a drug label (SPL) is expected, but the root is <{root.tag!s:.40}>"
                )
            yield ParsedDocument(_label(root, body, location, id_of(file, path, watch)), location)


def _label(root: Element, body: Element, location: FileLocation, fallback: str) -> Document:
    title = _title(root)
    composer = Composer(location)
    for section in _sections(body):
        _section(section, "", composer, location)
    set_id = root.find("setId")
    named = set_id.get("root") if set_id is not None else None
    return Document(
        doc_id=location.checked_id(named or fallback),
        text=composer.text,
        title=title,
        sections=composer.sections,
        source="spl",
        profile="label",
        metadata=_metadata(root, title),
    )


def _sections(element: Element) -> Iterator[Element]:
    for component in children(element, "component"):
        yield from children(component, "section")


def _section(section: Element, parent: str, composer: Composer, location: FileLocation) -> None:
    title = one_line(section.find("title"), TITLE)
    label = _label_of(section, title, parent)
    text = section.find("text")
    if _is_title_only(section, text):
        composer.add(title, label, name=title)
        return
    with composer.under(title):
        composer.add(plain(text, READING), label)
        for table in text.iter("table") if text is not None else ():
            if next(table.iterancestors("table"), None) is None:
                _table(table, label, composer, location)
        for inner in _sections(section):
            _section(inner, label, composer, location)


def _is_title_only(section: Element, text: Element | None) -> bool:
    """Is the title all it has, as in ``4.2 Hypersensitivity to any component``?"""
    if next(_sections(section), None) is not None:
        return False
    if text is None:
        return True
    said = "".join(map(str, text.itertext())).strip()
    return (
        not said and next(text.iter("renderMultiMedia"), None) is None
    )  # otherwise it is the title of a picture


def _label_of(section: Element, title: str, parent: str) -> str:
    code = section.find("code")
    known = LOINC.get(code.get("code") or "") if code is not None else None
    if known == BOX and parent not in WARNED_IN:
        said = (title, one_line(section.find("text"), READING))
        return BOX if any(map(WARNING.match, said)) else parent
    if parent == DOSAGE:
        return parent
    return known or (parent if parent not in {"", "other"} else label_of(title))


def _table(table: Element, label: str, composer: Composer, location: FileLocation) -> None:
    here = FileLocation(location.source, local_line(table))
    notes = tuple(filter(None, (one_line(note, NOTE) for note in table.iter("footnote"))))
    caption = one_line(table.find("caption"), CELL)
    value = xml_table(table, CELL, here, caption=caption, notes=notes)
    composer.add_table(value, label if label != "other" else table_kind(value) or label, here)


def _products(root: Element) -> Iterator[Element]:
    for product in root.iter("manufacturedProduct"):
        if product.find("name") is not None:
            yield product


def _title(root: Element) -> str:
    """The product's name with its generic name, else the title on the label."""
    for product in _products(root):
        name = one_line(product.find("name"), TITLE)
        generic = one_line(next(product.iter("genericMedicine"), None), TITLE)
        if name:
            return name if not generic or generic.lower() in name.lower() else f"{name} ({generic})"
    return one_line(root.find("title"), TITLE)


def _metadata(root: Element, title: str) -> dict[str, MetadataValue]:
    def attribute(path: str, name: str) -> str:
        found = root.find(path)
        return (found.get(name) or "") if found is not None else ""

    products = list(_products(root))
    brands = distinct(one_line(product.find("name"), TITLE) for product in products)
    generics = distinct(one_line(name, TITLE) for one in products for name in _generics(one))
    active = distinct(one_line(name, TITLE) for one in products for name in _ingredients(one))
    codes = distinct(_product_codes(products))
    drugs = distinct((*brands, *generics, *active)) or _drugs_of_title(title)
    stamp = attribute("effectiveTime", "value")
    effective = iso_date(stamp[:4], stamp[4:6], stamp[6:8])
    set_id, label_id = attribute("setId", "root"), attribute("id", "root")
    found: dict[str, MetadataValue] = {
        "set_id": set_id,
        "label_id": label_id,
        "version": whole_number(attribute("versionNumber", "value")),
        "effective_date": effective,
        "year": year_of(effective),
        "kind": attribute("code", "displayName"),
        "manufacturer": one_line(
            root.find("author/assignedEntity/representedOrganization/name"), TITLE
        ),
        "brands": brands,
        "generics": generics,
        "drugs": drugs,
        "ndc": codes,
    }
    return facts(found, names=drugs, identifiers=(set_id, label_id, *codes))


def _generics(product: Element) -> Iterator[Element]:
    """The generic names of a product itself; a kit's swab is no drug of the label."""
    for entity in children(product, "asEntityWithGeneric", "asEntityAsGeneric"):
        yield from children(entity, "genericMedicine")


def _ingredients(product: Element) -> Iterator[Element]:
    """The names of what acts in a product, and of its active part: atorvastatin of its calcium.

    Those of the parts of a kit count where the kit has no generic name.
    """
    alone = next(_generics(product), None) is not None
    found = children(product, *INGREDIENTS) if alone else product.iter(*INGREDIENTS)
    for ingredient in found:
        if ingredient.tag == "activeIngredient" or str(ingredient.get("classCode"))[:4] == "ACTI":
            for substance in ingredient.iter("ingredientSubstance", "activeIngredientSubstance"):
                yield from children(substance, "name")
                for moiety in substance.iter("activeMoiety"):
                    yield from children(moiety, "name")


def _product_codes(products: list[Element]) -> Iterator[str]:
    """The National Drug Codes of the products."""
    for product in products:
        for code in children(product, "code"):
            if code.get("codeSystem") == NDC:
                yield code.get("code") or ""


def _drugs_of_title(title: str) -> tuple[str, ...]:
    """The names in ``ZELOMAB (zelomab injection)``, for a label that lists no product."""
    if len(title) > LONGEST_NAME or title.lower() == "drug facts":
        return ()
    return distinct(re.split(r"[()]", title))
