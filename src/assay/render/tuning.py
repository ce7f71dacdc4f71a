"""How does the search for better settings read?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.evaluation.scores import rounded, shown
from assay.evaluation.significance import TESTS, Contrast
from assay.evaluation.tuning import Tuning
from assay.render.numbers import between, signed
from assay.render.rulings import P_COLUMNS, RULINGS, p_values, rulings
from assay.render.tables import Table
from assay.search.request import FusionMethod, SearchOptions


def tuning_tables(found: Tuning, present: SearchOptions, show: int) -> list[Table]:
    """The best of each method, the best settings, the best against the present ones."""
    kinds = Table(
        ("", "evaluation", *(() if found.held_out is None else ("held-out",)), "options"),
        tuple(
            (
                one.name,
                shown(one.evaluation),
                *(() if found.held_out is None else (shown(one.held_out),)),
                flags(one.settings),
            )
            for one in found.kinds
        ),
        title=f"{found.measure}: the best of each method, and each component alone",
        text_columns=frozenset({0, 2 if found.held_out is None else 3}),
        wrapped=frozenset({2 if found.held_out is None else 3}),
    )
    trials = Table(
        (str(found.measure), "fusion", "weights"),
        tuple(
            (shown(trial.mean), method(trial.settings), weights(trial.settings))
            for trial in found.trials[:show]
        ),
        title=f"{len(found.trials)} settings, the best {min(show, len(found.trials))}",
        text_columns=frozenset({1, 2}),
        wrapped=frozenset({1, 2}),
    )
    parts = [("evaluation", found.evaluation)]
    if found.held_out is not None:
        parts.append(("held-out", found.held_out))
    level = f"{found.evaluation.interval.level:.0%}"
    against = Table(
        ("part", "queries", "present", "best", "difference", f"{level} CI", *P_COLUMNS, *RULINGS),
        tuple(_row(name, contrast) for name, contrast in parts),
        title=f"{method(found.best)}, {weights(found.best)}",
        text_columns=frozenset({0, 8, 9}),
        optional=(6, 7, 5, 1),
        below=(8, 9),
        notes=(
            basis(present),
            f"present: {method(present)}, {weights(present)}",
            f"to use it: {flags(found.best)}",
            *(f"{name}: {one.significance}" for name, one in parts if one.disagrees),
        ),
    )
    return [kinds, trials, against]


def tuning_json(found: Tuning, present: SearchOptions, show: int) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "measure": str(found.measure),
        "settings_tried": len(found.trials),
        "boosts": present.boosts,
        "reranked": False,
        "basis": basis(present),
        "tests": TESTS,
        "present": _settings(present),
        "best": _settings(found.best),
        "evaluation": found.evaluation.to_dict(),
        "held_out": None if found.held_out is None else found.held_out.to_dict(),
        "overfitting": any(warning.startswith("overfitting") for warning in found.warnings),
        "warnings": list(found.warnings),
        "kinds": [
            {
                "name": one.name,
                "evaluation": rounded(one.evaluation),
                "held_out": rounded(one.held_out),
                "components": list(one.settings.components),
                **_settings(one.settings),
            }
            for one in found.kinds
        ],
        "trials": [
            {"mean": rounded(trial.mean), **_settings(trial.settings)}
            for trial in found.trials[:show]
        ],
    }


def basis(present: SearchOptions) -> str:
    """What of a search is in the figures."""
    boosts = "with boosts" if present.boosts else "without boosts, which are off"
    return f"measured {boosts}{', before reranking' if present.rerank else ''}"


def method(options: SearchOptions) -> str:
    """The fusion method with its constant."""
    if options.fusion_method is FusionMethod.RRF:
        return f"rrf, k {options.rrf_k}"
    return f"weighted, {options.normalization}"


def weights(options: SearchOptions) -> str:
    """The weights as the command line takes them."""
    by_type = [f"{kind}:{_shares(one)}" for kind, one in options.type_weights.items()]
    if options.weights:
        return "; ".join((_shares(options.weights), *by_type))
    usual = "by query type" if options.per_type_weights else "usual weights"
    return "; ".join(by_type) or usual


def _shares(weights: Mapping[str, float]) -> str:
    return ",".join(f"{name}={weight:g}" for name, weight in weights.items())


def flags(options: SearchOptions) -> str:
    """The options of a command line that searches like this."""
    if len(options.components) == 1:
        return f"--components {options.components[0]}"
    said = f"--fusion-method rrf --rrf-k {options.rrf_k}"
    if options.fusion_method is not FusionMethod.RRF:
        said = f"--fusion-method weighted --normalization {options.normalization}"
    said += f" --weights {_shares(options.weights)}"
    by_type = ";".join(f"{kind}:{_shares(one)}" for kind, one in options.type_weights.items())
    return f"{said} --type-weights '{by_type}'" if by_type else said


def _settings(options: SearchOptions) -> dict[str, Any]:
    return {
        "fusion_method": str(options.fusion_method),
        "rrf_k": options.rrf_k,
        "normalization": str(options.normalization),
        "weights": dict(options.weights),
        "type_weights": {kind: dict(one) for kind, one in options.type_weights.items()},
    }


def _row(name: str, contrast: Contrast) -> tuple[str, ...]:
    return (
        name,
        str(contrast.n),
        shown(contrast.baseline),
        shown(contrast.value),
        signed(contrast.difference),
        between(contrast.interval, signed=True),
        *p_values(contrast),
        *rulings(contrast),
    )
