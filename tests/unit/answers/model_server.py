"""A language model service on this machine, with scripted replies."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.scripted_service import Reply, ScriptedService, fails

__all__ = ["DEFAULT", "ModelServer", "Reply", "completion", "fails", "says"]

DEFAULT = "The dose is 5 mg once daily [1]."


def completion(content: Any) -> bytes:
    return json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": content}}]}
    ).encode()


class ModelServer(ScriptedService):
    """Says ``DEFAULT`` where no reply is scripted."""

    PATH = "/v1"

    def usual(self, body: dict[str, Any]) -> Reply:
        """The same words to everybody."""
        del body
        return says(DEFAULT)


def says(content: Any) -> Reply:
    return Reply(200, {}, completion(content))
