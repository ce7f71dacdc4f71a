"""Does the benchmark of the encoders say of every figure where it was measured?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.encode.shelf import Shelf
from bench import encode, encode_both
from bench.encode_report import COLUMNS, render, still_readable

SPEED = dict.fromkeys(COLUMNS["speed"], "95%")
RERANK = dict.fromkeys(COLUMNS["rerank"], 1.0)
QUALITY = dict.fromkeys(COLUMNS["quality"], 0.5)


def part(row: dict[str, Any], processor: str) -> dict[str, Any]:
    return {"machine": {"processor": processor}, "threads": 2, "rows": [row]}


def test_a_kept_part_names_the_machine_it_was_measured_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "encode.json"
    kept.write_text(json.dumps({"quality": part(QUALITY, "old")}))
    monkeypatch.setattr(encode, "KEPT", kept)
    monkeypatch.setattr(encode, "describe", lambda _: {"processor": "new"})
    monkeypatch.setattr(encode, "speed", lambda *_: SPEED)
    monkeypatch.setattr(encode, "rerank_speed", lambda _: RERANK)
    monkeypatch.setattr(Shelf, "find", lambda *_: True)
    monkeypatch.setattr(sys, "argv", ["bench.encode", "speed"])
    encode.main()
    before, _, quality = capsys.readouterr().out.partition("### Quality")
    assert before.count("Measured on: processor new") == 2
    assert "Measured on: processor old, 2 threads." in quality
    assert json.loads(kept.read_text())["quality"]["machine"] == {"processor": "old"}


@pytest.mark.parametrize(
    "kept",
    [
        {"speed": [SPEED], "machine": {}, "threads": 2},
        {"speed": part({"model": "m", "of the session": "95%"}, "old")},
        {"other": part(SPEED, "old")},
    ],
)
def test_what_can_no_longer_be_read_is_measured_again(kept: dict[str, Any]) -> None:
    assert still_readable(kept) == {}


def test_the_rows_have_the_columns_that_are_kept() -> None:
    modules = (encode, encode_both)
    source = "".join(Path(str(one.__file__)).read_text(encoding="utf-8") for one in modules)
    for names in COLUMNS.values():
        for name in names:
            assert f'"{name}": ' in source
    assert "### Speed of the CPU reranker" in render({"rerank": part(RERANK, "here")})
