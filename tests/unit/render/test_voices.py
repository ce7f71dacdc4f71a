"""Are automatic judges told apart in a table, and by names that can be read?"""

from __future__ import annotations

from assay.render.annotation import _short_names


def test_judges_are_called_without_their_versions() -> None:
    one, two = "entailment-assay-bio-judge:320:fd11b1-rules-5", "words-rules-5"
    assert _short_names([one, two]) == {one: "entailment-assay-bio-judge", two: "words-rules-5"}


def test_two_versions_of_one_judge_keep_them() -> None:
    versions = ["gpt(prompts=1)", "gpt(prompts=2)"]
    assert _short_names(versions) == {name: name for name in versions}
