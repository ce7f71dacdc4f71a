"""What do the tests of the readers share?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay import limits
from assay.hits import run as run_module
from assay.hits.qrels import load_qrels
from assay.hits.run import RunOptions, judge
from assay.hits.trec_stream import IrregularTextError
from tests.conftest import without_compiled

if TYPE_CHECKING:
    from assay.measures.table import JudgedHits

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}}


@dataclass(frozen=True)
class Reader:
    """Reads run files line by line, or piece by piece."""

    name: str
    folder: Path

    def file(self, content: bytes | str, name: str = "a.run") -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def judge(
        self,
        content: bytes | str,
        qrels: Any = None,
        *,
        name: str = "a.run",
        **options: Any,
    ) -> JudgedHits:
        path = self.file(content, name)
        return judge(load_qrels(QRELS if qrels is None else qrels), path, RunOptions(**options))

    def error(self, kind: type[Exception], content: bytes | str, **more: Any) -> str:
        """What the refusal says; the folder is left out of it."""
        with pytest.raises(kind) as caught:
            self.judge(content, **more)
        assert caught.type is kind
        return str(caught.value).replace(f"{self.folder}/", "")


def make_stream(monkeypatch: pytest.MonkeyPatch, chunk: int = 64) -> None:
    """Every run file is read in pieces of ``chunk`` bytes, unless its ids hold odd characters."""
    monkeypatch.setattr(limits, "STREAM_CHUNK_BYTES", chunk)
    small = run_module._small_run

    def only_nothing(data: bytes, *rest: Any) -> Any:
        odd = any(code in data for code in range(1, 32) if code not in b"\t\n\v\f\r")
        assert odd or not data, "the careful reader was used"
        return small(data, *rest)

    monkeypatch.setattr(run_module, "_small_run", only_nothing)


def make_careful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run file is read line by line, and nothing is compiled."""
    without_compiled(monkeypatch)

    def nothing_is_regular(*_: Any, **__: Any) -> Any:
        raise IrregularTextError

    monkeypatch.setattr(run_module, "judge_trec_stream", nothing_is_regular)


@pytest.fixture(params=["careful", "stream", "stream, arrays", "megabytes", "megabytes, arrays"])
def reader(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Reader:
    """Each test that asks for this runs once for each way of reading."""
    if request.param == "careful":
        make_careful(monkeypatch)
    else:
        make_stream(monkeypatch, 64 if request.param.startswith("stream") else 1 << 20)
        if request.param.endswith("arrays"):
            without_compiled(monkeypatch)
    return Reader(request.param, tmp_path)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Writes a file and says where it is."""

    def file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return file
