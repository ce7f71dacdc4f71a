"""A disk that is full: a clear error, reads go on, and all is well once there is space again.

On a small file system of its own, which takes the rights of root to mount.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.errors import DiskFullError
from assay.http.service import Service
from assay.settings import configure
from tests.faults.whole import answers, command, make_whole, settings
from tests.unit.http.conftest import client_of

SIZE = 8 << 20
LEFT = (0, 60 << 10, 250 << 10)
"""Bytes that are free: each is enough for one step more than the one before."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small file system here: {mounted.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def full(place: Path, left: int) -> Iterator[None]:
    """Fill the disk but for so many bytes."""
    filler = place / "filler"
    free = shutil.disk_usage(place).free
    try:
        with suppress(OSError), filler.open("wb") as out:  # others may take the last of it
            out.write(bytes(max(0, free - left)))
        yield
    finally:
        filler.unlink()


def refused(said: str) -> bool:
    """Whether a command ended for want of space; anything else but success is a failure."""
    lines = [line for line in said.splitlines() if line.startswith('{"error"')]
    if not lines:
        return False
    error = json.loads(lines[-1])["error"]
    assert error["code"] in {"disk_full", "vector_cache_unavailable"}, error
    assert error["hint"] or "full" in error["message"], error
    return True


@pytest.mark.req("5")
def test_commands_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    whole = make_whole(small_disk)
    corpus = tmp_path / "more.jsonl"
    refusals = {"ingest": 0, "eval": 0, "backup": 0}
    for number, left in enumerate(LEFT):
        reader = Workspace(whole.config)
        before, query = answers(whole), "aspirin heart"
        first = [hit.chunk.chunk_id for hit in reader.search(query).results]
        rows = [
            {"id": f"more{number}-{at}", "text": f"risk of heart attack {at} " * 40}
            for at in range(40)
        ]
        corpus.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
        backup = small_disk / f"backup-{number}"
        with full(small_disk, left):
            for name, arguments in {
                "backup": ("backup", str(backup)),
                "eval": ("eval", "run", "--testset", "mine", "--no-cache"),
                "ingest": ("ingest", str(corpus)),
            }.items():
                refusals[name] += refused(command(whole, *arguments, "--json", expect=None))
            assert backup.exists() or not list(small_disk.glob(".assay-backup-*"))
            # whoever was open goes on; a new process may lack the few kB that SQLite needs to open
            assert [hit.chunk.chunk_id for hit in reader.search(query, k=9).results][:3] == first[
                :3
            ]
            found = answers(whole)["run"]
            assert found == before["run"] or isinstance(found, DiskFullError)
        reader.close()
        command(whole, "ingest", str(corpus))
        command(whole, "eval", "run", "--testset", "mine", "--no-cache")
        if not backup.exists():
            command(whole, "backup", str(backup))
        assert "the index is sound" in command(whole, "index", "check")
        with Workspace(whole.config) as workspace:
            assert workspace.store.counts()["documents"] == 21 + 40 * (number + 1)
        backup.unlink()
    assert min(refusals.values()) >= 1, refusals


@pytest.mark.req("5")
def test_the_service_on_a_full_disk(small_disk: Path) -> None:
    whole = make_whole(small_disk)
    service = Service(configure(settings(whole.home), environ={}, folder=small_disk))
    query = {"query_id": "q1", "query_text": "heart " * 1_000, "expect": "nothing"}
    body = {"name": "new", "version": "v1", "queries": [query]}
    with client_of(service) as client:
        assert client.get("/v1/search", params={"q": "aspirin"}).status_code == 200
        with full(small_disk, 0):
            said = client.post("/v1/testsets", json=body)
            assert said.status_code == 507, said.text
            assert said.headers["content-type"] == "application/problem+json"
            assert said.json()["code"] == "disk_full"
            assert said.json()["detail"].startswith("new.yaml cannot be written: no space")
            assert str(small_disk) not in said.text
            assert client.get("/v1/search", params={"q": "aspirin heart"}).status_code == 200
        assert client.post("/v1/testsets", json=body).status_code == 201
