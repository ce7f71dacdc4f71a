"""Where does lxml come in? When markup is read, so that rows of a table are read without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.extras import Late

__all__ = ["Element", "etree"]

if TYPE_CHECKING:
    from lxml import etree

    Element = etree._Element
else:
    etree = Late("lxml.etree")
    Element = Any
