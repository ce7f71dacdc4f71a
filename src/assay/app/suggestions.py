"""Which questions could be asked of this corpus, where nobody has asked any yet?

Questions are made from documents (``annotation/suggest.py``), or written by a language model where
one is configured. Two searches decide which stay: the passage that a question was made from must be
among the best results, or nobody could answer it, and must not be the very first by words alone,
or it would measure nothing. Every question is marked as synthetic and stays so.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay.annotation.draw import DEFAULT_SEED as DEFAULT_SEED  # noqa: PLC0414 - surfaces
from assay.annotation.questions import question_rows
from assay.annotation.similar import Known
from assay.annotation.suggest import KINDS as KINDS  # noqa: PLC0414 - surfaces offer them
from assay.annotation.suggest import Kind as Kind  # noqa: PLC0414
from assay.annotation.suggest import Suggestion, suggestions
from assay.app.engine import Progress, silent
from assay.app.pool import PATIENCE_MS
from assay.app.workspace import Workspace
from assay.digests import digest_of
from assay.errors import InputError, UsageError
from assay.judges.service import judging_model
from assay.model.annotation import SYNTHETIC, RoundQuery
from assay.model.document import Chunk, StoredDocument
from assay.search.query_type import classify
from assay.search.request import COMPONENTS
from assay.testsets.save import write_text

DEFAULT_COUNT = 20
ANSWERABLE = 50
"""Ranks among which the passage of a question must be found."""
TRIED = 40
"""Candidates tried for each question that is wanted, before the search ends."""
PAGE = 200
MODEL = "model"
PASSAGE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Suggested:
    """Questions that stood the test, and how many were left out for which reason."""

    questions: tuple[RoundQuery, ...]
    tried: int
    left_out: Mapping[str, int]
    seed: int

    def rows(self) -> list[dict[str, Any]]:
        """The questions as rows of JSON lines, to look through and to begin a test set with."""
        return question_rows(self.questions)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "questions": self.rows(),
            "tried": self.tried,
            "left_out": dict(self.left_out),
            "seed": self.seed,
        }


def suggest(
    workspace: Workspace,
    *,
    count: int = DEFAULT_COUNT,
    kinds: Sequence[str] = KINDS,
    seed: int = DEFAULT_SEED,
    by_model: bool = False,
    output: Path | None = None,
    progress: Progress = silent,
) -> Suggested:
    """Make ``count`` questions from the corpus; ``output`` is a file of JSON lines to write.

    ``by_model`` lets the model of the setting ``judge`` write them from passages.
    """
    if unknown := sorted(set(kinds) - set(KINDS)):
        raise UsageError(f"no question is made from {unknown[0]!r:.40}", hint=", ".join(KINDS))
    if count < 1:
        raise UsageError("at least one question is made")
    workspace.require()
    documents = _shuffled(workspace, seed)
    made = (
        _written(documents, _writer(workspace), seed)
        if by_model
        else _in_turn(documents, kinds, seed)
    )
    found = _kept(workspace, made, count, seed, progress)
    if not found.questions:
        reasons = ", ".join(f"{reason}: {n}" for reason, n in found.left_out.items())
        raise InputError(
            "no question came out of this corpus",
            hint=f"of {found.tried} tried: {reasons}" if reasons else "does it have any documents?",
        )
    if output is not None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in found.rows())
        write_text(output, "".join(lines))
    return found


def _shuffled(workspace: Workspace, seed: int) -> Iterator[StoredDocument]:
    """The documents in an order that the seed decides."""
    names: list[str] = []
    while page := workspace.documents(limit=PAGE, offset=len(names)).documents:
        names += [row.doc_id for row in page]
    for name in sorted(names, key=lambda one: _place(seed, one)):
        yield workspace.document(name)


def _place(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode()).digest()


def _in_turn(
    documents: Iterable[StoredDocument], kinds: Sequence[str], seed: int
) -> Iterator[Suggestion]:
    """One question of each document before any has two: by turns of all kinds."""
    waiting: list[list[Suggestion]] = []
    for number, document in enumerate(documents):
        made = sorted(suggestions(document, kinds), key=lambda one: _place(seed, one.text))
        if not made:
            continue
        wanted = kinds[number % len(kinds)]
        first = next((one for one in made if one.kind == wanted), made[0])
        yield first
        waiting.append([one for one in made if one is not first])
    while waiting:
        for rest in waiting:
            if rest:
                yield rest.pop(0)
        waiting = [rest for rest in waiting if rest]


def _kept(
    workspace: Workspace,
    made: Iterable[Suggestion],
    count: int,
    seed: int,
    progress: Progress,
) -> Suggested:
    known = Known()
    found: list[RoundQuery] = []
    left_out: Counter[str] = Counter()
    tried = 0
    for one in made:
        if len(found) == count or tried == count * TRIED:
            break
        tried += 1
        if known.like(one.text) is not None:
            left_out["like another one"] += 1
        elif reason := _fails(workspace, one):
            left_out[reason] += 1
        else:
            name = f"s{len(found) + 1:03}"
            known.add(name, one.text)
            origin = {SYNTHETIC: one.chunk.chunk_id, "made_by": one.made_by}
            found.append(RoundQuery(name, one.text, classify(one.text), origin))
        progress("suggest", len(found), count)
    return Suggested(tuple(found), tried, dict(left_out.most_common()), seed)


def _fails(workspace: Workspace, one: Suggestion) -> str | None:
    """Why a question is no use; None where it is."""
    prepared = workspace.searcher.prepare(
        one.text,
        k=ANSWERABLE,
        depth=max(ANSWERABLE, workspace.searcher.defaults.depth),
        rerank=False,
        component_timeout_ms=PATIENCE_MS,
    )
    by_words = prepared.answers.lists.get(COMPONENTS[0], ())
    if by_words and by_words[0].chunk_id == one.chunk.chunk_id:
        return "trivial: its passage is first by words alone"
    ranked = [hit.chunk.chunk_id for hit in prepared.fuse_again(k=ANSWERABLE).results]
    if one.chunk.chunk_id not in ranked:
        return f"not answerable: its passage is not among the best {ANSWERABLE}"
    return None


# Written by a language model

Write = Callable[[Chunk], str]


def prompt() -> str:
    """What the model is told; ``{passage}`` stands for the passage."""
    return (files("assay.judges") / "prompts" / "question.txt").read_text(encoding="utf-8")


def _writer(workspace: Workspace) -> tuple[Write, str]:
    """What writes a question about a chunk, and its name."""
    settings = workspace.settings
    if not settings.judge.startswith(("http://", "https://")) or settings.judge_model is None:
        raise UsageError(
            "no language model is configured",
            hint="ASSAY_JUDGE=http://127.0.0.1:11434/v1 and ASSAY_JUDGE_MODEL name one",
        )
    model = judging_model(
        settings.judge, settings.judge_model, settings.judge_key_variable, settings.judge_seconds
    )
    told = prompt()

    def write(chunk: Chunk) -> str:
        passage = f"{chunk.title}\n{chunk.text}"[:PASSAGE_CHARS].replace("</passage>", "")
        said = told.replace("{passage}", passage)
        reply = model.complete([{"role": "user", "content": said}]).text
        line = next((line.strip(' "') for line in reply.splitlines() if line.strip()), "")
        return line if line.endswith("?") else ""

    return write, f"{model.model}, prompt {digest_of(told)[:8]}"


def _written(
    documents: Iterable[StoredDocument], writer: tuple[Write, str], seed: int
) -> Iterator[Suggestion]:
    """A question a document, about the chunk that the seed draws."""
    write, name = writer
    for document in documents:
        if document.chunks:
            chunk = min(document.chunks, key=lambda one: _place(seed, one.chunk_id))
            if text := write(chunk):
                yield Suggestion(text, chunk, MODEL, name)
