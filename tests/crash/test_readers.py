"""Readers during an ingest see whole generations only."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.index.writer import update
from assay.store.corpus import CorpusStore
from tests.crash.child import document
from tests.unit.index.helpers import ENCODERS


@pytest.mark.req("16")
def test_two_reader_processes_during_an_ingest(tmp_path: Path) -> None:
    store = CorpusStore(tmp_path / "assay.db")
    readers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.reader", str(tmp_path), "4"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    number, until = 0, time.monotonic() + 4
    while time.monotonic() < until:
        store.put([document(number), document(number + 1)])
        update(tmp_path / "index", store, ENCODERS, fresh=number % 10 == 0)
        number += 2
    for reader in readers:
        out, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0
        looks, generations = map(int, out.split())
        assert looks >= generations >= 2
