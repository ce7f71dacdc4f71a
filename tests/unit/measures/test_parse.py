import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError, UnknownMeasureError, UsageError
from assay.measures.catalog import DEFINITIONS
from assay.measures.parse import parse_measure, parse_measures


@pytest.mark.req("K1")
@pytest.mark.parametrize(
    ("text", "form", "key"),
    [
        ("Recall@10", "Recall@10", "recall_at_10"),
        ("nDCG@10", "nDCG@10", "ndcg_at_10"),
        ("nDCG(gain=linear)@10", "nDCG(gain=linear)@10", "ndcg_gain_linear_at_10"),
        ("nDCG(gain=exponential)@10", "nDCG@10", "ndcg_at_10"),
        (
            "nDCG(rel=2, gain='binary')@10",
            "nDCG(gain=binary,rel=2)@10",
            "ndcg_gain_binary_rel_2_at_10",
        ),
        ("RR@10", "RR@10", "mrr_at_10"),
        ("MRR", "MRR", "mrr"),
        ("RR", "MRR", "mrr"),
        ("MRR@10", "RR@10", "mrr_at_10"),
        ("MAP", "MAP", "mean_average_precision"),
        ("AP@10", "AP@10", "map_at_10"),
        ("P@5", "P@5", "precision_at_5"),
        ("Success@5", "Success@5", "hit_at_5"),
        ("RBP(p=0.95)", "RBP(p=0.95)", "rbp_p_0.95"),
        ("Sensitivity(t=0.3)", "Sensitivity(t=0.3)", "sensitivity_t_0.3"),
        ("recall_at_10", "Recall@10", "recall_at_10"),
        ("mean_average_precision", "MAP", "mean_average_precision"),
        ("ndcg_cut_10", "nDCG(gain=linear)@10", "ndcg_gain_linear_at_10"),
        ("ndcg_cut.10", "nDCG(gain=linear)@10", "ndcg_gain_linear_at_10"),
        ("recip_rank", "MRR", "mrr"),
        ("P_5", "P@5", "precision_at_5"),
        ("recall.100", "Recall@100", "recall_at_100"),
        ("map", "MAP", "mean_average_precision"),
    ],
)
def test_forms(text: str, form: str, key: str) -> None:
    measure = parse_measure(text)
    assert str(measure) == form
    assert measure.key == key
    assert parse_measure(form) == measure
    assert measure.asked == text


def test_lists_and_braces() -> None:
    found = parse_measures("nDCG@10, RR@10 Recall@{5,10,20} P(rel={1,2})@{1,3}")
    assert [str(m) for m in found] == [
        "nDCG@10", "RR@10", "Recall@5", "Recall@10", "Recall@20",
        "P@1", "P@3", "P(rel=2)@1", "P(rel=2)@3",
    ]  # fmt: skip


def test_a_measure_asked_twice_comes_once() -> None:
    assert len(parse_measures(["MRR", "RR", "recip_rank"])) == 1


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownMeasureError) as caught:
        parse_measure("nDCGG@10")
    assert "did you mean nDCG?" in str(caught.value)
    for definition in DEFINITIONS:
        assert definition.name in str(caught.value)


@pytest.mark.parametrize("text", ["ndcg10", "nDCG10", "ndcg-10"])
def test_a_depth_without_its_sign_is_understood_in_the_hint(text: str) -> None:
    with pytest.raises(UnknownMeasureError, match=r"did you mean nDCG@10\?"):
        parse_measures(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("P", "needs a cutoff"),
        ("P@0", "from 1 to"),
        ("P@-1", "from 1 to"),
        ("P@1e9", "from 1 to"),
        ("P@10abc", "from 1 to"),
        ("P@１０", "from 1 to"),
        ("bpref@10", "takes no cutoff"),
        ("nDCG(gain=cubic)@10", "is not one of: exponential, linear, binary"),
        ("nDCG(depth=3)@10", "has no parameter 'depth=3'"),
        ("nDCG(gain)@10", "has no parameter 'gain'"),
        ("nDCG(rel=1,rel=2)@10", "given twice"),
        ("P(rel=x)@10", "is not a whole number"),
        ("P(rel=1.5)@10", "is not a whole number"),
        ("P(rel=0)@10", "must be between 1 and 1000"),
        ("RBP(p=nan)", "is not a number"),
        ("RBP(p=1_0)", "is not a number"),
        ("", "unknown measure"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        parse_measure(text)


def test_asking_for_nothing_or_too_much() -> None:
    with pytest.raises(UsageError, match="no measure was asked for"):
        parse_measures("  ")
    with pytest.raises(UsageError, match="more than 200 measures"):
        parse_measures([f"P@{k}" for k in range(1, 202)])
    with pytest.raises(UsageError, match="more than 200 measures"):
        parse_measures("P@{" + ",".join(map(str, range(1, 300))) + "}")


@given(st.text(st.sampled_from("nDCGRP@(){},=105relgain. _'"), max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        for measure in parse_measures(text):
            assert parse_measure(str(measure)) == measure
    except AssayError:
        pass


def test_every_definition_parses_by_its_own_name() -> None:
    for definition in DEFINITIONS:
        cutoff = "" if definition.cutoff.value == "none" else "@10"
        measure = parse_measure(f"{definition.name}{cutoff}")
        assert measure.definition is definition
        assert parse_measure(str(measure)) == measure
        assert definition.help
