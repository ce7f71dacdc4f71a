"""Whatever is done in whatever order, store and index hold what a plain dict would hold."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from assay.errors import InputError
from assay.index.manifest import Manifest
from assay.index.reader import open_generation
from assay.index.writer import update
from assay.store.corpus import CorpusStore
from tests.crash.power_child import document
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE

NAMES = st.sets(st.sampled_from([f"d{number}" for number in range(6)]), min_size=1)
WORDS = st.sampled_from(["heart", "kidney", "liver", "lung"])


def _broken(_: list[str]) -> NoReturn:
    raise InputError("the model broke down")


class Machine(RuleBasedStateMachine):
    """``documents`` is the model; ``states`` are what it was after each numbered change."""

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp())
        self.documents: dict[str, str] = {}
        self.states: dict[int, dict[str, str]] = {0: {}}
        self.store = CorpusStore(self.home / "assay.db")
        self.left: list[CorpusStore] = []

    def teardown(self) -> None:
        if hasattr(self, "home"):
            for store in (self.store, *self.left):
                store.close()
            shutil.rmtree(self.home)

    @rule(names=NAMES, word=WORDS)
    def put(self, names: set[str], word: str) -> None:
        texts = dict.fromkeys(sorted(names), f"observation of the {word}")
        written = self.store.put([document(*one) for one in texts.items()])
        changed = {name for name in texts if self.documents.get(name) != texts[name]}
        assert written.added + written.replaced == len(changed)
        assert written.replaced == len(changed & self.documents.keys())
        self.documents = {**self.documents, **texts}
        self._note()

    @rule(names=NAMES)
    def delete(self, names: set[str]) -> None:
        there = names & self.documents.keys()
        assert self.store.delete(sorted(names)).deleted == len(there)
        self.documents = {name: self.documents[name] for name in self.documents.keys() - there}
        self._note()

    @rule()
    def index(self) -> None:
        assert self._update().applied == self.store.last_change()

    @rule()
    def compact(self) -> None:
        manifest = self._update(fresh=True)
        assert sum(part.rows for part in manifest.segments) == len(self.documents)
        assert manifest.dead is None

    @rule()
    def fail_to_index(self) -> None:
        """A writer that breaks down half way."""
        with suppress(InputError):
            update(self.home / "index", self.store, replace(ENCODERS, dense=_broken))

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = CorpusStore(self.home / "assay.db")

    @rule()
    def leave(self) -> None:
        """As after ``kill -9``: nothing is closed, and half a segment lies about."""
        self.left.append(self.store)
        if (self.home / "index" / "MANIFEST.json").exists():
            half = self.home / "index" / "seg-999999.0"
            half.mkdir(exist_ok=True)
            (half / "dense.npy").write_bytes(b"half")
        self.store = CorpusStore(self.home / "assay.db")

    @rule()
    def lose_the_index(self) -> None:
        """It is derived: deleting it costs time and nothing else."""
        shutil.rmtree(self.home / "index", ignore_errors=True)

    @invariant()
    def the_store_holds_what_was_put(self) -> None:
        rows = [row for page in self.store.added_since(0, self.store.last_change()) for row in page]
        assert {row.chunk.doc_id: row.chunk.text for row in rows} == self.documents

    @invariant()
    def the_index_answers_from_one_state(self) -> None:
        generation = open_generation(self.home / "index")
        state = self.states[generation.manifest.applied]
        for part in (generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE)):
            found = {hit.chunk_id.split(":")[0] for hit in part.search("observation", 99)}
            assert found == state.keys(), part.name
        found = {hit.chunk_id.split(":")[0] for hit in generation.bm25().search("heart", 99)}
        assert found == {name for name, text in state.items() if "heart" in text}

    def _update(self, *, fresh: bool = False) -> Manifest:
        return update(self.home / "index", self.store, ENCODERS, fresh=fresh)

    def _note(self) -> None:
        self.states[self.store.last_change()] = self.documents


Machine.TestCase.settings = settings(
    max_examples=int(os.environ.get("ASSAY_STATE_EXAMPLES", "5")),
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


TestStoreAndIndex = pytest.mark.req("1")(Machine.TestCase)
