"""Does the YAML reader keep what was written and refuse what can surprise?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay import limits
from assay.errors import AssayError, DuplicateError, FormatError, LimitError, MissingFileError
from assay.strict_yaml import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    load_yaml,
    parse_yaml,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["libyaml", "pure Python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here holds for both parsers of PyYAML."""
    if request.param == "pure Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")


def parse(text: str | bytes) -> Node | None:
    return parse_yaml(text.encode() if isinstance(text, str) else text, source="t.yaml")


def value_of(written: str) -> ScalarNode:
    root = parse(f"key: {written}\n")
    assert isinstance(root, MappingNode)
    node = root.get("key")
    assert isinstance(node, ScalarNode)
    return node


SURPRISING = [
    "NO", "no", "012", "1_000", "12:30:45", "2024-03-15", "1e3", "~", "null", "0x1F", "0o17",
    ".nan", ".inf", "true", "31415926", "9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("text", SURPRISING)
def test_a_scalar_keeps_its_text(text: str) -> None:
    assert value_of(text) == ScalarNode(text, line=1, quoted=False)
    assert value_of(f"'{text}'") == ScalarNode(text, line=1, quoted=True)


def test_an_absent_value_is_empty_text() -> None:
    assert value_of("") == ScalarNode("", line=1)


def test_the_tree_knows_its_lines() -> None:
    root = parse("# head\na: 1\nb:\n  - x\n  - y: 2\n")
    assert root == MappingNode(
        (
            (ScalarNode("a", 2), ScalarNode("1", 2)),
            (
                ScalarNode("b", 3),
                SequenceNode(
                    (
                        ScalarNode("x", 4),
                        MappingNode(((ScalarNode("y", 5), ScalarNode("2", 5)),), 5),
                    ),
                    4,
                ),
            ),
        ),
        2,
    )
    assert isinstance(root, MappingNode)
    assert root.get("c") is None


def test_block_text_is_quoted_text() -> None:
    root = parse("a: |\n  one\n  two\n")
    assert isinstance(root, MappingNode)
    assert root.get("a") == ScalarNode("one\ntwo\n", 1, quoted=True)


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "---\n...\n", b"\xef\xbb\xbf"])
def test_nothing_written(text: str | bytes) -> None:
    assert parse(text) is None


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    root = parse(b"\xef\xbb\xbfseed: 1\n")
    assert isinstance(root, MappingNode)
    assert root.get("seed") is not None


REFUSED = {
    "alias": ("a: &x 1\nb: *x\n", 1, "anchor"),
    "unknown alias": ("a: 1\nb: *x\n", 2, "alias"),
    "alias as key": ("a: 1\n*x : 2\n", 2, "alias"),
    "bomb": ("a: &a [x, x]\nb: &b [*a, *a]\n", 1, "anchor"),
    "self": ("a: &a [*a]\n", 1, "anchor"),
    "python tag": ("a: 1\nb: !!python/object/apply:os.system [ls]\n", 2, "tag"),
    "timestamp tag": ("a: !!timestamp foo\n", 1, "tag"),
    "binary tag": ("a: !!binary rubbish\n", 1, "tag"),
    "bare tag": ("a: ! b\n", 1, "tag"),
    "tag directive": ("%TAG ! tag:x,2000:\n---\na: 1\n", 1, "directive"),
    "second document": ("a: 1\n---\nb: 2\n", 2, "second document"),
    "key is a list": ("? [a]\n: 1\n", 1, "key"),
    "not YAML": ("a: 1\nb: [1, 2\n", None, "not valid YAML"),
    "tab": ("a:\n\tb: 1\n", 2, "not valid YAML"),
    "NUL": ("a: 1\nb: x\0y\n", 2, "U+0000"),
    "escaped NUL": ('a: 1\nb: "x\\0y"\n', 2, "U+0000"),
    "escape character": ('a: "\\e[31m"\n', 1, "U+001B"),
    "Latin-1": (b"a: 1\nb: caf\xe9\n", 2, "UTF-8"),
    "UTF-16": ("a: 1\n".encode("utf-16"), 1, "UTF-8"),
    "nested": ("a: 1\nb: " + "[" * 1000, 2, "nested"),
    "nested blocks": ("a: " + "- " * 0 + "{a: " * 200, 1, "nested"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "word"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(text: str | bytes, line: int | None, word: str) -> None:
    with pytest.raises(FormatError, match=word.replace("+", r"\+")) as caught:
        parse(text)
    assert caught.value.source == "t.yaml"
    assert line is None or caught.value.line == line


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(FormatError) as caught:
        parse('a: "\\ud800"\n')
    assert caught.value.line == 1


def test_a_duplicate_key_names_both_lines() -> None:
    with pytest.raises(DuplicateError) as caught:
        parse("seed: 1\nother: 2\n'seed': 3\n")
    assert caught.value.message == "t.yaml:3: the key 'seed' appears twice, first on line 1"


def test_the_same_key_in_two_places_is_fine() -> None:
    assert parse("- {a: 1}\n- {a: 2}\n") is not None


def test_a_large_text_is_refused() -> None:
    with pytest.raises(LimitError, match="larger than 10 bytes"):
        parse_yaml(b"a: " + b"x" * 20, source="t.yaml", max_bytes=10)


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(b"a: " + b"x" * limits.MAX_CONFIG_BYTES)
    with pytest.raises(LimitError, match=r"t\.yaml is larger than"):
        load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("missing.yaml", "fifo", "."):
        with pytest.raises(MissingFileError, match=r"regular file|No such file"):
            load_yaml(tmp_path / name)


def test_a_file_is_named_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text("a: *x\n", encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        load_yaml(path)
    assert caught.value.message.startswith(f"{path}:1: ")


@given(
    data=st.one_of(st.binary(max_size=60), st.text("ab:-[]{}&*!?|>'\"%@`#, \n\t\\0~", max_size=60))
)
def test_any_bytes_give_a_tree_or_a_typed_error(data: bytes | str) -> None:
    try:
        parse(data)
    except AssayError as error:
        message = error.message
    else:
        message = "t.yaml"
    assert message.startswith("t.yaml")
