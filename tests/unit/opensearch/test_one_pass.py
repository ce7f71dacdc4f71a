"""Does a cluster get both signals of a hybrid model from one pass, and move to it in one step?"""

from __future__ import annotations

import numpy as np
import pytest

from assay.encode.encoders import open_hybrid
from assay.encode.hybrid import Hybrid
from assay.encode.shelf import Shelf
from assay.errors import EngineError
from assay.index.writer import Encoders, passage
from assay.model.vectors import DenseMatrix, SparseVector
from assay.opensearch.cluster import Cluster, Shape
from assay.opensearch.mapping import VECTOR, WEIGHTS
from assay.testing.component import sample
from tests.unit.encode.tiny_hybrid import write_hybrid
from tests.unit.index.helpers import DENSE, ENCODERS, Memory
from tests.unit.opensearch.memory_cluster import MemoryCluster

ROWS = sample()[:6]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Hybrid:
    folder = write_hybrid(tmp_path_factory.mktemp("cluster") / "model")
    found = open_hybrid(str(folder), Shelf(), threads=1)
    assert found is not None
    return found


def encoders(model: Hybrid, passes: list[str]) -> Encoders:
    def both(texts: list[str]) -> tuple[DenseMatrix, list[SparseVector]]:
        passes.extend(texts)
        found = model.encode_both(texts)
        return np.stack([one.dense for one in found]), [one.sparse for one in found]

    return Encoders(
        both=both,
        dense_model=model.model_id,
        sparse_model=model.model_id,
        vocabulary=model.vocabulary,
    )


def test_both_signals_are_loaded_from_one_pass(model: Hybrid) -> None:
    transport, memory, passes = MemoryCluster(), Memory(), list[str]()
    memory.change(ROWS)
    cluster = Cluster(transport, Shape())
    current = cluster.update(memory, encoders(model, passes), model.dimension)
    assert current.models == {"dense": model.model_id, "splade": model.model_id}
    assert sorted(passes) == sorted(passage(row.chunk) for row in ROWS)
    stored = transport.indexes[current.index]["documents"]
    for row in ROWS:
        (wanted,) = model.encode_both([passage(row.chunk)])
        np.testing.assert_allclose(stored[row.key][VECTOR], wanted.dense, atol=1e-6)
        weights = {int(term[1:]): weight for term, weight in stored[row.key][WEIGHTS].items()}
        assert sorted(weights) == wanted.sparse.terms.tolist()
        found = [weights[term] for term in wanted.sparse.terms.tolist()]
        np.testing.assert_allclose(found, wanted.sparse.weights, rtol=2e-3)  # nine bits are kept


def test_an_index_of_older_models_serves_until_the_new_one_is_whole(model: Hybrid) -> None:
    transport, memory, passes = MemoryCluster(), Memory(), list[str]()
    memory.change(ROWS)
    cluster = Cluster(transport, Shape())
    old = cluster.update(memory, ENCODERS, DENSE.dimension)
    transport.fails = {"_aliases"}
    with pytest.raises(EngineError):
        cluster.update(memory, encoders(model, passes), model.dimension)
    assert cluster.current() == old
    transport.fails = set()
    passes.clear()
    new = cluster.update(memory, encoders(model, passes), model.dimension)
    assert (cluster.current(), passes) == (new, [])
    assert new.models["dense"] == model.model_id
    assert len(transport.documents(new.index)) == len(ROWS)
