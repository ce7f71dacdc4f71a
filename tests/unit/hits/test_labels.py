"""Are labels and scores read from tables, and is each bad cell named?"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from assay.errors import AssayError, FormatError, MissingFileError
from assay.hits.labels import read_labels

Write = Callable[[str, bytes | str], Path]


def refusal(path: Path, kind: type[AssayError] = FormatError, cluster: str | None = None) -> str:
    with pytest.raises(kind) as caught:
        read_labels(str(path), cluster)
    assert caught.type is kind
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    "content",
    [
        "label,score,post\n1,0.5,a\n0,-1e-3,b\n",
        "\ufefflabel\tscore\tpost\r\ntrue\t.5\ta\r\n\r\nFALSE\t-0.001\tb\r\n",
        "post,score,label\na,0.5,yes\nb,-.001,no",
        '"label","score","post"\n" 1 ", 0.5 ,a\n0.0,"-0.001",b\n',
        '{"label": 1, "score": 0.5, "post": "a"}\n{"label": false, "score": -0.001, "post": "b"}',
        '[{"label": "1", "score": 0.5, "post": "a"}, {"label": 0.0, "score": -1e-3, "post": "b"}]',
    ],
    ids=repr,
)
def test_files(write: Write, content: str) -> None:
    for packed in (content.encode(), gzip.compress(content.encode())):
        labels = read_labels(str(write("a", packed)), "post")
        assert labels.labels.tolist() == [True, False]
        assert labels.scores.tolist() == [0.5, -0.001]
        assert labels.clusters == ["a", "b"]
    assert read_labels(str(write("a", content))).clusters is None


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"label": [True, False], "score": [0.5, 2], "post": [1, 2]}).write_parquet(path)
    labels = read_labels(str(path), "post")
    assert labels.labels.tolist() == [True, False]
    assert labels.scores.tolist() == [0.5, 2.0]
    assert labels.clusters == ["1", "2"]
    pl.DataFrame({"label": [1, 0], "score": [0.5, None]}).write_parquet(path)
    assert refusal(path).startswith("a.parquet:2: no 'score'")


@pytest.mark.parametrize(
    "score", ["nan", "inf", "1e999", "1_0", "１０", "0x1", "abc", "1,5", "--1"]
)
def test_scores_that_are_refused(write: Write, score: str) -> None:
    message = refusal(write("a", f'label,score\n1,0.5\n0,"{score}"\n'))
    assert message == f"a:3: the score {score!r} is not a finite number"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('{"label": 2, "score": 1}', "the label 2 is neither 0 nor 1"),
        ('{"label": "maybe", "score": 1}', "the label 'maybe' is neither 0 nor 1"),
        ('{"label": null, "score": 1}', "no 'label'"),
        ('{"score": 1}', "no 'label' among: score"),
        ('{"label": 1, "score": true}', "the score True is not a finite number"),
        ('{"label": 1, "score": null}', "no 'score'"),
        ('{"label": 1, "score": [1]}', "the score [1] is not a finite number"),
        ('{"label": 1, "score": 1e999}', "the score inf is not a finite number"),
        ('{"label": 1, "score": NaN}', "NaN is not a number"),
        ('{"label": 1, "sco', "not JSON"),
        ("[1, 2]", "a row must be an object"),
    ],
)
def test_rows_that_are_refused(write: Write, row: str, says: str) -> None:
    content = f'{{"label": 1, "score": 0.5}}\n{row}\n'
    assert refusal(write("a", content)).startswith(f"a:2: {says}")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("label,score\n1\n", "2: no 'score'"),
        ("label,score\n1,2,3\n", "2: 3 cells, but 2 columns (quote cells that hold commas)"),
        ("label,label\n1,2\n", "1: two columns have the same name"),
        ("label,value\n1,2\n", "2: no 'score' among: label, value"),
        ("label,score\n1,\n", "2: no 'score'"),
        ("label,score\n,1\n", "2: no 'label'"),
        ('label,score\n1,"2\n', "2: not delimited text"),
        ("label,score\n1,2\0\n", "2: a NUL byte"),
        ("", " there is no row (a row has a label and a score)"),
        ("label,score\n", " there is no row"),
        ("[]", " there is no row"),
    ],
)
def test_tables_that_are_refused(write: Write, content: str, says: str) -> None:
    assert refusal(write("a", content)).startswith(f"a:{says}")


def test_clusters_that_are_missing(write: Write) -> None:
    path = write("a", "label,score,post\n1,2,x\n0,1,\n")
    assert refusal(path, cluster="post") == "a:3: no 'post'"
    assert refusal(path, cluster="post_id") == "a:2: no 'post_id' among: label, score, post"


def test_bytes_that_are_no_text(write: Write, tmp_path: Path) -> None:
    assert refusal(write("a", b"label,score\n1,\xe9\n")).startswith("a:2: not UTF-8")
    assert "is a folder" in refusal(tmp_path, MissingFileError)
