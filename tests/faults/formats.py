"""Keep a workspace of the formats of today, to be opened by every later version.

``python -m tests.faults.formats`` writes ``formats/<formats>.tar.gz``. Archives stay for good: a
format that a release wrote is opened or refused clearly for ever.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from assay.app.workspace import Workspace
from assay.encode import cache
from assay.evaluation.outcomes import outcomes_digest
from assay.index import manifest
from assay.store import backup, schema
from tests.faults.whole import Whole, make_whole

FOLDER = Path(__file__).parent / "formats"
NAME = (
    f"store-{schema.VERSION}.index-{manifest.FORMAT}.vectors-{cache.FORMAT}.backup-{backup.FORMAT}"
)
QUESTIONS = ("aspirin heart", "risk of attack")


def said(whole: Whole) -> dict[str, Any]:
    """What a workspace answers: fused scores by chunk, the run, and how much there is.

    Fused scores depend on what is stored; the rules that follow fusion change from version to
    version.
    """
    with Workspace(whole.config) as workspace:
        run = workspace.runs.run("kept")
        return {
            "found": {question: _found(workspace, question) for question in QUESTIONS},
            "outcomes": outcomes_digest(workspace.runs.outcomes("kept")),
            "aggregate": run.aggregate,
            "test_set": workspace.runs.test_set("kept").checksum,
            "counts": workspace.store.counts(),
        }


def _found(workspace: Workspace, question: str) -> dict[str, float]:
    """Every component has answered, however busy the machine is."""
    found = workspace.search(question, synonym_rules="none", component_timeout_ms=60_000)
    assert not found.degraded, found.degraded
    return {
        hit.chunk.chunk_id: round(sum(filter(None, hit.contributions.values())), 6)
        for hit in found.results
    }


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Not who wrote, which is of no format."""
    entry.uname = entry.gname = ""
    return None if entry.name.endswith(("WRITER", ".lock")) else entry


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        whole = make_whole(Path(name))
        (Path(name) / "said.json").write_text(json.dumps(said(whole), indent=1), encoding="utf-8")
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(FOLDER / f"{NAME}.tar.gz", "w:gz") as archive:
            for entry in ("home", "backup.tar.gz", "bundle", "said.json"):
                archive.add(Path(name) / entry, entry, filter=_kept)
    print(FOLDER / f"{NAME}.tar.gz")


if __name__ == "__main__":
    main()
