"""How are batches drawn from the prepared arrays, on the device that trains?"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.model import CLS, PAD, SEP


def fast(device: torch.device | str) -> AbstractContextManager[Any]:
    """Products in half precision where the device is made for them."""
    return torch.autocast("cuda", torch.bfloat16, enabled=torch.device(device).type == "cuda")


def rows_of(
    tokens: Tensor,
    start: Tensor,
    length: Tensor,
    width: int,
    *,
    hole: Tensor | None = None,
    gap: Tensor | None = None,
) -> Tensor:
    """Texts with special tokens, cut to ``width``; ``gap`` tokens from ``hole`` on are left out."""
    if hole is None or gap is None:
        hole, gap = torch.zeros_like(start), torch.zeros_like(start)
    room = (length - gap).clamp_max(width - 2)[:, None]
    at = torch.arange(width, device=tokens.device)[None, :] - 1
    place = at + torch.where(at >= hole[:, None], gap[:, None], 0)
    place = (start[:, None] + place).clamp(0, len(tokens) - 1)
    found = tokens[place].long()
    found = torch.where(at < room, found, PAD)
    found = torch.where(at == room, SEP, found)
    found[:, 0] = CLS
    return found


@dataclass(slots=True)
class Ragged:
    """Rows of different lengths in one array."""

    values: Tensor
    start: Tensor
    length: Tensor

    @classmethod
    def of(cls, values: np.ndarray, borders: np.ndarray, device: str) -> Ragged:
        """Move the rows to a device."""
        where = torch.from_numpy(borders.astype(np.int64)).to(device)
        moved = torch.from_numpy(values.astype(np.int32)).to(device)
        return cls(moved, where[:-1], where[1:] - where[:-1])

    def __len__(self) -> int:
        return len(self.start)

    def rows(self, which: Tensor, width: int) -> Tensor:
        """The texts of these rows."""
        return rows_of(self.values, self.start[which], self.length[which], width)

    def many_hot(self, which: Tensor, width: int, weights: Tensor) -> Tensor:
        """The numbers in these rows as weighted indicators."""
        start, length = self.start[which], self.length[which]
        most = max(int(length.max()), 1)
        at = torch.arange(most, device=start.device)[None, :]
        place = (start[:, None] + at).clamp_max(max(len(self.values) - 1, 0))
        column = torch.where(at < length[:, None], self.values[place].long(), width)
        full = torch.zeros(len(which), width + 1, device=start.device)
        full.scatter_(1, column, 1.0)
        return full[:, :width] * weights


class Pool:
    """The training data on the device."""

    def __init__(self, path: Path, device: str) -> None:
        data = np.load(path)
        self.documents = Ragged.of(data["document_tokens"], data["document_borders"], device)
        self.queries = Ragged.of(data["query_tokens"], data["query_borders"], device)
        self.mesh = Ragged.of(data["mesh"], data["mesh_borders"], device)
        self.asked = Ragged.of(data["asked"], data["asked_borders"], device)
        self.inside = torch.from_numpy(data["inside"]).to(device)  # pieces that go on a word
        self.rarity = torch.from_numpy(data["rarity"]).to(device)
        self.source = torch.from_numpy(data["document_source"].astype(np.int64)).to(device)
        pairs = torch.from_numpy(data["pairs"].astype(np.int64)).to(device)
        self.document, self.hole, self.gap, self.kind, self.fold = pairs.unbind(1)

    def passages(self, pair: Tensor, width: int) -> Tensor:
        """The passage of each pair, without what its query was taken from."""
        document, texts = self.document[pair], self.documents
        return rows_of(
            texts.values,
            texts.start[document],
            texts.length[document],
            width,
            hole=self.hole[pair],
            gap=self.gap[pair],
        )

    def frequencies(self, vocabulary: int) -> Tensor:
        """In how many documents each term occurs."""
        texts = self.documents
        owner = torch.repeat_interleave(
            torch.arange(len(texts), device=texts.start.device), texts.length
        )
        both = torch.unique(owner * vocabulary + texts.values.long())
        return torch.bincount(both % vocabulary, minlength=vocabulary).float()
