"""What does the encoder compute?

One pass of a 12-layer BERT (384 dimensions, started from bge-small-en-v1.5) gives two signals:

- dense: the first token's state, at unit length; on the short way the mean of all states, since the
  first token has not read much there;
- sparse: weights of vocabulary terms. Every token weighs *itself* by the product of its transformed
  state with its own embedding, which costs nothing. The few tokens that weigh themselves most, and
  the first one, also weigh *other* terms: expansion at ``POSITIONS`` places instead of all of them,
  over ``EXPANSIONS`` terms instead of the whole vocabulary. A term's weight is
  ``log(1 + relu(max))``.

A query needs no model for the sparse signal: its terms have learned weights that started as IDF.

A short way of six layers serves the same signals: it shares the first ``SHARED`` layers with the
long one and has three of its own after them, which start as every third layer of the long way. So
one set of weights serves two speeds, and neither has to bend for the other where it matters.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEADS, VOCABULARY, PLACES = 384, 12, 30_522, 512
EXITS = (6, 12)  # the layers of the short way and of the long one
SHARED = 3  # layers that both ways have
POSITIONS = 48
EXPANSIONS = 16_000
TERMS = 160  # kept of a passage
CLS, SEP, PAD = 101, 102, 0
# "Represent this sentence for searching relevant passages: ", which the dense teacher expects
PREFIX = (5050, 2023, 6251, 2005, 6575, 7882, 13768, 1024)
SPECIAL = 1000  # ids below stand for no word of a text
NOTHING = -1e4


class Layer(nn.Module):
    """One post-norm transformer layer."""

    def __init__(self, width: int = WIDTH, heads: int = HEADS) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, state: Tensor, mask: Tensor | None) -> Tensor:
        """States after this layer; ``mask`` is true where there is a token."""
        rows, length, width = state.shape
        joint = self.qkv(state).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = joint.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        state = self.norm(state + self.out(mixed.transpose(1, 2).reshape(rows, length, width)))
        return self.norm2(state + self.narrow(functional.gelu(self.wide(state))))


class Body(nn.Module):
    """A BERT without heads; the only token type is part of the places."""

    def __init__(
        self, layers: int = 12, width: int = WIDTH, heads: int = HEADS, short: int = 0
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(PLACES, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.short = nn.ModuleList(Layer(width, heads) for _ in range(short))

    def forward(
        self, ids: Tensor, kinds: Tensor | None = None, exits: tuple[int, ...] = (12,)
    ) -> list[Tensor]:
        """The states of every token at the end of the short way and of the long one."""
        mask = (ids != PAD)[:, None, None, :]
        state = self.words(ids) + self.places.weight[: ids.shape[1]]
        if kinds is not None:
            state = state + kinds
        state = self.norm(state)
        found = []
        for depth, layer in enumerate(self.layers, 1):
            state = layer(state, mask)
            if depth == SHARED and self.short and SHARED + len(self.short) in exits:
                inner = state
                for own in self.short:
                    inner = own(inner, mask)
                found.append(inner)
        found.append(state)
        return found

    def start_short(self) -> None:
        """Let the short way's own layers start as every third one of the long way."""
        for own, layer in zip(self.short, self.layers[SHARED + 2 :: 3], strict=True):
            own.load_state_dict(layer.state_dict())


class Head(nn.Module):
    """Dense and sparse signal from the states at one depth."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(WIDTH, WIDTH, bias=False)
        self.turn = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.bias = nn.Parameter(torch.full((VOCABULARY,), -0.5))
        nn.init.eye_(self.dense.weight)
        nn.init.eye_(self.turn.weight)
        nn.init.zeros_(self.turn.bias)


class Encoder(nn.Module):
    """The body with a head per exit, and the weights of query terms."""

    def __init__(self, layers: int = 12, exits: tuple[int, ...] = EXITS) -> None:
        super().__init__()
        self.exits = exits
        self.body = Body(layers, short=exits[0] - SHARED)
        self.heads = nn.ModuleList(Head() for _ in exits)
        self.asked = nn.Parameter(torch.ones(VOCABULARY))
        self.register_buffer("expansions", torch.arange(EXPANSIONS))
        self.positions = POSITIONS

    def states(self, ids: Tensor) -> list[Tensor]:
        """The states at every exit."""
        return self.body(ids, exits=self.exits)

    def dense(self, state: Tensor, ids: Tensor, at: int) -> Tensor:
        """The unit vector of a text from the states of one exit."""
        pooled = state[:, 0]
        if self.exits[at] < len(self.body.layers):
            real = (ids != PAD)[..., None].to(state.dtype)
            pooled = (state * real).sum(1) / real.sum(1)
        return functional.normalize(self.heads[at].dense(pooled).float(), dim=-1)

    def terms(self, state: Tensor, ids: Tensor, at: int) -> Tensor:
        """The weight of every vocabulary term for a passage."""
        head = self.heads[at]
        table = self.body.words.weight
        turned = head.norm(functional.gelu(head.turn(state)))
        own = (turned.float() * self.body.words(ids)).sum(-1) + head.bias[ids]
        own = own.masked_fill(ids < SPECIAL, NOTHING)
        count = min(self.positions, ids.shape[1] - 1)
        best = own.detach()[:, 1:].topk(count, dim=1)
        chosen = torch.cat([torch.zeros_like(best.indices[:, :1]), best.indices + 1], 1)
        picked = turned.gather(1, chosen[..., None].expand(-1, -1, WIDTH))
        scores = functional.linear(picked, table[self.expansions])
        # a place that only pads, or a special token, suggests nothing
        real = torch.cat([torch.ones_like(best.values[:, :1]), best.values], 1) > NOTHING / 2
        scores = scores.masked_fill(~real[..., None], NOTHING).amax(1).float()
        full = scores.new_full((ids.shape[0], VOCABULARY), NOTHING)
        full = full.index_copy(1, self.expansions, scores + head.bias[self.expansions])
        full = full.scatter_reduce(1, ids, own, "amax")
        return torch.log1p(functional.relu(full))

    def query_terms(self, ids: Tensor) -> Tensor:
        """The query's own terms with their learned weights."""
        one = torch.zeros(ids.shape[0], VOCABULARY, device=ids.device)
        one.scatter_(1, ids, 1.0)
        one[:, :SPECIAL] = 0
        return one * functional.relu(self.asked)


class Judge(nn.Module):
    """A cross-encoder: query and passage as one text, one score."""

    def __init__(self) -> None:
        super().__init__()
        self.body = Body()
        self.kinds = nn.Parameter(torch.zeros(2, WIDTH))
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, ids: Tensor, second: Tensor) -> Tensor:
        """One score per row; ``second`` is 1 where a token belongs to the passage."""
        (state,) = self.body(ids, self.kinds[second])
        return self.score(torch.tanh(self.pool(state[:, 0]))).squeeze(-1).float()


class Splade(nn.Module):
    """A small sparse encoder: every token weighs every term."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.body = Body(layers, width, heads)
        self.turn = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, ids: Tensor) -> Tensor:
        """The weight of every term."""
        (state,) = self.body(ids)
        turned = self.norm(functional.gelu(self.turn(state)))
        scores = functional.linear(turned, self.body.words.weight)
        best = scores.masked_fill((ids == PAD)[..., None], NOTHING).amax(1).float()
        return torch.log1p(functional.relu(best + self.bias))


def kept_terms(weights: Tensor, count: int = TERMS) -> Tensor:
    """The largest weights of each row; the rest is dropped, as it is in an index."""
    border = weights.detach().topk(count, dim=1).values[:, -1:]
    return torch.where(weights >= border, weights, 0.0)


def load_body(body: Body, floats: dict[str, Tensor], *, fold_type: bool) -> None:
    """Take over weights that are named as in the transformers library."""
    take = {
        "words.weight": floats["embeddings.word_embeddings.weight"],
        "places.weight": floats["embeddings.position_embeddings.weight"].clone(),
        "norm.weight": floats["embeddings.LayerNorm.weight"],
        "norm.bias": floats["embeddings.LayerNorm.bias"],
    }
    if fold_type:
        take["places.weight"] += floats["embeddings.token_type_embeddings.weight"][0]
    for at in range(len(body.layers)):
        old, new = f"encoder.layer.{at}.", f"layers.{at}."
        for kind in ("weight", "bias"):
            take[f"{new}qkv.{kind}"] = torch.cat(
                [floats[f"{old}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            )
            for here, there in (
                ("out", "attention.output.dense"),
                ("norm", "attention.output.LayerNorm"),
                ("wide", "intermediate.dense"),
                ("narrow", "output.dense"),
                ("norm2", "output.LayerNorm"),
            ):
                take[f"{new}{here}.{kind}"] = floats[f"{old}{there}.{kind}"]
    body.load_state_dict(take, strict=not body.short)
    if body.short:
        body.start_short()


def teacher(floats: dict[str, Tensor]) -> Body:
    """The unchanged dense model that training starts from."""
    body = Body()
    load_body(body, floats, fold_type=True)
    return body


def judge(floats: dict[str, Tensor]) -> Judge:
    """The cross-encoder that ships with the program."""
    model = Judge()
    load_body(model.body, floats, fold_type=False)
    with torch.no_grad():
        model.kinds.copy_(floats["embeddings.token_type_embeddings.weight"])
        model.pool.weight.copy_(floats["pooler.dense.weight"])
        model.pool.bias.copy_(floats["pooler.dense.bias"])
        model.score.weight.copy_(floats["classifier.weight"])
        model.score.bias.copy_(floats["classifier.bias"])
    return model


def splade(floats: dict[str, Tensor], heads: int = 2) -> Splade:
    """The sparse encoder that shipped before; its head sizes are not among its weights."""
    width = floats["embeddings.word_embeddings.weight"].shape[1]
    layers = 1 + max(
        int(name.split(".")[2]) for name in floats if name.startswith("encoder.layer.")
    )
    model = Splade(layers, width, heads)
    load_body(model.body, floats, fold_type=True)
    name = "cls.predictions."
    with torch.no_grad():
        model.turn.weight.copy_(floats[f"{name}transform.dense.weight"])
        model.turn.bias.copy_(floats[f"{name}transform.dense.bias"])
        model.norm.weight.copy_(floats[f"{name}transform.LayerNorm.weight"])
        model.norm.bias.copy_(floats[f"{name}transform.LayerNorm.bias"])
        model.bias.copy_(floats[f"{name}bias"])
    return model
