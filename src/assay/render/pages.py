"""How does a result become a page of HTML that needs nothing but itself?

Templates escape everything that is put into them. A page carries its style, its pictures are
inline SVG, and it works without a script, in light and dark, on screen and on paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from assay.evaluation.scores import shown
from assay.measures.elsewhere import gain_note_of
from assay.plural import counted
from assay.render.escape import visible_on_page
from assay.render.numbers import (
    between,
    milliseconds,
    milliseconds_between,
    p_value,
    seconds,
    signed,
    tone,
)
from assay.render.rulings import disagreements, legend, significant
from assay.version import __version__

FILTERS: dict[str, Callable[..., Any]] = {
    "counted": counted,
    "value": shown,
    "signed": signed,
    "between": between,
    "p": p_value,
    "significant": significant,
    "legend": legend,
    "disagreements": disagreements,
    "ms": milliseconds,
    "seconds": seconds,
    "ms_between": milliseconds_between,
    "tone": tone,
    "gain_note": gain_note_of,
}
"""How templates write numbers and rulings."""


@cache
def environment() -> Environment:
    """The templates of reports, with the filters by which numbers are written."""
    made = Environment(
        loader=PackageLoader("assay.render", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=visible_on_page,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    made.globals["version"] = __version__
    return made


def render(name: str, **values: Any) -> str:
    """A template, filled in."""
    return environment().get_template(name).render(**values)
