"""What does the corpus say to a question, and on which chunks does that rest?"""

from typing import Annotated, Any

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration
from assay.cli.search import tell_if_empty

DEGRADED = 4


def command(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question, in plain words.")],
    answerer: Annotated[
        str | None,
        typer.Option(help="extractive, address of an OpenAI-compatible service, module:function."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="PATIENT or CLINICIAN only.")] = None,
    json_output: JsonFlag = False,
) -> int:
    """Answer a question from the corpus with sources, or refuse to."""
    from assay.search.check import make_filters
    from assay.tasks.answering import Answered
    from assay.workspace import Workspace

    config = configuration(ctx, answerer=answerer, answer_model=model)
    with Workspace(config) as workspace:
        said, response = workspace.answer(
            question, filters=make_filters(speaker_role=speaker or ())
        )
        name = workspace.answerer.name
        tell_if_empty(workspace)
    found = Answered(question, name, said, response)
    if json_output:
        emit_json(found.to_dict())
    else:
        emit_text(said.text if said.grounded else f"no answer: {said.refusal_reason}")
        for number, source in enumerate(found.sources(), 1):
            emit_text(f"{'' if number > 1 else chr(10)}[{number}] {_reference(source)}")
        if response.degraded:
            note(f"note: the search was degraded: {', '.join(response.component_errors)}")
    return DEGRADED if response.degraded else 0


def _reference(source: dict[str, Any]) -> str:
    if source["doc_id"] is None:
        return f"{source['chunk_id']}  (there is no such source)"
    return f"{source['chunk_id']}  {source['title']}".rstrip()
