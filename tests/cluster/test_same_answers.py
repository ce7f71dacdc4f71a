"""Does a cluster answer every kind of query as the embedded index does?

Both engines get the same documents and vectors. Order may differ where scores are closer than the
tolerance: BM25 weighs codes by the chunks that have any code (Lucene) or by all (here), SPLADE's
weights have nine bits, fused scores follow from the ranks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assay.app.workspace import Workspace
from assay.ingest import read_corpus
from assay.model.query import Filters
from assay.search.response import SearchHit, SearchResponse
from tests.cluster.nodes import ClusterProcesses
from tests.cluster.test_workspace import CORPUS, PARTS, configured, opened

TOLERANCE = {"bm25": 0.04, "splade": 0.002, "dense": 0.001}
FUSED = 0.03
TOP = 10
EVERYTHING = 1_000  # candidates: more than there are chunks

NOTES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "note-il6": (
        "Tocilizumab",
        "Tocilizumab blocks the receptor of IL-6 and lowers CRP. IFN-γ did not change.",
        {"year": 2020, "journal": "BMJ", "names": ["tocilizumab"]},
    ),
    "note-il6-joined": (
        "Siltuximab",
        "Siltuximab binds IL6 itself, and interleukin-6 can no longer be measured.",
        {"year": 2021, "journal": "Lancet", "names": ["siltuximab"]},
    ),
    "note-pdl1": (
        "Durvalumab",
        "Durvalumab binds PD-L1 on tumour cells; haemorrhage was seen in 3 of 90 adults.",
        {"year": 2019, "journal": "Lancet", "names": ["durvalumab"]},
    ),
    "note-icd": (
        "Codes of diagnoses",
        "I21.4 stands for NSTEMI, and E11.9 for type 2 diabetes.",
        {"year": 2018, "journal": "BMJ"},
    ),
    "note-dose": (
        "Cholecalciferol",
        "Cholecalciferol 50,000 IU weekly, or 50 µg daily. Mortality: RR 0.82 (0.72-0.94).",
        {"year": 2020, "identifiers": ["31234567", "10.1000/note.5"], "names": ["vitamin D"]},
    ),
    "note-pairs": (
        "Heart attack",
        "After a heart attack the left ventricle may fail; aspirin is given at once.",
        {"year": 2022, "acronym": "SUNRISE-4"},
    ),
}  # fmt: skip
MANY = 24  # more chunks than the exact codes of a small index may have, fewer than of a large one

WORDS = (
    *("IL-6", "IL6", "interleukin-6", "interferon gamma", "PD-L1", "PDL1", "hemorrhage"),
    *("E119", "I21.4", "50000 IU", "50 mcg", "0.82 (0.72-0.94)", "type 2 diabetes", "HbA1c 6.5 %"),
)
SYNTAX = (
    *('"heart attack"', '"brain metastases" eligibility', '"no such phrase anywhere" aspirin'),
    *("warfarin -children", 'dose -"heart attack"', "hyperkalemia OR pneumonitis", "journal:BMJ"),
    *("title:cholecalciferol", 'title:"heart attack"', "drug:durvalumab", "condition:diabetes"),
    *('unpaired "quotation', "aspir* dose", "dose -of -the"),
)
IDENTIFIERS = (
    *("NCT90001308", "nct90001308 adverse events", "PMID: 31234567", "10.1000/note.5", "SUNRISE-4"),
    *("NCT99999999", "note-icd:chunk_0", "SUNRISE-4 aspirin"),
)
QUESTIONS = (
    *("pneumonitis with tovralimab", "adverse events of tovralimab", "tovralimab dose"),
    *("who can join with brain metastases", "kidney problems and blood thinners"),
    *("hyperkalemia adverse events table", "eligibility criteria heart failure trial"),
    *("myocardial infarction", "what is zephralin used for", "warfarin dose"),
    "inclusion criteria, dosage and side effects of eluvanta",
)
LOST = (
    *("cholecalcifrol weekly", "tociluzimab", "durvalumap tumour", "hyperkalmia"),
    *("quixotic xylophone zebra", "maladie rénale chronique chez les enfants", "?!"),
)
KINDS = {
    "words": WORDS,
    "syntax": SYNTAX,
    "identifiers": IDENTIFIERS,
    "questions": QUESTIONS,
    "lost": LOST,
}
FILTERS = (
    *("year>=2020", "year=2019..2021", "journal=BMJ|Lancet", "journal!=BMJ", "phase=Phase 3"),
    *("status=completed", "start_date<=2019", "conditions=type 2 diabetes mellitus", "year<1900"),
)
FACETS = ("source", "section", "year", "journal", "phase", "conditions", "doc_id")


def notes(folder: Path) -> Path:
    rows = [
        {"doc_id": name, "title": title, "text": text, "metadata": metadata}
        for name, (title, text, metadata) in NOTES.items()
    ]
    rows += [
        {"doc_id": f"level-{at}", "title": f"Level {at}", "text": f"The HbA1c of case {at} fell."}
        for at in range(MANY)
    ]
    path = folder / "notes.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def stored(workspace: Workspace, folder: Path) -> Workspace:
    for path in (*(CORPUS / part for part in PARTS), notes(folder)):
        workspace.store_documents(read_corpus(path))
    workspace.update_index()
    return workspace


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory, nodes: ClusterProcesses
) -> Iterator[tuple[Workspace, Workspace]]:
    folder = tmp_path_factory.mktemp("notes")
    with (
        stored(configured(tmp_path_factory.mktemp("here"), nodes, {}), folder) as here,
        stored(
            opened(tmp_path_factory.mktemp("there"), nodes, "same", replicas=0), folder
        ) as there,
    ):
        yield here, there


def near(first: float | None, second: float | None, tolerance: float) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= tolerance * max(abs(first), abs(second)) + 1e-9


def assert_same_ranking(ours: SearchResponse, theirs: SearchResponse, *, fused: float) -> None:
    """The same results in the same order, but for neighbours that are as good as tied."""
    mine = {hit.chunk.chunk_id: hit for hit in ours.results}
    other = {hit.chunk.chunk_id: hit for hit in theirs.results}
    lowest = min((hit.score for hit in ours.results), default=0.0)
    for one, hits in ((mine, other), (other, mine)):
        for chunk_id, hit in one.items():
            at_the_end = near(hit.score, lowest, fused)
            assert chunk_id in hits or at_the_end, f"only one engine has {chunk_id}"
    shared = [hit for hit in theirs.results if hit.chunk.chunk_id in mine]
    for above, below in pairwise(shared):
        first, second = (mine[hit.chunk.chunk_id].score for hit in (above, below))
        assert first >= second or near(first, second, fused), (above, below)
    for hit in shared:
        assert_same_hit(mine[hit.chunk.chunk_id], hit, fused)


def assert_same_hit(ours: SearchHit, theirs: SearchHit, fused: float) -> None:
    assert near(ours.score, theirs.score, fused), (ours.score, theirs.score)
    for name, score in ours.component_scores.items():
        found = theirs.component_scores[name]
        if score is not None and found is not None:
            assert near(score, found, TOLERANCE[name]), (name, score, found)
    assert theirs.highlight == ours.highlight
    assert theirs.about_subject == ours.about_subject
    assert [(one.intent, one.factor, one.applied) for one in theirs.boosts] == [
        (one.intent, one.factor, one.applied) for one in ours.boosts
    ]
    assert theirs.chunk == ours.chunk


def assert_same_account(ours: SearchResponse, theirs: SearchResponse) -> None:
    """Everything that is said about the query and the results as a whole."""
    for name in (
        *("notes", "did_you_mean", "intents", "query_type", "synonyms", "subject", "subject_by"),
        *("nothing_about", "withheld", "warnings", "components_used", "component_errors"),
    ):
        assert getattr(theirs, name) == getattr(ours, name), name
    assert theirs.confidence == pytest.approx(ours.confidence, abs=0.002)


@pytest.mark.req("R1", "R14")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("components", ["bm25", "splade", "dense", "bm25,splade,dense"])
def test_every_kind_of_query(both: tuple[Workspace, Workspace], kind: str, components: str) -> None:
    here, there = both
    fused = FUSED if "," in components else 0.02  # one list: the score is that of a rank
    for query in KINDS[kind]:
        asked: dict[str, Any] = {
            "components": components, "k": TOP, "depth": EVERYTHING, "highlights": True,
        }  # fmt: skip
        ours, theirs = here.search(query, **asked), there.search(query, **asked)
        assert not theirs.degraded, (query, theirs.warnings)
        assert_same_account(ours, theirs)
        assert_same_ranking(ours, theirs, fused=fused)


def test_an_identifier_goes_straight_to_its_document(both: tuple[Workspace, Workspace]) -> None:
    _, there = both
    for query, document in (("NCT90001308", "NCT90001308"), ("PMID: 31234567", "note-dose")):
        found = there.search(query)
        assert {hit.chunk.doc_id for hit in found.results} == {document}
        assert found.notes == (f"{query} is document {document}: only this was searched",)


def test_words_that_the_query_keeps_out_are_kept_out(both: tuple[Workspace, Workspace]) -> None:
    _, there = both
    for query, text in (('"heart attack"', "heart attack"), ("title:cholecalciferol", "")):
        found = there.search(query, k=50)
        assert found.results
        for hit in found.results:
            assert text in f"{hit.chunk.title} {hit.chunk.text}".lower()
    assert all(
        "aspirin" not in f"{hit.chunk.title} {hit.chunk.text}".lower()
        for hit in there.search("heart failure -aspirin", k=50).results
    )


def test_exact_codes_are_as_many_as_the_index_allows(both: tuple[Workspace, Workspace]) -> None:
    here, there = both
    ours, theirs = (one.snapshot().word_index for one in both)
    assert ours is not None
    assert theirs is not None
    for query in ("HbA1c", "I21.4", "50000 IU", "aspirin"):
        rows = (ours.exact(query), theirs.exact(query))
        assert sorted(rows[1]) == sorted(rows[0]), query
    assert here.snapshot().size == there.snapshot().size


@pytest.mark.parametrize("condition", FILTERS)
def test_metadata_filters_and_facets(both: tuple[Workspace, Workspace], condition: str) -> None:
    here, there = both
    for components in ("bm25", "splade", "dense", "bm25,splade,dense"):
        asked: dict[str, Any] = {
            "components": components, "depth": EVERYTHING, "facets": FACETS, "k": 20,
            "filters": Filters(metadata=(condition,)), "floor": False,  # type: ignore[arg-type]
        }  # fmt: skip
        query = "diabetes and heart failure in adults"
        ours, theirs = here.search(query, **asked), there.search(query, **asked)
        assert theirs.total_results == ours.total_results
        assert theirs.total_candidates == ours.total_candidates
        assert theirs.facets == ours.facets
        assert_same_ranking(ours, theirs, fused=FUSED)
    if condition == "year<1900":
        assert not theirs.results
    else:
        assert theirs.results


def test_unknown_fields_are_refused_alike(both: tuple[Workspace, Workspace]) -> None:
    said = []
    for one in both:
        with pytest.raises(Exception, match="jurnal") as caught:
            one.search("diabetes", filters=Filters(metadata=("jurnal=BMJ",)))  # type: ignore[arg-type]
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("changes", [{"group_by": "document"}, {"collapse": True}])
def test_folded_results(both: tuple[Workspace, Workspace], changes: dict[str, Any]) -> None:
    here, there = both
    for query in QUESTIONS:
        asked = {"depth": EVERYTHING, "components": "bm25", **changes}
        ours, theirs = here.search(query, **asked), there.search(query, **asked)
        assert theirs.total_results == ours.total_results
        assert_same_ranking(ours, theirs, fused=0.02)
        for mine, other in zip(ours.results, theirs.results, strict=True):
            if mine.chunk == other.chunk:
                assert other.folded_count == mine.folded_count


def test_the_terms_of_a_score(both: tuple[Workspace, Workspace]) -> None:
    """R5: they sum to the score, and are those of the embedded index."""
    here, there = both
    for query in (
        "IL-6 receptor",
        "tovralimab pneumonitis",
        "50000 IU cholecalciferol",
        '"heart attack"',
    ):
        for name in ("bm25", "splade"):
            asked: dict[str, Any] = {"components": name, "terms": True, "k": TOP}
            ours, theirs = here.search(query, **asked), there.search(query, **asked)
            mine = {hit.chunk.chunk_id: hit for hit in ours.results}
            assert theirs.results
            for hit in theirs.results:
                terms = hit.terms[name]
                assert sum(terms.values()) == pytest.approx(hit.component_scores[name], rel=1e-4)
                if hit.chunk.chunk_id in mine:
                    assert {*terms} == {*mine[hit.chunk.chunk_id].terms[name]}


def test_why_looks_deeper(both: tuple[Workspace, Workspace]) -> None:
    here, there = both
    for document in ("note-icd", "NCT90001308", "note-pairs", "nobody"):
        ours, theirs = (one.why("aspirin after a heart attack", document, k=1) for one in both)
        assert theirs.verdict == ours.verdict
        assert theirs.chunk_id == ours.chunk_id
        assert theirs.rank == ours.rank
    assert here.why("IL-6", "note-il6").rank == there.why("IL-6", "note-il6").rank


def test_deletes_and_replacements_show_in_the_next_answer(
    nodes: ClusterProcesses, tmp_path: Path
) -> None:
    """Also in facets, in what an identifier stands for, and in counts of words."""
    with stored(opened(tmp_path, nodes, "changes", replicas=0), tmp_path) as workspace:
        asked: dict[str, Any] = {"facets": ("journal",), "floor": False}
        before = workspace.search("siltuximab", **asked)
        assert before.results[0].chunk.doc_id == "note-il6-joined"
        assert workspace.search("siltuximab", **asked).cached
        workspace.delete(["note-il6-joined"])
        after = workspace.search("siltuximab", **asked)
        assert not after.cached
        assert "note-il6-joined" not in {hit.chunk.doc_id for hit in after.results}
        assert after.notes == ("no document has any of these words",)
        assert after.nothing_about == "nothing here is about siltuximab"

        title, _, metadata = NOTES["note-dose"]
        changed = {"doc_id": "note-dose", "title": title, "text": "Calcifediol, 20 µg a day.",
                   "metadata": {**metadata, "journal": "Lancet Regional"}}  # fmt: skip
        path = tmp_path / "changed.jsonl"
        path.write_text(json.dumps(changed))
        workspace.ingest(path)
        found = workspace.search("PMID: 31234567", **asked)
        assert [hit.chunk.text for hit in found.results] == ["Calcifediol, 20 µg a day."]
        assert [value.value for value in found.facets[0].values] == ["Lancet Regional"]
        only = Filters(metadata=("journal=Lancet Regional",))  # type: ignore[arg-type]
        assert {
            hit.chunk.doc_id for hit in workspace.search("calcifediol", filters=only).results
        } == {"note-dose"}
        assert workspace.check_index() == []


def test_cut_words_are_not_cut_again(both: tuple[Workspace, Workspace]) -> None:
    """A word of the analyser is one word on the cluster, whatever it is made of."""
    _, there = both
    words = there.snapshot().word_index
    assert words is not None
    terms = ("il6", "ifngamma", "50000iu", "e11.9", "e119", "hba1c", "50ug")
    counted = words.counts(terms)
    assert {term for term, number in counted.items() if number} >= {"il6", "e119", "hba1c"}
    embedded = both[0].snapshot().word_index
    assert embedded is not None
    assert counted == embedded.counts(terms)
    assert words.counts(()) == {}


def test_synonyms_of_a_request(both: tuple[Workspace, Workspace]) -> None:
    here, there = both
    asked: dict[str, Any] = {"synonym_rules": "krebsmittel => durvalumab", "components": "bm25"}
    ours, theirs = (one.search("krebsmittel", **asked) for one in (here, there))
    assert theirs.results[0].chunk.doc_id == "note-pdl1"
    assert theirs.synonyms == ours.synonyms
    assert_same_ranking(ours, theirs, fused=0.02)
