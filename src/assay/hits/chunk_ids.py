"""Do retrieved ids look like chunks of judged documents, though nothing says that they are?

Ids of other systems (``doc7#3``, ``doc7_p2``) match no judged document unless someone says what
separates document and chunk, which looks like a bad ranking.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import AnyStr

from assay.plural import counted

_BETWEEN = re.compile(r"[\W_]")
"""Where the id of a document may end within that of a chunk."""


def holds(text: AnyStr, mark: AnyStr) -> bool:
    """Whether the mark occurs in a long text that mostly lacks one of its characters.

    Single characters are found a hundred times faster than marks.
    """
    return all(mark[at : at + 1] in text for at in range(len(mark))) and mark in text


def of_judged_documents(alone: Set[str], wanted: Set[str]) -> str | None:
    """What to say of ids that stand for themselves and begin with that of a judged document."""
    found = {name: document for name in sorted(alone) if (document := _begins(name, wanted))}
    return _may_be_chunks(found) if found else None


def _begins(name: str, wanted: Set[str]) -> str | None:
    """The longest judged document whose id this one begins with."""
    ends = [at.start() for at in _BETWEEN.finditer(name)]
    return next((name[:end] for end in reversed(ends) if name[:end] in wanted), None)


def _may_be_chunks(found: Mapping[str, str]) -> str:
    first, document = next(iter(found.items()))
    rest = (name.removeprefix(owner) for name, owner in found.items())
    return (
        f"{counted(len(found), 'retrieved id')} may be of judged documents and cannot count as "
        f"such: {first} (of {document}?); {what_to_do(map(_separator, rest))}"
    )


def _separator(rest: str) -> str:
    """What stands between document and number: ``#`` of ``#3``, ``_p`` of ``_p2``."""
    found = re.match(r"[\W_]+[A-Za-z]*(?=[0-9]+$)|[\W_]+", rest)
    return found[0] if found else rest[:1]


def what_to_do(separators: Iterable[str]) -> str:
    """How to tell the documents of such ids, by what seems to separate them."""
    ((likely, _),) = Counter(separators).most_common(1)
    return f'name what separates them (chunk_separator, as in "{likely}") or return doc_id as well'
