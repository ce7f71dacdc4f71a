"""Which measures does this text ask for?

Read are our own text form (``nDCG(gain=linear)@10``), lists and braces (``"Recall@{5,10} MRR"``),
the JSON keys (``recall_at_10``) and trec_eval's names (``ndcg_cut_10``, ``recip_rank``). Nothing
is evaluated: a name is looked up in the catalog, and an unknown one is answered with the known
ones.
"""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from assay import limits
from assay.errors import UnknownMeasureError, UsageError
from assay.measures.base import Cutoff, Definition, Measure, ParamValue
from assay.measures.catalog import BY_SPELLING, DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORM = re.compile(r"(?P<name>[A-Za-z][\w-]*?)(?:\((?P<params>[^()]*)\))?(?:@(?P<cutoff>[^@()]*))?")
_KEY = re.compile(r"(?P<name>[a-z_]+)_at_(?P<cutoff>\d+)")
_TREC_EVAL = (
    (re.compile(r"ndcg_cut[_.](\d+)"), r"nDCG(gain=linear)@\1"),
    (re.compile(r"(P|recall|success)[_.](\d+)"), r"\1@\2"),
    (re.compile(r"recip_rank"), "MRR"),
)


def parse_measures(text: str | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Every measure that the text (or list of texts) asks for, each once, in order."""
    if isinstance(text, str):
        text = [text]
    found: dict[Measure, None] = {}
    for item in text:
        if isinstance(item, Measure):
            found.setdefault(item)
            continue
        for piece in _split(item):
            for form in _expand(piece):
                found.setdefault(parse_measure(form))
                _check_count(len(found))
    if not found:
        raise UsageError("no measure was asked for", hint=f"known: {known_names()}")
    return tuple(found)


def measures_text(measures: Iterable[Measure]) -> str:
    """The text that asks for these measures."""
    return " ".join(map(str, measures))


@lru_cache(maxsize=1024)
def parse_measure(text: str) -> Measure:
    """The one measure that ``text`` is the form of."""
    form = _native_form(text.strip())
    match = _FORM.fullmatch(form)
    definition = BY_SPELLING.get(match["name"].lower()) if match else None
    if match is None or definition is None:
        raise _unknown(text)
    params = _read_params(definition, match["params"])
    return Measure(
        definition, _read_cutoff(definition, match["cutoff"], text), params, asked=text.strip()
    )


def known_names() -> str:
    """Every measure's name, for messages."""
    return ", ".join(definition.name for definition in DEFINITIONS)


def _check_count(count: int) -> None:
    if count > limits.MAX_MEASURES:
        raise UsageError(f"more than {limits.MAX_MEASURES} measures were asked for")


def _native_form(text: str) -> str:
    for pattern, form in _TREC_EVAL:
        if match := pattern.fullmatch(text):
            return match.expand(form)
    if match := _KEY.fullmatch(text):
        return f"{match['name']}@{match['cutoff']}"
    return text


def _split(text: str) -> list[str]:
    """Pieces between blanks and commas that are not inside brackets."""
    pieces, depth, piece = [], 0, ""
    for char in text:
        depth += (char in "({") - (char in ")}")
        if depth == 0 and (char.isspace() or char == ","):
            pieces.append(piece)
            piece = ""
        else:
            piece += char
    return [item for item in [*pieces, piece] if item]


def _expand(piece: str) -> list[str]:
    """``Recall@{5,10}`` is ``Recall@5`` and ``Recall@10``."""
    match = re.search(r"\{([^{}]*)\}", piece)
    if match is None:
        return [piece]
    options = [option.strip() for option in match[1].split(",")]
    _check_count(len(options))
    forms = [piece[: match.start()] + option + piece[match.end() :] for option in options]
    return [form for partial in forms for form in _expand(partial)]


def _read_cutoff(definition: Definition, text: str | None, asked: str) -> int | None:
    if text is None:
        if definition.cutoff is Cutoff.REQUIRED:
            raise UsageError(f"{asked!r} needs a cutoff", hint=f"for example {definition.name}@10")
        return None
    if definition.cutoff is Cutoff.NONE:
        raise UsageError(f"{asked!r}: {definition.name} takes no cutoff")
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= limits.MAX_CUTOFF:
        raise UsageError(
            f"{asked!r}: the cutoff must be a whole number from 1 to {limits.MAX_CUTOFF}"
        )
    return int(text)


def _read_params(definition: Definition, text: str | None) -> tuple[tuple[str, ParamValue], ...]:
    given: dict[str, ParamValue] = {}
    for item in (text or "").split(","):
        if not item.strip():
            continue
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or name not in definition.params:
            known = ", ".join(definition.params) or "none"
            raise UsageError(
                f"{definition.name} has no parameter {item.strip()!r}",
                hint=f"its parameters, written name=value: {known}",
            )
        if name in given:
            raise UsageError(f"{definition.name}: {name} is given twice")
        given[name] = definition.params[name].read(name, value.strip("'\""))
    return tuple(
        (name, given[name])
        for name, param in definition.params.items()
        if name in given and given[name] != param.default
    )


def _meant(name: str, written: str) -> str:
    """The name, with the depth that somebody wrote right behind it: ndcg10 means nDCG@10."""
    depth = re.fullmatch(rf"{name.lower()}[_-]?([1-9][0-9]*)", written)
    return f"{name}@{depth[1]}" if depth else name


def _unknown(text: str) -> UnknownMeasureError:
    head = re.split(r"[(@]", text.strip())[0].lower()
    near = difflib.get_close_matches(head, BY_SPELLING, n=1, cutoff=0.6)
    meant = f"did you mean {_meant(BY_SPELLING[near[0]].name, head)}? " if near else ""
    return UnknownMeasureError(
        f"unknown measure {text[:80]!r}", hint=f"{meant}known: {known_names()}"
    )
