"""What does the corpus say to a question, and on which chunks does that rest?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.connection import connected, here
from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import DEGRADED, JsonFlag, configuration
from assay.cli.search_options import takes_search_options
from assay.search.request import ANSWER_NAMES

if TYPE_CHECKING:
    from assay.app.answers import AnswerSource


@takes_search_options(ANSWER_NAMES)
def command(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question, in plain words.")],
    given: Mapping[str, Any],
    answerer: Annotated[
        str | None,
        typer.Option(help="extractive, address of an OpenAI-compatible service, module:function."),
    ] = None,
    answer_model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    json_output: JsonFlag = False,
) -> int:
    """Answer a question from the corpus with sources, or refuse to."""
    from assay.app.search import incomplete
    from assay.search.request import read_changes

    settings = configuration(ctx, answerer=answerer, answer_model=answer_model)
    here(settings, "assay answer", answerer=answerer, answer_model=answer_model)
    with connected(settings) as assay:
        found = assay.answer(question, **read_changes(given))
        for line in incomplete(assay):
            note(f"note: {line}")
    if json_output:
        emit_json(found.to_dict())
    else:
        said = found.answer
        emit_text(said.text if said.grounded else f"no answer: {said.refusal_reason}")
        for number, source in enumerate(found.sources, 1):
            emit_text(f"{'' if number > 1 else chr(10)}[{number}] {_reference(source)}")
        if found.degraded:
            note(f"note: the search was degraded: {', '.join(found.component_errors)}")
    return DEGRADED if found.degraded else 0


def _reference(source: "AnswerSource") -> str:
    if source.doc_id is None:
        return f"{source.chunk_id}  (there is no such source)"
    return f"{source.chunk_id}  {source.title}".rstrip()
