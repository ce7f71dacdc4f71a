"""What is the configuration of this run, and is it the same as that of another?

``Configuration`` is a frozen value with one typed field per setting. Its hash covers the settings
that can change a result, so that two machines with other folders or colors agree on it. Of a
setting that names a file, what the file says counts, not where it lies.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assay.config.resolve import resolve_settings, working_folder
from assay.config.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping


_PASSWORD = re.compile(r"(://[^/@:]*:)[^/]*(@)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One value per setting; ``origins`` says in words where each comes from."""

    home: Path
    measures: str
    confidence: float
    resamples: int
    seed: int
    ci_method: str
    alpha: float
    margin: float
    dense_model: str
    splade_model: str
    database: str
    components: str
    fusion: str
    rrf_k: int
    weights: str
    per_type_weights: str
    normalization: str
    depth: int
    boosts: str
    lexicon: Path | str
    synonyms: Path | str
    rerank: str
    reranker: str
    rerank_timeout_ms: float
    component_timeout_ms: float
    answerer: str
    answer_model: str
    answer_key_variable: str
    answer_seconds: float
    graph_from: int
    models: str
    threads: int
    color: str
    host: str
    port: int
    allowed_hosts: str
    search_slots: int
    search_queue: int
    evaluation_slots: int
    rate_limit: int
    request_seconds: float
    shutdown_seconds: float
    query_log: str
    query_log_days: int
    query_log_rows: int
    schedule: str
    metrics_textfile: str
    pushgateway: str
    server: str
    engine: str
    opensearch_url: str
    opensearch_prefix: str
    opensearch_shards: int
    opensearch_replicas: int
    opensearch_refresh: str
    origins: Mapping[str, str] = field(compare=False, repr=False)

    def as_dict(self) -> dict[str, str | int | float]:
        """Name and plain value of every setting, in the order of the table; no password."""
        values = {name: _plain(getattr(self, name)) for name in SETTINGS}
        return {**values, "database": _PASSWORD.sub(r"\1***\2", self.database)}

    def canonical_json(self) -> str:
        """The settings that can change a result: sorted keys, no blanks, ASCII only."""
        values = self.as_dict()
        chosen = {
            name: _content(value)
            if isinstance(value := getattr(self, name), Path)
            else values[name]
            for name, row in SETTINGS.items()
            if row.changes_results
        }
        return json.dumps(chosen, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def config_hash(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal digits."""
        return hashlib.sha256(self.canonical_json().encode("ascii")).hexdigest()


def configure(
    flags: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """Resolve every setting; a flag that is ``None`` was not given."""
    resolved = resolve_settings(
        flags or {},
        os.environ if environ is None else environ,
        working_folder() if folder is None else folder.absolute(),
    )
    values: dict[str, Any] = {name: found.value for name, found in resolved.items()}
    origins = MappingProxyType({name: found.origin for name, found in resolved.items()})
    return Configuration(**values, origins=origins)


def _content(path: Path) -> str:
    """A checksum of the file; its name where it cannot be read, which a search then refuses."""
    try:
        return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return str(path)


def _plain(value: str | int | float | Path) -> str | int | float:
    return str(value) if isinstance(value, Path) else value
