"""Which rows are in a parquet file, whatever its bytes do to the library that reads it?

polars ends the whole process on some damaged files, and no ``except`` sees that. So a file is read
in a process of its own, which writes every row as a line of JSON; if it dies, the file is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from assay import extras
from assay.ingest.columns import as_json
from assay.ingest.json_rows import Row

ROWS = 10_000
"""Rows that are read at a time."""


class NotParquetError(Exception):
    """The file cannot be read; says why."""


def rows_of_parquet(table: Path | BytesIO) -> Iterator[Row]:
    """The rows of a file, as JSON would have them."""
    extras.require("polars")
    with ExitStack() as stack:
        if isinstance(table, BytesIO):
            copy = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".parquet"))
            copy.write(table.getbuffer())
            copy.flush()
            table = Path(copy.name)
        reader = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", __name__, str(table.absolute())],
            env={**os.environ, "PYTHONPATH": _search_path()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        stack.enter_context(reader)
        stack.callback(reader.kill)  # it may be left before its end
        assert reader.stdout is not None
        for line in reader.stdout:
            if not line.endswith(b"\n"):
                break
            found = json.loads(line)
            if found is None:
                return
            if isinstance(found, str):
                raise NotParquetError(found)
            yield found
    raise NotParquetError("it ends the program that reads it")


def _search_path() -> str:
    """Where the reader finds this very code."""
    own = str(Path(__file__).parents[2])
    return os.pathsep.join(filter(None, (own, os.environ.get("PYTHONPATH", ""))))


def _write(path: Path) -> None:
    """Write the rows of a file to standard output, then ``null``; or a text that says why not."""
    import polars

    out = sys.stdout
    try:
        whole, start = polars.scan_parquet(path, glob=False), 0
        while len(piece := whole.slice(start, ROWS).collect()):
            for row in piece.iter_rows(named=True):
                values = {name: as_json(value) for name, value in row.items()}
                out.write(json.dumps(values, default=_written) + "\n")
            start += ROWS
        out.write("null\n")
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as problem:
        out.write(json.dumps(str(problem).partition("\n")[0][:200]) + "\n")


def _written(value: Any) -> Any:
    """A value that JSON cannot hold: a date within a list of fields; bytes are left out."""
    if isinstance(value, bytes):
        return None
    plain = as_json(value)
    return str(value) if plain is value else plain


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    _write(Path(sys.argv[1]))
