"""How is a query put into a template of a request?

A template is JSON-like: texts, numbers, lists and mappings. ``{name}`` in a text is replaced by a
value, ``{{name}}`` is sent as ``{name}``, and ``${NAME}`` is a variable of the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.errors import ConfigError, UsageError

_NAME = re.compile(
    r"\$\{(?P<variable>[A-Za-z_]\w*)\}"
    r"|\{\{(?P<literal>[A-Za-z_][\w.-]*)\}\}"
    r"|\{(?P<name>[A-Za-z_][\w.-]*)\}",
    re.ASCII,
)


def filled(template: Any, known: Mapping[str, Any]) -> Any:
    """The template with every ``{name}`` and ``${VARIABLE}`` replaced, once.

    A value that is only a name keeps its type; within a text, a name without a value is empty.
    """
    if isinstance(template, Mapping):
        return {key: filled(value, known) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, known) for value in template]
    if not isinstance(template, str):
        return template
    whole = _NAME.fullmatch(template)
    if whole and whole["name"]:
        return known[whole["name"]]
    return _NAME.sub(lambda found: _written(found, known), template)


def _written(found: re.Match[str], known: Mapping[str, Any]) -> str:
    if found["variable"]:
        return os.environ[found["variable"]]
    if found["literal"]:
        return f"{{{found['literal']}}}"
    value = known[found["name"]]
    return "" if value is None else str(value)


def check_names(template: Any, names: Sequence[str], place: str) -> None:
    """Refuse a name in braces that has no value, or that stands where none is filled in."""
    if isinstance(template, Mapping):
        for key, value in template.items():
            if isinstance(key, str) and any(found["name"] for found in _NAME.finditer(key)):
                raise ConfigError(
                    f"{place}: {key!r:.60} is a name, and only values are filled in",
                    hint="write {{...}} for braces that are sent as they stand",
                )
            check_names(value, names, f"{place}.{key}")
    elif isinstance(template, list):
        for value in template:
            check_names(value, names, place)
    elif isinstance(template, str):
        for found in _NAME.finditer(template):
            if found["name"] and found["name"] not in names:
                raise ConfigError(
                    f"{place}: {found[0]!r:.60} is not known",
                    hint=f"known: {', '.join(f'{{{name}}}' for name in names)}; "
                    "write {{...}} for braces that are sent as they stand",
                )


def require_variables(template: Any) -> None:
    """Refuse a template that needs a variable of the environment which is not set."""
    for variable in _variables(template):
        if variable not in os.environ:
            raise UsageError(
                f"the environment variable {variable} is not set", hint="the mapping needs it"
            )


def variable_values(template: Any) -> set[str]:
    """What the variables that a template needs hold now: keys, mostly."""
    return {os.environ.get(name, "") for name in _variables(template)}


def _variables(template: Any) -> Iterator[str]:
    """The variables of the environment that a template needs."""
    if isinstance(template, (Mapping, list)):
        for value in template.values() if isinstance(template, Mapping) else template:
            yield from _variables(value)
    elif isinstance(template, str):
        yield from (found["variable"] for found in _NAME.finditer(template) if found["variable"])
