"""A workspace that has a file of every kind: small, real, and made in a second.

Two models of random weights, documents that were added, replaced and deleted, a test set, a run, a
backup and a bundle.
"""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.encode.folders import DESCRIPTION, card_of_folder, description
from assay.encode.shelf import checksum
from assay.errors import AssayError
from assay.settings import Settings, configure
from tests.unit.encode.tiny import write_model

WORDS = ("aspirin", "heart", "attack", "risk", "aspirin heart", "risk attack", "heart risk")
MODELS = {"dense": "tiny/dense", "splade": "tiny/splade"}
TEST_SET = """\
name: mine
version: v1
queries:
  - query_id: q1
    query_text: aspirin heart
    relevant_docs: [{doc_id: "d1", grade: 2}]
  - query_id: q2
    query_text: risk of attack
    relevant_docs: [{doc_id: "d3", grade: 1}, {doc_id: "d5", grade: 3}]
"""


@dataclass(frozen=True)
class Whole:
    """Where everything is."""

    home: Path
    backup: Path
    bundle: Path

    @property
    def config(self) -> Settings:
        return configure(settings(self.home))


def settings(home: Path) -> dict[str, Any]:
    return {
        "home": str(home),
        "models": str(home / "models"),
        "dense_model": MODELS["dense"],
        "splade_model": MODELS["splade"],
    }


def make_whole(folder: Path) -> Whole:
    """A workspace with its backup and bundle beside it."""
    whole = Whole(folder / "home", folder / "backup.tar.gz", folder / "bundle")
    for role, name in MODELS.items():
        place = write_model(whole.home / "models" / name.replace("/", "--"), role)
        files = tuple(replace(checksum(path), name=path.name) for path in sorted(place.iterdir()))
        card = replace(card_of_folder(place), name=name, files=files)
        (place / DESCRIPTION).write_text(description(card), encoding="utf-8")
    (whole.home / "testsets").mkdir()
    (whole.home / "testsets" / "mine.yaml").write_text(TEST_SET, encoding="utf-8")
    (whole.home / "configs").mkdir()
    (whole.home / "configs" / "kept.yaml").write_text("rrf_k: 10\n", encoding="utf-8")
    corpus = folder / "corpus.jsonl"
    texts = [f"{WORDS[at % 7]} the {WORDS[at % 5]} of a {WORDS[at % 3]}." for at in range(24)]
    _ingest(whole, corpus, texts[:20])
    _ingest(whole, corpus, [*texts[20:22], *texts[2:20], *texts[22:]])
    with Workspace(whole.config) as workspace:
        workspace.store.delete(["d7"])
        workspace.update_index()
    command(whole, "eval", "run", "--testset", "mine", "--tag", "kept")
    command(whole, "backup", str(whole.backup), "--vectors")
    command(whole, "eval", "bundle", "kept", "-o", str(whole.bundle))
    return whole


def _ingest(whole: Whole, corpus: Path, texts: list[str]) -> None:
    rows = [json.dumps({"id": f"d{at}", "text": text}) for at, text in enumerate(texts)]
    corpus.write_text("\n".join(rows) + "\n", encoding="utf-8")
    command(whole, "ingest", str(corpus))


def command(whole: Whole, *arguments: str, expect: int | None = 0) -> str:
    """What a command prints on both streams."""
    values = settings(whole.home)
    options = ["--home", values.pop("home")]
    said = StringIO()
    with _variables(values), redirect_stdout(said), redirect_stderr(said):
        code = run([*options, *arguments])
    assert expect is None or code == expect, said.getvalue()
    return said.getvalue()


def _variables(values: dict[str, str]) -> Any:
    from unittest.mock import patch

    return patch.dict(
        "os.environ", {f"ASSAY_{name.upper()}": text for name, text in values.items()}
    )


def answers(whole: Whole) -> dict[str, Any]:
    """What the workspace says, or which error of ours it says instead, question by question."""
    found: dict[str, Any] = {}
    try:
        with Workspace(whole.config) as workspace:
            for question in ("aspirin heart", "risk of attack"):
                found[question] = _asked(lambda q=question: _search(workspace, q))
            found["run"] = _asked(lambda: repr(workspace.runs.outcomes("kept")))
            found["set"] = _asked(lambda: repr(workspace.runs.test_set("kept")))
    except AssayError as error:
        found["workspace"] = error
    return found


def _search(workspace: Workspace, question: str) -> Any:
    response = workspace.search(question)
    if response.degraded or response.warnings:
        return AssayError(f"{response.component_errors} {response.warnings}")
    return [repr(hit) for hit in response.results]


def _asked(question: Any) -> Any:
    try:
        return question()
    except AssayError as error:
        return error
