"""Is this the same content as before?"""

from __future__ import annotations

import hashlib
import json
from typing import Any

SHOWN = 16  # hexadecimal digits, which people can still compare by eye


def digest_of(content: Any) -> str:
    """``sha256:`` and the first digits of the checksum of JSON content."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:SHOWN]}"
