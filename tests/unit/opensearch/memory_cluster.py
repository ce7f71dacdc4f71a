"""A cluster in memory: as much of it as filling indexes and moving an alias needs."""

from __future__ import annotations

import json
from typing import Any

from assay.errors import EngineError
from assay.opensearch.transport import Transport


class MemoryCluster(Transport):
    """Indexes with their documents; ``fails`` names requests that are refused, such as _aliases."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Any]] = {}
        self.alias: dict[str, set[str]] = {}
        self.fails: set[str] = set()
        self.bulks_left = -1
        self.failed_shards = 0

    def documents(self, index: str) -> set[int]:
        """The keys that an index has."""
        return set(self.indexes[index]["documents"])

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        missing: bool = False,
        late: bool = False,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        name, _, what = path.partition("?")[0].strip("/").partition("/")
        if {name, what} & self.fails:
            raise EngineError(f"refused {method} {path}")
        if name == "_aliases":
            return self._moved(body["actions"])
        if name == "_cluster":
            return {"status": "green", "unassigned_shards": 0}
        if what == "_mapping" and method == "GET":
            return {one: {"mappings": self.indexes[one]["mappings"]} for one in self._named(name)}
        if what == "_mapping":
            self.indexes[name]["mappings"]["_meta"] = body["_meta"]
        elif method == "PUT" and not what:
            self.indexes[name] = {**body, "documents": {}}
        elif method == "DELETE":
            del self.indexes[name]
        elif what == "_count":
            return {"count": len(self.documents(name))}
        elif what == "_refresh":
            return {"_shards": {"failed": self.failed_shards}}
        return {}

    def bulk(self, lines: bytes, timeout: float = 120.0) -> dict[str, Any]:
        if self.bulks_left == 0:
            raise EngineError("the cluster went away")
        self.bulks_left -= 1
        items = []
        rows = iter(lines.splitlines())
        for row in rows:
            ((action, target),) = json.loads(row).items()
            documents = self.indexes[target["_index"]]["documents"]
            key = int(target["_id"])
            if action == "index":
                documents[key] = json.loads(next(rows))
            else:
                documents.pop(key, None)
            items.append({action: {"status": 200}})
        return {"items": items}

    def _named(self, name: str) -> list[str]:
        if name.endswith("*"):
            return [one for one in self.indexes if one.startswith(name[:-1])]
        return sorted(self.alias.get(name, {name} & self.indexes.keys()))

    def _moved(self, actions: list[dict[str, dict[str, str]]]) -> dict[str, Any]:
        for action in actions:
            for how, one in action.items():
                among = self.alias.setdefault(one["alias"], set())
                (among.add if how == "add" else among.discard)(one["index"])
        return {}
