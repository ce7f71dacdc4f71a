"""How does onnxruntime run one row of tokens?"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.encode.dependency import needed
from assay.encode.tokens import TokenRow
from assay.errors import CorruptModelError, FormatError

_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ERRORS_ONLY = 3


class ModelSession:
    """One model in memory; threads may call ``run`` at the same time."""

    def __init__(self, model: bytes, source: str, outputs: tuple[str, ...] = ()) -> None:
        runtime = needed("onnxruntime")
        try:
            self._session: Any = runtime.InferenceSession(
                model, _options(runtime), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library has no common error
            raise FormatError(f"this is not a model: {error!s:.200}", source=source) from error
        self._source = source
        self._inputs = {given.name for given in self._session.get_inputs()}
        if strange := sorted(self._inputs - set(_KNOWN_INPUTS)):
            raise FormatError(
                f"the model wants the input {strange[0]!r:.60}",
                source=source,
                hint=f"known inputs: {', '.join(_KNOWN_INPUTS)}",
            )
        names = [found.name for found in self._session.get_outputs()]
        self._output = next((name for name in outputs if name in names), names[0])

    def run(self, row: TokenRow) -> NDArray[np.float32]:
        """What the model says about one row, without the axis of the batch."""
        given = {
            "input_ids": row.ids[None],
            "attention_mask": np.ones((1, len(row.ids)), np.int64),
            "token_type_ids": row.types[None],
        }
        wanted = {name: value for name, value in given.items() if name in self._inputs}
        try:
            answer: Any = self._session.run([self._output], wanted)[0]
        except Exception as error:
            raise CorruptModelError(
                f"{self._source}: the model failed: {error!s:.200}",
                hint="weights and tokenizer may not belong together",
            ) from error
        result: NDArray[np.float32] = np.asarray(answer, np.float32)[0]
        if not np.isfinite(result).all():
            raise CorruptModelError(f"{self._source}: the model returned numbers that are none")
        return result


def _options(runtime: Any) -> Any:
    """One thread per run, and the same integers on every x86 processor."""
    runtime.disable_telemetry_events()
    options = runtime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # lengths differ from text to text, so plans for a shape would only pile up
    options.enable_mem_pattern = False
    if not has_exact_products():
        options.add_session_config_entry("session.x64quantprecision", "1")
    return options


@cache
def has_exact_products(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor multiplies 8-bit numbers without overflow (VNNI).

    Others are told to be careful, which costs up to half of the speed and gives the same numbers.
    """
    try:
        text = cpuinfo.read_text(encoding="ascii", errors="replace")
    except OSError:  # no Linux: careful costs less than wrong
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return "avx512_vnni" in flags or "avx_vnni" in flags
