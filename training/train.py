"""How is the encoder trained?

    python -m training.train FOLDER KEEP OUT [key=value ...] [-- key=value ... ] [send]

FOLDER has what ``prepare`` wrote and the packed general models (``bge.npz``, ``splade.npz``), KEEP
what ``mine`` wrote (``mined.pt``); it also takes checkpoints, from which a stopped training goes
on. Several recipes, divided by ``--``, run one after the other; one with ``mean=0,1,2`` trains
nothing and takes the mean of the weights of these seeds. Figures of what may be looked at go to
OUT, with the lists of every collection for ``training.fuse``; with ``send`` also the quantised
weights, in pieces small enough to travel.
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
from torch import Tensor

from training.arrays import Pool, fast
from training.evaluate import Collection, Line, Lists, show, table
from training.export import packed
from training.losses import Batch, Lessons, dense_loss, sparse_loss
from training.mine import floats
from training.model import EXPANSIONS, SPECIAL, VOCABULARY, Encoder, kept_terms, load_body
from training.prepare import COLLECTIONS, KINDS, SOURCES
from training.recipe import Recipe, parse
from training.teachers import Teachers

SHARE = {
    "title": 0.20,
    "mesh": 0.22,
    "sentence": 0.16,
    "conclusion": 0.16,
    "question": 0.12,
    "synonym": 0.06,
    "prompt": 0.02,
}
OFTEN = {"covidqa": 0.5}  # few, and soon known by heart
LABELLED = ("claim", "prompt", "question")
EVERY = 150.0  # seconds between checkpoints


class Training:
    """Everything that recipes share: data, teachers, start weights, collections."""

    def __init__(self, folder: Path, keep: Path, *, compiled: bool) -> None:
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = True
        self.keep = keep
        self.pool = Pool(folder / "pool.npz", self.device)
        self.teachers = Teachers(folder, self.pool)
        self.taught = torch.load(keep / "mined.pt", map_location=self.device)
        self.collections = [
            Collection(path, self.device)
            for path in sorted(folder.glob("*.npz"))
            if path.stem in (*COLLECTIONS, "evidence")
        ]
        self.model = Encoder().to(self.device)
        load_body(self.model.body, floats(folder / "bge.npz"), fold_type=True)
        counts = self.pool.frequencies(VOCABULARY)
        self.model.asked.data.copy_(torch.log(1 + len(self.pool.documents) / (counts + 1)) / 8)
        counts[:SPECIAL] = 0
        self.model.expansions.copy_(counts.topk(EXPANSIONS).indices.sort().values)
        self.start = {name: value.clone() for name, value in self.model.state_dict().items()}
        if compiled:  # one layer's code serves all of them
            for layer in (*self.model.body.layers, *self.model.body.short):
                layer.compile(dynamic=False)

    def lessons(self, recipe: Recipe) -> Lessons:
        """Batches as a recipe wants them."""
        labelled = torch.zeros(len(KINDS), dtype=torch.bool, device=self.device)
        labelled[[KINDS.index(kind) for kind in LABELLED]] = True
        chances = self._chances(recipe)
        return Lessons(self.pool, self.teachers, self.taught, recipe, chances, labelled)

    def _chances(self, recipe: Recipe) -> Tensor:
        """How often each pair is drawn."""
        pool = self.pool
        source = pool.source[pool.document]
        weights = torch.ones(len(pool.kind), device=self.device)
        for name, often in OFTEN.items():
            weights[source == SOURCES.index(name)] = often
        if recipe.fold:
            weights[pool.fold == recipe.fold] = 0
        for at, kind in enumerate(KINDS):
            here = pool.kind == at
            left_out = kind in ("mesh", "synonym") and not recipe.headings
            share = 0.0 if left_out else SHARE.get(kind, recipe.claims)
            weights[here] *= share / weights[here].sum().clamp_min(1e-9)
        return weights

    def figures(self, recipe: Recipe) -> tuple[dict[str, Line], Lists]:
        """Figures on what is not for the end, and the lists of everything."""

        def wanted(name: str, part: str) -> bool:
            if name == "scifact":
                return part == (f"fold{recipe.fold}" if recipe.fold else "test")
            return not (name == "nfcorpus" and part == "test")

        return table(self.model, self.collections, wanted)


class Run:
    """One training, which can stop and go on."""

    def __init__(self, shared: Training, recipe: Recipe) -> None:
        self.shared, self.recipe, self.model = shared, recipe, shared.model
        torch.manual_seed(recipe.seed)
        self.model.load_state_dict(shared.start)
        heads = [*self.model.heads.parameters(), self.model.asked]
        short = list(self.model.body.short.parameters())
        own = {id(each) for each in short}
        body = [each for each in self.model.body.parameters() if id(each) not in own]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": body, "rate": recipe.rate},
                {"params": short, "rate": recipe.short_rate},
                {"params": heads, "rate": recipe.head_rate},
            ],
            lr=recipe.rate,
            weight_decay=0.01,
            fused=shared.device == "cuda",
        )
        self.weights = list(self.model.parameters())
        self.average = [value.detach().clone() for value in self.weights]
        self.lessons = shared.lessons(recipe)
        self.at, self.used = 0, 0.0
        self.checkpoint = shared.keep / f"{recipe.name}-{recipe.seed}.pt"
        if self.checkpoint.exists():
            self._resume()

    def train(self) -> None:
        """Learn until the recipe's time or steps are used up."""
        self.model.train()
        # the first pass compiles the model, which takes long and counts as no training
        for at in (0, 1):
            self._loss(self.lessons.batch(), 0.0, at)[0].backward()
        self.optimizer.zero_grad(set_to_none=True)
        began = saved = time.time() - self.used
        done = 0.0
        while done < 1:
            if self.at % 10 == 0:
                done, saved = self._look(began, saved)
            parts = self._step(done)
            if self.at % 200 == 0 or self.at in (1, 10, 50):
                shown = " ".join(f"{name} {float(value):.3f}" for name, value in parts.items())
                print(f"{self.recipe.name} {self.at} {self.used:.0f} s {shown}", flush=True)
        self._save()

    def _look(self, began: float, saved: float) -> tuple[float, float]:
        """The share of the training that is done; saves now and then."""
        if self.shared.device == "cuda":
            torch.cuda.synchronize()
        now = time.time()
        self.used = now - began
        if now - saved > EVERY:
            self._save()
            saved = now
        recipe = self.recipe
        done = self.at / recipe.steps if recipe.steps else self.used / recipe.seconds
        return done, saved

    def _step(self, done: float) -> dict[str, Tensor]:
        recipe = self.recipe
        for group in self.optimizer.param_groups:
            rise = min(1.0, done / recipe.warmup + 1e-3)
            group["lr"] = group["rate"] * rise * max(1 - done, 0.0)
        loss, parts = self._loss(self.lessons.batch(), done, self.at % 2)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self.optimizer.step()
        self.at += 1
        with torch.no_grad():
            near = min(recipe.average, self.at / (self.at + 10))
            torch._foreach_lerp_(self.average, [one.detach() for one in self.weights], 1 - near)
        return parts

    def _loss(self, batch: Batch, done: float, both: int) -> tuple[Tensor, dict[str, Tensor]]:
        """What a batch asks of the long way, and of ``both`` at every second step."""
        recipe, model, shared = self.recipe, self.model, self.shared
        exits = model.exits if both and recipe.inner else model.exits[-1:]
        words = model.query_terms(batch.queries)
        with fast(shared.device):
            asked = model.body(batch.queries, exits=exits)
            texts = model.body(batch.passages, exits=exits)
        total = torch.zeros((), device=shared.device)
        parts: dict[str, Tensor] = {}
        for depth, question, text in reversed(list(zip(exits, asked, texts, strict=True))):
            at = model.exits.index(depth)
            last = depth == model.exits[-1]
            share = 1.0 if last else recipe.inner
            with fast(shared.device):
                query = model.dense(question, batch.queries, at)
                passage = model.dense(text, batch.passages, at)
                terms = model.terms(text, batch.passages, at)
            dense = dense_loss(recipe, batch, query, passage, shared.pool)
            if last:
                # the short way learns the vectors of the long one
                batch.query_vectors, batch.passage_vectors = query.detach(), passage.detach()
            few = (terms.mean(0) ** 2).sum()
            count = (terms > 0).float().sum(1).mean()
            if done > recipe.cut:
                terms = kept_terms(terms)
            sparse = sparse_loss(recipe, batch, words, terms)
            few = recipe.sparsity * min(1.0, done / 0.4) ** 2 * few
            total = total + share * (dense + sparse + few)
            parts |= {
                f"dense{depth}": dense.detach(),
                f"sparse{depth}": sparse.detach(),
                f"terms{depth}": count.detach(),
            }
        return total, parts

    def take_average(self) -> None:
        """Use the mean of the weights over the last steps."""
        with torch.no_grad():
            for value, mean in zip(self.weights, self.average, strict=True):
                value.copy_(mean)

    def _save(self) -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            "used": self.used,
            "at": self.at,
        }
        part = self.checkpoint.with_suffix(".part")
        torch.save(state, part)
        part.replace(self.checkpoint)

    def _resume(self) -> None:
        saved = torch.load(self.checkpoint, map_location=self.shared.device)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.average, self.used, self.at = saved["average"], saved["used"], saved["at"]
        print("goes on from step", self.at, flush=True)


def mean_of(shared: Training, recipe: Recipe) -> None:
    """Give the model the mean of the averaged weights of several seeds."""
    found: list[Tensor] = []
    seeds = recipe.mean.split(",")
    for seed in seeds:
        saved = torch.load(shared.keep / f"{recipe.name}-{seed}.pt", map_location=shared.device)
        parts = saved["average"]
        found = [one + other for one, other in zip(found, parts, strict=True)] if found else parts
    with torch.no_grad():
        for value, total in zip(shared.model.parameters(), found, strict=True):
            value.copy_(total / len(seeds))


def pieces(state: dict[str, Tensor], out: Path, name: str, limit: int = 15 << 20) -> None:
    """Write quantised weights in files small enough to travel."""
    floats = {
        key: value.detach().cpu().numpy().astype(np.int32 if key == "expansions" else np.float32)
        for key, value in state.items()
    }
    parts: list[dict[str, Any]] = [{}]
    size = 0
    for key, array in packed(floats).items():
        if size + array.nbytes > limit:
            parts.append({})
            size = 0
        parts[-1][key] = array
        size += array.nbytes
    for at, part in enumerate(parts):
        np.savez(out / f"{name}-{at}.npz", **part)


def main(arguments: list[str]) -> None:
    """Run every recipe, and send the weights if they are asked for."""
    folder, keep, out = (Path(each) for each in arguments[:3])
    recipes: list[list[str]] = [[]]
    for word in arguments[3:]:
        if word == "--":
            recipes.append([])
        elif word != "send":
            recipes[-1].append(word)
    shared = Training(folder, keep, compiled=torch.cuda.is_available())
    for recipe in map(parse, recipes):
        steps = 0
        if recipe.mean:
            mean_of(shared, recipe)
        else:
            run = Run(shared, recipe)
            run.train()
            run.take_average()
            steps = run.at
        figures, lists = shared.figures(recipe)
        name = f"{recipe.name}-{'mean' if recipe.mean else recipe.seed}"
        print(f"== {name}, {steps} steps\n{show(figures)}", flush=True)
        result = {"recipe": asdict(recipe), "steps": steps, "figures": figures}
        (out / f"{name}.json").write_text(json.dumps(result))
        np.savez_compressed(out / f"{name}-lists.npz", **lists)
        if "send" in arguments:
            pieces(shared.model.state_dict(), out, name)


if __name__ == "__main__":
    main(sys.argv[1:])
