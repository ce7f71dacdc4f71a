"""Which answerer does a setting name?

``extractive``, the URL of an OpenAI-compatible service, or ``module:function``.
"""

from __future__ import annotations

from assay.answers.custom import CallableAnswerer
from assay.answers.extractive import ExtractiveAnswerer
from assay.answers.remote import RemoteAnswerer
from assay.errors import UsageError
from assay.model.answers import Answerer
from assay.user_code import load_function

_HINT = "extractive, an address such as http://127.0.0.1:11434/v1, or module:function"


def open_answerer(
    spec: str,
    *,
    dense_model: str = "",
    model: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
    seconds: float = 60.0,
) -> Answerer:
    """The answerer; ``model`` and ``key_variable`` belong to a service."""
    if spec == "extractive":
        return ExtractiveAnswerer(dense_model)
    if spec.startswith(("http://", "https://")):
        if model is None:
            raise UsageError(
                f"which model answers at {spec:.100}?", hint="name it: ASSAY_ANSWER_MODEL"
            )
        return RemoteAnswerer(spec, model, key_variable, seconds)
    if ":" not in spec.strip(":"):
        raise UsageError(f"there is no answerer {spec!r:.80}", hint=f"give {_HINT}")
    found = load_function(spec)
    return CallableAnswerer(found.function, spec, found.digest, seconds)
