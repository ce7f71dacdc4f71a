"""What does the corpus answer, sentence by sentence, beside the passages that each one cites?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import Request
from markupsafe import Markup, escape
from starlette.responses import Response

from assay.app import run_view
from assay.app.answers import AnswerSentence, answer_from, sentences, with_verdicts
from assay.app.search import options_of_caller
from assay.errors import UsageError
from assay.http.pages.held_out import viewer_of
from assay.http.pages.hits import document_link
from assay.http.pages.page import Reader, ServiceOf, address, cli, curl, page
from assay.http.pages.page import router as new_router
from assay.http.pages.pane import read_pane
from assay.model.answers import Answer
from assay.model.document import Label
from assay.model.judges import JudgedAnswer, Support
from assay.search.request import as_flags, as_parameters

router = new_router()

CELL_BORDER = " | "
MOST_WORDS = 400
"""Words of a sentence that are looked for in a source."""
VERDICTS = {
    Support.SUPPORTED: ("supported", "passed", "a source says it"),
    Support.CONTRADICTED: ("contradicted", "failed", "a source says the opposite"),
    Support.UNSUPPORTED: ("not supported", "inconclusive", "no source says it"),
}


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence with the numbers of what it cites, and the verdict of the judge in words."""

    text: str
    sources: tuple[int, ...]
    verdict: tuple[str, str, str] | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a quoted row of a table; a sentence is one cell."""
        return tuple(cell.strip() for cell in self.text.split(CELL_BORDER))


@dataclass(frozen=True, slots=True)
class BlockView:
    """Sentences that are read together: one sentence, or rows quoted from one table."""

    rows: tuple[SentenceView, ...]
    is_table: bool
    has_header: bool = False


@dataclass(frozen=True, slots=True)
class SourceView:
    """A cited passage; what sentences quote of it is marked. ``label`` is None if it is unknown."""

    number: int
    chunk_id: str
    href: str
    label: Label | None
    text: Markup


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer as it is read; ``judge`` is empty where nobody judged it."""

    sentences: tuple[SentenceView, ...]
    sources: tuple[SourceView, ...]
    judge: str = ""

    @property
    def blocks(self) -> list[BlockView]:
        """The sentences in order, consecutive rows of one table as one block."""
        return [
            block
            for (width, _), rows in groupby(
                self.sentences, lambda one: (len(one.cells), one.sources)
            )
            for block in _blocks(tuple(rows), is_table=width > 1)
        ]


def _blocks(rows: tuple[SentenceView, ...], *, is_table: bool) -> list[BlockView]:
    if not is_table:
        return [BlockView((row,), is_table=False) for row in rows]
    numbers = sum(cell[:1].isdigit() for cell in rows[0].cells[1:])
    has_header = len(rows) > 1 and 2 * numbers <= len(rows[0].cells[1:])
    return [BlockView(rows, is_table=True, has_header=has_header)]


def answer_view(
    answer: Answer,
    texts: Mapping[str, str],
    labels: Mapping[str, Label],
    judged: JudgedAnswer | None = None,
) -> AnswerView:
    """An answer beside the texts that it cites; also for answers of stored runs."""
    said = sentences(answer, judged)
    numbers = {one: number for number, one in enumerate(answer.citations, 1)}
    return AnswerView(
        tuple(
            SentenceView(
                one.text,
                tuple(numbers[cited] for cited in one.citations if cited in numbers),
                VERDICTS.get(one.verdict) if one.verdict else None,
            )
            for one in said
        ),
        tuple(
            SourceView(
                number,
                one,
                document_link(labels[one].doc_id, one) if one in labels else "",
                labels.get(one),
                _quoted(texts.get(one, ""), [each for each in said if one in each.citations]),
            )
            for one, number in numbers.items()
        ),
        judged.judge if judged else "",
    )


@router.get("/answer")
async def answer_page(request: Request, service: ServiceOf, caller: Reader) -> Response:
    """The answer to a question, or why there is none; on request what the judge says of it."""
    params = request.query_params
    query = params.get("q", "").strip()
    if not query:
        raise UsageError("answer: ask a question")
    searcher = await service.searcher()
    pane = read_pane(params, searcher.defaults)
    options_of_caller(service.workspace.settings, pane.changes())
    response = await service.search(query, options=pane.options)
    service.log_query(response)
    found = await service.work(lambda: answer_from(service.workspace, query, response))
    judged = params.get("judged") == "on" and caller.may("evaluate")
    if judged:
        found = await service.work(lambda: with_verdicts(service.workspace, found))
    labels = await service.work(lambda: service.workspace.labels(found.answer.citations))
    texts = {one.chunk_id: one.text or "" for one in found.sources}
    pairs = [("q", query), *pane.shared_pairs(), *pane.own_pairs()]
    flags = as_flags(pane.changes())
    asked = [*as_parameters(pane.changes()), *([("judged", "true")] if judged else [])]
    return page(
        request,
        "ui/answer.html",
        block="answer",
        query=query,
        found=found,
        view=answer_view(found.answer, texts, labels, found.judged),
        search=address("/search", pairs),
        judging=address("/answer", [*pairs, ("judged", "on")]),
        meant=address("/answer", {"q": found.did_you_mean}),
        commands=[
            cli("answer", query, *flags, *(["--judged"] if judged else [])),
            curl(request, "/v1/answer", [("q", query), *asked]),
        ],
    )


@router.get("/runs/{ref}/answer/{query}")
async def stored_answer(
    ref: str, query: str, request: Request, service: ServiceOf, caller: Reader
) -> Response:
    """What a run answered to one query, with what its judge said."""

    def work() -> dict[str, Any]:
        workspace = service.workspace
        viewer = viewer_of(request, service, caller)
        found = run_view.query(workspace, ref, query, viewer=viewer)
        answer = found.outcome.answer
        view = None
        if answer is not None:
            labels = workspace.labels(answer.citations)
            known = found.outcome.passages
            texts = {
                one: known.get(one) or (labels[one].text if one in labels else "")
                for one in answer.citations
            }
            view = answer_view(answer, texts, labels, found.outcome.judged)
        return {
            "info": found.info,
            "query": found.query,
            "outcome": found.outcome,
            "answer": answer,
            "view": view,
        }

    return page(request, "ui/run_answer.html", block="part", **await service.work(work))


def _quoted(text: str, said: Sequence[AnswerSentence]) -> Markup:
    """A text in which the sentences that are taken from it word by word are marked."""
    spans: list[tuple[int, int]] = []
    for one in said:
        words = one.text.rstrip(".").split()[:MOST_WORDS]
        if words and (place := re.search(r"\s+".join(map(re.escape, words)), text)):
            spans.append(place.span())
    parts, written = [], 0
    for start, end in sorted(spans):
        if start >= written:
            parts += [
                escape(text[written:start]),
                Markup("<mark>{}</mark>").format(text[start:end]),
            ]
            written = end
    return Markup("").join([*parts, escape(text[written:])])
