"""How do pages become HTML? Everything that is put into a template is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import (
    ChoiceLoader,
    Environment,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
    select_autoescape,
)
from markupsafe import Markup, escape

from assay.render.pages import environment as of_reports

_CODE = re.compile(r"(`{1,2})([^`]+)\1")


def coded(text: str) -> Markup:
    """Text whose words between backticks are shown as code."""
    parts, at = [], 0
    for found in _CODE.finditer(text):
        parts += [escape(text[at : found.start()]), Markup("<code>{}</code>").format(found[2])]
        at = found.end()
    return Markup("").join([*parts, escape(text[at:])])


@cache
def environment() -> Environment:
    """The templates of the service; those of reports stand under ``report/``."""
    made = Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("assay.http", "templates"),
                PrefixLoader({"report": PackageLoader("assay.render", "templates")}),
            ]
        ),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        name: of_reports().filters[name]
        for name in ("counted", "value", "signed", "between", "p", "ms", "tone")
    }
    made.filters["coded"] = coded
    return made


def render(name: str, /, **values: Any) -> str:
    """A template, filled in."""
    return environment().get_template(name).render(**values)


def render_block(name: str, block: str, /, **values: Any) -> str:
    """One block of a template: the part of a page that is replaced."""
    template = environment().get_template(name)
    context = template.new_context(values)
    return "".join(template.blocks[block](context))
