"""How does an OpenAI-compatible service answer a question?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.answers import prompt
from assay.chat import ChatModel
from assay.errors import AnswererError
from assay.model.answers import Answer, Passage


@dataclass(frozen=True, slots=True)
class RemoteAnswerer:
    """Calls ``model`` at ``url``; ``key_variable`` names the variable with the key."""

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    seconds: float = 60.0
    max_tokens: int = 512
    passages: int = 8

    def __post_init__(self) -> None:
        self._chat()  # refuses an address that is none

    @property
    def name(self) -> str:
        """Identifies everything known to affect an answer."""
        told = f"prompt={prompt.version()},passages={self.passages},tokens={self.max_tokens}"
        return f"{self._chat().name}({told})"

    def answer(self, question: str, passages: Sequence[Passage]) -> Answer:
        """The model's answer from the best passages; without any it is not called."""
        shown = passages[: self.passages]
        if not shown:
            return Answer("", grounded=False, refusal_reason="nothing was found")
        said = self._chat().complete(prompt.messages(question, shown))
        return replace(prompt.parse(said.text, shown), usage=said.usage)

    def _chat(self) -> ChatModel:
        return ChatModel(
            self.url,
            self.model,
            self.key_variable,
            self.seconds,
            self.max_tokens,
            error=AnswererError,
            without="--answerer extractive needs no service",
        )
