"""Cut the power at any moment of a workspace's day, and see what is left.

``python -m tests.crash.power --crashes 500`` prints the figures; the smoke test does a few. A
process is watched once; then its calls are done again to a model of a disk, which crashes. With
``--lies 0.3``, the disk says of so many syncs that they are done, and does nothing: what was
acknowledged may then be lost, but what is left must be true, or be refused by name.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from assay.app.doctor import State as Verdict
from assay.app.doctor import examine
from assay.errors import AssayError
from assay.index.reader import Generation, open_generation
from assay.index.writer import update
from assay.settings import configure
from assay.store.backup import restore
from assay.store.corpus import CorpusStore
from assay.testsets.load import load_test_set
from tests.crash.power_child import STEPS, test_set
from tests.crash.recorded import Call, Replay, traced
from tests.unit.index.helpers import DENSE, ENCODERS, SPARSE

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Figures:
    """What a series of crashes showed."""

    crashes: int = 0
    places: int = 0
    lost: int = 0
    wrong: int = 0
    bad_opens: int = 0
    named: int = 0
    older: int = 0


@dataclass(frozen=True)
class State:
    """The documents after a step, and the number of the store's newest change."""

    documents: dict[str, str]
    change: int


def states() -> list[State]:
    """The state before the first step, and after each."""
    found = [State({}, 0)]
    for step in STEPS:
        last = found[-1]
        documents = dict(last.documents)
        if step.kind == "put":
            documents |= dict(step.documents)
        elif step.kind == "delete":
            documents = {name: documents[name] for name in documents.keys() - dict(step.documents)}
        found.append(State(documents, last.change + len(step.documents)))
    return found


def crash_series(crashes: int, seed: int, folder: Path, lies: float = 0.0) -> Figures:
    """Record a day and crash it at so many random places; a share of the syncs are lies."""
    top = folder / "disk"
    top.mkdir()
    command = [sys.executable, "-m", "tests.crash.power_child", str(top / "home")]
    calls = traced(command, REPOSITORY)
    rng = random.Random(seed)
    first = next(at for at, call in enumerate(calls) if str(top) in " ".join(call.paths))
    places = sorted(rng.choices(range(first, len(calls)), k=crashes))
    figures = Figures(places=len(calls) - first)
    replay, done = Replay(top, lambda: rng.random() < lies), 0
    for number, place in enumerate(places):
        _forward(replay, calls[done : place + 1])
        done = place + 1
        image = folder / f"crash-{number}"
        replay.disk.crash(image, rng)
        figures.crashes += 1
        try:
            judge = _judge_what_is_left if lies else _judge
            judge(image, len(replay.said.split()), figures)
        except Exception as problem:  # any failure to open is what we are looking for
            print(f"bad open at call {place}, after step {replay.said.split()[-1:]}: {problem!r}")
            figures.bad_opens += 1
    return figures


def _forward(replay: Replay, calls: list[Call]) -> None:
    for call in calls:
        replay.do(call)


def _judge(image: Path, acknowledged: int, figures: Figures) -> None:
    """Open what is left as the next process would; count what is lost or was never there."""
    home, known = image / "home", states()
    possible = known[acknowledged : acknowledged + 2]
    store = CorpusStore(home / "assay.db")
    try:
        found = _documents(store)
        figures.lost += not any(found == state.documents for state in possible)
        generation = open_generation(home / "index")
        before = {state.change: state.documents for state in known}[generation.manifest.applied]
        figures.wrong += not _finds(generation, before)
        update(home / "index", store, ENCODERS)
        figures.wrong += not _finds(open_generation(home / "index"), found)
    finally:
        store.close()
    _judge_files(image, acknowledged, known, figures)


def _judge_what_is_left(image: Path, acknowledged: int, figures: Figures) -> None:
    """After a disk that lied: what there is was once written so, or it is refused by name."""
    home, known = image / "home", states()
    ever = {pair for state in known for pair in state.documents.items()}
    try:
        store = CorpusStore(home / "assay.db")
        try:
            found = _documents(store)
            open_generation(home / "index")
            update(home / "index", store, ENCODERS)
            sound = _finds(open_generation(home / "index"), found)
        finally:
            store.close()
    except AssayError:
        figures.named += 1
        return
    if not sound or not ever.issuperset(found.items()):
        settings = configure({"home": home}, environ={}, folder=image)
        told = any(one.state is Verdict.FAULT for one in examine(settings))
        figures.named += told
        figures.wrong += not told
    elif all(found != state.documents for state in known[acknowledged : acknowledged + 2]):
        figures.older += 1


def _judge_files(image: Path, acknowledged: int, known: list[State], figures: Figures) -> None:
    written = [at for at, step in enumerate(STEPS) if step.kind == "testset"]
    last = [at for at in written if at < acknowledged]
    possible = [test_set(at) for at in (*last[-1:], *(at for at in written if at == acknowledged))]
    path = image / "home" / "testsets" / "mine.yaml"
    if path.exists():
        figures.wrong += load_test_set(path) not in possible
    else:
        figures.lost += bool(last)
    (made,) = (at for at, step in enumerate(STEPS) if step.kind == "backup")
    backup = image / "backup.tar.gz"
    if backup.exists():
        restore(backup, image / "restored")
        store = CorpusStore(image / "restored" / "assay.db")
        figures.wrong += _documents(store) != known[made].documents
        store.close()
    else:
        figures.lost += made < acknowledged


def _documents(store: CorpusStore) -> dict[str, str]:
    rows = [row for page in store.added_since(0, store.last_change()) for row in page]
    return {row.chunk.doc_id: row.chunk.text for row in rows}


def _finds(generation: Generation, documents: dict[str, str]) -> bool:
    """Whether every component finds these documents, under the words that they have now."""
    parts = (generation.bm25(), generation.splade(SPARSE), generation.dense(DENSE))
    every = [
        {hit.chunk_id.split(":")[0] for hit in part.search("observation heart failure", 1_000)}
        for part in parts
    ]
    if any(found != set(documents) for found in every):
        return False
    words = generation.bm25()
    return all(
        words.search(text.replace("observation", ""), 1)[0].chunk_id == f"{doc_id}:chunk_0"
        for doc_id, text in documents.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crashes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lies", type=float, default=0.0, help="the share of syncs not done")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = crash_series(options.crashes, options.seed, Path(folder), options.lies)
    print(figures)
    assert (figures.lost, figures.wrong, figures.bad_opens) == (0, 0, 0)


if __name__ == "__main__":
    main()
