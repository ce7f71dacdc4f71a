"""How does a pipeline of Haystack search with assay?

>>> from assay.haystack import AssayRetriever  # doctest: +SKIP
>>> pipeline.add_component("retriever", AssayRetriever("papers/.assay", k=5))  # doctest: +SKIP

Haystack reads the annotations of ``run``, so they must not be texts here. It loads classes of
modules that it was told to trust only: whoever imports this one before ``Pipeline.loads`` does.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import UsageError
from assay.extras import missing
from assay.model.conditions import Condition, text_of
from assay.model.query import FILTER_OPTIONS
from assay.passages import K, check_options, found, opened, place_of, written_place

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ImportError as problem:
    raise missing("haystack_ai", problem) from problem

if TYPE_CHECKING:
    from assay.app.interface import Assay

with suppress(ImportError):  # Haystack 2 loads any class
    from haystack.core.serialization import allow_deserialization_module

    allow_deserialization_module(__name__)

_OPERATORS: Mapping[str, str] = {
    **{one: one for one in ("!=", ">", ">=", "<", "<=")},
    "==": "=",
    "in": "=",
    "not in": "!=",
}
"""What comparisons of Haystack are to a search."""


@component
class AssayRetriever:
    """Finds passages of a workspace or a service as documents of Haystack.

    ``assay`` is a ``Workspace``, a ``Client``, the folder of a workspace or the address of a
    service; only a folder or an address can be written into the file of a pipeline. ``k`` is the
    number of passages, ``options`` are options of a search by name.
    """

    def __init__(
        self,
        assay: "Assay | str | Path",
        k: int = K,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.options = dict(options or {})
        check_options(self.options)
        self.place = place_of(assay)
        self.assay = opened(assay)
        self.k = k

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """The best passages for a query; ``filters`` are as Haystack or as a search has them."""
        options = {**self.options, **({} if filters is None else _as_options(filters))}
        passages = found(self.assay, query, self.k if top_k is None else top_k, options)
        return {
            "documents": [
                Document(
                    id=one.chunk_id, content=one.text, score=one.score, meta=dict(one.metadata)
                )
                for one in passages
            ]
        }

    def to_dict(self) -> dict[str, Any]:
        """The component as the file of a pipeline has it."""
        written: dict[str, Any] = default_to_dict(
            self, assay=written_place(self.place), k=self.k, options=self.options
        )
        return written

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "AssayRetriever":
        """The component that a file describes."""
        made: AssayRetriever = default_from_dict(cls, data)
        return made


def _as_options(filters: dict[str, Any]) -> dict[str, Any]:
    """The options of a search that filters of Haystack mean; its own filters as they are."""
    if "operator" not in filters:
        return {"filters": filters}
    options: dict[str, Any] = {"filter": []}
    for condition in _conditions(filters):
        if condition.field not in FILTER_OPTIONS:
            options["filter"].append(str(condition))
        elif condition.operator == "=" and condition.field not in options:
            options[condition.field] = list(condition.values)
        else:
            raise _refused(f"{condition.field} {condition.operator}")
    return options


def _conditions(filters: Any) -> Iterator[Condition]:
    try:
        operator = filters["operator"]
        if operator == "AND":
            for one in filters["conditions"]:
                yield from _conditions(one)
            return
        value = filters["value"]
        values = value if isinstance(value, list | tuple | set) else [value]
        field = str(filters["field"]).removeprefix("meta.")
        yield Condition(field, _OPERATORS[operator], tuple(map(text_of, values)))
    except (KeyError, TypeError, ValueError):
        raise _refused(f"{filters!r:.100}") from None


def _refused(what: str) -> UsageError:
    return UsageError(
        f"a search has no such filter: {what}",
        hint=f"one of {', '.join(_OPERATORS)} a field, joined by AND",
    )
