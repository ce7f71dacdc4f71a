"""How is a function of one's own asked?

``module:function`` takes a query's text, and may be any other system that ``assay.evaluate`` takes
(``systems.py``); one whose only parameter is named ``query`` and annotated
with ``GoldenQuery`` gets the whole query. Its code (``user_code.py``) is all that is known of the
state it is in: as long as that stays the same, a run that was cut short goes on and a complete one
answers. Where the code is not known, every run is new.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from assay.evaluation.execution import Retrieve
from assay.evaluation.systems import asked, name_of
from assay.model.system import System
from assay.user_code import load_object

ENGINE = "python"


def python_system(spec: str) -> System:
    """The system behind ``module:function``; modules of the working folder are found, too."""
    found = load_object(spec)
    code = {} if found.digest is None else {"retriever_code": found.digest}
    return System(
        _adapted(asked(found.value)),
        {"retriever": spec, **code},
        engine=ENGINE,
        generation=found.digest,
    )


def given_system(value: Any) -> System:
    """A function or system that is handed over; nobody knows its state, so every run is new."""
    return System(_adapted(asked(value)), {"retriever": name_of(value)}, engine=ENGINE)


def _adapted(function: Callable[[Any], Any]) -> Retrieve:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    wanted = str(parameters[0].annotation) if parameters else ""
    if "GoldenQuery" in wanted:
        return function
    return lambda query: function(query.query_text)
