"""Does the graph of both signals compute what the model is defined to?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.encode import one_pass
from assay.encode.runtime import ModelSession
from assay.encode.tensors import Arrays, read_arrays
from assay.encode.tokens import TokenRow
from assay.errors import FormatError
from tests.unit.encode.tiny import safetensors
from tests.unit.encode.tiny_hybrid import CLS, FIRST, SEP, computed, floats, packed, unpacked

IDS = [CLS, FIRST + 2, FIRST + 9, 100, FIRST + 2, FIRST + 350, SEP]
ARRAYS = packed(floats())


def run(
    arrays: Arrays,
    depth: int,
    *,
    sparse: bool = True,
    products: one_pass.Products = "int8",
    ids: list[int] = IDS,
) -> dict[str, NDArray[np.float32]]:
    model = one_pass.build(arrays, depth, "made", sparse=sparse, products=products)
    row = np.array(ids, np.int64)
    return ModelSession(model, "made").results(TokenRow(row, np.zeros_like(row)))


@pytest.mark.parametrize("depth", one_pass.WAYS)
def test_both_signals_agree_with_numpy(depth: int) -> None:
    wanted = computed(unpacked(ARRAYS), IDS, depth)
    found = run(ARRAYS, depth, products="float")
    np.testing.assert_allclose(found["dense"], wanted.dense, atol=2e-5)
    terms, weights = found["terms"].astype(int), found["weights"]
    assert len(terms) == one_pass.TERMS
    assert (np.diff(weights) <= 0).all()
    # the products with embeddings stay in 8 bits, hence the wider tolerance
    np.testing.assert_allclose(weights, wanted.weights[terms], atol=0.05)
    assert weights[-1] >= np.sort(wanted.weights)[-one_pass.TERMS] - 0.05


@pytest.mark.parametrize("depth", one_pass.WAYS)
def test_floats_that_were_never_quantised_agree_to_the_digit(depth: int) -> None:
    wanted = computed(floats(), IDS, depth)
    found = run(floats(), depth)
    np.testing.assert_allclose(found["dense"], wanted.dense, atol=2e-5)
    np.testing.assert_allclose(
        found["weights"], wanted.weights[found["terms"].astype(int)], atol=2e-4
    )


@pytest.mark.parametrize("depth", one_pass.WAYS)
def test_8_bit_products_are_near(depth: int) -> None:
    wanted = computed(unpacked(ARRAYS), IDS, depth)
    assert float(run(ARRAYS, depth)["dense"] @ wanted.dense) > 0.99


def test_a_query_graph_gives_the_same_vector_and_no_terms() -> None:
    query = run(ARRAYS, 12, sparse=False)
    assert list(query) == ["dense"]
    np.testing.assert_array_equal(query["dense"], run(ARRAYS, 12)["dense"])


def test_special_tokens_are_no_terms_of_a_text() -> None:
    found = run(ARRAYS, 12)
    assert {100, CLS, SEP}.isdisjoint(found["terms"][found["weights"] > 0].astype(int).tolist())


@pytest.mark.parametrize(
    "ids", [[CLS, SEP], [CLS, FIRST, SEP], [CLS, *range(FIRST, FIRST + 62), SEP]]
)
def test_texts_of_any_length(ids: list[int]) -> None:
    wanted = computed(floats(), ids, 6)
    found = run(floats(), 6, ids=ids)
    np.testing.assert_allclose(found["dense"], wanted.dense, atol=2e-5)
    np.testing.assert_allclose(
        found["weights"], wanted.weights[found["terms"].astype(int)], atol=2e-4
    )


def test_the_bytes_of_a_file_become_the_same_arrays() -> None:
    kinds = {
        name: {"int8": "I8", "uint16": "U16"}.get(str(one.dtype)) for name, one in ARRAYS.items()
    }
    named = {name: kind for name, kind in kinds.items() if kind}
    read = read_arrays(safetensors(ARRAYS, named), "made")
    assert read["body.words.weight"].dtype == np.int8
    assert read["expansions"].dtype == np.uint16
    assert read["asked"].dtype == np.float32
    np.testing.assert_array_equal(run(read, 6)["dense"], run(ARRAYS, 6)["dense"])


@pytest.mark.parametrize(
    "name", ["body.words.weight", "asked", "heads.1.bias", "body.layers.7.wide.weight.scale"]
)
def test_missing_weights_are_named(name: str) -> None:
    rest = {key: array for key, array in ARRAYS.items() if key != name}
    with pytest.raises(FormatError, match=name):
        run(rest, 12)


def test_only_the_ways_that_were_trained() -> None:
    with pytest.raises(FormatError, match="no way of 7 layers"):
        run(ARRAYS, 7)


def test_weights_of_another_width_are_refused() -> None:
    narrow = {**ARRAYS, "body.words.weight": ARRAYS["body.words.weight"][:, :40]}
    with pytest.raises(FormatError, match="do not fit together"):
        run(narrow, 12)
