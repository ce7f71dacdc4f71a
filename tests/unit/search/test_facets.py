"""Do facets count the documents of all candidates, once each?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import limits
from assay.app.workspace import Workspace
from assay.errors import UsageError
from assay.model.document import Chunk
from assay.search.facets import Facet, FacetValue, facets_of
from tests.unit.search.corpus import filled


def _chunks() -> list[Chunk]:
    """Twelve trials of two chunks each about aspirin, and one about something else."""
    trials = [
        Chunk(
            f"t{at:02}:chunk_{part}",
            f"t{at:02}",
            f"aspirin for headache, part {part}",
            section_label=("methods", "results")[part],
            source="registry",
            metadata={"year": 2020 + at % 3, "phase": ("PHASE2", "PHASE3")[: 1 + at % 2]}
            if at < 10
            else {},
        )
        for at in range(12)
        for part in range(2)
    ]
    return [*trials, Chunk("z:chunk_0", "z", "knee surgery", metadata={"year": 1999, "site": "A"})]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("facets") / "home", _chunks()) as opened:
        yield opened


def counts(facet: Facet) -> dict[str, int]:
    return {one.value: one.count for one in facet.values}


def test_values_that_mean_the_same_are_counted_once() -> None:
    spelt = ("PHASE3", "Phase 3", "Phase III", "PHASE3", "Phase 2/Phase 3", "Phase II")
    chunks = [
        Chunk(f"d{at}:chunk_0", f"d{at}", "aspirin", metadata={"phase": value})
        for at, value in enumerate(spelt)
    ]
    (phase,) = facets_of(chunks, ["phase"])
    assert counts(phase) == {"PHASE3": 5, "Phase II": 2}


def test_documents_are_counted_on_all_pages(here: Workspace) -> None:
    words: dict[str, Any] = {"components": ("bm25",)}
    answer = here.search("aspirin headache", k=2, facets="year, phase,section", **words)
    year, phase, section = answer.facets
    assert (year.field, counts(year)) == ("year", {"2020": 4, "2021": 3, "2022": 3})
    assert [one.value for one in year.values] == ["2020", "2021", "2022"]
    assert counts(phase) == {"PHASE2": 10, "PHASE3": 5}
    assert year.missing == phase.missing == 2
    assert counts(section) == {"methods": 12, "results": 12}
    later = here.search("aspirin headache", k=2, offset=4, facets=["year"], **words)
    assert later.facets == (year,)
    folded = here.search("aspirin headache", group_by="document", facets="year", **words)
    assert folded.facets == (year,)


def test_filters_hold_for_facets(here: Workspace) -> None:
    (year,) = here.search("aspirin", facets="year", filter="phase=PHASE3").facets
    assert counts(year) == {"2020": 2, "2021": 2, "2022": 1}
    assert year.missing == 0


def test_a_facet_of_fields_that_nothing_found_has(here: Workspace) -> None:
    (site,) = here.search("aspirin headache", components=("bm25",), facets="sites").facets
    assert site == Facet("site", (), missing=12)
    (none,) = here.search("aspirin", facets="site", filter="year>2999").facets
    assert none == Facet("site", ())


def test_a_field_that_no_document_has_is_refused(here: Workspace) -> None:
    with pytest.raises(UsageError, match="facets: no document has 'colour'") as caught:
        here.search("aspirin", facets="colour")
    assert "phase" in str(caught.value.hint)
    assert "section" in str(caught.value.hint)


def test_no_facets_unless_asked_for(here: Workspace) -> None:
    assert here.search("aspirin").facets == ()


def test_many_values_are_listed_to_a_limit() -> None:
    most = limits.MAX_FACET_VALUES
    chunks = [
        Chunk(f"c{at}", f"d{at}", "text", metadata={"n": at if at < most + 5 else 0})
        for at in range(most + 8)
    ]
    (facet,) = facets_of(chunks, ["n"])
    assert facet.values[0] == FacetValue("0", 4)
    assert len(facet.values) == most
    assert facet.more == 5


def test_spellings_that_a_filter_takes_for_one_are_counted_together(tmp_path: Path) -> None:
    rows = [
        ("a", "Eligibility Criteria", ("ATORVASTATIN", "atorvastatin")),
        ("b", "eligibility", ("atorvastatin",)),
        ("c", "results", ("Phase 3",)),
        ("d", "results", ("PHASE3",)),
        ("e", "results", ("2019",)),
        ("f", "results", ("2019-03",)),
    ]
    chunks = [
        Chunk(f"{name}:chunk_0", name, "statin study", "Study", section, metadata={"drug": drugs})
        for name, section, drugs in rows
    ]
    with filled(tmp_path / "home", chunks) as workspace:
        drug, section = workspace.search("statin study", facets="drug,section", k=1).facets
        counted = [(one.value, one.count) for one in drug.values]
        assert counted == [("PHASE3", 2), ("atorvastatin", 2), ("2019", 1), ("2019-03", 1)]
        assert [one.count for one in section.values] == [4, 2]
        for facet, name in ((drug, "filter"), (section, "section")):
            for one in facet.values[:2]:
                given = f"drug={one.value}" if name == "filter" else one.value
                wanted: dict[str, Any] = {name: given}
                found = workspace.search("statin study", None, **wanted)
                assert len({hit.chunk.doc_id for hit in found.results}) == one.count
