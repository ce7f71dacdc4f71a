"""How does a chain of LangChain search with assay?

>>> from assay.langchain import AssayRetriever  # doctest: +SKIP
>>> retriever = AssayRetriever(assay="papers/.assay", k=5)  # doctest: +SKIP
>>> retriever.invoke("dose in renal impairment")[0].metadata["doc_id"]  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from assay.extras import missing
from assay.passages import K, check_options, found, opened, place_of, written_place

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as problem:
    raise missing("langchain_core", problem) from problem


class AssayRetriever(BaseRetriever):
    """Finds passages of a workspace or a service as documents of LangChain.

    ``assay`` is a ``Workspace``, a ``Client``, the folder of a workspace or the address of a
    service; ``k`` the number of passages; ``options`` are options of a search by name.
    """

    model_config = {"extra": "forbid"}  # noqa: RUF012 - a name that is mistyped is refused

    assay: Any
    k: int = K
    options: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    _place: str | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Open the workspace or the service."""
        super().model_post_init(context)
        check_options(self.options)
        self._place = place_of(self.assay)
        self.assay = opened(self.assay)

    def __getstate__(self) -> dict[Any, Any]:
        """What another process opens for itself."""
        state = super().__getstate__()
        return {**state, "__dict__": {**state["__dict__"], "assay": written_place(self._place)}}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        """Open the workspace or the service there."""
        super().__setstate__(state)
        self.assay = opened(self.assay)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        **options: Any,
    ) -> list[Document]:
        """The best passages; ``invoke(query, k=3, rerank=True)`` changes options for one query."""
        wanted = {**self.options, **options}
        return [
            Document(page_content=one.text, id=one.chunk_id, metadata=dict(one.metadata))
            for one in found(self.assay, query, self.k if k is None else k, wanted)
        ]
