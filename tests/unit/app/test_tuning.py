"""Does tuning measure the search that will be used: its boosts, and its weights by query type?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.evaluation import evaluate
from assay.app.evaluation_request import EvaluationRequest
from assay.app.tuning import tune
from assay.app.workspace import Workspace
from assay.model.document import Chunk
from assay.render.tuning import flags, tuning_json, tuning_tables
from assay.testsets.load import load_test_set
from tests.unit.search.corpus import filled

DRUGS = ("alvotide", "bencorin", "cladovir", "dorsumab", "elpatinib", "fenstatin")


def chunks() -> list[Chunk]:
    """For each drug a table of adverse events that hardly names it, and prose that does."""
    made = []
    for drug in DRUGS:
        prose = f"{drug} adverse events were discussed and {drug} was given daily to {drug} users"
        made += [Chunk(f"{drug}:chunk_{at}", drug, f"{prose}, part {at}") for at in range(3)]
        made.append(
            Chunk(
                f"{drug}:chunk_3",
                drug,
                f"{drug} nausea 12 headache 7 rash 3 of those treated",
                is_table=True,
                intent_hint="ae",
                section_label="adverse_events",
            )
        )
    return made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Workspace]:
    with filled(tmp_path / "home", chunks()) as workspace:
        yield workspace


@pytest.fixture
def drugs(tmp_path: Path) -> str:
    lines = ["name: drugs", "version: v1", "queries:"]
    for drug in DRUGS:
        lines += [
            f"  - query_id: {drug}",
            f"    query_text: {drug} adverse events",
            "    relevant_docs:",
            f'      - {{doc_id: "{drug}:chunk_3", grade: 3}}',
            f'      - {{doc_id: "{drug}:chunk_0", grade: 1}}',
        ]
    path = tmp_path / "drugs.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def measured(here: Workspace, drugs: str, **options: object) -> float:
    """What a run scores."""
    request = EvaluationRequest(test_set=load_test_set(drugs), options=options)
    value = evaluate(here, request).runs[0].result.scores["nDCG@10"]
    assert value is not None
    return value


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"boosts": False},
        {"fusion_method": "weighted", "per_type_weights": True},
        {"fusion_method": "weighted", "normalization": "z-score", "depth": 5},
        {"type_weights": {"exact_term": {"bm25": 5.0, "splade": 1.0, "dense": 1.0}}},
    ],
)
def test_the_present_settings_score_what_a_run_scores(
    here: Workspace, drugs: str, options: dict[str, object]
) -> None:
    tuned = tune(here, drugs, step=0.25, options=options, holdout=False)
    assert tuned.tuning.evaluation.baseline == pytest.approx(
        measured(here, drugs, **options), abs=1e-12
    )


def test_boosts_change_the_figures(here: Workspace, drugs: str) -> None:
    with_boosts, without = (
        tune(here, drugs, step=0.25, options={"boosts": on}, holdout=False).tuning.evaluation
        for on in (True, False)
    )
    assert with_boosts.baseline is not None
    assert without.baseline is not None
    assert with_boosts.baseline > without.baseline + 0.05


def test_the_best_settings_score_what_a_run_with_them_scores(here: Workspace, drugs: str) -> None:
    found = tune(here, drugs, step=0.25, holdout=False).tuning
    best = found.best
    run = measured(
        here,
        drugs,
        fusion_method=best.fusion_method.value,
        rrf_k=best.rrf_k,
        normalization=best.normalization.value,
        weights=dict(best.weights),
    )
    assert found.evaluation.value == pytest.approx(run, abs=1e-12)


def test_weights_of_each_type_are_tried_as_well(here: Workspace, tmp_path: Path) -> None:
    """Half of the queries want the order of words, half that of dense vectors."""
    lines = ["name: both", "version: v1", "queries:"]
    for at, drug in enumerate((*DRUGS, *DRUGS)):
        text = f"{drug} adverse events" if at < len(DRUGS) else f"what can {drug} do to me"
        wanted = f"{drug}:chunk_{3 if at < len(DRUGS) else 1}"
        lines += [
            f"  - query_id: q{at}",
            f"    query_text: {text}",
            f'    relevant_docs: [{{doc_id: "{wanted}", grade: 3}}]',
        ]
    path = tmp_path / "both.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plain = tune(here, str(path), step=0.2, holdout=False).tuning
    by_type = tune(here, str(path), step=0.2, by_type=True, holdout=False).tuning
    tried = [trial for trial in by_type.trials if trial.settings.type_weights]
    assert len(by_type.trials) == len(plain.trials) + len(tried)
    assert tried
    for trial in tried:
        assert set(trial.settings.type_weights) <= {"exact_term", "paraphrase", "complex_clinical"}
        same = [
            one.mean
            for one in plain.trials
            if replace(one.settings, weights={})
            == replace(trial.settings, weights={}, type_weights={})
        ]
        assert trial.mean >= max(same) - 1e-12
    chosen = tried[0].settings
    assert tried[0].mean == pytest.approx(
        measured(
            here,
            str(path),
            fusion_method=chosen.fusion_method.value,
            rrf_k=chosen.rrf_k,
            normalization=chosen.normalization.value,
            weights=dict(chosen.weights),
            type_weights=chosen.type_weights,
        ),
        abs=1e-12,
    )
    assert "--type-weights '" in flags(chosen)


def test_it_is_said_what_was_measured(here: Workspace, drugs: str) -> None:
    tuned = tune(here, drugs, step=0.25, holdout=False)
    plain = tuning_json(tuned.tuning, tuned.present, 3)
    assert (plain["boosts"], plain["reranked"], plain["basis"]) == (
        True,
        False,
        "measured with boosts",
    )
    off = replace(tuned.present, boosts=False, rerank=True)
    told = tuning_tables(tuned.tuning, off, 3)[2].notes
    assert "measured without boosts, which are off, before reranking" in told


def test_it_is_said_which_method_does_best_and_what_components_do_alone(
    here: Workspace, drugs: str
) -> None:
    tuned = tune(here, drugs, step=0.25, options={"depth": 3}, holdout=False)
    kinds = {one.name: one for one in tuned.tuning.kinds}
    assert list(kinds) == ["rrf", "weighted", "bm25 alone", "splade alone", "dense alone"]
    for method in ("rrf", "weighted"):
        means = [
            one.mean for one in tuned.tuning.trials if one.settings.fusion_method.value == method
        ]
        assert kinds[method].evaluation == max(means)
    for name in ("bm25", "splade", "dense"):
        # few candidates, so that one that only another component found would be noticed
        run = measured(here, drugs, components=(name,), depth=3)
        assert kinds[f"{name} alone"].evaluation == pytest.approx(run, abs=1e-12)
    table = tuning_tables(tuned.tuning, tuned.present, 3)[0]
    assert [row[0] for row in table.rows] == list(kinds)
    assert "--components dense" in table.rows[-1]
    plain = tuning_json(tuned.tuning, tuned.present, 3)
    assert [one["name"] for one in plain["kinds"]] == list(kinds)
