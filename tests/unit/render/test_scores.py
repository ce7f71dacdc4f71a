import csv
import io

import assay
from assay.render import scores as report
from assay.render.numbers import p_value
from assay.render.tables import markdown

QRELS = {"q1": {"a": 1}, "=q2": {"b": 1}, "q3": {"c": 0}}
ONE = assay.score(QRELS, {"q1": ["a"], "=q2": ["x", "b"]}, "MRR recall_10", name="one|run")
TWO = assay.score(QRELS, {"q1": ["x", "a"], "=q2": ["x"]}, "MRR recall_10", name="two")


def test_trec_columns_use_the_words_that_were_asked_for() -> None:
    lines = report.trec_columns(ONE, per_query=True, with_run=False).splitlines()
    assert lines[0] == "MRR\tq1\t1.0000"
    assert lines[-2:] == ["MRR\tall\t0.7500", "recall_10\tall\t1.0000"]
    assert all(line.count("\t") == 2 for line in lines)


def test_several_runs_are_told_apart_in_trec_columns() -> None:
    assert report.trec_columns(TWO, per_query=False, with_run=True).startswith("runid\tall\ttwo\n")


def test_csv_is_long_and_defused() -> None:
    text = report.csv_rows([ONE], ci=True, per_query=True, groups={})
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["measure"] for row in rows} == {"MRR", "Recall@10"}
    assert "'=q2" in {row["query"] for row in rows}
    undefined = next(r for r in rows if r["query"] == "q3" and r["measure"] == "Recall@10")
    assert undefined["value"] == ""
    total = next(r for r in rows if r["query"] == "all" and r["measure"] == "MRR")
    assert (total["value"], total["n"]) == ("0.7500", "2")
    assert float(total["ci_low"]) <= 0.75 <= float(total["ci_high"])


def test_markdown_of_a_comparison() -> None:
    text = markdown(report.comparison_tables([ONE, TWO], assay.compare(ONE, TWO)))
    assert r"**two against one\|run**" in text
    assert "| MRR | 0.7500 | 0.2500 | -0.5000 |" in text
    assert text.count("| :-- | --:") == 2


def test_undefined_is_a_dash_with_a_note() -> None:
    nothing = assay.score({"q": {"a": 0}}, {"q": ["a"]}, "Recall@10")
    table = report.run_table(nothing, ci=True)
    assert table.rows[0][1:3] == ("—", "—")
    assert any("Recall@10 is undefined" in note for note in table.notes)


def test_json_of_one_and_of_several_runs() -> None:
    alone = report.scores_json([ONE], None, ci=False, per_query=False, groups={})
    assert alone["metrics"] == {"mrr": 0.75, "recall_at_10": 1.0}
    both = report.scores_json(
        [ONE, TWO], assay.compare(ONE, TWO), ci=True, per_query=True, groups={}
    )
    assert [entry["run"] for entry in both["runs"]] == ["one|run", "two"]
    assert both["comparison"]["baseline"] == "one|run"


def test_p_values_never_read_as_zero() -> None:
    assert p_value(0.00001) == "<0.0001"
    assert p_value(None) == "—"
