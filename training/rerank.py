"""How does the encoder's body learn to order candidates?

    python -m training.rerank FOLDER ENCODER.safetensors OUT [steps=2400] [seed=0] [rank=32] [...]

Small matrices beside those of the shipped encoder (``training.reader``) learn from a query's right
answer among hard wrong ones: neighbours by the encoder's own vectors and BM25 together. A general
cross-encoder reads the same pairs and has a say, the more the less certain the right answer is.

Writes ``OUT/NAME.npz`` (the adapter) and ``OUT/NAME-scores.npz``, the scores that it gives the
candidates of every collection, for ``training.reranked``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.arrays import Pool, fast
from training.evaluate import Collection, Lists, best, lexical, listed, scores, votes
from training.export import load, unpacked
from training.fuse import RANKS
from training.mine import QUERY_WIDTH, candidates, floats, joined, pair_rows
from training.model import PAD, Encoder, Judge, judge
from training.prepare import COLLECTIONS, KINDS, SOURCES
from training.reader import Reader, compiled, learn, learned, recipes, start

WRONG = 7
WIDTH, LONG = 192, 256
LISTED = 50
SHARE = {
    "claim": 0.06,
    "prompt": 0.08,
    "question": 0.30,
    "title": 0.16,
    "conclusion": 0.16,
    "sentence": 0.10,
    "mesh": 0.10,
    "synonym": 0.04,
}
# what the right answer counts beside the teacher's order; many records suit a heading
BELIEF = {"mesh": 0.3, "synonym": 0.6}
USUAL_BELIEF = 0.75
OFTEN = {"covidqa": 0.5}


def encoder(path: Path, device: str) -> Encoder:
    """The shipped encoder, as floats."""
    model = Encoder()
    state = {name: torch.from_numpy(array) for name, array in unpacked(load(path)).items()}
    model.load_state_dict(state)
    return model.to(device).eval()


@torch.no_grad()
def vectors(model: Encoder, rows: Tensor, batch: int = 2048) -> Tensor:
    """The encoder's vectors of many texts, in half precision."""
    order = (rows != PAD).sum(1).argsort()
    found = torch.empty(len(rows), 384, dtype=torch.float16, device=rows.device)
    last = len(model.exits) - 1
    for which in order.split(batch):
        part = rows[which]
        part = part[:, : -(-int((part != PAD).sum(1).max()) // 16) * 16]
        with fast(rows.device):
            state = model.body(part)[-1]
        found[which] = model.dense(state.float(), part, last).half()
    return found


def hard(pool: Pool, model: Encoder) -> Tensor:
    """Hard wrong answers of every query, by vectors and words together."""
    device = pool.document.device
    every = torch.arange(len(pool.documents), device=device)
    pairs = torch.arange(len(pool.queries), device=device)
    documents = vectors(model, pool.documents.rows(every, WIDTH))
    asked = vectors(model, pool.queries.rows(pairs, QUERY_WIDTH))
    return candidates(pool, documents, asked)


def chances(pool: Pool) -> tuple[Tensor, Tensor]:
    """How often each pair is drawn, and how far its right answer is believed."""
    source = pool.source[pool.document]
    weights = torch.ones(len(pool.kind), device=source.device)
    belief = torch.full_like(weights, USUAL_BELIEF)
    for name, often in OFTEN.items():
        weights[source == SOURCES.index(name)] = often
    for at, kind in enumerate(KINDS):
        here = pool.kind == at
        weights[here] *= SHARE.get(kind, 0.0) / weights[here].sum().clamp_min(1e-9)
        belief[here] = BELIEF.get(kind, USUAL_BELIEF)
    return weights, belief


def train(pool: Pool, model: Reader, teacher: Judge, found: Tensor, said: dict[str, str]) -> None:
    """Learn to tell right answers from hard wrong ones."""
    device = pool.document.device
    batch, every = int(said.get("batch", 64)), found.shape[1]
    drawn, belief = chances(pool)

    def loss() -> Tensor:
        query = torch.multinomial(drawn, batch, replacement=True)
        which = torch.rand(batch, every, device=device).argsort(1)[:, :WRONG] + 1
        place = torch.nn.functional.pad(which, (1, 0))
        owner = query[:, None].expand_as(place)
        rows = pair_rows(pool, owner.reshape(-1), place.reshape(-1), found, WIDTH)
        with fast(device):
            scores = model(*rows).view(place.shape)
            with torch.no_grad():
                old = (teacher(*rows).view(place.shape) / 2).softmax(1)
        right = torch.zeros_like(old)
        right[:, 0] = 1
        sure = belief[query][:, None]
        return -((sure * right + (1 - sure) * old) * scores.log_softmax(1)).sum(1).mean()

    learn(model, loss, int(said.get("steps", 2400)), float(said.get("rate", 8e-4)), average=0.998)


@torch.no_grad()
def scored(model: Reader | Judge, one: Collection, ids: Tensor, batch: int = 2048) -> np.ndarray:
    """The scores of listed documents, a row a query."""
    device = one.grades.device
    model.eval()
    depth = ids.shape[1]
    query = torch.arange(len(ids), device=device).repeat_interleave(depth)
    document = ids.reshape(-1)
    found = torch.zeros(len(query), device=device)
    order = (one.queries.length[query] + one.documents.length[document]).argsort()
    for which in order.split(batch):
        rows, second = joined(
            one.queries.rows(query[which], QUERY_WIDTH),
            one.documents.rows(document[which], LONG),
            LONG,
        )
        used = -(-int((rows != PAD).sum(1).max()) // 16) * 16
        with fast(device):
            found[which] = model(rows[:, :used], second[:, :used]).view(-1).float()
    return found.view(-1, depth).cpu().numpy()


def lists_of(model: Encoder, collections: list[Collection]) -> Lists:
    """The encoder's lists of every collection, and the candidates of fused ranks."""
    lists: Lists = {}
    for one in collections:
        signals, _ = scores(model, one)
        dense, sparse = signals[-1]
        for kind, values in (("dense", dense), ("sparse", sparse)):
            key = f"{one.name}@12/{kind}"
            lists[key], lists[f"{key}/scores"] = best(values)
        made = (lexical(one.bm25), listed(sparse), listed(dense))
        mixed = sum(weight * votes(each) for weight, each in zip(RANKS, made, strict=True))
        lists[f"{one.name}/listed"] = mixed.topk(LISTED, dim=1).indices.cpu().numpy()
    return lists


def main(arguments: list[str]) -> None:
    """Train every recipe (divided by ``--``), and write adapters and scores."""
    folder, path, out = (Path(each) for each in arguments[:3])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    began = time.time()
    pool = Pool(folder / "pool.npz", device)
    own = encoder(path, device)
    collections = [
        Collection(each, device)
        for each in sorted(folder.glob("*.npz"))
        if each.stem in (*COLLECTIONS, "evidence")
    ]
    lists = lists_of(own, collections)
    np.savez_compressed(out / "lists.npz", **lists)
    print(f"lists {time.time() - began:.0f} s", flush=True)
    found = hard(pool, own)
    print(f"candidates {time.time() - began:.0f} s", flush=True)
    del own
    teacher = judge(floats(folder / "judge.npz")).to(device).eval().requires_grad_(False)

    def answers(model: Reader | Judge) -> dict[str, np.ndarray]:
        return {
            one.name: scored(
                model, one, torch.from_numpy(lists[f"{one.name}/listed"]).to(device)
            ).astype(np.float16)
            for one in collections
        }

    np.savez_compressed(out / "general-scores.npz", **answers(teacher))
    if device == "cuda":  # one layer's code serves all of them
        for layer in teacher.body.layers:
            layer.compile(dynamic=False)
    for said in recipes(arguments[3:]):
        seed = int(said.get("seed", 0))
        name = said.get("name", f"rerank-{seed}")
        torch.manual_seed(seed)
        model = start(path, 1, int(said.get("rank", 32)), device)
        if device == "cuda":
            compiled(model, on=True)
        train(pool, model, teacher, found, said)
        compiled(model, on=False)
        np.savez(out / f"{name}.npz", **learned(model))
        np.savez_compressed(out / f"{name}-scores.npz", **answers(model))
        print(f"{name} written, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
