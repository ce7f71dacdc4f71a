"""How is a model loaded and run on the CPU, by onnxruntime?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.encode.adapter import build_reader, merged
from assay.encode.bert_graph import OUTPUT, build_model
from assay.encode.cards import ModelCard, Role
from assay.encode.families import shape_of
from assay.encode.heads import Head, files_of, read_heads
from assay.encode.model_json import json_object
from assay.encode.parallel import thread_count
from assay.encode.shelf import FoundModel, LoadedModel, load
from assay.encode.tensors import read_arrays, read_tensors
from assay.encode.tokens import TextTokenizer, TokenRow
from assay.errors import CorruptModelError, FormatError, UsageError
from assay.extras import import_optional

_STATES = ("last_hidden_state", "token_embeddings")
_TOKENIZER, _CONFIG = "tokenizer.json", "config.json"
_TASKS: dict[Role, str] = {"splade": "fill-mask", "reranker": "text-classification"}


@dataclass(frozen=True, slots=True)
class Running:
    """A model in memory with its tokenizer, and the id of its vectors."""

    card: ModelCard
    session: ModelSession
    tokenizer: TextTokenizer
    model_id: str
    heads: tuple[Head, ...] = ()


class OnCpu:
    """A running model and the threads that it may use; what it gives depends on the input alone."""

    def __init__(self, running: Running, threads: int = 0) -> None:
        self._running = running
        self._threads = thread_count(threads)

    @property
    def model_id(self) -> str:
        """Identifies the weights and everything else that affects what the model gives."""
        return self._running.model_id


def start(found: FoundModel, role: Role, max_tokens: int | None = None) -> Running:
    """Load, check and compile a model for the CPU."""
    card = found.card
    if card.runtime == "one_pass" or card.role != role:
        raise UsageError(f"{card.name} is a {card.role} model, and a {role} model is needed here")
    if card.runtime == "torch":
        raise UsageError(f"{card.name} runs on torch only", hint=_how_to_convert(found))
    extra = {"bert": (_CONFIG,), "adapter": (card.base,)}.get(card.runtime, ())
    loaded = load(found, (card.weights, _TOKENIZER, *extra, *files_of(card.heads)))
    tokens = token_limit(card, max_tokens)
    if card.runtime == "bert":
        session, positions = _bert(loaded, role)
        tokens = min(tokens, positions)
    elif card.runtime == "adapter":
        session = _adapted(loaded)
    else:
        source = str(found.folder / card.weights)
        session = ModelSession(loaded.contents[card.weights], source, _STATES)
    tokenizer = TextTokenizer(
        loaded.contents[_TOKENIZER],
        tokens,
        str(found.folder / _TOKENIZER),
        lowercase=card.lowercase,
    )
    heads = read_heads(card.heads, loaded.contents)
    return Running(card, session, tokenizer, loaded.identity(tokens), heads)


def _how_to_convert(found: FoundModel) -> str:
    task = _TASKS.get(found.card.role, "feature-extraction")
    return (
        "convert it: pip install 'optimum[onnxruntime]', then optimum-cli export onnx "
        f"--model {found.folder} --task {task} {found.folder / 'onnx'}; "
        "or pip install 'assay-search[gpu]' and use a GPU"
    )


def token_limit(card: ModelCard, asked: int | None) -> int:
    """The number of tokens that a model reads of a text; ``asked`` replaces the card's own."""
    longest = min(card.longest, limits.MAX_MODEL_TOKENS)
    tokens = min(card.max_tokens, longest) if asked is None else asked
    if not 4 <= tokens <= longest:
        raise UsageError(f"{card.name} reads from 4 to {longest} tokens, not {tokens}")
    return tokens


def _bert(loaded: LoadedModel, role: Role) -> tuple[ModelSession, int]:
    source = str(loaded.folder / loaded.card.weights)
    place = str(loaded.folder / _CONFIG)
    shape = shape_of(json_object(loaded.contents[_CONFIG], place), place)
    tensors = read_tensors(loaded.contents[loaded.card.weights], source)
    model = build_model(tensors, shape, role, source)
    return ModelSession(model, source, (OUTPUT,)), shape.positions


def _adapted(loaded: LoadedModel) -> ModelSession:
    card = loaded.card
    source, base = (str(loaded.folder / name) for name in (card.weights, card.base))
    encoder = read_arrays(loaded.contents[card.base], base)
    learned = read_arrays(loaded.contents[card.weights], source)
    arrays = merged(encoder, learned, source)
    return ModelSession(build_reader(arrays, card.dimension, source), source, (OUTPUT,))


_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ERRORS_ONLY = 3


class ModelSession:
    """One model in memory; threads may call ``run`` at the same time."""

    def __init__(
        self, model: bytes, source: str, outputs: tuple[str, ...] = (), *, threads: int = 1
    ) -> None:
        runtime = import_optional("onnxruntime")
        try:
            self._session: Any = runtime.InferenceSession(
                model, _options(runtime, threads), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library has no common base error
            raise FormatError(f"this is not a model: {error!s:.200}", source=source) from error
        self._source = source
        self._inputs = {given.name for given in self._session.get_inputs()}
        if strange := sorted(self._inputs - set(_KNOWN_INPUTS)):
            raise FormatError(
                f"the model wants the input {strange[0]!r:.60}",
                source=source,
                hint=f"known inputs: {', '.join(_KNOWN_INPUTS)}",
            )
        self._outputs = [found.name for found in self._session.get_outputs()]
        self._output = next((name for name in outputs if name in self._outputs), self._outputs[0])

    def run(self, row: TokenRow) -> NDArray[np.float32]:
        """The model's output for one row, without the batch axis."""
        return self._run(row, [self._output])[0]

    def results(self, row: TokenRow) -> dict[str, NDArray[np.float32]]:
        """Every output of the model for one row by name, without the batch axis."""
        return dict(zip(self._outputs, self._run(row, self._outputs), strict=True))

    def _run(self, row: TokenRow, outputs: list[str]) -> list[NDArray[np.float32]]:
        given = {
            "input_ids": row.ids[None],
            "attention_mask": np.ones((1, len(row.ids)), np.int64),
            "token_type_ids": row.types[None],
        }
        wanted = {name: value for name, value in given.items() if name in self._inputs}
        try:
            answers: Any = self._session.run(outputs, wanted)
        except Exception as error:
            raise CorruptModelError(
                f"{self._source}: the model failed: {error!s:.200}",
                hint="weights and tokenizer may be from different models",
            ) from error
        results: list[NDArray[np.float32]] = [np.asarray(one, np.float32)[0] for one in answers]
        if not all(np.isfinite(one).all() for one in results):
            raise CorruptModelError(f"{self._source}: the model returned NaN or infinity")
        return results


def _options(runtime: Any, threads: int) -> Any:
    """Session options: few threads per run, and equal integer results on every x86 CPU."""
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # lengths differ from text to text, so memory plans per shape would only pile up
    options.enable_mem_pattern = False
    if not has_exact_products():
        options.add_session_config_entry("session.x64quantprecision", "1")
    return options


@cache
def has_exact_products(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the CPU multiplies 8-bit numbers without overflow (VNNI).

    Other CPUs use a careful mode, which costs up to half of the speed and gives the same products.
    """
    try:
        text = cpuinfo.read_text(encoding="ascii", errors="replace")
    except OSError:  # not Linux: better slow than wrong
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return "avx512_vnni" in flags or "avx_vnni" in flags
