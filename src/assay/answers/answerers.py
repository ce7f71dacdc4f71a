"""Which answerer does a setting name?

``extractive``, the address of an OpenAI-compatible service, or ``module:function``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.answers.custom import CallableAnswerer
from assay.answers.extractive import ExtractiveAnswerer
from assay.answers.remote import RemoteAnswerer
from assay.errors import UsageError
from assay.model.answers import Answerer

_HINT = "extractive, an address such as http://127.0.0.1:11434/v1, or module:function"


def open_answerer(
    spec: str,
    *,
    dense_model: str = "",
    model: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
    seconds: float = 60.0,
) -> Answerer:
    """The answerer; ``model``, ``key_variable`` and ``seconds`` belong to a service."""
    if spec == "extractive":
        return ExtractiveAnswerer(dense_model)
    if spec.startswith(("http://", "https://")):
        if model is None:
            raise UsageError(
                f"which model answers at {spec:.100}?", hint="name it: ASSAY_ANSWER_MODEL"
            )
        return RemoteAnswerer(spec, model, key_variable, seconds)
    return CallableAnswerer(_function(spec), spec)


def _function(spec: str) -> Callable[..., Any]:
    """The function that ``module:function`` names; modules of the working folder are found, too."""
    module_name, colon, name = spec.partition(":")
    if not colon or not module_name or not name.isidentifier():
        raise UsageError(f"there is no answerer {spec!r:.80}", hint=f"give {_HINT}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module_name), name, None)
    except Exception as problem:  # importing runs foreign code
        said = f"{type(problem).__name__}: {problem}"
        raise UsageError(f"{module_name} cannot be imported: {said:.200}") from problem
    if not callable(found):
        raise UsageError(f"{module_name} has no function {name}")
    function: Callable[..., Any] = found
    return function
