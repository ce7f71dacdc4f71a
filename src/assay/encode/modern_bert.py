"""How does a ModernBERT become a model for onnxruntime?

Warner et al. 2024: norms come before attention and before the gated feed-forward layer, queries and
keys are rotated by their place instead of adding a table, and most layers see only tokens nearby.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.encode.bert_graph import Builder
from assay.encode.families import Shape
from assay.encode.tensors import Tensors

_FAR = -1e9  # what is out of sight gets no share


class ModernBuilder(Builder):
    """Builds the layers of ModernBERT."""

    def __init__(self, tensors: Tensors, shape: Shape, source: str) -> None:
        super().__init__(tensors, shape, source)
        self._made: dict[float, tuple[str, str]] = {}
        self._masks: dict[int, str] = {}
        self._length = ""

    def transformer(self) -> str:
        """Hidden states, one row per token."""
        graph = self.graph
        ids = graph.op("Reshape", graph.input_ids("input_ids"), graph.constant([-1]))
        self._length = graph.op("Shape", ids)
        state = self.norm("embeddings.LayerNorm", graph.op("Gather", self.table("word"), ids))
        for layer in range(self.shape.layers):
            state = self._block(layer, state)
        return self.norm("final_norm", state)

    def _block(self, layer: int, state: str) -> str:
        graph, name = self.graph, f"layers.{layer}."
        seen = state if layer == 0 else self.norm(f"{name}attn_norm", state)
        mixed = self.linear(f"{name}attn.Wo", self._attended(layer, seen))
        state = graph.op("Add", state, mixed)
        wide = self.linear(f"{name}mlp.Wi", self.norm(f"{name}mlp_norm", state))
        given, gate = graph.several("Split", wide, results=2, axis=-1, num_outputs=2)
        narrow = self.linear(f"{name}mlp.Wo", graph.op("Mul", self.activated(given), gate))
        return graph.op("Add", state, narrow)

    def _attended(self, layer: int, state: str) -> str:
        graph, size = self.graph, self.shape.hidden // self.shape.heads
        query, key, value = self.split(self.linear(f"layers.{layer}.attn.Wqkv", state))
        query, key = (self._turned(each, self.shape.thetas[layer]) for each in (query, key))
        query = graph.op("Mul", query, graph.constant(float(size) ** -0.5))
        return self.mix(query, key, value, self._sight(self.shape.windows[layer]))

    def _turned(self, state: str, theta: float) -> str:
        """Every pair of numbers rotated by an angle that grows with the token's place."""
        graph = self.graph
        cosine, sine = self._rotations(theta)
        first, second = graph.several("Split", state, results=2, axis=-1, num_outputs=2)
        crossed = graph.op("Concat", graph.op("Neg", second), first, axis=-1)
        return graph.op("Add", graph.op("Mul", state, cosine), graph.op("Mul", crossed, sine))

    def _rotations(self, theta: float) -> tuple[str, str]:
        if theta not in self._made:
            size = self.shape.hidden // self.shape.heads
            steps = (np.arange(0, size, 2, dtype=np.float32) / np.float32(size)).astype(np.float32)
            speeds = np.float32(1) / np.float32(theta) ** steps
            places = np.arange(self.shape.positions, dtype=np.float32)
            angles = np.tile(places[:, None] * speeds[None], 2)
            self._made[theta] = self._rows(np.cos(angles)), self._rows(np.sin(angles))
        return self._made[theta]

    def _rows(self, table: NDArray[np.float32]) -> str:
        """The first rows of a table, one per token."""
        graph = self.graph
        return graph.op("Slice", graph.constant(table), graph.constant([0]), self._length)

    def _sight(self, window: int) -> str:
        """What is added to the products of tokens: much less than 0 where they are far apart."""
        if window and window not in self._masks:
            graph = self.graph
            apart = graph.op("Abs", self.distances(self._length))
            far = graph.op("Greater", apart, graph.constant([window]))
            self._masks[window] = graph.op("Mul", graph.floats(far), graph.constant(_FAR))
        return self._masks.get(window, "")
