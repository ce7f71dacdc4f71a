"""How is ``module:function`` found and called?

The function takes a query's text; one whose only parameter is named ``query`` and annotated with
``GoldenQuery`` gets the whole query. It is the caller's own code and runs with the caller's rights.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

from assay.errors import UsageError
from assay.evaluation.execution import Retrieve, describe
from assay.model.system import System


def python_system(spec: str) -> System:
    """The system behind ``module:function``; modules of the working folder are found, too."""
    function = load_function(spec)
    return System(_adapted(function), {"retriever": spec}, engine="python")


def load_function(spec: str) -> Callable[[Any], Any]:
    """Import the function that ``module:function`` names."""
    module_name, colon, name = spec.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f"{spec!r:.80} is not module:function", hint="such as my_engine:search")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as problem:  # importing runs foreign code
        raise UsageError(f"{module_name} cannot be imported: {describe(problem)}") from problem
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{module_name} has no function {name}")
    function: Callable[[Any], Any] = found
    return function


def _adapted(function: Callable[[Any], Any]) -> Retrieve:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    wanted = str(parameters[0].annotation) if parameters else ""
    if "GoldenQuery" in wanted:
        return function
    return lambda query: function(query.query_text)
