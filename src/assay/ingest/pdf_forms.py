"""What did people fill into the fields of a PDF form, and where does it stand on the page?

Values of fields are no text of the page. Each goes into the line that it stands in, so that a name
and what was filled in after it are read together; one without a line is a line of its own. A box
that is ticked is a tick, and texts that somebody typed over the page are read, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import POINTER, cast, create_string_buffer
from typing import Any, NamedTuple

from assay.ingest.pdf_lines import LEVEL, Line

TICK = "☑"
SIZE = 10.0  # of a line that holds nothing but a field


class Filled(NamedTuple):
    """A value, and where its field begins, ends, and has its base."""

    text: str
    left: float
    right: float
    bottom: float
    top: float


def with_fields(lines: list[Line], fields: list[Filled]) -> list[Line]:
    """The lines of a page with the values of its fields."""
    found = list(lines)
    for one in sorted(fields, key=lambda one: (-one.top, one.left)):
        line = next((line for line in found if _is_beside(line, one)), None)
        if line is not None:
            before = one.right <= line.cells[0][0]
            line.text = f"{one.text} {line.text}" if before else f"{line.text} {one.text}"
            continue
        base = (one.bottom + one.top) / 2
        at = next((at for at, line in enumerate(found) if line.base < base), len(found))
        found.insert(at, Line(one.text, base, SIZE, cells=[(one.left, one.right)]))
    return found


def _is_beside(line: Line, one: Filled) -> bool:
    """Does the line pass through the field, to its left or right?"""
    low, high = one.bottom - LEVEL * line.size, one.top
    apart = one.left >= line.cells[0][0] or one.right <= line.cells[0][0]
    return not line.turns and low <= line.base <= high and apart


def fields_of(pdf: Any, page: Any) -> Iterator[Filled]:
    """What is filled in on a page of pypdfium2; ``init_forms`` was called for its document."""
    import pypdfium2.raw as pdfium

    for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
        field = pdfium.FPDFPage_GetAnnot(page, index)
        if not field:
            continue
        try:
            box = pdfium.FS_RECTF()
            if (text := _value(pdf, field)) and pdfium.FPDFAnnot_GetRect(field, box):
                low, high = sorted((box.bottom, box.top))
                yield Filled(text, min(box.left, box.right), max(box.left, box.right), low, high)
        finally:
            pdfium.FPDFPage_CloseAnnot(field)


def _value(pdf: Any, field: Any) -> str:
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetSubtype(field)
    if kind == pdfium.FPDF_ANNOT_FREETEXT:
        return _text(pdfium.FPDFAnnot_GetStringValue, field, b"Contents")
    if kind != pdfium.FPDF_ANNOT_WIDGET or pdf.formenv is None:
        return ""
    sort = pdfium.FPDFAnnot_GetFormFieldType(pdf.formenv, field)
    if sort in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return TICK if pdfium.FPDFAnnot_IsChecked(pdf.formenv, field) else ""
    if sort in (pdfium.FPDF_FORMFIELD_PUSHBUTTON, pdfium.FPDF_FORMFIELD_SIGNATURE):
        return ""
    secret = pdfium.FPDFAnnot_GetFormFieldFlags(pdf.formenv, field) & (1 << 13)  # a password
    return "" if secret else _text(pdfium.FPDFAnnot_GetFormFieldValue, pdf.formenv, field)


def _text(get: Any, *given: Any) -> str:
    """A text of pdfium's, which is asked for its length first."""
    import pypdfium2.raw as pdfium

    size = get(*given, None, 0)
    if size <= 2:
        return ""
    held = create_string_buffer(size)
    get(*given, cast(held, POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(held.raw.decode("utf-16-le", errors="replace").rstrip("\0").split())
