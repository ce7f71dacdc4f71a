"""How do a model's files become something that runs?"""

from __future__ import annotations

import json
from dataclasses import dataclass

from assay import limits
from assay.encode.bert_graph import OUTPUT, bert_shape, build_bert
from assay.encode.cards import ModelCard, Role
from assay.encode.session import ModelSession
from assay.encode.shelf import FoundModel, LoadedModel, load
from assay.encode.tensors import read_tensors
from assay.encode.tokens import TextTokenizer
from assay.errors import FormatError, UsageError

_STATES = ("last_hidden_state", "token_embeddings")
_TOKENIZER, _CONFIG = "tokenizer.json", "config.json"


@dataclass(frozen=True, slots=True)
class Running:
    """A model in memory with its tokenizer, and the name of what it makes."""

    card: ModelCard
    session: ModelSession
    tokenizer: TextTokenizer
    model_id: str


def start(found: FoundModel, role: Role, max_tokens: int | None = None) -> Running:
    """Load, check and compile a model for the processor."""
    card = found.card
    if card.role != role:
        raise UsageError(f"{card.name} is a {card.role} model, and a {role} model is needed here")
    if card.runtime == "torch":
        raise UsageError(f"{card.name} runs on torch only", hint="install assay[gpu] and use a GPU")
    extra = (_CONFIG,) if card.runtime == "bert" else ()
    loaded = load(found, (card.weights, _TOKENIZER, *extra))
    tokens = _tokens(card, max_tokens)
    if card.runtime == "bert":
        session, positions = _bert(loaded, role)
        tokens = min(tokens, positions)
    else:
        source = str(found.folder / card.weights)
        session = ModelSession(loaded.contents[card.weights], source, _STATES)
    tokenizer = TextTokenizer(loaded.contents[_TOKENIZER], tokens, str(found.folder / _TOKENIZER))
    return Running(card, session, tokenizer, loaded.identity(tokens))


def _tokens(card: ModelCard, asked: int | None) -> int:
    longest = min(card.longest, limits.MAX_MODEL_TOKENS)
    tokens = min(card.max_tokens, longest) if asked is None else asked
    if not 4 <= tokens <= longest:
        raise UsageError(f"{card.name} reads from 4 to {longest} tokens, not {tokens}")
    return tokens


def _bert(loaded: LoadedModel, role: Role) -> tuple[ModelSession, int]:
    source = str(loaded.folder / loaded.card.weights)
    place = str(loaded.folder / _CONFIG)
    try:
        config = json.loads(loaded.contents[_CONFIG])
    except (ValueError, RecursionError) as error:
        raise FormatError("this is not JSON", source=place) from error
    if not isinstance(config, dict):
        raise FormatError("this must be a JSON object", source=place)
    shape = bert_shape(config, place)
    tensors = read_tensors(loaded.contents[loaded.card.weights], source)
    model = build_bert(tensors, shape, role, source)
    return ModelSession(model, source, (OUTPUT,)), shape.positions
