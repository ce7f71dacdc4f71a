"""A workspace on a cluster: the same commands, the same answers, and a node may die."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.cli.main import run
from assay.ingest import read_corpus
from assay.model.query import Filters
from assay.opensearch.transport import Transport
from assay.settings import configure
from tests.cluster.nodes import ClusterProcesses

CORPUS = Path("src/assay/data/corpus")
PARTS = ("trials", "labels", "articles", "interviews", "reviews.jsonl")
QUERIES = (
    "pneumonitis with tovralimab",
    "kidney problems and blood thinners",
    "who can join with brain metastases",
    "hyperkalemia adverse events table",
)


def opened(
    home: Path, nodes: ClusterProcesses, prefix: str = "demo", *, replicas: int = 2
) -> Workspace:
    engine = {
        "engine": "opensearch",
        "opensearch_url": " ".join(nodes.urls),
        "opensearch_prefix": prefix,
        "opensearch_shards": 3,
        "opensearch_replicas": replicas,
    }
    return configured(home, nodes, engine)


def configured(home: Path, nodes: ClusterProcesses, engine: dict[str, object]) -> Workspace:
    vectors = nodes.folder / "vectors"  # nothing is encoded twice
    vectors.mkdir(exist_ok=True)
    if not (home / "vectors").exists():
        (home / "vectors").symlink_to(vectors)
    return Workspace(configure({"home": str(home), "component_timeout_ms": 20_000, **engine}))


def filled(workspace: Workspace) -> Workspace:
    for part in PARTS:
        workspace.store_documents(read_corpus(CORPUS / part))
    workspace.update_index()
    return workspace


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory, nodes: ClusterProcesses
) -> Iterator[tuple[Workspace, Workspace]]:
    with (
        filled(configured(tmp_path_factory.mktemp("here"), nodes, {})) as here,
        filled(opened(tmp_path_factory.mktemp("there"), nodes)) as there,
    ):
        yield here, there


def test_both_engines_find_the_same(both: tuple[Workspace, Workspace]) -> None:
    here, there = both
    for query in QUERIES:
        for name in ("bm25", "splade", "dense"):
            ours = here.search(query, components=name, boosts=False, k=10)
            theirs = there.search(query, components=name, boosts=False, k=10)
            assert not theirs.degraded, theirs.warnings
            mine = [hit.chunk.chunk_id for hit in ours.results]
            other = [hit.chunk.chunk_id for hit in theirs.results]
            assert len(set(mine) & set(other)) >= 9, (query, name)
            first, second = ours.results[0], theirs.results[0]
            assert second.score == pytest.approx(first.score, rel=0.01)
        hybrid = there.search(query, filters=Filters(doc_id=("NCT90001308",)))
        assert {hit.chunk.doc_id for hit in hybrid.results} == {"NCT90001308"}


def test_the_card_names_the_engine(both: tuple[Workspace, Workspace]) -> None:
    _, there = both
    card = there.index_card()
    assert card["engine"].startswith("opensearch 2.")
    assert (card["changes_behind"], card["indexed_rows"]) == (0, card["chunks"])
    assert there.check_index() == []
    assert there.system().engine == card["engine"]


def test_a_load_that_was_interrupted_goes_on(
    nodes: ClusterProcesses, transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.opensearch import cluster as clusters
    from assay.opensearch.bulk import load_chunks

    with opened(tmp_path, nodes, "resumed") as workspace:
        for part in PARTS:
            workspace.store_documents(read_corpus(CORPUS / part))
        monkeypatch.setattr("assay.store.corpus.PAGE", 50)
        real, seen = load_chunks, []

        def interrupted(*arguments: object) -> int:
            pages = iter(arguments[2])  # type: ignore[call-overload]
            first = next(pages)
            seen.append(first[0].key)
            return real(arguments[0], arguments[1], [first], *arguments[3:])  # type: ignore[arg-type]

        def broken(*arguments: object) -> int:
            interrupted(*arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(clusters, "load_chunks", broken)
        with pytest.raises(KeyboardInterrupt):
            workspace.update_index()
        assert workspace.cluster is not None
        assert workspace.cluster.current().generation == 0, "half an index is never served"

        def recorded(*arguments: object) -> int:
            pages = list(arguments[2])  # type: ignore[call-overload]
            seen.append(pages[0][0].key)
            return real(arguments[0], arguments[1], pages, *arguments[3:])  # type: ignore[arg-type]

        monkeypatch.setattr(clusters, "load_chunks", recorded)
        workspace.update_index()
        assert seen == [1, 51]
        assert workspace.check_index() == []


def test_the_migration_check(
    nodes: ClusterProcesses,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What the how-to tells: fill, evaluate both, compare, gate; a cut run is resumed."""
    with opened(tmp_path, nodes, "moved", replicas=1) as workspace:
        for part in PARTS:
            workspace.store_documents(read_corpus(CORPUS / part))
    home = ["--home", str(tmp_path)]
    monkeypatch.setenv("ASSAY_OPENSEARCH_URL", " ".join(nodes.urls))
    monkeypatch.setenv("ASSAY_OPENSEARCH_PREFIX", "moved")
    for engine in ("embedded", "opensearch"):
        monkeypatch.setenv("ASSAY_ENGINE", engine)
        assert run([*home, "index", "update"]) == 0
        assert run([*home, "eval", "run", "-t", "test_set_v1", "--tag", engine]) == 0
    assert run([*home, "doctor"]) == 0
    said = capsys.readouterr().out
    assert "3 nodes, green" in said
    assert run([*home, "eval", "compare", "embedded", "opensearch", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    changed = {one["key"]: one["b"] for one in compared["differences"]}
    assert changed["engine"].startswith("opensearch 2.")
    assert changed["generation"].startswith("moved-000001@")
    gate = ["eval", "gate", "--baseline", "embedded", "--current", "opensearch"]
    assert run([*home, *gate]) == 0
    assert run([*home, "eval", "show", "opensearch", "--per-component"]) == 0
    assert "without it" in capsys.readouterr().out, "leaving one out works on a cluster's run"
