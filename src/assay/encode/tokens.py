"""Which tokens does a model read for a text?

On the CPU, texts are tokenised one at a time by the thread that runs the model on them, so the
tokenizer's own threads are off; for a GPU, a batch of pairs is tokenised on all cores.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay import limits
from assay.errors import FormatError, InputError
from assay.extras import import_optional

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class TokenRow:
    """Token ids of one text, and which of two joined texts each belongs to."""

    ids: NDArray[np.int64]
    types: NDArray[np.int64]


class TextTokenizer:
    """Splits text into at most ``max_tokens`` tokens, special ones included."""

    def __init__(
        self,
        data: bytes,
        max_tokens: int,
        source: str,
        *,
        parallel: bool = False,
        lowercase: bool = False,
    ) -> None:
        # the library reads this at every call; a single text is never split between threads
        if parallel:
            os.environ["TOKENIZERS_PARALLELISM"] = "true"
        else:
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        library = import_optional("tokenizers")
        try:
            self._tokenizer: Tokenizer = library.Tokenizer.from_buffer(data)
        except Exception as error:  # the library raises a bare Exception
            raise FormatError(f"this is not a tokenizer: {error!s:.200}", source=source) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        self.max_tokens = max_tokens
        self._lowercase = lowercase

    def text(self, text: str) -> TokenRow:
        """The tokens of one text."""
        return self._row(text.lower() if self._lowercase else text)

    def pair(self, first: str, second: str) -> TokenRow:
        """The tokens of two texts as one row; the longer of the two is truncated."""
        return self._row((clipped(first), clipped(second)))

    def pairs(self, first: str, seconds: list[str], *, typed: bool = True) -> list[TokenRow]:
        """The same for several second texts at once; every type is 0 if not ``typed``."""
        given = [(clipped(first), clipped(second)) for second in seconds]
        found = self._tokenizer.encode_batch_fast(given)
        return [_token_row(one, typed=typed) for one in found]

    def terms(self) -> list[str]:
        """Every entry of the vocabulary, by its id."""
        by_id = {at: word for word, at in self._tokenizer.get_vocab().items()}
        return [by_id.get(at, "") for at in range(max(by_id, default=-1) + 1)]

    def _row(self, text: str | tuple[str, str]) -> TokenRow:
        given = clipped(text) if isinstance(text, str) else text
        return _token_row(self._tokenizer.encode_batch_fast([given])[0])


def _token_row(found: Encoding, *, typed: bool = True) -> TokenRow:
    ids = np.array(found.ids, np.int64)
    return TokenRow(ids, np.array(found.type_ids, np.int64) if typed else np.zeros_like(ids))


def clipped(text: str) -> str:
    """The part of a text that is read; an error if it contains a lone surrogate."""
    part = text[: limits.MAX_ENCODE_CHARS]
    try:
        part.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text contains half a character (U+{ord(part[error.start]):04X}) at "
            f"position {error.start}",
            hint="the file was decoded with the wrong encoding, or cut inside a character",
        ) from error
    return part
