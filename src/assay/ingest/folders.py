"""Which files make up the corpus at this path, and in which order?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from assay import limits
from assay.errors import InputError, LimitError, MissingFileError
from assay.ingest.files import absent
from assay.ingest.watch import Watch

PACKED = (".gz", ".zst")
NAMED_BY_FILE = frozenset({"docx", "html", "pdf", "text"})
"""Formats whose documents are called as their files are, without the suffix."""
RESCUED = "lost+found"  # a system folder at the root of a disk that others cannot read


def suffix(path: Path) -> str:
    """The suffix in lower case, ignoring compression: ``.xml`` for ``a.XML.gz``."""
    name = path.name.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    return os.path.splitext(name)[1]


def stem(path: Path) -> str:
    """The name without suffix and compression: ``PMC12`` for ``PMC12.nxml.gz``."""
    name = path.name
    for packed in PACKED:
        if name.lower().endswith(packed):
            name = name[: -len(packed)]
    return os.path.splitext(name)[0]


def id_of(path: Path, folder: Path, watch: Watch) -> str:
    """An id made from the file's path within the corpus, or else within ``folder``.

    It does not depend on other files in the corpus. It may still be an invalid id.
    """
    root = watch.root or folder
    above = path.relative_to(root).parent.parts if path != root else ()
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", ".".join([*above, stem(path)])).strip("-.")


def corpus_files(path: Path, suffixes: frozenset[str], watch: Watch) -> list[Path]:
    """The file itself, or every file with one of the suffixes below the folder, sorted by name."""
    if path.is_file():
        watch.expect(path.stat().st_size)
        return [path]
    if not path.is_dir():
        raise absent(path)
    found = [file for file in walk(path, watch) if suffix(file) in suffixes]
    if not found:
        raise InputError(
            f"{path}: no file here ends in {', '.join(sorted(suffixes))}",
            hint="is this the right folder, and the right format?",
        )
    watch.expect(sum(file.stat().st_size for file in found))
    return found


def _leads_into(link: Path, root: Path) -> bool:
    try:
        return link.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # nowhere, or in a circle
        return False


def walk(folder: Path, watch: Watch) -> list[Path]:
    """Every regular, visible file below the folder; links that lead outside are skipped."""
    root = folder.resolve()
    found: list[Path] = []
    for file in _files(folder, watch):
        if file.is_symlink() and not _leads_into(file, root):
            watch.left_out(f"{file}: a link that leads out of the folder, skipped", file)
        elif file.is_file():
            found.append(file)
        if len(found) > limits.MAX_CORPUS_FILES:
            raise LimitError(
                f"{folder}: more than {limits.MAX_CORPUS_FILES:,} files", hint="read it in parts"
            )
    return sorted(found, key=lambda file: file.relative_to(folder).as_posix())


def _files(folder: Path, watch: Watch) -> Iterator[Path]:
    for above, folders, names in os.walk(folder, onerror=partial(_closed, watch)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for link in (Path(above, name) for name in folders):
            if link.is_symlink():
                watch.left_out(f"{link}: a link to a folder, skipped", link)
        yield from (Path(above, name) for name in names if not name.startswith("."))


def _closed(watch: Watch, problem: OSError) -> None:
    """Raise an error for a folder that cannot be listed, unless it is a system folder."""
    if Path(str(problem.filename)).name == RESCUED:
        watch.note_once(f"{problem.filename}: a system folder, skipped")
        return
    with watch.passing():
        raise MissingFileError(
            f"{problem.filename} cannot be read: {problem.strerror}",
            hint="make it readable, or move it out of the corpus",
        )
