"""Which index on the cluster is the current one, and how does it catch up with the store?

A generation is an index of its own, ``PREFIX-000007``, behind the alias ``PREFIX``. The index's
``_meta`` records which models and which store it was built from, and its last change. New chunks
and deletes go into the current index; a rebuild, or other models, fill a new index, to which the
alias moves atomically once it is complete; the previous one stays until the next rebuild, for
searches that still use it. An interrupted load resumes where it stopped. An index of another store,
whose workspace has the same prefix, is never written or searched; only a rebuild replaces it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from assay.digests import digest_of
from assay.errors import EngineError, UsageError
from assay.index.origin import BEHIND, FOREIGN, MARK, NEWEST, Origin, is_foreign, origin_of
from assay.index.writer import ChunkSource, Encoders
from assay.model.document import KeyedChunk
from assay.model.query import Component
from assay.model.vectors import DenseEncoder, SparseEncoder
from assay.opensearch.bulk import delete_chunks, load_chunks
from assay.opensearch.components import Bm25, Dense, Splade
from assay.opensearch.facts import ClusterFacts
from assay.opensearch.mapping import FORMAT, fields_of, index_body
from assay.opensearch.transport import Transport
from assay.plural import counted

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
    """The index behind the alias; ``generation`` 0 means that there is none yet.

    ``begun`` is the last change that an interrupted load may have applied in part; ``origin`` is
    what it recorded about its store at ``applied``.
    """

    index: str = ""
    generation: int = 0
    applied: int = 0
    models: Mapping[str, str] = field(default_factory=dict)
    begun: int = 0
    origin: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def name(self) -> str:
        """The name for responses and runs; it changes whenever the searched content does."""
        return f"{self.index}@{self.applied}"

    @property
    def content(self) -> str:
        """Some digits that tell its models and the store behind it from those of any other."""
        return digest_of([dict(self.models), dict(self.origin)]).removeprefix("sha256:")


class Cluster:
    """One workspace's data on an OpenSearch cluster."""

    def __init__(self, transport: Transport, shape: Shape) -> None:
        self.transport = transport
        self._shape = shape
        self._words = "", Bm25(transport, "")

    def current(self, seconds: float = LOOK_SECONDS) -> Current:
        """The index that the alias points to.

        One request, answered by the node that receives it (``local``): searches work while the
        cluster has no manager.
        """
        found = self.transport.ask(
            "GET",
            f"/{self._shape.prefix}/_mapping?local=true&filter_path=*.mappings._meta",
            missing=True,
            timeout=seconds,
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
        """One component over an index; None if the configuration has no model for it."""
        if name == "bm25":
            if current.format != FORMAT:
                raise UsageError(
                    f"the words of {current.index} were tokenized by another version of assay",
                    hint="assay index update fills a new index",
                )
            return self._words_of(current)
        encoder = sparse if name == "splade" else dense
        if encoder is None:
            return None
        used = current.models.get(name)
        if used != encoder.model_id:
            raise UsageError(
                f"the index was built with {used or 'no model'} for {name}, "
                f"not with {encoder.model_id}",
                hint="assay index reencode",
            )
        if name == "splade" and sparse is not None:
            return Splade(self.transport, current.index, sparse, facts=self.facts(current))
        assert dense is not None
        return Dense(self.transport, current.index, dense, facts=self.facts(current))

    def facts(self, current: Current) -> ClusterFacts:
        """The metadata of an index at its last change, shared by its components."""
        return self._words_of(current).facts

    def words(self, current: Current) -> Bm25 | None:
        """What the words of an index can tell; None if another version cut them."""
        return self._words_of(current) if current.format == FORMAT else None

    def _words_of(self, current: Current) -> Bm25:
        """The component of words at the last change, with all that it remembers."""
        name, known = self._words
        if name != current.name:
            name, known = self._words = current.name, Bm25(self.transport, current.index)
        return known

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
        if not fresh:
            refuse_foreign(current, source)
        if fresh or not current.generation or _outdated(current, encoders):
            index = f"{self._shape.prefix}-{current.generation + 1:06d}"
            plan = {"until": until, "models": encoders.models, **origin_of(source, until)}
            after = self._begun(index, plan, None if fresh else source)
            if after is None:
                self._create(index, dimension, current.generation + 1, plan)
            return self._fill(index, source, encoders, after or 0, old=current, progress=progress)
        if until == current.applied:
            return current
        # an interrupted load may have added chunks that are gone since
        gone = {
            key
            for seq in {current.applied, current.begun}
            for key in source.removed_since(seq, until)
        }
        delete_chunks(self.transport, current.index, sorted(gone))
        self._mark(current.index, {"begun": until})
        pages = source.added_since(current.applied, until)
        load_chunks(
            self.transport, current.index, pages, encoders, lambda _, n: progress("load", n, 0)
        )
        self._refresh(current.index)
        return self._mark(current.index, {"applied": until, **origin_of(source, until)})

    def _create(self, index: str, dimension: int, generation: int, plan: dict[str, Any]) -> None:
        """Create an empty index, replacing one that was begun for another plan."""
        self._clear(index)
        body = index_body(
            shards=self._shape.shards,
            replicas=0,
            refresh=LOADING_REFRESH,
            dimension=dimension,
            meta={"generation": generation, "applied": 0, "plan": plan},
        )
        self.transport.ask("PUT", f"/{index}", body)

    def _fill(
        self,
        index: str,
        source: ChunkSource,
        encoders: Encoders,
        after: int,
        *,
        old: Current,
        progress: Progress,
    ) -> Current:
        """Fill a new index with everything, then move the alias to it."""
        plan = self._meta(index)["plan"]
        until = plan["until"]

        def done(last_key: int, count: int) -> None:
            self._mark(index, {"loaded": last_key})
            progress("load", count, 0)

        pages = _after(source.added_since(0, until), after)
        load_chunks(self.transport, index, pages, encoders, done)
        self._finish(index)
        # the plan stays: if the alias cannot be moved now, the next attempt finds everything loaded
        known = {"models": encoders.models, **_origin(plan)}
        new = self._mark(index, {"applied": until, "begun": until, **known})
        self._swap(old.index, index)
        return new

    def _begun(self, index: str, plan: dict[str, Any], store: Origin | None) -> int | None:
        """The last key that an interrupted load of the same plan had written.

        None if there was none, or if a shard was lost with its node: an index that is being filled
        has no copies yet, and is filled again. An index begun by another store's workspace is an
        error, unless ``store`` is None.
        """
        meta = self._meta(index)
        begun = meta.get("plan")
        if begun and store is not None:
            refuse_foreign(Current(index, 1, begun["until"], origin=_origin(begun)), store)
        if begun != plan or self._status(index) == "red":
            return None
        return int(meta.get("loaded", 0))

    def _finish(self, index: str) -> None:
        """Merge the index while it has no copies, then copy it, then make it searchable."""
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
                hint="run it again: the previous index keeps serving meanwhile",
            )

    def _status(self, index: str, *, wait: str = "yellow", seconds: int = LOST_SECONDS) -> str:
        """green, yellow or red, after waiting up to ``seconds`` for ``wait``."""
        path = f"/_cluster/health/{index}?wait_for_status={wait}&timeout={seconds}s"
        found = self.transport.ask("GET", path, late=True, timeout=seconds + 30.0)
        return str(found["status"])

    def _swap(self, old: str, new: str) -> None:
        """Move the alias atomically; the old index stays for searches that still use it."""
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
        """Delete an index of ours, if it exists; others' indexes are left alone."""
        found = self.transport.ask("GET", f"/{index}/_mapping", missing=True)
        if found:
            _current(index, found[index]["mappings"].get("_meta", {}))
            self.transport.ask("DELETE", f"/{index}", missing=True)

    def _refresh(self, index: str) -> None:
        """Make everything that was loaded searchable; an error if a shard fails."""
        said = self.transport.ask("POST", f"/{index}/_refresh", timeout=120.0)
        if failed := said.get("_shards", {}).get("failed"):
            raise EngineError(
                f"{counted(failed, 'shard')} of {index} could not be refreshed",
                hint="run it again: it resumes where it stopped",
            )

    def _mark(self, index: str, changes: dict[str, Any]) -> Current:
        """Update the ``_meta`` of an index, and read it back."""
        meta = {**self._meta(index), **changes}
        self.transport.ask("PUT", f"/{index}/_mapping", {"_meta": meta})
        return _current(index, meta)

    def _meta(self, index: str) -> dict[str, Any]:
        found = self.transport.ask("GET", f"/{index}/_mapping", missing=True)
        meta: dict[str, Any] = found.get(index, {}).get("mappings", {}).get("_meta", {})
        return meta

    def count(self, index: str) -> int:
        """The number of chunks of an index, in live shards."""
        return int(self.transport.ask("GET", f"/{index}/_count")["count"])

    def keys(self, index: str, keys: Sequence[int]) -> set[int]:
        """Those of the keys that an index has."""
        body = {"ids": [str(key) for key in keys]}
        found = self.transport.ask("POST", f"/{index}/_mget?_source=false", body)
        return {int(doc["_id"]) for doc in found["docs"] if doc.get("found")}

    def engine(self) -> str:
        """The engine and its version, as recorded in a run."""
        return f"opensearch {self.transport.ask('GET', '/')['version']['number']}"

    def card(self, current: Current) -> dict[str, Any]:
        """The engine, the cluster's health and the size of the index."""
        health = self.transport.ask("GET", "/_cluster/health")
        primaries: dict[str, Any] = {}
        if current.index:  # without a name, the request would cover the whole cluster
            stats = self.transport.ask("GET", f"/{current.index}/_stats/store", missing=True)
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

    def problems(self, chunks: int, store: Origin) -> list[str]:
        """A list of problems; empty if there are none."""
        current = self.current()
        if not current.generation:
            told = counted(store.last_change(), "change")
            return [f"there is no index on the cluster yet: {told} {BEHIND}"]
        found = []
        health = self.transport.ask("GET", f"/_cluster/health/{current.index}")
        if health["status"] == "red":
            return [f"{current.index} has lost {counted(health['unassigned_shards'], 'shard')}"]
        if health["unassigned_shards"]:
            found.append(
                f"no node for {counted(health['unassigned_shards'], 'copy')} of shards: "
                "start more nodes, or set fewer opensearch_replicas and rebuild"
            )
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
        if is_foreign(current.applied, current.origin, store):
            return [*found, FOREIGN]
        if behind := store.last_change() - current.applied:
            found.append(f"the index is {counted(behind, 'change')} {BEHIND}")
        elif (alive := self.count(current.index)) != chunks:
            found.append(f"the index holds {counted(alive, 'chunk')} and the store {chunks}")
        return found

    def unfit(self) -> list[tuple[str, str]]:
        """What nodes lack for our indexes, each with what to do about it."""
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


def _outdated(current: Current, encoders: Encoders) -> bool:
    """Whether other models, or another version of assay, made an index."""
    return dict(current.models) != encoders.models or current.format != FORMAT


def refuse_foreign(current: Current, source: Origin) -> None:
    """Raise an error if an index was built from another store."""
    if is_foreign(current.applied, current.origin, source):
        raise EngineError(
            f"{current.index}: {FOREIGN}",
            hint="where another workspace has the same opensearch_prefix, choose another; "
            "assay index rebuild puts this workspace's documents in its place",
        )


def _current(index: str, meta: Mapping[str, Any]) -> Current:
    try:
        return Current(
            index=index,
            generation=int(meta["generation"]),
            applied=int(meta["applied"]),
            models=dict(meta.get("models", {})),
            begun=int(meta.get("begun", meta["applied"])),
            origin=_origin(meta),
            format=int(meta.get("format", 1)),
        )
    except (KeyError, ValueError, TypeError):
        raise EngineError(
            f"the index {index} was not made by assay", hint="choose another opensearch_prefix"
        ) from None


def _origin(kept: Mapping[str, Any]) -> dict[str, Any]:
    return {name: kept[name] for name in (MARK, NEWEST) if name in kept}


def _after(pages: Iterator[list[KeyedChunk]], last_key: int) -> Iterator[list[KeyedChunk]]:
    """The pages without what was already loaded."""
    for page in pages:
        kept = list(itertools.dropwhile(lambda row: row.key <= last_key, page))
        if kept:
            yield kept
