"""Two runs differ: what is known to be different about how they were made?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.evaluation.chunker_match import versions
from assay.evaluation.stored_run import StoredRun
from assay.model.runs import QueryOutcome

ABSENT = "—"
PROMPT_WORDS = ("prompt", "answerer", "template")
EMBEDDING_WORDS = ("model", "encoder", "embedding")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same: what kind it is, its name, and both values."""

    kind: str  # chunker | embedding | prompt | config | index | engine | code
    key: str
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.key} {self.a} → {self.b}"

    def to_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"kind": self.kind, "key": self.key, "a": self.a, "b": self.b}


def differences(a: StoredRun, b: StoredRun) -> tuple[Difference, ...]:
    """Everything that the runs record differently, causes first."""
    return tuple(_differences(a, b))


def _differences(a: StoredRun, b: StoredRun) -> Iterator[Difference]:
    one, other = sorted(versions(a)), sorted(versions(b))
    if one and other and one != other:
        yield Difference("chunker", "chunker_version", ", ".join(one), ", ".join(other))
    models_a, models_b = dict(a.info.models), dict(b.info.models)
    for key in sorted(models_a.keys() | models_b.keys()):
        if models_a.get(key) != models_b.get(key):
            yield Difference("embedding", key, _text(models_a, key), _text(models_b, key))
    config_a, config_b = _flat(a.info.config), _flat(b.info.config)
    for key in sorted(config_a.keys() | config_b.keys()):
        if config_a.get(key) != config_b.get(key):
            yield Difference(_kind(key), key, _text(config_a, key), _text(config_b, key))
    for kind, key in (("engine", "engine"), ("index", "generation"), ("code", "commit_hash")):
        before, after = getattr(a.info, key), getattr(b.info, key)
        if before != after:
            yield Difference(kind, key, before or ABSENT, after or ABSENT)


def query_causes(a: QueryOutcome, b: QueryOutcome) -> list[str]:
    """What went wrong for this query in one of the runs."""
    found = []
    for side, outcome in (("a", a), ("b", b)):
        if outcome.error is not None:
            found.append(f"{side} failed: {outcome.error}")
        elif outcome.degraded or outcome.component_errors:
            named = ", ".join(outcome.component_errors) or "a component is missing"
            found.append(f"{side} degraded: {named}")
    return found


def _kind(key: str) -> str:
    last = key.lower()
    if any(word in last for word in PROMPT_WORDS):
        return "prompt"
    return "embedding" if any(word in last for word in EMBEDDING_WORDS) else "config"


def _flat(values: Mapping[str, Any], head: str = "") -> dict[str, str]:
    """Nested settings as dotted keys with their values as text."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{head}{key}.")
        else:
            flat[f"{head}{key}"] = (
                value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
            )
    return flat


def _text(values: Mapping[str, str], key: str) -> str:
    return values.get(key, ABSENT) or '""'
