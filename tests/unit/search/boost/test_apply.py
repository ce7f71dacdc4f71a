"""Are the right candidates lifted, by the right factor, with both rules named?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from assay.model.document import Chunk
from assay.model.query import Hit
from assay.search.boost import Boosted, apply_boosts, default_lexicon, detect
from assay.search.fusion import FusedPool, fuse
from assay.search.request import SearchOptions
from assay.search.response import Boost
from assay.search.subject import Pool, pool_rarity, scope_of, subject_of

PLAIN = Chunk("p", "p", "text", section_label="introduction")


def fused(count: int) -> FusedPool:
    hits = [Hit(key, f"doc{key}", 100.0 - key) for key in range(count)]
    return fuse({"bm25": hits}, SearchOptions())


def traits(chunks: Mapping[int, Chunk]) -> Callable[[int], Chunk]:
    return lambda key: chunks.get(key, PLAIN)


def boosted(query: str, chunks: Mapping[int, Chunk], count: int = 5) -> Sequence[Boosted]:
    lexicon = default_lexicon()
    return apply_boosts(fused(count), traits(chunks), detect(query, lexicon), lexicon)


@pytest.mark.req("R11")
def test_tables_come_first_for_a_tabular_query() -> None:
    tables = {key: Chunk("t", "t", "x", is_table=True) for key in range(15, 20)}
    rows = boosted("pembrolizumab adverse events", tables, count=20)
    assert [row.fused.key for row in rows[:5]] == [15, 16, 17, 18, 19]
    assert rows[0].score == pytest.approx(2.8 / (60 + 16))
    assert rows[0].rank_fused == 16
    assert [row.fused.key for row in rows[5:]] == list(range(15))


@pytest.mark.req("R11")
def test_a_sentence_about_adverse_events_is_lifted_like_a_table() -> None:
    rows = boosted("results table", {4: Chunk("a", "a", "x", intent_hint="ae")})
    assert rows[0].fused.key == 4
    assert ("table", "intent_hint=ae") in [(one.rule, one.matched) for one in rows[0].boosts]


@pytest.mark.req("R11", "R13")
def test_a_query_without_intent_changes_nothing_and_looks_at_no_candidate() -> None:
    def refuse(key: int) -> Chunk:
        raise AssertionError(key)

    lexicon = default_lexicon()
    rows = apply_boosts(fused(5), refuse, detect("cancer research trends", lexicon), lexicon)
    assert [row.fused for row in rows] == [*fused(5)]
    assert all(row.score == row.fused.score and row.boosts == () for row in rows)
    assert [row.rank_fused for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    "chunk",
    [
        Chunk("e", "e", "x", section_label="eligibility"),
        Chunk("e", "e", "x", section_label="Eligibility Criteria"),
        Chunk("e", "e", "x", section_label="5. Inclusion and exclusion criteria"),
        Chunk("e", "e", "x", intent_hint="eligibility"),
    ],
)
def test_eligibility_sections_are_lifted_whatever_form_names_them(chunk: Chunk) -> None:
    rows = boosted("eligibility criteria for breast cancer trials", {4: chunk})
    assert rows[0].fused.key == 4
    assert rows[0].score == pytest.approx(3.0 / 65)


@pytest.mark.req("R13")
def test_each_intent_lifts_its_own_sections() -> None:
    rows = boosted(
        "pembrolizumab dosage and adverse events",
        {
            2: Chunk("d", "d", "x", intent_hint="dose"),
            3: Chunk("a", "a", "x", section_label="Adverse Reactions"),
        },
    )
    factors = {row.fused.key: row.score / row.fused.score for row in rows}
    assert factors == pytest.approx({0: 1, 1: 1, 2: 1.4, 3: 1.8, 4: 1})


@pytest.mark.req("R13")
def test_the_larger_factor_holds_and_both_rules_are_named() -> None:
    chunk = Chunk("t", "t", "x", section_label="adverse_events", intent_hint="ae", is_table=True)
    top = boosted("adverse events", {3: chunk})[0]
    assert top.score == pytest.approx(2.8 / 64)
    assert top.boosts == (
        Boost("table", "tabular", 0.9, 2.8, "is_table", True),
        Boost(
            *("intent", "adverse_events", 0.9, 1.8, "section_label=adverse_events", False),
            reason="not applied, since a larger factor is",
        ),
    )


def test_equal_scores_keep_their_fused_order() -> None:
    keys = (5, 3, 4)
    same = FusedPool(keys, dict.fromkeys(keys, 0.5), {key: f"doc{key}" for key in keys}, ())
    lexicon = default_lexicon()
    rows = apply_boosts(same, traits({}), detect("eligibility", lexicon), lexicon)
    assert [row.fused.key for row in rows] == [5, 3, 4]


def scoped(
    query: str, chunks: Mapping[int, Chunk], names: Mapping[int, str], count: int = 30
) -> Sequence[Boosted]:
    """Boosts within the subject of a query; other documents are called nothing in particular."""
    every = [f" {names.get(key, f'other {key}')} " for key in range(count)]
    pool = Pool(every, lambda term, places: [], pool_rarity(every))
    lexicon = default_lexicon()
    scope = scope_of(subject_of(query, lexicon), pool)
    return apply_boosts(fused(count), traits(chunks), detect(query, lexicon), lexicon, scope)


AE = Chunk("a", "a", "x", section_label="adverse_events", is_table=True)
DOSE = Chunk("d", "d", "x", section_label="dosage")


@pytest.mark.req("R11", "R13")
def test_a_section_about_another_subject_is_not_lifted_and_says_so() -> None:
    rows = scoped("zelomab adverse events", {3: AE, 4: AE}, {4: "zelomab"})
    by_key = {row.fused.key: row for row in rows}
    assert by_key[4].score == pytest.approx(2.8 * by_key[4].fused.score)
    assert by_key[3].score == by_key[3].fused.score
    assert [one.applied for one in by_key[3].boosts] == [False, False]
    reason = "not lifted: about another subject (not zelomab)"
    assert {one.reason for one in by_key[3].boosts} == {reason}


@pytest.mark.req("R13")
def test_nothing_is_lifted_for_a_drug_that_is_not_there() -> None:
    rows = scoped("maximum dose of apixaban", {7: DOSE}, {})
    assert [row.fused.key for row in rows] == [*range(30)]


@pytest.mark.req("R13")
def test_each_section_that_is_named_has_a_place_in_the_first_ten() -> None:
    tables = dict.fromkeys(range(5, 20), AE)
    rows = scoped(
        "zelomab dosage and adverse events",
        {**tables, 25: DOSE},
        dict.fromkeys(range(30), "zelomab"),
    )
    assert 25 in [row.fused.key for row in rows[:10]]
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)
    (placed,) = (row for row in rows if row.fused.key == 25)
    (boost,) = placed.boosts
    assert boost.applied
    assert placed.score == pytest.approx(boost.factor * placed.fused.score)
    assert boost.reason == "the best of dosage has a place in the first 10"


@pytest.mark.req("R13")
def test_a_section_that_gets_a_place_pushes_no_other_named_section_out() -> None:
    """Asked for six sections, a label showed no doses: the last that was placed pushed them out."""
    several = ("dosage", "contraindications", "indications", "drug_interactions", "overdosage")
    chunks = {
        key: Chunk("c", "c", "x", section_label=label)
        for key, label in zip((8, 9, 22, 25, 28), several, strict=True)
    }
    tables = dict.fromkeys(range(8), AE)
    rows = scoped(
        "zelomab side effects, dose, contraindications, indications, interactions, overdose",
        {**tables, **chunks},
        dict.fromkeys(range(30), "zelomab"),
    )
    assert chunks.keys() <= {row.fused.key for row in rows[:10]}
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)
    for row in rows:
        factors = [boost.factor for boost in row.boosts if boost.applied]
        assert row.score == pytest.approx(row.fused.score * (factors or [1.0])[0])


def test_the_doses_of_a_label_come_before_its_dosage_forms() -> None:
    forms = Chunk("f", "f", "x", section_label="dosage_forms", intent_hint="dose")
    names = dict.fromkeys(range(30), "zelomab")
    assert scoped("zelomab posology", {0: forms, 20: DOSE}, names)[0].fused.key == 20
    assert scoped("zelomab dosage forms", {0: forms, 20: DOSE}, names)[0].fused.key == 0


@pytest.mark.req("R11")
@pytest.mark.parametrize("label", ["baseline", "outcomes", "participant_flow", "eligibility"])
def test_tables_of_adverse_events_come_before_those_of_other_sections(label: str) -> None:
    other = Chunk("o", "o", "x", section_label=label, is_table=True)
    rows = boosted("side effects", {0: other, 1: other, 4: AE})
    assert [row.fused.key for row in rows if row.boosts] == [4]
    rows = boosted("safety of statins: baseline characteristics", {3: other})
    assert [row.fused.key for row in rows if row.boosts] == [3]


def test_what_a_query_names_comes_first_even_without_the_section() -> None:
    rows = scoped("zelomab adverse events", {0: AE}, {9: "zelomab"})
    assert rows[0].fused.key == 9
    assert rows[0].boosts[0].rule == "subject"
    assert rows[0].score == pytest.approx(rows[0].boosts[0].factor * rows[0].fused.score)


def test_the_label_of_a_drug_says_its_dose_before_articles_about_it() -> None:
    chunks = {0: DOSE, 1: DOSE, 8: DOSE}
    names = {0: "dosing of zelomab in practice", 1: "other", 8: "zelomab", 9: "zelomab"}
    rows = scoped("zelomab dose", chunks, names)
    assert [row.fused.key for row in rows[:2]] == [8, 0]
    assert rows[0].boosts[0].reason == "the first place is for what is about zelomab"
    # what was found in trials is not the label's to say
    results = Chunk("r", "r", "x", section_label="results")
    assert scoped("zelomab results", {0: results, 8: results}, names)[0].fused.key == 0


def test_tables_of_other_topics_are_no_tables_of_adverse_events() -> None:
    kinetics = Chunk("k", "k", "x", section_label="clinical_pharmacology", is_table=True)
    rows = boosted("adverse events", {3: kinetics, 4: AE})
    assert [row.fused.key for row in rows[:2]] == [4, 0]
    assert boosted("results table", {3: kinetics})[0].fused.key == 0
    assert boosted("table", {3: kinetics})[0].fused.key == 3


def test_lists_of_adverse_events_are_no_tables_of_outcomes() -> None:
    events = Chunk("a", "a", "x", section_label="adverse_events", intent_hint="ae")
    outcomes = Chunk("o", "o", "x", section_label="results")
    rows = boosted("do both trials report the same outcome measures", {2: events, 4: outcomes})
    assert [row.fused.key for row in rows if row.boosts] == [4]
    assert boosted("adverse events", {2: events})[0].score == pytest.approx(2.8 / (60 + 3))


def test_a_description_that_nothing_matches_is_lifted_gently() -> None:
    query = "nausea, vomiting, headache, dizziness as adverse events"
    lifted = scoped(query, {20: AE}, {})
    (row,) = (row for row in lifted if row.fused.key == 20)
    assert row.score == pytest.approx(row.fused.score * (1 + 0.1 * 1.8))
    assert row.boosts[0].reason.startswith("gently, since the subject is unknown")
