"""Which promises about overload do these figures of ``bench.serve`` break?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ALLOWED = frozenset({200, 429, 503})
MOST_SLOWER = 2.0  # accepted requests, P99, over that of an idle service
MOST_REFUSAL_MS = 50.0
MOST_RECOVERY_S = 5.0


def broken(figures: Mapping[str, Any], *, latency: bool = True) -> list[str]:
    """In words, what was not kept; ``latency=False`` leaves out what a busy machine spoils."""
    found = [f"{figures['failed']} searches failed without load"] if figures["failed"] else []
    for number, each in enumerate(figures["rounds"], 1):
        found += [f"round {number}: {said}" for said in _round(each, latency)]
    return found


def _round(each: Mapping[str, Any], latency: bool) -> Sequence[str]:
    said = []
    if others := sorted(set(each["statuses"]) - ALLOWED):
        said.append(f"answers other than 200, 429 and 503: {others}")
    if not each["statuses"].get(200):
        said.append("nothing was answered")
    again = each["normal_again_s"]
    if again is None or again > MOST_RECOVERY_S:
        said.append(f"normal again after {again} s, and {MOST_RECOVERY_S:g} are promised")
    if latency and each["accepted_over_unloaded"] > MOST_SLOWER:
        said.append(f"accepted P99 is {each['accepted_over_unloaded']} times that of an idle one")
    if latency and each["refused_p99_ms"] > MOST_REFUSAL_MS:
        said.append(
            f"refusals took {each['refused_p99_ms']} ms, and {MOST_REFUSAL_MS:g} are promised"
        )
    return said
