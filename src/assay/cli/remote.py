"""How do commands work against a shared service (``assay --server ADDRESS ...``)?"""

import os
from typing import Any

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.client import Client
from assay.config import Configuration

KEY_VARIABLE = "ASSAY_API_KEY"
DEGRADED = 4
PREVIEW = 100


def is_remote(config: Configuration) -> bool:
    """Whether the command should talk to a service."""
    return config.server != "none"


def client(config: Configuration) -> Client:
    """The service of the setting ``server``; the key comes from the environment only."""
    return Client(config.server, key=os.environ.get(KEY_VARIABLE) or None)


def search(config: Configuration, query: str, json_output: bool, **parameters: Any) -> int:
    """Search at the service."""
    with client(config) as service:
        answer = service.search(query, **parameters)
    if json_output:
        emit_json(answer)
    elif answer["results"]:
        header = ("#", "score", "chunk", "title", "text")
        rows = [
            (
                str(hit["rank"]),
                f"{hit['score']:.4f}",
                hit["chunk_id"],
                hit["title"][:40],
                " ".join(hit["text"].split())[:PREVIEW],
            )
            for hit in answer["results"]
        ]
        emit_columns([header, *rows])
    else:
        emit_text("nothing found")
    for line in answer["warnings"]:
        note(f"warning: {line}")
    return DEGRADED if answer["degraded"] else 0


def gate(
    config: Configuration, baseline: str, current: str, json_output: bool, **options: Any
) -> int:
    """Hold a run of the service against another; the exit code is the ruling."""
    with client(config) as service:
        ruling = service.gate(baseline, current, **options)
    if json_output:
        emit_json(ruling)
    else:
        header = ("measure", "limit", "baseline", "current", "outcome", "why")
        rows = [
            (
                check["measure"],
                check["limit"],
                _value(check["baseline"]),
                _value(check["current"]),
                check["outcome"],
                check["explanation"],
            )
            for check in ruling["checks"]
        ]
        emit_columns([header, *rows])
        for line in (*ruling["blockers"], *ruling["warnings"]):
            note(f"warning: {line}")
        emit_text(f"gate: {ruling['outcome']}")
    code: int = ruling["exit_code"]
    return code


def _value(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"
