"""How is the encoder trained?

    python -m training.train FOLDER KEEP OUT [key=value ...] [-- key=value ... ]

FOLDER has what ``prepare`` wrote and the packed start weights, KEEP what ``mine`` wrote; it also
takes checkpoints, from which a stopped training goes on. Several recipes, divided by ``--``, run
one after the other. Weights and figures go to OUT.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from training.arrays import Pool, fast
from training.evaluate import Collection, show, table
from training.mine import floats
from training.model import EXPANSIONS, SPECIAL, VOCABULARY, Encoder, load_body
from training.prepare import KINDS, SOURCES
from training.recipe import Recipe, parse

SHARE = {
    "title": 0.2,
    "mesh": 0.22,
    "sentence": 0.16,
    "conclusion": 0.16,
    "question": 0.12,
    "synonym": 0.06,
    "claim": 0.025,
    "prompt": 0.02,
}
LABELLED = ("claim", "prompt", "question")
MINUS = -1e4


class Training:
    """Everything that recipes share: data, teachers, start weights, collections."""

    def __init__(self, folder: Path, keep: Path, *, compiled: bool = True) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = True
        self.keep = keep
        self.pool = Pool(folder / "pool.npz", self.device)
        self.taught = torch.load(keep / "mined.pt", map_location=self.device)
        self.collections = [
            Collection(path, self.device)
            for path in sorted(folder.glob("*.npz"))
            if (folder / f"bm25_{path.name}").exists() or path.stem in COLLECTIONS
        ]
        self.model = Encoder().to(self.device)
        load_body(self.model.body, floats(folder / "bge.npz"), fold_type=True)
        counts = self.pool.frequencies(VOCABULARY)
        size = len(self.pool.documents)
        idf = torch.log(1 + size / (counts + 1)) / 8
        order = counts.clone()
        order[:SPECIAL] = 0
        self.model.asked.data.copy_(idf)
        self.model.expansions.copy_(order.topk(EXPANSIONS).indices.sort().values)
        self.start = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.run = torch.compile(self.model.body, dynamic=False) if compiled else self.model.body
        self.scales = {
            name: float((self.taught[name][:, 1:] - self.taught[name][:, :1]).float().std()) / 3
            for name in ("dense", "judge", "bm25")
        }

    def chances(self, recipe: Recipe) -> Tensor:
        """How often each pair is drawn."""
        pool = self.pool
        weights = torch.ones(len(pool.kind), device=self.device)
        covid = pool.source[pool.document] == SOURCES.index("covidqa")
        weights[covid] = 1.5
        weights[pool.source[pool.document] == SOURCES.index("pubmedqa")] = 1.5
        if recipe.fold:
            weights[pool.fold == recipe.fold] = 0
        for at, kind in enumerate(KINDS):
            here = pool.kind == at
            share = SHARE[kind]
            if not recipe.lexicon and kind in ("mesh", "synonym"):
                share = 0.0
            weights[here] *= share / weights[here].sum().clamp_min(1e-9)
        return weights

    def target(self, recipe: Recipe, pair: Tensor, which: Tensor) -> Tensor:
        """How the teachers order a query's own candidates, the right one first."""
        columns = F.pad(which + 1, (1, 0))
        total = torch.zeros(columns.shape, device=self.device)
        for name, weight in (
            ("dense", recipe.teach_dense),
            ("judge", recipe.teach_judge),
            ("bm25", recipe.teach_bm25),
        ):
            values = self.taught[name][pair].gather(1, columns).float()
            total += weight * values / self.scales[name]
        return total


COLLECTIONS = ("nfcorpus", "scifact", "covidqa", "cranfield", "med1033", "dialogues", "evidence")


def soft_cross_entropy(scores: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy with a distribution as target."""
    return -(target * scores.log_softmax(1)).sum(1).mean()


def train(shared: Training, recipe: Recipe, out: Path) -> dict[str, Any]:
    """One training from the start weights, or on from its checkpoint; its figures."""
    torch.manual_seed(recipe.seed)
    model, pool, taught = shared.model, shared.pool, shared.taught
    device = shared.device
    model.load_state_dict(shared.start)
    model.train()
    heads = [*model.heads.parameters(), model.asked]
    optimizer = torch.optim.AdamW(
        [
            {"params": list(model.body.parameters()), "rate": recipe.rate},
            {"params": heads, "rate": recipe.head_rate},
        ],
        lr=recipe.rate,
        weight_decay=0.01,
        fused=device == "cuda",
    )
    names = [name for name, _ in model.named_parameters()]
    weights = [value for _, value in model.named_parameters()]
    average = [value.detach().clone() for value in weights]
    chances = shared.chances(recipe)
    labelled = torch.zeros(len(KINDS), dtype=torch.bool, device=device)
    labelled[[KINDS.index(kind) for kind in LABELLED]] = True
    used, at = 0.0, 0
    checkpoint = shared.keep / f"{recipe.name}-{recipe.seed}.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        average, used, at = saved["average"], saved["used"], saved["at"]
        print("goes on from step", at, flush=True)
    began, next_show = time.time() - used, recipe.evaluate_every
    parts: dict[str, float] = {}
    while True:
        if at % 10 == 0:
            if device == "cuda":
                torch.cuda.synchronize()
            done = at / recipe.steps if recipe.steps else (time.time() - began) / recipe.seconds
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * min(1.0, done / recipe.warmup + 1e-3) * (1 - done)
        loss, parts = _loss(shared, recipe, chances, labelled, done)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        at += 1
        with torch.no_grad():
            near = min(recipe.average, at / (at + 10))
            torch._foreach_lerp_(average, [value.detach() for value in weights], 1 - near)
        if at % 200 == 0 or at in (1, 10, 50):
            shown = " ".join(f"{name} {float(value):.3f}" for name, value in parts.items())
            print(f"{recipe.name} {at} {time.time() - began:.0f} s {shown}", flush=True)
        if recipe.evaluate_every and done >= next_show:
            next_show += recipe.evaluate_every
            paused = time.time()
            print(show(_figures(shared, recipe)), flush=True)
            model.train()
            began += time.time() - paused
    _save(shared, checkpoint, optimizer, average, time.time() - began, at)
    figures = {"last": _figures(shared, recipe)}
    with torch.no_grad():
        for value, mean in zip(weights, average, strict=True):
            value.copy_(mean)
    figures["average"] = _figures(shared, recipe)
    for kind, lines in figures.items():
        print(f"== {recipe.name} seed {recipe.seed} {kind}, {at} steps\n{show(lines)}", flush=True)
    torch.save(model.state_dict(), shared.keep / f"{recipe.name}-{recipe.seed}-final.pt")
    result = {"recipe": asdict(recipe), "steps": at, "figures": figures}
    (out / f"{recipe.name}-{recipe.seed}.json").write_text(json.dumps(result))
    del names
    return result


def _save(
    shared: Training,
    path: Path,
    optimizer: torch.optim.Optimizer,
    average: list[Tensor],
    used: float,
    at: int,
) -> None:
    torch.save(
        {
            "model": shared.model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "average": average,
            "used": used,
            "at": at,
        },
        path,
    )


def _figures(shared: Training, recipe: Recipe) -> dict[str, Any]:
    """Figures on what this recipe was not trained on; test queries stay closed."""

    def wanted(name: str, part: str) -> bool:
        if name == "scifact":
            return part == (f"fold{recipe.fold}" if recipe.fold else "test")
        return name in COLLECTIONS and not (name == "nfcorpus" and part == "test" and recipe.fold)

    return table(shared.model, shared.collections, wanted)


def _loss(
    shared: Training, recipe: Recipe, chances: Tensor, labelled: Tensor, done: float
) -> tuple[Tensor, dict[str, Tensor]]:
    model, pool, taught, device = shared.model, shared.pool, shared.taught, shared.device
    size, wrong = recipe.batch, recipe.wrong
    pair = torch.multinomial(chances, size, replacement=True)
    every = taught["found"].shape[1]
    which = torch.rand(size, every, device=device).argsort(1)[:, :wrong]
    other = taught["found"][pair].long().gather(1, which).reshape(-1)
    document = pool.document[pair]
    owner = torch.cat([document, other])
    asked = pool.queries.rows(pair, recipe.query_width)
    texts = pool.passages(pair, recipe.width)
    if wrong:
        texts = torch.cat([texts, pool.documents.rows(other, recipe.width)])
    with torch.no_grad():
        asked_taught = taught["queries"][pair].float()
        texts_taught = torch.cat([taught["passages"][pair], taught["documents"][other]]).float()
        sight = asked_taught @ texts_taught.T / recipe.temperature
        row = torch.arange(size, device=device)
        right = F.one_hot(row, len(owner)).float()
        same = (owner[None] == document[:, None]) & (right == 0)
        # what a teacher prefers to the right answer is no clear mistake, unless people judged it
        trusted = labelled[pool.kind[pair]][:, None]
        unclear = (sight > sight[row, row][:, None] + 1.0) & ~trusted
        sight = sight.masked_fill(same, MINUS)
        likeness = sight.softmax(1)
        onehot = right
        if recipe.mesh:
            asked_mesh = pool.asked.many_hot(pair, len(pool.rarity), pool.rarity)
            text_mesh = pool.mesh.many_hot(owner, len(pool.rarity), pool.rarity.new_ones(1))
            total = asked_mesh.sum(1, keepdim=True)
            shared_part = (asked_mesh @ text_mesh.T) / total.clamp_min(1e-6)
            graded = torch.where(total > 0, shared_part.clamp(0, 1) ** 6, 0.0)
            graded = torch.where(right > 0, 1.0, graded * recipe.mesh).masked_fill(same, 0)
            onehot = graded / graded.sum(1, keepdim=True)
            unclear = unclear | ((graded > 0.05) & (right == 0) & (total > 0))
        hide = same | (unclear & (onehot < 0.01))
        listed = torch.cat([row[:, None], size + row[:, None] * wrong + torch.arange(wrong, device=device)], 1)
        order = shared.target(recipe, pair, which).softmax(1)
        first = torch.zeros_like(order)
        first[:, 0] = 1
        belief = torch.where(trusted, 0.7, 0.4)
        order = belief * first + (1 - belief) * order
        static_ids = asked
    static = model.query_static(static_ids)
    with fast(device):
        asked_states = shared.run(asked, exits=model.exits)
        text_states = shared.run(texts, exits=model.exits)
    loss = torch.zeros((), device=device)
    parts: dict[str, Tensor] = {}
    ramp = min(1.0, done / 0.4) ** 2
    for at, depth in enumerate(model.exits):
        head = model.heads[at]
        share = 1.0 if depth == 12 else recipe.inner
        if not share:
            continue
        with fast(device):
            query = model.dense(asked_states[at], head)
            passage = model.dense(text_states[at], head)
            terms = model.terms(text_states[at], texts, head)
            more = model.query_terms(asked_states[at], head) if recipe.suggest else None
        near = (query @ passage.T / recipe.temperature).masked_fill(same, MINUS)
        dense = recipe.likeness * F.kl_div(near.log_softmax(1), likeness, reduction="batchmean")
        dense = dense + recipe.anchor * (
            (1 - (query * asked_taught).sum(1)).mean() + (1 - (passage * texts_taught).sum(1)).mean()
        )
        dense = dense + recipe.contrast * soft_cross_entropy(near.masked_fill(hide, MINUS), onehot)
        if recipe.listwise and wrong:
            dense = dense + recipe.listwise * soft_cross_entropy(near.gather(1, listed), order)
        if recipe.mesh:
            dense = dense + recipe.mesh * _alike(pool, owner, passage, size)
        sparse = torch.zeros((), device=device)
        for ask, weight in ((static, 1.0), (more, recipe.suggest)):
            if ask is None:
                continue
            match = ((static + ask if ask is not static else static) @ terms.T).masked_fill(same, MINUS)
            part = recipe.sparse_contrast * (
                soft_cross_entropy(match.masked_fill(hide, MINUS), onehot)
                + 0.5 * F.cross_entropy(match[:, :size].masked_fill(same[:, :size], MINUS).T, row)
            )
            part = part + 0.5 * F.kl_div(match.log_softmax(1), likeness, reduction="batchmean")
            if recipe.listwise and wrong:
                part = part + recipe.listwise * soft_cross_entropy(match.gather(1, listed), order)
            sparse = sparse + weight * part
        few = recipe.sparsity * ramp * (terms.mean(0) ** 2).sum()
        if more is not None:
            few = few + recipe.query_sparsity * ramp * (more.mean(0) ** 2).sum()
        loss = loss + share * (dense + sparse + few)
        parts |= {
            f"dense{depth}": dense.detach(),
            f"sparse{depth}": sparse.detach(),
            f"terms{depth}": (terms > 0).float().sum(1).mean().detach(),
        }
        if more is not None:
            parts[f"more{depth}"] = (more > 0).float().sum(1).mean().detach()
    return loss, parts


def _alike(pool: Pool, owner: Tensor, passage: Tensor, size: int) -> Tensor:
    """Passages that share rare headings should be near each other."""
    mine = owner[:size]
    some = pool.mesh.length[mine] > 0
    chosen = some.nonzero().squeeze(1)
    if len(chosen) < 8:
        return passage.new_zeros(())
    with torch.no_grad():
        about = F.normalize(pool.mesh.many_hot(mine[chosen], len(pool.rarity), pool.rarity), dim=1)
        alike = about @ about.T
        itself = torch.eye(len(chosen), device=passage.device, dtype=torch.bool)
        target = (alike / 0.08).masked_fill(itself, MINUS).softmax(1)
    here = passage[:size][chosen]
    found = (here @ here.T / 0.05).masked_fill(itself, MINUS)
    return F.kl_div(found.log_softmax(1), target, reduction="batchmean")


def pieces(state: dict[str, Tensor], out: Path, name: str, limit: int = 15 << 20) -> None:
    """Write weights in files small enough to travel: half precision, embeddings as int8 rows."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, value in state.items():
        array = value.detach().float().cpu().numpy()
        if key == "body.words.weight":
            scale = np.abs(array).max(1, keepdims=True) / 127
            arrays[key] = np.rint(array / np.maximum(scale, 1e-9)).astype(np.int8)
            arrays[f"{key}#scale"] = scale.astype(np.float32)
        elif key == "expansions":
            arrays[key] = array.astype(np.int32)
        else:
            arrays[key] = array.astype(np.float16)
    parts: list[dict[str, Any]] = [{}]
    size = 0
    for key, array in arrays.items():
        if size + array.nbytes > limit:
            parts.append({})
            size = 0
        parts[-1][key] = array
        size += array.nbytes
    for at, part in enumerate(parts):
        np.savez(out / f"{name}-{at}.npz", **part)


def main(arguments: list[str]) -> None:
    """Run every recipe, and send the weights of the last one if it is to be kept."""
    folder, keep, out = (Path(each) for each in arguments[:3])
    keep.mkdir(parents=True, exist_ok=True)
    recipes: list[list[str]] = [[]]
    send = False
    for word in arguments[3:]:
        if word == "--":
            recipes.append([])
        elif word == "send":
            send = True
        else:
            recipes[-1].append(word)
    shared = Training(folder, keep, compiled=torch.cuda.is_available())
    print("ready", {key: round(value, 3) for key, value in shared.scales.items()}, flush=True)
    for words in recipes:
        recipe = parse(words)
        try:
            train(shared, recipe, out)
        except torch.OutOfMemoryError as error:
            print(recipe.name, "does not fit:", error, flush=True)
    if send:
        pieces(shared.model.state_dict(), out, recipe.name)


if __name__ == "__main__":
    main(sys.argv[1:])
