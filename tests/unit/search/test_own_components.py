"""Does a component that the user brings take part like any other, and harm nothing else?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.app.doctor import examine
from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.workspace import Workspace
from assay.errors import ConfigError, SearchUnavailableError, UsageError
from assay.model.document import Chunk, KeyedChunk
from assay.model.query import Filters, Hit, best_hits
from assay.search.own_components import IndexedChunks, load_components
from assay.search.request import FusionMethod
from assay.settings import configure
from assay.testing.component import check_component, sample
from assay.testsets.load import parse_test_set
from tests.unit.search.corpus import documents, filled

CODE = '''
import time
from assay import Filters, Hit, best_hits

class Overlap:
    """Chunks by how many words they share with the query."""

    name = "overlap"

    def __init__(self, chunks):
        self.rows = [(row, set(f"{row.chunk.title} {row.chunk.text}".lower().split()))
                     for row in chunks]

    def search(self, query, k, filters=None):
        wanted, allowed = set(query.lower().split()), filters or Filters()
        return best_hits(
            [Hit(row.key, row.chunk.chunk_id, len(wanted & has) / len(wanted | has))
             for row, has in self.rows if wanted & has and allowed.admit(row.chunk)], k)

class Explained(Overlap):
    def terms(self, query, keys):
        return {key: {word: 1 for word in query.split()} for key in keys}

class Unknown(Overlap):
    def search(self, query, k, filters=None):
        return [Hit(987654, "nowhere:chunk_0", 1.0)]

class Mixed(Overlap):
    def search(self, query, k, filters=None):
        first, *rest = super().search(query, k, filters)
        return [Hit(first.key, rest[0].chunk_id, first.score)]

class Backwards(Overlap):
    def search(self, query, k, filters=None):
        return super().search(query, k, filters)[::-1]

class Unfiltered(Overlap):
    def search(self, query, k, filters=None):
        return super().search(query, k)

class Raises(Overlap):
    def search(self, query, k, filters=None):
        raise KeyError("no such shelf")

class Leaves(Overlap):
    def search(self, query, k, filters=None):
        raise SystemExit(0)

class Nothing(Overlap):
    def search(self, query, k, filters=None):
        return None

class Texts(Overlap):
    def search(self, query, k, filters=None):
        return ["d1", "d2"]

class Sleeps(Overlap):
    def search(self, query, k, filters=None):
        time.sleep(5)

def broken(chunks):
    raise RuntimeError("the shelf is locked")

def leaves(chunks):
    raise SystemExit(3)

def number(chunks):
    return 7
'''


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of one's own, importable in this test alone."""
    path = tmp_path / "brought_along.py"
    path.write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    sys.modules.pop("brought_along", None)


def brought(home: Path, name: str = "Overlap", **settings: Any) -> Workspace:
    return filled(home, own_components={"overlap": f"brought_along:{name}"}, **settings)


def test_the_example_keeps_the_contract(code: Path) -> None:
    own = load_components({"overlap": "brought_along:Overlap"})["overlap"]
    assert own.factory is not None
    check_component(own.factory)
    check_component(lambda rows: own.build(indexed(rows)))


def indexed(rows: Sequence[KeyedChunk]) -> IndexedChunks:
    chunks = {row.key: row.chunk for row in rows}
    return IndexedChunks(
        {key: chunk.chunk_id for key, chunk in chunks.items()},
        lambda keys: {key: chunks[key] for key in keys},
    )


def test_the_chunks_are_a_sequence() -> None:
    rows = sample()
    chunks = indexed(rows)
    assert len(chunks) == len(rows)
    assert list(chunks) == list(rows)
    assert chunks[3] == rows[3]
    assert chunks[-2:] == list(rows[-2:])
    with pytest.raises(IndexError):
        chunks[len(rows)]


@pytest.mark.parametrize("fusion", FusionMethod)
def test_it_is_fused_and_accounted_for(code: Path, tmp_path: Path, fusion: FusionMethod) -> None:
    with brought(tmp_path / "home") as workspace:
        found = workspace.search("renal impairment daily dose", fusion_method=fusion)
        assert found.components_used == ("bm25", "splade", "dense", "overlap")
        assert not found.degraded
        for hit in found.results:
            shares = [share for share in hit.contributions.values() if share is not None]
            assert hit.fused == pytest.approx(sum(shares))
        first = found.results[0]
        assert first.ranks["overlap"] == 1
        assert first.component_scores["overlap"] is not None
        assert "overlap" in found.timings_ms
        only = workspace.search("renal impairment daily dose", components="overlap", boosts=False)
        assert only.components_used == ("overlap",)
        weights = {"bm25": 0.0, "overlap": 1.0}
        heavy = workspace.search(
            "renal impairment daily dose",
            components="overlap,bm25",
            weights=weights,
            boosts=False,
            fusion_method=fusion,
        )
        assert heavy.fusion_metadata["weights"]["bm25"] == 0
        assert [hit.component_scores["overlap"] for hit in heavy.results] == [
            hit.component_scores["overlap"] for hit in only.results
        ]


def test_it_is_asked_unless_components_say_otherwise(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home", components="bm25,dense") as workspace:
        assert workspace.search("heart failure").components_used == ("bm25", "dense")
        named = workspace.search("heart failure", components=["overlap", "bm25"])
        assert named.components_used == ("bm25", "overlap")


def test_terms_of_its_scores(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home", "Explained") as workspace:
        (hit, *_) = workspace.search("heart failure", terms=True, synonym_rules="none").results
        assert hit.terms["overlap"] == {"failure": 1.0, "heart": 1.0}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Unknown", "no chunk 'nowhere:chunk_0' has the key 987654 here"),
        ("Mixed", "has the key"),
        ("Backwards", "out of order"),
        ("Raises", "KeyError: 'no such shelf'"),
        ("Leaves", "SystemExit"),
        ("Nothing", "search returned NoneType, not a list of hits"),
        ("Texts", "'d1' is not a Hit(key, chunk_id, score)"),
    ],
)
def test_one_that_breaks_its_promise_is_left_out_and_named(
    code: Path, tmp_path: Path, name: str, reason: str
) -> None:
    with brought(tmp_path / "home", name) as workspace:
        found = workspace.search("renal impairment daily dose")
        assert found.component_errors == ("overlap_error",)
        assert found.degraded
        assert found.components_used == ("bm25", "splade", "dense")
        assert any(one.startswith("overlap: ") and reason in one for one in found.warnings)
        usual = workspace.search("renal impairment daily dose", components="bm25,splade,dense")
        assert [hit.score for hit in found.results] == [hit.score for hit in usual.results]
        with pytest.raises(SearchUnavailableError, match="overlap_error"):
            workspace.search("renal impairment daily dose", components="overlap")
        why = workspace.why("renal impairment daily dose", "doc1")
        assert "this search was degraded; overlap: " in why.sentence


def test_what_the_filters_leave_out_is_never_shown(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home", "Unfiltered") as workspace:
        assert not workspace.search("heart failure").degraded
        found = workspace.search("heart failure", section="methods")
        assert found.component_errors == ("overlap_error",)
        assert {hit.chunk.section_label for hit in found.results} == {"methods"}
        assert any("does not pass the filters" in one for one in found.warnings)


def test_one_that_is_late_is_left_out(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home", "Sleeps", component_timeout_ms=50) as workspace:
        searcher = workspace.searcher
        searcher.lanes["overlap"].breaker.succeeded()
        found = workspace.search("heart failure", components="bm25,overlap")
        assert found.component_errors in (("overlap_timeout",), ("overlap_unavailable",))
        assert found.components_used == ("bm25",)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("brought_along:broken", "cannot build it: RuntimeError: the shelf is locked"),
        ("brought_along:leaves", "cannot build it: SystemExit: 3"),
        ("brought_along:number", "returned int, which has no search"),
        ("brought_along:gone", "has no function gone"),
        ("no_such_module_here:f", "no_such_module_here cannot be imported"),
    ],
)
def test_code_that_cannot_be_used_is_unavailable(
    code: Path, tmp_path: Path, spec: str, reason: str
) -> None:
    with filled(tmp_path / "home", own_components={"overlap": spec}) as workspace:
        found = workspace.search("heart failure")
        assert found.component_errors == ("overlap_unavailable",)
        assert any(reason in one for one in found.warnings)
        assert reason in workspace.searcher.components["overlap"]


def test_the_doctor_looks_at_it(code: Path, tmp_path: Path) -> None:
    own = {"overlap": "brought_along:Overlap", "other": "brought_along:gone"}
    settings = configure(
        {"home": tmp_path / "home", "own_components": own}, environ={}, folder=tmp_path
    )
    found = {one.name: (one.state.value, one.says) for one in examine(settings)}
    assert found["component overlap"] == ("ok", "brought_along:Overlap")
    assert found["component other"][1] == "brought_along has no function gone"
    assert found["component other"][0] != "ok"


def test_a_new_generation_is_built_anew(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home") as workspace:
        assert not workspace.search("zanubrutinib", components="overlap").results
        workspace.store_documents(
            documents([Chunk("new:chunk_0", "new", "zanubrutinib dose", "New")])
        )
        workspace.update_index()
        (hit,) = workspace.search("zanubrutinib", components="overlap").results
        assert hit.chunk.chunk_id == "new:chunk_0"


def test_numbers_of_other_libraries_become_plain(code: Path, tmp_path: Path) -> None:
    code.write_text(
        CODE.replace("Hit(row.key,", "(np.int64(row.key),")
        .replace("/ len(wanted | has))", "/ np.float32(len(wanted | has)))")
        .replace("best_hits(\n", "sorted(\n")
        .replace(
            "allowed.admit(row.chunk)], k)",
            "allowed.admit(row.chunk)], key=lambda hit: (-hit[2], hit[1]))[:k]",
        )
        .replace("import time", "import time\nimport numpy as np"),
        encoding="utf-8",
    )
    with brought(tmp_path / "home") as workspace:
        found = workspace.search("heart failure", components="overlap")
        assert not found.degraded, found.warnings
        score = found.results[0].component_scores["overlap"]
        assert type(score) is float


@pytest.mark.req("E7")
def test_a_run_knows_its_code(code: Path, tmp_path: Path) -> None:
    test_set = parse_test_set(
        b"name: mine\nversion: v1\nqueries:\n  - query_id: q1\n    query_text: heart failure\n"
        b"    relevant_docs: [{doc_id: 'doc0:chunk_0', grade: 3}]\n"
    ).sound()
    request = EvaluationRequest(test_set=test_set)
    with brought(tmp_path / "home") as workspace:
        (first,) = evaluate(workspace, request).runs
        (again,) = evaluate(workspace, request).runs
        assert again.cached
        assert first.info.config["components"][-1] == "overlap"
        digest = first.info.config["component_code"]["overlap"]
        (outcome,) = first.result.outcomes
        assert outcome.component_lists["overlap"]
        seen = evaluate(workspace, request).warnings
        assert any("overlap" in one and "--no-cache" in one for one in seen)
    sys.modules.pop("brought_along")
    code.write_text(CODE.replace("wanted | has", "has"), encoding="utf-8")
    with brought(tmp_path / "home") as workspace:
        (other,) = evaluate(workspace, request).runs
        assert not other.cached
        assert other.info.config["component_code"]["overlap"] != digest


def test_code_that_nobody_knows_is_never_reused(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home") as workspace:
        assert "overlap" in workspace.searcher.lanes
        code.write_text(CODE + "\n# edited while it runs\n", encoding="utf-8")
        workspace.__dict__["own_components"] = load_components(
            dict(workspace.settings.own_components)
        )
        assert workspace.own_components["overlap"].digest is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"own_components": {"bm25": "m:f"}}, "own-components must be"),
        ({"own_components": {"reranker": "m:f"}}, "own-components must be"),
        ({"own_components": {"Mine": "m:f"}}, "own-components must be"),
        ({"own_components": {"mine": "m"}}, "own-components must be"),
        ({"components": "bm25,mine"}, "there is no component 'mine'"),
        (
            {"own_components": {"mine": "m:f"}, "weights": "bm25=1,splade=1,dense=1"},
            "weights: mine has no weight",
        ),
    ],
)
def test_settings_that_do_not_fit(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configure(settings, environ={}, folder=tmp_path)


def test_a_file_may_list_them(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").write_text(
        "own_components:\n  titles: my.search:Titles\n  atoms: my.search:atoms\n"
        "components: [bm25, titles]\n"
        "type_weights:\n  paraphrase: {bm25: 1, titles: 3}\n",
        encoding="utf-8",
    )
    settings = configure({}, environ={}, file=tmp_path / "assay.yaml")
    assert settings.own_components == {"titles": "my.search:Titles", "atoms": "my.search:atoms"}
    assert settings.search.components == ("bm25", "titles")
    assert settings.search.type_weights == {"paraphrase": {"bm25": 1.0, "titles": 3.0}}


def test_a_request_can_only_name_what_there_is(code: Path, tmp_path: Path) -> None:
    with brought(tmp_path / "home") as workspace:
        for name in ("other", "brought_along"):
            with pytest.raises(UsageError, match="there is no component") as refused:
                workspace.search("heart failure", components=["bm25", name])
            assert refused.value.hint == "known: bm25, splade, dense, overlap"
        with pytest.raises(UsageError, match="components: must be"):
            workspace.search("heart failure", components=["bm25", "brought_along:Overlap"])


def test_equal_sums_stay_equal_with_more_than_three_lists() -> None:
    from assay.search.fusion import fuse
    from assay.search.request import SearchOptions

    def hits(*order: int) -> list[Hit]:
        return best_hits([Hit(key, f"d{key}", -float(at)) for at, key in enumerate(order)], 9)

    ranks = {1: (2, 3, 7), 2: (7, 2, 3), 3: (3, 7, 2)}
    # three candidates with the same three ranks, in other lists each
    lists = {name: [0] * 8 for name in ("a", "b", "c", "e")}
    for name, keys in zip(lists, ([1, 2, 3], [2, 3, 1], [3, 1, 2], []), strict=True):
        for key in keys:
            place = ranks[key][list(lists).index(name)] - 1
            lists[name][place] = key
    found = fuse(
        {
            name: hits(*(key or 100 + 10 * at + place for place, key in enumerate(keys)))
            for at, (name, keys) in enumerate(lists.items())
        },
        SearchOptions(components=tuple(lists)),
    )
    scores = {one.key: one.score for one in found}
    assert scores[1] == scores[2] == scores[3]
    assert np.isfinite(list(scores.values())).all()
    assert Filters().admit(sample()[0].chunk)
