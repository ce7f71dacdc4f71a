import pytest

from assay.render.escape import csv_cell, markdown_cell, one_line


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a|b", r"a\|b"),
        ("<script>", r"\<script\>"),
        ("[x](y)", r"\[x\](y)"),
        ("two\nlines", "two lines"),
        ("@team look", "@\u200bteam look"),
        ("see (@team)", "see (@\u200bteam)"),
        ("(see)@team", "(see)@\u200bteam"),
        ("(see)@10cats @10", "(see)@\u200b10cats @\u200b10"),
        ("https://evil.example", "https:/\u200b/evil.example"),
        ("WWW.evil.example", "WWW\u200b.evil.example"),
        ("closes #12", r"closes \#12"),
    ],
)
def test_markdown(text: str, safe: str) -> None:
    assert markdown_cell(text) == safe


def test_measures_keep_their_form_in_markdown() -> None:
    for name in ("nDCG@10", "nDCG(gain=linear)@10"):
        assert markdown_cell(name) == name


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("+a", "'+a"),
        ("-0.5", "-0.5"),
        ("+1e3", "+1e3"),
        ("q1", "q1"),
    ],
)
def test_csv(text: str, safe: str) -> None:
    assert csv_cell(text) == safe


def test_lines() -> None:
    assert one_line("a\tb\u2028c\n") == "a b c "
