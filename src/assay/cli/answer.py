"""What does the corpus say to a question, and on which chunks does that rest?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.connection import connected, refuse_remote
from assay.cli.console import emit_json, emit_text, note
from assay.cli.options import DEGRADED, JsonFlag, takes_search_options
from assay.search.request import ANSWER_NAMES

if TYPE_CHECKING:
    from assay.app.answers import AnswerSource


@takes_search_options(ANSWER_NAMES, "given")
def command(
    ctx: typer.Context,
    *,
    question: Annotated[str, typer.Argument(help="A question, in plain words.")],
    given: Mapping[str, Any],
    answerer: Annotated[
        str | None,
        typer.Option(help="extractive, address of an OpenAI-compatible service, module:function."),
    ] = None,
    answer_model: Annotated[
        str | None, typer.Option("--answer-model", help="Model of such a service.")
    ] = None,
    judged: Annotated[
        bool,
        typer.Option(
            "--judged", help="Have the judge check whether sources support each sentence."
        ),
    ] = False,
    json_output: JsonFlag = False,
) -> int:
    """Answer a question from the corpus, with sources, or say why not."""
    from assay.app.search import incomplete
    from assay.search.request import read_changes

    changes = read_changes(given)
    with connected(ctx, answerer=answerer, answer_model=answer_model) as assay:
        refuse_remote(assay.settings, "assay answer", answerer=answerer, answer_model=answer_model)
        answered = assay.answer(question, judged=judged, **changes)
        for line in incomplete(assay):
            note(f"note: {line}")
    if json_output:
        emit_json(answered)
    else:
        answer = answered.answer
        if answered.searched_for:
            emit_text(f"answering “{answered.searched_for}”: no document has what was typed")
        emit_text(answer.text if answer.grounded else f"no answer: {answer.refusal_reason}")
        for number, source in enumerate(answered.sources, 1):
            emit_text(f"{'' if number > 1 else chr(10)}[{number}] {_reference(source)}")
        if answered.judged is not None:
            emit_text("")
            for claim in answered.judged.claims:
                emit_text(f"{'unknown' if claim.unknown else claim.label}: {claim.text}")
        for line in answered.warnings:
            note(f"warning: {line}")
        if answered.degraded:
            note(f"note: the search was degraded: {', '.join(answered.component_errors)}")
    return DEGRADED if answered.degraded else 0


def _reference(source: "AnswerSource") -> str:
    if source.doc_id is None:
        return f"{source.chunk_id}  (there is no such source)"
    page = f", page {source.page}" if source.page else ""
    return f"{source.chunk_id}{page}  {source.title}".rstrip()
