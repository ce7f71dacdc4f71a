"""How do pages become HTML? Every value put into a template is escaped."""

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

from assay.render.escape import visible_on_page
from assay.render.pages import FILTERS

_CODE = re.compile(r"(`{1,2})([^`]+)\1")


def coded(text: str) -> Markup:
    """Text whose words between backticks are shown as code."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [escape(text[end : match.start()]), Markup("<code>{}</code>").format(match[2])]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


_COMMANDS = (
    ("assay eval list", "/runs", "Runs"),
    ("assay eval run", "/evaluate", "Evaluate"),
    ("assay testset list", "/testsets", "Test sets"),
    ("assay testset rounds", "/annotate", "Annotate"),
    ("assay keys", "/keys", "Keys"),
    ("assay corpus list", "/documents", "Documents"),
)
"""Commands that hints name, and the page that does the same."""


def for_a_browser(hint: str) -> Markup:
    """A hint, with a link to the page that does what a command in it does."""
    shown = coded(hint)
    for command, link, label in _COMMANDS:
        if command in hint:
            return shown + Markup(' (here: <a href="{}">{}</a>)').format(link, label)
    return shown


def in_a_sentence(text: str) -> str:
    """A message as a sentence: a capital, unless it begins with a name, and a full stop."""
    first = text.split(" ", 1)[0]
    begun = f"{text[:1].upper()}{text[1:]}" if first.isalpha() and first.islower() else text
    return begun if begun.endswith((".", "?", "!")) else f"{begun}."


def moment(text: str) -> Markup:
    """A moment in UTC; a script shows it in the time zone of the reader."""
    return Markup('<time datetime="{}">{} UTC</time>').format(text, text[:16].replace("T", " "))


@cache
def environment() -> Environment:
    """The templates of the service; those of reports are under ``report/``."""
    made = Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("assay.http", "templates"),
                PrefixLoader({"report": PackageLoader("assay.render", "templates")}),
            ]
        ),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        finalize=visible_on_page,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    made.filters["coded"] = coded
    made.filters["for_a_browser"] = for_a_browser
    made.filters["in_a_sentence"] = in_a_sentence
    made.filters["moment"] = moment
    return made


def render(name: str, /, **values: Any) -> str:
    """A template, filled in."""
    return environment().get_template(name).render(**values)


def render_block(name: str, block: str, /, **values: Any) -> str:
    """One block of a template: the part of a page that is replaced."""
    template = environment().get_template(name)
    context = template.new_context(values)
    return "".join(template.blocks[block](context))
