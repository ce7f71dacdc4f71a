"""How does the general cross-encoder learn to read biomedical passages?

    python -m training.rerank FOLDER KEEP OUT [steps=1300] [seed=0]

Every large matrix of the cross-encoder gets a small one of rank ``RANK`` beside it, and only these
and the last two layers learn, so that what was learned is a file of megabytes beside the general
model's. A query's right answer competes with hard wrong ones from fused lists (``training.mine``);
what the cross-encoder thought before has a say, so that it forgets nothing.

Writes the scores that the model gives the candidates of every collection (``FOLDER/listed.npz``),
for ``training.reranked``, and the weights.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.arrays import Pool, fast
from training.evaluate import Collection
from training.mine import QUERY_WIDTH, floats, joined, pair_rows
from training.model import Judge, judge
from training.prepare import KINDS, SOURCES

RANK = 16
WRONG = 7
BATCH = 64
WIDTH, LONG = 192, 256
RATE, LAST_RATE = 6e-4, 5e-5
BELIEF = 0.75  # what the right answer counts beside the order that the model saw before
SHARE = {
    "claim": 0.06,
    "prompt": 0.08,
    "question": 0.36,
    "title": 0.18,
    "conclusion": 0.18,
    "sentence": 0.14,
}
OFTEN = {"covidqa": 0.5}


class Adapted(nn.Module):
    """A fixed product with a small learned one beside it."""

    def __init__(self, fixed: nn.Linear, rank: int = RANK) -> None:
        super().__init__()
        self.fixed = fixed
        self.down = nn.Parameter(torch.randn(rank, fixed.in_features) / fixed.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(fixed.out_features, rank))

    def forward(self, state: Tensor) -> Tensor:
        """Both products."""
        small = functional.linear(functional.linear(state, self.down), self.up)
        return self.fixed(state) + small


def adapted(model: Judge) -> Judge:
    """The cross-encoder with something to learn."""
    model.requires_grad_(False)
    for layer in model.body.layers:
        for name in ("qkv", "out", "wide", "narrow"):
            setattr(layer, name, Adapted(getattr(layer, name)))
    model.pool.requires_grad_(True)
    model.score.requires_grad_(True)
    return model


def chances(pool: Pool) -> Tensor:
    """How often each pair is drawn."""
    source = pool.source[pool.document]
    weights = torch.ones(len(pool.kind), device=source.device)
    for name, often in OFTEN.items():
        weights[source == SOURCES.index(name)] = often
    for at, kind in enumerate(KINDS):
        here = pool.kind == at
        weights[here] *= SHARE.get(kind, 0.0) / weights[here].sum().clamp_min(1e-9)
    return weights


def train(pool: Pool, model: Judge, taught: dict[str, Tensor], steps: int, batch: int) -> None:
    """Learn to tell right answers from hard wrong ones."""
    device = pool.document.device
    small = [value for name, value in model.named_parameters() if name.endswith((".down", ".up"))]
    last = [*model.pool.parameters(), *model.score.parameters()]
    optimizer = torch.optim.AdamW(
        [{"params": small, "rate": RATE}, {"params": last, "rate": LAST_RATE}],
        lr=RATE,
        weight_decay=0.01,
    )
    drawn, found, before = chances(pool), taught["found"], taught["judge"].float()
    judged = before.any(1)
    every = found.shape[1]
    model.train()
    began = time.time()
    for at in range(steps):
        done = at / steps
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, (at + 1) / (0.05 * steps)) * (1 - done)
        query = torch.multinomial(drawn, batch, replacement=True)
        which = torch.rand(batch, every, device=device).argsort(1)[:, :WRONG] + 1
        place = functional.pad(which, (1, 0))
        owner = query[:, None].expand_as(place)
        with fast(device):
            rows = pair_rows(pool, owner.reshape(-1), place.reshape(-1), found, WIDTH)
            scores = model(*rows).view(place.shape)
        old = (before[query].gather(1, place) / 2).softmax(1)
        right = torch.zeros_like(old)
        right[:, 0] = 1
        belief = torch.where(judged[query], BELIEF, 1.0)[:, None]
        target = belief * right + (1 - belief) * old
        loss = -(target * scores.log_softmax(1)).sum(1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*small, *last], 1.0)
        optimizer.step()
        if at % 200 == 0:
            print(f"rerank {at} {time.time() - began:.0f} s {float(loss.detach()):.3f}", flush=True)


@torch.no_grad()
def scored(model: Judge, one: Collection, listed: Tensor, batch: int = 2048) -> np.ndarray:
    """The scores of listed documents, a row a query; 0 for the rows that list nothing."""
    device = one.grades.device
    model.eval()
    asked = (listed[:, 0] >= 0).nonzero().squeeze(1)
    depth = listed.shape[1]
    query, document = asked.repeat_interleave(depth), listed[asked].reshape(-1)
    found = torch.zeros(len(query), device=device)
    order = (one.queries.length[query] + one.documents.length[document]).argsort()
    for which in order.split(batch):
        ids, second = joined(
            one.queries.rows(query[which], QUERY_WIDTH),
            one.documents.rows(document[which], LONG),
            LONG,
        )
        used = int((ids != 0).sum(1).max())
        with fast(device):
            found[which] = model(ids[:, :used], second[:, :used])
    full = torch.zeros(listed.shape, device=device)
    full[asked] = found.view(-1, depth)
    return full.cpu().numpy()


def learned(model: Judge) -> dict[str, np.ndarray]:
    """What was learned, in half precision."""
    return {
        name: value.detach().cpu().numpy().astype(np.float16)
        for name, value in model.named_parameters()
        if value.requires_grad
    }


def main(arguments: list[str]) -> None:
    """Train, and write scores and weights."""
    folder, keep, out = (Path(each) for each in arguments[:3])
    settings = dict(each.split("=") for each in arguments[3:])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(int(settings.get("seed", 0)))
    pool = Pool(folder / "pool.npz", device)
    taught = torch.load(keep / "mined.pt", map_location=device)
    model = adapted(judge(floats(folder / "judge.npz"))).to(device)
    listed = np.load(folder / "listed.npz")
    collections = [Collection(folder / f"{name}.npz", device) for name in listed]
    scores = {}

    steps = int(settings.get("steps", 1300))
    train(pool, model, taught, steps, int(settings.get("batch", BATCH)))
    np.savez(out / "reranker.npz", **learned(model))
    for one in collections:
        ids = torch.from_numpy(listed[one.name].astype(np.int64)).to(device)
        scores[f"{one.name}/after"] = scored(model, one, ids).astype(np.float16)
    np.savez_compressed(out / "reranked.npz", **scores)
    (out / "reranker.json").write_text(json.dumps({"steps": steps, **settings}))
    print("reranker written", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
