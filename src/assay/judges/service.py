"""How does a language model judge, and how do we know that we understood it?

Prompts are files (``prompts/``, or a folder of the user's own); their digest is part of the judge's
name, and so of every run. The last JSON object of the reply must have a known label. One that has
none is asked for again, once, with the mistake named; after that the opinion has no label and says
why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay import limits
from assay.chat import ChatModel
from assay.digests import digest_of
from assay.errors import JudgeError, MissingFileError, UsageError
from assay.model.answers import Usage, added_usage
from assay.model.judges import BEST_GRADE, JudgeTask, Opinion, Support, TaskKind, graded

CONCURRENCY = 4
ATTEMPTS = 2
SHOWN = 120
READ = 20_000  # characters at the end of a reply in which the object is looked for
_THOUGHT = "<think>", "</think>"
_DECODER = json.JSONDecoder()
_EXPECTED = {
    TaskKind.SUPPORT: f'"label" must be one of {", ".join(Support)}',
    TaskKind.RELEVANCE: f'"grade" must be a whole number from 0 to {BEST_GRADE}',
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts that a model is sent, with ``{text}`` and ``{passage}`` where those go."""

    texts: Mapping[TaskKind, str]

    @property
    def version(self) -> str:
        """The same as long as every word of them is."""
        return digest_of({str(kind): text for kind, text in self.texts.items()})[:12]

    def messages(self, task: JudgeTask) -> list[dict[str, str]]:
        """What is sent for a task; neither text can close its quotation."""
        room = limits.MAX_PROMPT_CHARS
        parts = {"text": task.text[:room], "passage": task.passage[:room]}
        closed = {name: re.sub(r"<(/?\w+>)", r"< \1", part) for name, part in parts.items()}
        filled = re.sub(r"\{(text|passage)\}", lambda m: closed[m[1]], self.texts[task.kind])
        return [{"role": "user", "content": filled}]


@cache
def own_prompts() -> Prompts:
    """The prompts that ship."""
    folder = files("assay.judges") / "prompts"
    return Prompts({kind: (folder / f"{kind}.txt").read_text("utf-8") for kind in TaskKind})


def read_prompts(folder: Path) -> Prompts:
    """The prompts of a folder; one that is missing there is ours."""
    if not folder.is_dir():
        raise MissingFileError(f"there is no folder {folder}", hint="it holds support.txt")
    texts = dict(own_prompts().texts)
    for kind in TaskKind:
        path = folder / f"{kind}.txt"
        if path.exists():
            texts[kind] = text = path.read_text("utf-8")
            for name in ("{text}", "{passage}"):
                if name not in text:
                    raise UsageError(f"{path} does not say where {name} goes")
    return Prompts(texts)


def judging_model(
    url: str, model: str, key_variable: str = "OPENAI_API_KEY", seconds: float = 60.0
) -> ChatModel:
    """A language model whose failures are those of a judge."""
    return ChatModel(
        url,
        model,
        key_variable,
        seconds,
        error=JudgeError,
        without="a judge that needs no service: entailment",
    )


@dataclass(frozen=True, slots=True)
class ServiceJudge:
    """A language model as a judge; at most ``concurrency`` tasks are asked at the same time."""

    model: ChatModel
    prompts: Prompts = field(default_factory=own_prompts)
    concurrency: int = CONCURRENCY
    _pool: ThreadPoolExecutor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="assay-judge")
        object.__setattr__(self, "_pool", pool)

    @property
    def name(self) -> str:
        """Identifies everything known to affect an opinion."""
        told = f"prompts={self.prompts.version},tokens={self.model.max_tokens}"
        return f"{self.model.name}({told})"

    def name_for(self, kind: TaskKind) -> str:
        """The same for one kind of task: of the prompts, only its own matters."""
        told = f"{kind}={digest_of(self.prompts.texts[kind])[:12]},tokens={self.model.max_tokens}"
        return f"{self.model.name}({told})"

    def judge(self, tasks: Sequence[JudgeTask]) -> Iterator[tuple[int, Opinion]]:
        """The opinions as they come; after an error, those that were paid for still do."""
        waiting: dict[Future[Opinion], int] = {
            self._pool.submit(self._one, task): at for at, task in enumerate(tasks)
        }
        problem: JudgeError | None = None
        try:
            for done in as_completed(waiting):
                if done.cancelled():
                    continue
                try:
                    opinion = done.result()
                except JudgeError as first:
                    problem = problem or first
                    for one in waiting:
                        one.cancel()
                else:
                    yield waiting[done], opinion
        finally:
            for one in waiting:
                one.cancel()
        if problem is not None:
            raise problem

    def _one(self, task: JudgeTask) -> Opinion:
        messages = self.prompts.messages(task)
        spent: Usage | None = None
        reply = ""
        for _ in range(ATTEMPTS):
            said = self.model.complete(messages, json=True)
            spent, reply = added_usage(spent, said.usage), said.text
            found = read_reply(task.kind, reply, spent)
            if found is not None:
                return found
            messages = [
                *messages,
                {"role": "assistant", "content": reply},
                {"role": "user", "content": f"That cannot be read: {_EXPECTED[task.kind]}."},
            ]
        return Opinion("", 0.0, f"unreadable reply: {' '.join(reply.split())[:SHOWN]}", spent)


def _last_object(reply: str) -> dict[str, Any] | None:
    """The last JSON object of a reply; what the model thought aloud before it does not count."""
    begin, end = _THOUGHT
    said = reply.rpartition(end)[2]
    if begin in said:  # it was cut off while thinking
        return None
    said = said[-READ:]
    found: dict[str, Any] | None = None
    at = said.find("{")
    while at >= 0:
        try:
            found, after = _DECODER.raw_decode(said, at)
        except ValueError:
            after = at + 1
        except RecursionError:
            return None
        at = said.find("{", after)
    return found


def read_reply(kind: TaskKind, reply: str, usage: Usage | None = None) -> Opinion | None:
    """The opinion in a reply; None where it has no known label."""
    said = _last_object(reply)
    if said is None:
        return None
    why = said.get("reason")
    reason = " ".join(why.split())[:500] if isinstance(why, str) else ""
    if kind is TaskKind.RELEVANCE:
        grade = said.get("grade")
        if type(grade) is not int or not 0 <= grade <= BEST_GRADE:
            return None
        return graded(grade, reason, usage)
    label = str(said.get("label", "")).strip().lower()
    if label not in set(Support):
        return None
    return Opinion(label, float(label == Support.SUPPORTED), reason, usage)
