"""How does the catalog of measures read?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.measures.base import Cutoff, Definition
from assay.measures.catalog import DEFINITIONS
from assay.measures.elsewhere import ELSEWHERE
from assay.measures.elsewhere import Elsewhere as Elsewhere  # noqa: PLC0414 - routes name it
from assay.render.tables import Table


def measures_table() -> Table:
    """Every measure with its form, family, parameters and meaning."""
    return Table(
        ("measure", "of", "parameters", "meaning"),
        tuple((_form(d), f"{d.family.value}s", _parameters(d), d.help) for d in DEFINITIONS),
        text_columns=frozenset({0, 1, 2, 3}),
        wrapped=frozenset({2, 3}),
    )


def elsewhere_table() -> Table:
    """Which figure of another tool equals which measure."""
    return Table(
        ("tool", "its figure", "here", "remark"),
        tuple((one.tool, one.theirs, one.ours or "—", one.remark) for one in ELSEWHERE),
        title="the same figure elsewhere",
        text_columns=frozenset({0, 1, 2, 3}),
        wrapped=frozenset({3}),
    )


def elsewhere_json() -> list[dict[str, str | None]]:
    """The same, for programs."""
    return [asdict(one) for one in ELSEWHERE]


def measures_json() -> list[dict[str, Any]]:
    """Every measure, for programs."""
    return [
        {
            "name": d.name,
            "form": _form(d),
            "key": d.key,
            "family": d.family.value,
            "cutoff": d.cutoff.value,
            "aliases": list(d.aliases),
            "parameters": {
                name: {
                    "default": param.default,
                    "help": param.help,
                    "choices": list(param.choices) or None,
                }
                for name, param in d.params.items()
            },
            "help": d.help,
        }
        for d in DEFINITIONS
    ]


def _form(definition: Definition) -> str:
    if definition.cutoff is Cutoff.NONE:
        return definition.name
    if definition.cutoff is Cutoff.REQUIRED:
        return f"{definition.name}@k"
    return f"{definition.name}@k, {definition.bare_name or definition.name}"


def _parameters(definition: Definition) -> str:
    return ", ".join(
        f"{name}={'|'.join(param.choices) if param.choices else param.default}"
        for name, param in definition.params.items()
    )
