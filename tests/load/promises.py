"""Which promises about overload do these figures of ``bench.serve`` break?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ALLOWED = frozenset({200, 429, 503})
MOST_SLOWER = 2.0  # accepted requests, P99, over that of an idle service, once a surge lasts
MOST_REFUSAL_MS = 50.0  # once a surge lasts
MOST_WAIT_MS = 30_000.0  # request_seconds: for everybody, from the first request on
MOST_RECOVERY_S = 5.0


def broken(figures: Mapping[str, Any], *, latency: bool = True) -> list[str]:
    """In words, what was not kept; ``latency=False`` leaves out what a busy machine spoils."""
    found = [f"{figures['failed']} searches failed without load"] if figures["failed"] else []
    for burst in figures["bursts"]:
        if {*burst["statuses"]} != {200}:
            found.append(f"of {burst['at_once']} searches at once: {burst['statuses']}")
        elif burst["slowest_ms"] > MOST_WAIT_MS:
            found.append(
                f"of {burst['at_once']} searches at once one took longer than its deadline"
            )
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
    if each["whole"]["slowest_ms"] > MOST_WAIT_MS:
        said.append(f"an answer took {each['whole']['slowest_ms']} ms, longer than its deadline")
    lasting = each["lasting"]
    if latency and lasting["accepted_over_unloaded"] > MOST_SLOWER:
        slower = lasting["accepted_over_unloaded"]
        said.append(f"once it lasts, accepted P99 is {slower} times that of an idle one")
    if latency and lasting["refused_p99_ms"] > MOST_REFUSAL_MS:
        said.append(
            f"once it lasts, refusals took {lasting['refused_p99_ms']} ms, "
            f"and {MOST_REFUSAL_MS:g} are promised"
        )
    return said
