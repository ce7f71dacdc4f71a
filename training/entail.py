"""How does the encoder's body learn whether a passage supports a statement?

    python -m training.entail FOLDER ENCODER.safetensors OUT [name=judge] [steps=1600] [rank=16]
        [begin=OUT/rerank-0.npz] [without=nli4ct] [-- ...]

FOLDER has ``statements.npz`` (``training.statements``) and the general cross-encoder
(``judge.npz``). ``begin`` is a reader to begin with. Writes ``OUT/NAME.npz`` (the adapter, see
``training.reader``) and ``OUT/NAME-said.npz``: what it says of every pair kept from training;
``training.entailed`` measures the shipped file. ``OUT/general-said.npz`` is what the general
cross-encoder says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from training.arrays import Ragged, fast
from training.mine import floats, joined
from training.model import PAD, Judge, judge
from training.reader import Reader, begin_as, compiled, learn, learned, recipes, start
from training.statements import VERDICTS

WIDTH, STATEMENT = 320, 92
SHARE = {
    "claim": 0.05,
    "rationale": 0.05,
    "beside": 0.02,
    "turned": 0.03,
    "nli4ct": 0.05,
    "sentence": 0.15,
    "number": 0.09,
    "direction": 0.06,
    "negation": 0.06,
    "sides": 0.01,
    "drug": 0.07,
    "detail": 0.07,
    "article": 0.04,
    "other": 0.03,
    "conclusion": 0.10,
    "opposite": 0.10,
}


class Pairs:
    """The pairs on the device."""

    def __init__(self, path: Path, device: str) -> None:
        data = np.load(path)
        self.premises = Ragged.of(data["premises"], data["premise_borders"], device)
        self.statements = Ragged.of(data["statements"], data["statement_borders"], device)
        self.verdict = torch.from_numpy(data["verdict"].astype(np.int64)).to(device)
        self.source, self.part = data["source"], data["part"]

    def rows(self, which: Tensor, width: int = WIDTH) -> tuple[Tensor, Tensor]:
        """Statement and premise as one row, and 1 where a token belongs to the premise."""
        return joined(
            self.statements.rows(which, STATEMENT), self.premises.rows(which, width), width
        )

    def chances(self, without: tuple[str, ...]) -> Tensor:
        """How often each pair is drawn."""
        weights = np.zeros(len(self.part))
        for source, share in SHARE.items():
            here = (self.source == source) & (self.part == "train")
            if source not in without:
                weights[here] = share / max(here.sum(), 1)
        return torch.from_numpy(weights).float().to(self.verdict.device)


def train(pairs: Pairs, model: Reader, said: dict[str, str]) -> None:
    """Learn the three verdicts."""
    batch = int(said.get("batch", 160))
    drawn = pairs.chances(tuple(filter(None, said.get("without", "").split(","))))

    def loss() -> Tensor:
        which = torch.multinomial(drawn, batch, replacement=True)
        with fast(pairs.verdict.device):
            found = model(*pairs.rows(which))
        return functional.cross_entropy(found, pairs.verdict[which], label_smoothing=0.03)

    learn(model, loss, int(said.get("steps", 1600)), float(said.get("rate", 8e-4)), average=0.997)


@torch.no_grad()
def answers(model: Reader | Judge, pairs: Pairs, which: Tensor, batch: int = 1024) -> np.ndarray:
    """What a model says of these pairs: three numbers, or the general model's score."""
    device = pairs.verdict.device
    model.eval()
    found: list[Tensor] = [torch.empty(0)] * len(which)
    length = pairs.premises.length[which] + pairs.statements.length[which]
    for some in length.argsort().split(batch):
        ids, second = pairs.rows(which[some])
        used = -(-int((ids != PAD).sum(1).max()) // 16) * 16
        with fast(device):
            rows = model(ids[:, :used], second[:, :used]).float().view(len(some), -1)
        for at, row in zip(some.tolist(), rows.cpu(), strict=True):
            found[at] = row
    return torch.stack(found).numpy()


def accuracy(pairs: Pairs, which: Tensor, said: np.ndarray) -> str:
    """How many verdicts are right, by source."""
    places = which.cpu().numpy()
    right = pairs.verdict[which].cpu().numpy() == said.argmax(1)
    lines = []
    for part in ("dev", "test"):
        for source in SHARE:
            here = (pairs.source[places] == source) & (pairs.part[places] == part)
            if here.any():
                lines.append(f"{part}/{source} {right[here].mean():.3f} ({here.sum()})")
    return "; ".join(lines)


def main(arguments: list[str]) -> None:
    """Train every recipe (divided by ``--``), and write adapters and answers."""
    folder, path, out = (Path(each) for each in arguments[:3])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = Pairs(folder / "statements.npz", device)
    which = torch.from_numpy(np.flatnonzero(pairs.part != "train")).to(device)
    if (folder / "judge.npz").exists():
        general = judge(floats(folder / "judge.npz")).to(device)
        said_by_it = answers(general, pairs, which)
        np.savez_compressed(out / "general-said.npz", which=which.cpu().numpy(), said=said_by_it)
    for said in recipes(arguments[3:]):
        name = said.get("name", "judge")
        torch.manual_seed(int(said.get("seed", 0)))
        model = start(path, len(VERDICTS), int(said.get("rank", 16)), device)
        if "begin" in said:
            begin_as(model, Path(said["begin"]))
        if device == "cuda":
            compiled(model, on=True)
        train(pairs, model, said)
        compiled(model, on=False)
        np.savez(out / f"{name}.npz", **learned(model))
        numbers = answers(model, pairs, which)
        np.savez_compressed(out / f"{name}-said.npz", which=which.cpu().numpy(), said=numbers)
        print(f"== {name}: {accuracy(pairs, which, numbers)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
