"""Do tokens lie one pair after the other, and do the scores stay those of the model?

Arrays are checked anywhere; the model runs on a machine with a GPU only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.encode.cross_encoder import BATCH
from assay.encode.tokens import TokenRow
from assay.encode.torch_gpu import _recorded, gpu_available
from assay.encode.torch_graphs import Padded, padded
from assay.encode.torch_packed import Packed, packed
from assay.extras import import_optional

LONGEST = 48


def row(*ids: int) -> TokenRow:
    return TokenRow(np.array(ids), np.array([0] + [1] * (len(ids) - 1)))


def test_pairs_lie_one_after_the_other_and_positions_begin_anew() -> None:
    table, borders = packed([row(7, 8, 9), row(5), row(3, 4)], 8, first_position=2)
    assert table.tolist() == [
        [7, 8, 9, 5, 3, 4, 0, 0],
        [2, 3, 4, 2, 2, 3, 0, 0],
        [0, 1, 1, 0, 0, 1, 0, 0],
    ]
    assert borders.tolist() == [0, 3, 4, *[6] * (BATCH - 2)]
    assert {table.dtype, borders.dtype} == {np.dtype(np.int32)}


def test_a_full_batch_leaves_no_pair_empty() -> None:
    table, borders = packed([row(1, 2)] * BATCH, 2 * BATCH, first_position=0)
    assert borders.tolist() == list(range(0, 2 * BATCH + 1, 2))
    assert table[1].tolist() == [0, 1] * BATCH


def test_padding_is_masked_but_not_in_rows_that_nobody_reads() -> None:
    arrays = padded([row(7, 8, 9), row(5)], (3, 4), pad=1)
    assert arrays["input_ids"].tolist() == [[7, 8, 9, 1], [5, 1, 1, 1], [1, 1, 1, 1]]
    assert arrays["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 1]]
    assert arrays["token_type_ids"].tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.skipif(not gpu_available(), reason="this machine has no GPU")
@pytest.mark.parametrize(
    ("name", "way", "typed"),
    [
        ("Bert", Packed, True),
        ("Roberta", Packed, False),
        ("XLMRoberta", Packed, False),
        ("Electra", Padded, True),
        ("DistilBert", Padded, False),
    ],
)
def test_scores_are_those_of_the_model(name: str, way: type, typed: bool) -> None:
    torch, transformers = import_optional("torch"), import_optional("transformers")
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(
        vocab_size=200,
        hidden_size=64,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=128,
        num_labels=1,
        initializer_range=0.2,
    )
    model: Any = getattr(transformers, f"{name}ForSequenceClassification")(config)
    model = model.half().cuda().eval()
    names = ("input_ids", "attention_mask", *(("token_type_ids",) * typed))
    found = _recorded(torch, model, LONGEST, names)
    assert found is not None
    assert type(found) is way
    draw = np.random.default_rng(0)
    for lengths in ([LONGEST] * BATCH, [5], [2, 30, LONGEST, 17]):
        rows = [row(*draw.integers(5, 200, length)) for length in lengths]
        if not typed:
            rows = [TokenRow(one.ids, np.zeros_like(one.types)) for one in rows]
        scores = found.logits(rows).float().cpu().numpy()
        for one, score in zip(rows, scores, strict=True):
            arrays = padded([one], (1, len(one.ids)), 0)
            given = {each: torch.from_numpy(arrays[each]).cuda() for each in names}
            with torch.inference_mode():
                assert score == pytest.approx(model(**given).logits.item(), abs=0.01)
