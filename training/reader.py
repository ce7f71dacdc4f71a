"""How does the encoder's body learn to read two texts together?

Every large matrix of the shipped encoder gets a product of two small ones beside it (Hu et al.
2021, low-rank adaptation); these, the biases, the norms and a head learn, the rest is fixed. What
was learned is a file of one or two megabytes, which the product adds to the encoder's matrices when
it opens the model (``assay.encode.adapter``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.export import Arrays, load, rows_as_int8, unpacked
from training.model import WIDTH, Body

ADAPTED = ("qkv", "out", "wide", "narrow")
SMALL = (".down", ".up")


class Adapted(nn.Module):
    """A fixed product with a small learned one beside it; its bias learns, too."""

    def __init__(self, fixed: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = fixed.weight
        self.bias = fixed.bias
        self.down = nn.Parameter(torch.randn(rank, fixed.in_features) / fixed.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(fixed.out_features, rank))

    def forward(self, state: Tensor) -> Tensor:
        """Both products."""
        small = functional.linear(functional.linear(state, self.down), self.up)
        return functional.linear(state, self.weight, self.bias) + small


class Reader(nn.Module):
    """Two texts as one row; ``outputs`` numbers from the state of the first token."""

    def __init__(self, outputs: int, rank: int) -> None:
        super().__init__()
        self.body = Body()
        self.kinds = nn.Parameter(torch.zeros(2, WIDTH))
        self.score = nn.Linear(WIDTH, outputs)
        nn.init.normal_(self.score.weight, std=0.02)
        nn.init.zeros_(self.score.bias)
        self.body.requires_grad_(False)
        for layer in self.body.layers:
            for name in ADAPTED:
                setattr(layer, name, Adapted(getattr(layer, name), rank))
            layer.norm.requires_grad_(True)
            layer.norm2.requires_grad_(True)
        for name, value in self.named_parameters():
            if name.startswith("body.layers.") and name.endswith(".bias"):
                value.requires_grad_(True)

    def forward(self, ids: Tensor, second: Tensor) -> Tensor:
        """The numbers of each row; ``second`` is 1 where a token belongs to the second text."""
        (state,) = self.body(ids, self.kinds[second])
        return self.score(state[:, 0]).float()


def start(encoder: Path, outputs: int, rank: int, device: str) -> Reader:
    """A reader whose body is that of the shipped encoder."""
    state = {
        name: torch.from_numpy(array)
        for name, array in unpacked(load(encoder)).items()
        if name.startswith("body.") and not name.startswith("body.short.")
    }
    model = Reader(outputs, rank)
    missing, strange = model.load_state_dict(state, strict=False)
    assert not strange, strange
    assert all(name.endswith(SMALL) or not name.startswith("body.") for name in missing), missing
    return model.to(device)


@torch.no_grad()
def begin_as(model: Reader, adapter: Path) -> None:
    """Begin with what another reader learned: its products, cut to this one's rank."""
    found = dict(np.load(adapter))
    mine = dict(model.named_parameters())
    for name, array in found.items():
        if name.endswith(".up"):
            whole, other = name, f"{name.removesuffix('.up')}.down"
            between = found[f"{whole}.scale"] * found[f"{other}.scale"]
            product = (array * between) @ found[other].astype(np.float32)
            left, size, right = torch.linalg.svd(
                torch.from_numpy(product).to(model.kinds.device), full_matrices=False
            )
            rank = mine[whole].shape[1]
            root = size[:rank].sqrt()
            mine[whole].copy_(left[:, :rank] * root)
            mine[other].copy_(root[:, None] * right[:rank])
        elif not name.endswith((".down", ".scale")) and not name.startswith("score."):
            mine[name].copy_(torch.from_numpy(array.astype(np.float32)))


def learn(
    model: Reader, loss_of_batch: Callable[[], Tensor], steps: int, rate: float, average: float
) -> None:
    """Take these steps, and end with the mean of the weights over the last of them.

    The small matrices learn at the whole rate, everything else at a quarter of it.
    """
    own = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    small = [value for name, value in own if name.endswith(SMALL)]
    rest = [value for name, value in own if not name.endswith(SMALL)]
    learning = [*small, *rest]
    optimizer = torch.optim.AdamW(
        [{"params": small, "rate": rate}, {"params": rest, "rate": rate / 4}],
        lr=rate,
        weight_decay=0.01,
        fused=model.kinds.is_cuda,
    )
    means = [value.detach().clone() for value in learning]
    model.train()
    began = time.time()
    for at in range(steps):
        rise = min(1.0, (at + 1) / (0.06 * steps))
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * rise * (1 - at / steps)
        loss = loss_of_batch()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        with torch.no_grad():
            near = min(average, at / (at + 10))
            torch._foreach_lerp_(means, [one.detach() for one in learning], 1 - near)
        if at % 250 == 0:
            print(f"step {at} {time.time() - began:.0f} s {float(loss.detach()):.3f}", flush=True)
    with torch.no_grad():
        for value, mean in zip(learning, means, strict=True):
            value.copy_(mean)
    print(f"{steps} steps, {time.time() - began:.0f} s", flush=True)


def learned(model: Reader) -> Arrays:
    """What was learned: small matrices as int8, the rest in half precision.

    ``up`` and ``down`` have one scale for each of the numbers between them.
    """
    arrays: Arrays = {}
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        array = value.detach().float().cpu().numpy()
        if name.endswith(".down"):
            arrays[name], arrays[f"{name}.scale"] = rows_as_int8(array)
        elif name.endswith(".up"):
            whole, arrays[f"{name}.scale"] = rows_as_int8(array.T)
            arrays[name] = np.ascontiguousarray(whole.T)
        else:
            arrays[name] = array.astype(np.float16)
    return arrays


def compiled(model: Reader, *, on: bool) -> None:
    """Compile the layers for training, or go back for texts of any length."""
    for layer in model.body.layers:
        if on:
            layer.compile(dynamic=False)
        else:
            layer._compiled_call_impl = None


def recipes(words: list[str]) -> list[dict[str, str]]:
    """The settings of each training, ``key=value``; ``--`` begins another one."""
    found: list[dict[str, str]] = [{}]
    for word in words:
        if word == "--":
            found.append({})
        else:
            key, _, value = word.partition("=")
            found[-1][key] = value
    return found
