"""Which judge does a name mean?

``words``, ``entailment``, the URL of an OpenAI-compatible service, or ``module:function``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from assay.errors import UsageError
from assay.judges import entailment, words
from assay.judges.custom import CallableJudge
from assay.judges.entailment import EntailmentJudge
from assay.judges.meaning import MeaningJudge
from assay.judges.service import (
    CONCURRENCY,
    ServiceJudge,
    judging_model,
    own_prompts,
    read_prompts,
)
from assay.judges.words import WordJudge
from assay.model.judges import GivenJudge, Judge
from assay.model.vectors import Entailment, SearchEncoder
from assay.user_code import load_function

_HINT = "words, entailment, an address such as http://127.0.0.1:11434/v1, or module:function"


def open_judge(
    spec: str,
    *,
    entailment_model: Callable[[], Entailment],
    relevance_model: Callable[[], SearchEncoder],
    model: str | None = None,
    key_variable: str = "OPENAI_API_KEY",
    seconds: float = 60.0,
    concurrency: int = CONCURRENCY,
    prompts: Path | None = None,
) -> Judge:
    """The judge; all but the two models and ``seconds`` belong to a service."""
    if spec == words.NAME:
        return WordJudge()
    if spec == entailment.NAME:
        return EntailmentJudge(entailment_model(), MeaningJudge(relevance_model()))
    if spec.startswith(("http://", "https://")):
        if model is None:
            raise UsageError(
                f"which model judges at {spec:.100}?", hint="name it: ASSAY_JUDGE_MODEL"
            )
        chosen = own_prompts() if prompts is None else read_prompts(prompts)
        asked = judging_model(spec, model, key_variable, seconds)
        return ServiceJudge(asked, chosen, concurrency)
    if ":" not in spec.strip(":"):
        raise UsageError(f"there is no judge {spec!r:.80}", hint=f"give {_HINT}")
    found = load_function(spec)
    return CallableJudge(found.function, spec, found.digest, seconds)


def given_judge(judge: GivenJudge, seconds: float = 60.0) -> Judge:
    """The judge that a value of Python means; nobody knows its state, so nothing is reused."""
    if hasattr(judge, "judge"):
        return cast("Judge", judge)
    if not callable(judge):
        raise UsageError(f"{judge!r:.80} is not a judge", hint=f"give {_HINT}, or a function")
    return CallableJudge(judge, seconds=seconds)
