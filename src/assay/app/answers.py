"""What does the corpus say to a question, and where does each source of the answer stand?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

from assay.evidence.claims import sentences_of
from assay.model.answers import Answer
from assay.model.codec import as_json, encode
from assay.model.judges import JudgedAnswer, Support
from assay.model.tabular import Records, Tabular
from assay.model.testset import GoldenQuery
from assay.search.response import SearchResponse
from assay.tracing import span

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.search.changes import SearchChanges
    from assay.search.request import SearchOptions


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """What an answer cites; only the id where the search found no such chunk."""

    chunk_id: str
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None
    page: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer, what it cites, and what a judge said of it.

    ``verdict`` is None where no judge was asked, or where nobody can say.
    """

    text: str
    citations: tuple[str, ...]
    verdict: Support | None = None


@dataclass(frozen=True, slots=True)
class Answered(Tabular):
    """An answer, who gave it and what it rests on; ``response`` is the search behind it.

    ``unsupported_numbers`` are those that no cited passage has. ``did_you_mean`` is the question
    without misspellings; ``searched_for`` the same where that was answered instead. ``judged`` is
    what the configured judge says of each claim, where it was asked.
    """

    question: str
    answerer: str
    answer: Answer
    sources: tuple[AnswerSource, ...]
    degraded: bool = False
    component_errors: tuple[str, ...] = ()
    unsupported_numbers: tuple[str, ...] = ()
    did_you_mean: str = ""
    searched_for: str = ""
    judged: JudgedAnswer | None = None
    response: SearchResponse | None = field(default=None, metadata=as_json(None))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know before trusting the answer."""
        said: list[str] = []
        if self.did_you_mean and not self.searched_for:
            said.append(f"did you mean “{self.did_you_mean}”?")
        if self.unsupported_numbers:
            listed = ", ".join(self.unsupported_numbers)
            are = "is" if len(self.unsupported_numbers) == 1 else "are"
            said.append(f"{listed} {are} in the answer, but in no passage that it cites")
        return tuple(said)

    def records(self) -> Records:
        """A row for each source."""
        said = self.answer.text if self.answer.grounded else self.answer.refusal_reason
        return Records(
            ("chunk_id", "doc_id", "title", "text"),
            [(one.chunk_id, one.doc_id, one.title, one.text) for one in self.sources],
            f"{self.question} — {said or 'no answer'}",
            self.warnings,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        plain: dict[str, Any] = encode(self)
        return plain


def answer(
    workspace: Workspace,
    question: str,
    options: SearchOptions | None = None,
    *,
    judged: bool = False,
    **changes: Unpack[SearchChanges],
) -> Answered:
    """Search, and let the configured answerer answer from what was found.

    With ``judged``, the configured judge says of each claim whether its sources support it.
    """
    with span("assay.answer") as noted:
        found = answer_from(workspace, question, workspace.search(question, options, **changes))
        if judged:
            found = with_verdicts(workspace, found)
        noted.note("answerer", found.answerer)
        noted.note("grounded", found.answer.grounded)
        noted.note("sources", len(found.sources))
        noted.note("degraded", found.degraded)
        return found


def answer_from(workspace: Workspace, question: str, response: SearchResponse) -> Answered:
    """The same from a search that was made already."""
    from assay.evidence.guard import guarded

    answerer = workspace.answerer
    asked = response.searched_for or question
    found = guarded(answerer, asked, response.passages(), response.no_answer)
    answered, checked = found.answer, found.numbers
    chunks = {hit.chunk.chunk_id: hit.chunk for hit in response.results}
    sources = tuple(
        AnswerSource(name, chunk.doc_id, chunk.title, chunk.text, chunk.page)
        if (chunk := chunks.get(name))
        else AnswerSource(name)
        for name in answered.citations
    )
    return Answered(
        question,
        answerer.name,
        answered,
        sources,
        response.degraded,
        response.component_errors,
        () if checked is None else checked.unsupported,
        response.did_you_mean,
        response.searched_for,
        response=response,
    )


def with_verdicts(workspace: Workspace, answered: Answered) -> Answered:
    """The answer with what the configured judge says of each claim; a refusal stays as it is."""
    from assay.evaluation.verdicts import judge_answer

    if not answered.answer.grounded:
        return answered
    passages = {one.chunk_id: one.text for one in answered.sources if one.text}
    query = GoldenQuery("question", answered.searched_for or answered.question)
    judged = judge_answer(workspace.judge(), query, answered.answer, passages)
    return replace(answered, judged=judged)


def sentences(answer: Answer, judged: JudgedAnswer | None = None) -> list[AnswerSentence]:
    """The sentences of an answer, each with what it cites and what the judge said."""
    known = {one.text: one for one in judged.claims} if judged else {}
    return [
        AnswerSentence(
            one.text,
            one.citations,
            None if (claim := known.get(one.text)) is None or claim.unknown else claim.label,
        )
        for one in sentences_of(answer)
    ]
