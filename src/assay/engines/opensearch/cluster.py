"""Which index on the cluster is the current one, and how does it catch up with the store?

A generation is an index of its own, ``PREFIX-000007``, behind the alias ``PREFIX``. The index's
``_meta`` says which models made it and up to which change of the store it is complete. New chunks
and deletes go into the current index; a rebuild, or other models, fill a new index, which the alias
moves to in one step when all of it is there; the one before stays until the next, for searches that
are still in it. An interrupted load goes on where it stopped.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from assay.counting import counted
from assay.engines.opensearch.components import Bm25, Dense, Splade
from assay.engines.opensearch.loading import delete_chunks, load_chunks
from assay.engines.opensearch.mapping import FORMAT, fields_of, index_body
from assay.engines.opensearch.transport import Transport
from assay.errors import EngineError, UsageError
from assay.index.writer import ChunkSource, Encoders
from assay.model.document import KeyedChunk
from assay.model.query import Component
from assay.model.vectors import DenseEncoder, SparseEncoder

Progress: TypeAlias = Callable[[str, int, int], None]

OLDEST = (2, 13)
LOADING_REFRESH = "-1"  # nobody searches an index that is being filled
MERGE_SECONDS = 3_600.0
COPY_SECONDS = 60
LOST_SECONDS = 10
LOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How indexes are laid out on the cluster."""

    prefix: str = "assay"
    shards: int = 1
    replicas: int = 1
    refresh: str = "1s"


@dataclass(frozen=True, slots=True)
class Current:
    """The index behind the alias; ``generation`` 0 means that there is none yet."""

    index: str = ""
    generation: int = 0
    applied: int = 0
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What an answer and a run call it: it changes with every change of what is searched."""
        return f"{self.index}@{self.applied}"


class Cluster:
    """One workspace's data on an OpenSearch cluster."""

    def __init__(self, transport: Transport, shape: Shape) -> None:
        self.transport = transport
        self._shape = shape

    def current(self) -> Current:
        """What the alias points at.

        One request, answered by the node that gets it (``local``): searches go on while the
        cluster has no manager.
        """
        found = self.transport.ask(
            "GET",
            f"/{self._shape.prefix}/_mapping?local=true&filter_path=*.mappings._meta",
            missing=True,
            timeout=LOOK_SECONDS,
        )
        names = sorted(name for name in found if name.startswith(f"{self._shape.prefix}-"))
        return _current(names[-1], found[names[-1]]["mappings"]["_meta"]) if names else Current()

    def component(
        self,
        name: str,
        current: Current,
        sparse: SparseEncoder | None,
        dense: DenseEncoder | None,
    ) -> Component | None:
        """One component over an index; None where the configuration has no model for it."""
        if name == "bm25":
            return Bm25(self.transport, current.index)
        encoder = sparse if name == "splade" else dense
        if encoder is None:
            return None
        used = current.models.get(name)
        if used != encoder.model_id:
            raise UsageError(
                f"the index was built with {used or 'no model'} for {name}, "
                f"not with {encoder.model_id}",
                hint="assay index rebuild",
            )
        if name == "splade" and sparse is not None:
            return Splade(self.transport, current.index, sparse)
        assert dense is not None
        return Dense(self.transport, current.index, dense)

    def update(
        self,
        source: ChunkSource,
        encoders: Encoders,
        dimension: int,
        *,
        fresh: bool = False,
        progress: Progress = lambda stage, done, total: None,
    ) -> Current:
        """Bring the cluster up to the store's last change; ``fresh`` fills a new index."""
        current = self.current()
        until = source.last_change()
        if fresh or not current.generation or dict(current.models) != encoders.models:
            return self._fill(
                source, encoders, dimension, current=current, until=until, progress=progress
            )
        if until == current.applied:
            return current
        delete_chunks(self.transport, current.index, source.removed_since(current.applied, until))
        pages = source.added_since(current.applied, until)
        load_chunks(
            self.transport, current.index, pages, encoders, lambda _, n: progress("load", n, 0)
        )
        self._refresh(current.index)
        return self._mark(current.index, {"applied": until, "models": encoders.models})

    def _fill(
        self,
        source: ChunkSource,
        encoders: Encoders,
        dimension: int,
        *,
        current: Current,
        until: int,
        progress: Progress,
    ) -> Current:
        """A new index with everything, and the alias moved to it when it is whole."""
        index = f"{self._shape.prefix}-{current.generation + 1:06d}"
        plan = {"until": until, "models": encoders.models}
        after = self._begun(index, plan)
        if after is None:
            self._clear(index)
            body = index_body(
                shards=self._shape.shards,
                replicas=0,
                refresh=LOADING_REFRESH,
                dimension=dimension,
                meta={"generation": current.generation + 1, "applied": 0, "plan": plan},
            )
            self.transport.ask("PUT", f"/{index}", body)
            after = 0

        def done(last_key: int, count: int) -> None:
            self._mark(index, {"plan": plan, "loaded": last_key})
            progress("load", count, 0)

        pages = _after(source.added_since(0, until), after)
        load_chunks(self.transport, index, pages, encoders, done)
        self._finish(index)
        new = self._mark(index, {"applied": until, "models": encoders.models})
        self._swap(current.index, index)
        return new

    def _begun(self, index: str, plan: dict[str, Any]) -> int | None:
        """The last key that an interrupted load of the same plan had brought there.

        None where there was none, or where a shard of it is gone with its node: an index that is
        being filled has no copies yet, and is filled anew.
        """
        meta = self._meta(index)
        if meta.get("plan") != plan or self._status(index) == "red":
            return None
        return int(meta.get("loaded", 0))

    def _finish(self, index: str) -> None:
        """Merged while it has no copies, then copied, then searchable."""
        self._refresh(index)
        self.transport.ask(
            "POST", f"/{index}/_forcemerge?max_num_segments=1", timeout=MERGE_SECONDS
        )
        settings = {
            "index": {
                "number_of_replicas": self._shape.replicas,
                "refresh_interval": self._shape.refresh,
            }
        }
        self.transport.ask("PUT", f"/{index}/_settings", settings)
        self._refresh(index)
        # a cluster with too few nodes for the copies stays yellow, and serves
        if self._status(index, wait="green", seconds=COPY_SECONDS) == "red":
            raise EngineError(
                f"shards of {index} were lost while it was filled",
                hint="run it again: the index before goes on serving meanwhile",
            )

    def _status(self, index: str, *, wait: str = "yellow", seconds: int = LOST_SECONDS) -> str:
        """green, yellow or red, after waiting for something better for so long."""
        path = f"/_cluster/health/{index}?wait_for_status={wait}&timeout={seconds}s"
        found = self.transport.ask("GET", path, late=True, timeout=seconds + 30.0)
        return str(found["status"])

    def _swap(self, old: str, new: str) -> None:
        """Move the alias in one step; what it left stays for those who still search it."""
        alias = self._shape.prefix
        actions: list[dict[str, Any]] = [{"add": {"index": new, "alias": alias}}]
        if old:
            actions.append({"remove": {"index": old, "alias": alias}})
        self.transport.ask("POST", "/_aliases", {"actions": actions})
        every = self.transport.ask("GET", f"/{alias}-*/_mapping?filter_path=*.mappings._meta")
        for name in every:
            # another workspace's prefix may begin with ours
            if name not in (old, new) and re.fullmatch(rf"{re.escape(alias)}-\d+", name):
                self._clear(name)

    def _clear(self, index: str) -> None:
        """Delete an index of ours, if there is one; what somebody else made is left alone."""
        found = self.transport.ask("GET", f"/{index}/_mapping", missing=True)
        if found:
            _current(index, found[index]["mappings"].get("_meta", {}))
            self.transport.ask("DELETE", f"/{index}", missing=True)

    def _refresh(self, index: str) -> None:
        self.transport.ask("POST", f"/{index}/_refresh", timeout=120.0)

    def _mark(self, index: str, changes: dict[str, Any]) -> Current:
        """Write what is known of an index into its ``_meta``, and read it back."""
        meta = {**self._meta(index), **changes}
        if "applied" in changes:
            meta.pop("plan", None)
            meta.pop("loaded", None)
        self.transport.ask("PUT", f"/{index}/_mapping", {"_meta": meta})
        return _current(index, meta)

    def _meta(self, index: str) -> dict[str, Any]:
        found = self.transport.ask("GET", f"/{index}/_mapping", missing=True)
        meta: dict[str, Any] = found.get(index, {}).get("mappings", {}).get("_meta", {})
        return meta

    def count(self, index: str) -> int:
        """How many chunks an index has, in shards that are alive."""
        return int(self.transport.ask("GET", f"/{index}/_count")["count"])

    def keys(self, index: str, keys: Sequence[int]) -> set[int]:
        """Which of these chunks an index has."""
        body = {"ids": [str(key) for key in keys]}
        found = self.transport.ask("POST", f"/{index}/_mget?_source=false", body)
        return {int(doc["_id"]) for doc in found["docs"] if doc.get("found")}

    def engine(self) -> str:
        """The engine and its version, as a run keeps it."""
        return f"opensearch {self.transport.ask('GET', '/')['version']['number']}"

    def card(self, current: Current) -> dict[str, Any]:
        """The engine, the cluster's health and what the index takes."""
        health = self.transport.ask("GET", "/_cluster/health")
        stats = self.transport.ask("GET", f"/{current.index}/_stats/docs,store", missing=True)
        primaries = stats.get("_all", {}).get("primaries", {})
        return {
            "engine": self.engine(),
            "index": current.index,
            "indexed_rows": self.count(current.index) if current.index else 0,
            "models": dict(current.models),
            "bytes": {"primaries": primaries.get("store", {}).get("size_in_bytes", 0)},
            "cluster": {
                "name": health["cluster_name"],
                "status": health["status"],
                "nodes": health["number_of_nodes"],
                "unassigned_shards": health["unassigned_shards"],
            },
            "dense_search": "approximate",
        }

    def problems(self, chunks: int, last_change: int) -> list[str]:
        """What is wrong, in words; nothing where the list is empty."""
        current = self.current()
        if not current.generation:
            return ["there is no index on the cluster yet"]
        found = []
        health = self.transport.ask("GET", f"/_cluster/health/{current.index}")
        if health["status"] == "red":
            return [f"{current.index} has lost {counted(health['unassigned_shards'], 'shard')}"]
        if health["unassigned_shards"]:
            found.append(f"no node for {counted(health['unassigned_shards'], 'copy')} of shards")
        mapping = self.transport.ask("GET", f"/{current.index}/_mapping")[current.index]["mappings"]
        if mapping["_meta"].get("format") != FORMAT:
            return [*found, f"{current.index} was not written by this version of assay"]
        wanted = fields_of(1 if "dense" in current.models else 0)
        if wrong := sorted(
            name
            for name, field in wanted.items()
            if mapping["properties"].get(name, {}).get("type") != field["type"]
        ):
            return [*found, f"the mapping of {current.index} has no sound {', '.join(wrong)}"]
        if current.applied < last_change:
            found.append(
                f"the index is {counted(last_change - current.applied, 'change')} behind the store"
            )
        elif (alive := self.count(current.index)) != chunks:
            found.append(f"the index holds {counted(alive, 'chunk')} and the store {chunks}")
        return found

    def unfit(self) -> list[tuple[str, str]]:
        """What nodes lack that our indexes need, each with what to do."""
        found = []
        for node in self.transport.ask("GET", "/_nodes/plugins")["nodes"].values():
            version = tuple(map(int, re.findall(r"\d+", node["version"])[:2]))
            if version < OLDEST:
                oldest = ".".join(map(str, OLDEST))
                what = f"node {node['name']} has OpenSearch {node['version']}"
                found.append((what, f"{oldest} or newer has inner products in Lucene's graph"))
            names = " ".join(p["classname"] + p["name"] for p in node.get("plugins", ()))
            if "knn" not in names.lower():
                what = f"node {node['name']} lacks the plugin opensearch-knn"
                found.append((what, "opensearch-plugin install opensearch-knn"))
        return found


def _current(index: str, meta: Mapping[str, Any]) -> Current:
    try:
        return Current(
            index=index,
            generation=int(meta["generation"]),
            applied=int(meta["applied"]),
            models=dict(meta.get("models", {})),
        )
    except (KeyError, ValueError, TypeError):
        raise EngineError(
            f"the index {index} is not one of ours", hint="choose another opensearch_prefix"
        ) from None


def _after(pages: Iterator[list[KeyedChunk]], last_key: int) -> Iterator[list[KeyedChunk]]:
    """The pages without what was loaded before."""
    for page in pages:
        kept = list(itertools.dropwhile(lambda row: row.key <= last_key, page))
        if kept:
            yield kept
