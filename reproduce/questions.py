"""Which questions of our own are asked, and which chunks answer them?

Read from the ``subjects`` of a file: each has its part (dev or test), the documents about it, and
its questions. ``trust.yaml`` says more about the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.model.document import BELOW, Chunk
from assay.model.sections import label_of
from assay.strict_yaml import MappingNode, Node, ScalarNode, SequenceNode, load_yaml

_NO_SECTION = "other"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what it is about, and what is right."""

    ask: str
    subject: str
    part: str
    kind: str
    intents: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    table: bool = False
    says: str = ""
    answer: tuple[str, ...] = ()

    def is_about(self, document: str) -> bool:
        """Is this document about the subject?"""
        return document in self.documents or document in self.also

    def is_answered_by(self, chunk: Chunk, section: str = "") -> bool:
        """Is this a right chunk, or one of this section?"""
        return (
            chunk.doc_id in self.documents
            and _is_in(chunk, (section,) if section else self.sections)
            and (chunk.is_table or not self.table)
            and self.says.casefold() in chunk.text.casefold()
        )


def questions(path: Path) -> list[Question]:
    """All questions of a file, in its order."""
    subjects = _mapping(_mapping(load_yaml(path)).get("subjects"))
    return [one for name, body in subjects.entries for one in _of_subject(name.text, body)]


def text(path: Path, name: str) -> str:
    """A text at the top of a file."""
    return _text(_mapping(load_yaml(path)).get(name))


def texts(path: Path, name: str) -> tuple[str, ...]:
    """A list of texts at the top of a file."""
    return _texts(_mapping(load_yaml(path)).get(name))


def _of_subject(name: str, node: Node) -> Iterator[Question]:
    body = _mapping(node)
    asked = body.get("questions")
    assert isinstance(asked, SequenceNode), name
    for one in map(_mapping, asked.items):
        yield Question(
            ask=_text(one.get("ask")),
            subject=name,
            part=_text(body.get("part")),
            kind=_text(one.get("class")),
            intents=_texts(one.get("intents")),
            documents=_texts(one.get("documents") or body.get("documents")),
            also=_texts(body.get("also")),
            sections=_texts(one.get("sections")),
            table=_text(one.get("table")) == "true",
            says=_text(one.get("says")),
            answer=_texts(one.get("answer")),
        )


def _is_in(chunk: Chunk, sections: tuple[str, ...]) -> bool:
    """By its label or, in a drug label, the section at the top of its headings."""
    top = _NO_SECTION
    if chunk.source == "spl":
        top = label_of(str(chunk.metadata.get("heading", "")).split(BELOW)[0])
    return top in sections or chunk.section_label in sections


def _mapping(node: Node | None) -> MappingNode:
    assert isinstance(node, MappingNode), node
    return node


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, ScalarNode) else ""


def _texts(node: Node | None) -> tuple[str, ...]:
    return tuple(map(_text, node.items)) if isinstance(node, SequenceNode) else ()
