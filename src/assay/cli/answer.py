"""What does the corpus say to a question, and on which chunks does that rest?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import emit_json, emit_text, note
from assay.cli.opening import is_remote, refuse_with_server
from assay.cli.options import DEGRADED, JsonFlag, configuration
from assay.cli.search import tell_if_incomplete

if TYPE_CHECKING:
    from assay.config import Configuration


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
    config = configuration(ctx, answerer=answerer, answer_model=model)
    if is_remote(config):
        from assay.cli.remote import client

        refuse_with_server("assay answer", answerer=answerer, answer_model=model)
        with client(config) as service:
            found = service.answer(question, speaker=speaker)
    else:
        found = _answered(config, question, speaker or ())
    said = found["answer"]
    if json_output:
        emit_json(found)
    else:
        emit_text(said["text"] if said["grounded"] else f"no answer: {said['refusal_reason']}")
        for number, source in enumerate(found["sources"], 1):
            emit_text(f"{'' if number > 1 else chr(10)}[{number}] {_reference(source)}")
        if found["degraded"]:
            note(f"note: the search was degraded: {', '.join(found['component_errors'])}")
    return DEGRADED if found["degraded"] else 0


def _answered(config: "Configuration", question: str, speakers: Sequence[str]) -> dict[str, Any]:
    from assay.app.answers import Answered
    from assay.app.workspace import Workspace
    from assay.search.check import make_filters

    with Workspace(config) as workspace:
        said, response = workspace.answer(question, filters=make_filters(speaker_role=speakers))
        tell_if_incomplete(workspace)
        return Answered(question, workspace.answerer.name, said, response).to_dict()


def _reference(source: dict[str, Any]) -> str:
    if source["doc_id"] is None:
        return f"{source['chunk_id']}  (there is no such source)"
    return f"{source['chunk_id']}  {source['title']}".rstrip()
