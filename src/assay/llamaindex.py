"""How does a query engine of LlamaIndex search with assay?

>>> from assay.llamaindex import AssayRetriever  # doctest: +SKIP
>>> AssayRetriever("papers/.assay", k=5).retrieve("dose in renal impairment")  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.extras import missing
from assay.passages import K, check_options, found, opened

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ImportError as problem:
    raise missing("llama_index_core", problem) from problem

if TYPE_CHECKING:
    from assay.app.interface import Assay


class AssayRetriever(BaseRetriever):
    """Finds passages of a workspace or a service as nodes of LlamaIndex.

    ``assay`` is a ``Workspace``, a ``Client``, the folder of a workspace or the address of a
    service; ``k`` the number of passages; ``options`` are options of a search by name.
    """

    def __init__(self, assay: Assay | str | Path, *, k: int = K, **options: Any) -> None:
        super().__init__()
        self.assay = opened(assay)
        check_options(options)
        self.k = k
        self.options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=one.chunk_id,
                    text=one.text,
                    metadata=dict(one.metadata),
                    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=one.doc_id)},
                ),
                score=one.score,
            )
            for one in found(self.assay, query_bundle.query_str, self.k, self.options)
        ]
