"""Which form of 8-bit arithmetic keeps the vectors near those of floats?

    python -m training.bits FOLDER ENCODER.safetensors LISTS.npz OUT

Onnxruntime's 8-bit products round states to 256 steps between the smallest and the largest number
of a text. Here floats are rounded in the same way, so that other forms can be tried on a GPU in
seconds:

    text     as the product runs: one scale a text
    even     channels are divided by their expected size first, as adapters do
    token    one scale a token
    narrow   the second product of the feed-forward part in floats
    last     the last three layers in floats

Prints the mean cosine of passages' vectors to those of floats, and writes ``OUT/FORM-lists.npz``
for ``training.fuse``. The terms are those of LISTS (``training.train``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from assay.encode import one_pass
from assay.encode.adapter import channel_sizes
from training.arrays import Ragged
from training.evaluate import QUERY_WIDTH, WIDTH, Collection, Lists, batches, best, even
from training.export import Arrays, load, rows_as_int8, unpacked
from training.model import PAD, Encoder
from training.reader import ADAPTED

Sizes = list[dict[str, np.ndarray]]
STEPS = 255


@dataclass(frozen=True, slots=True)
class Form:
    """A form of 8-bit arithmetic; ``exact`` says which products of which layer stay floats."""

    by_token: bool = False
    evened: bool = False
    exact: Callable[[int, str], bool] = lambda layer, part: False


FORMS = {
    "float": Form(exact=lambda layer, part: True),
    "text": Form(),
    "even": Form(evened=True),
    "token": Form(by_token=True),
    "narrow": Form(exact=lambda layer, part: part == "narrow"),
    "last": Form(exact=lambda layer, part: layer >= 9),
}


class Rounded(nn.Module):
    """A product of states that are rounded; ``real`` is true where there is a token."""

    real: Tensor

    def __init__(self, exact: nn.Linear, form: Form, sizes: np.ndarray | None) -> None:
        super().__init__()
        self.weight, self.bias, self.by_token = exact.weight.data, exact.bias.data, form.by_token
        self.sizes: Tensor | None = None
        if form.evened and sizes is not None:
            self.sizes = torch.from_numpy(sizes).to(self.weight)
            whole, scale = rows_as_int8((self.weight * self.sizes).cpu().numpy())
            self.weight = torch.from_numpy(whole * scale[:, None]).to(self.weight)

    def forward(self, state: Tensor) -> Tensor:
        """The product."""
        if self.sizes is not None:
            state = state / self.sizes
        here = torch.where(Rounded.real[..., None], state, 0.0)
        over = (2,) if self.by_token else (1, 2)
        low, high = here.amin(over, keepdim=True), here.amax(over, keepdim=True)
        low, high = low.clamp_max(0), high.clamp_min(0)
        step = ((high - low) / STEPS).clamp_min(1e-12)
        zero = (-low / step).round()
        whole = ((state / step).round() + zero).clamp(0, STEPS) - zero
        return functional.linear(whole * step, self.weight, self.bias)


@torch.no_grad()
def vectors(model: Encoder, texts: Ragged, width: int) -> Tensor:
    """The vectors of all texts."""
    found = torch.empty(len(texts), 384, device=texts.length.device)
    for which in batches(texts, 96):
        ids = even(texts.rows(which, width))
        Rounded.real = ids != PAD
        found[which] = model.dense(model.states(ids)[-1], ids, len(model.exits) - 1)
    return found


def sizes_of(state: Arrays) -> Sizes:
    """How large every channel is expected to be before each product, by layer."""
    found, before = [], "body.norm"
    for layer in one_pass.layers(one_pass.LONG):
        found.append(channel_sizes(state, layer, before, state[f"{layer}wide.weight"]))
        before = f"{layer}norm2"
    return found


def arrange(model: Encoder, exact: list[dict[str, nn.Linear]], form: Form, sizes: Sizes) -> None:
    """Let the model compute in this form."""
    for at, layer in enumerate(model.body.layers):
        for part, product in exact[at].items():
            kept = form.exact(at, part)
            setattr(layer, part, product if kept else Rounded(product, form, sizes[at].get(part)))


def main(arguments: list[str]) -> None:
    """Write the lists of every form."""
    folder, path, lists, out = (Path(each) for each in arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    state = unpacked(load(path))
    model = Encoder()
    model.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    model = model.to(device).eval()
    exact = [{part: getattr(layer, part) for part in ADAPTED} for layer in model.body.layers]
    sizes = sizes_of(state)
    given = dict(np.load(lists))
    floats: dict[str, Tensor] = {}
    for title, form in FORMS.items():
        arrange(model, exact, form, sizes)
        found: Lists = {key: array for key, array in given.items() if "@12/sparse" in key}
        for name in sorted({key.partition("@")[0] for key in found}):
            one = Collection(folder / f"{name}.npz", device)
            passages = vectors(model, one.documents, WIDTH)
            near = floats.setdefault(name, passages)
            print(f"{title:8}{name:12} {float((passages * near).sum(1).mean()):.4f}", flush=True)
            key = f"{name}@12/dense"
            asked = vectors(model, one.queries, QUERY_WIDTH)
            found[key], found[f"{key}/scores"] = best(asked @ passages.T)
        np.savez_compressed(out / f"{title}-lists.npz", **found)


if __name__ == "__main__":
    main(sys.argv[1:])
