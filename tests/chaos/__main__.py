"""Harm a service in every way at once for as long as you like, and look for what is lost.

``python -m tests.chaos --minutes 60`` starts a service. Four writers, and readers, use it while it
is killed and restarted, its disk fills up, its clock jumps, clients send slowly or leave, other
processes take over the index and are killed. At the end, and after every kill where there is time,
``assay.testing.invariants`` holds the workspace against what was acknowledged.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from assay.app.keys import create_key
from assay.app.layout import Layout
from assay.app.workspace import Workspace
from assay.settings import configure
from assay.testing.invariants import Verdict, check
from tests.chaos.writers import BASE, WRITERS, Caller, Reader, Writer
from tests.unit.http.process import SETTINGS, ServiceProcess

DISK = 400 << 20
CLOCK = Path(__file__).parents[1] / "faults" / "clock.c"
JUMPS = (0, 86_400, -86_400, 3_000_000_000, -1_000_000_000, -2_500_000_000)
PATIENCE_S = 240.0


@dataclass
class Figures:
    """What came of it."""

    seconds: float = 0.0
    events: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether everything was kept, and no request ended in a defect."""
        return not (self.lost or self.wrong or self.damaged or self.unexpected)

    def add(self, verdict: Verdict) -> None:
        """Take over what a check found; the last one says how much was acknowledged."""
        self.acknowledged = verdict.acknowledged
        self.lost += verdict.lost
        self.wrong += verdict.wrong
        self.damaged += verdict.damaged


class Chaos:
    """A service on a workspace, and what can happen to both."""

    def __init__(self, folder: Path, seed: int, clock: Path | None) -> None:
        self.home, self.rng = folder / "home", random.Random(seed)
        self.home.mkdir(exist_ok=True)
        self._filler = folder / "filler"
        self._offset = folder.parent / f"{folder.name}-offset"
        self._offset.write_text("0")
        self._clock = clock
        self._settings = configure(
            {"home": self.home, "dense_model": "none", "splade_model": "none"},
            environ={}, folder=self.home,
        )  # fmt: skip
        with Workspace(self._settings) as workspace:
            workspace.add(BASE)
        self.key = create_key(
            Layout(self.home), "chaos", ["read", "evaluate", "annotate", "admin"]
        ).key
        self.service = self._started()
        self._address = self.service.address

    @property
    def address(self) -> str:
        """Where the service is now."""
        return self._address

    def _started(self) -> ServiceProcess:
        clock = {}
        if self._clock is not None:
            clock = {"LD_PRELOAD": str(self._clock), "ASSAY_TEST_CLOCK": str(self._offset)}
        began = time.monotonic()
        until = began + PATIENCE_S
        while True:  # a disk that is full, or a writer that was killed, may hold it up a little
            try:
                service = ServiceProcess(self.home, ASSAY_LOG_LEVEL="error", **clock)
            except AssertionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
            else:
                assert service.process.stderr is not None
                read = service.process.stderr.read
                self._drain = threading.Thread(target=read, daemon=True)  # nobody reads the log
                self._drain.start()
                self.longest_pause = max(4.0, time.monotonic() - began)
                return service

    # What happens

    def kill(self) -> None:
        """End the service at any moment, and start it again."""
        self._gone()
        self.service = self._started()
        self._address = self.service.address

    def stop(self) -> None:
        """End the service as systemd does, and start it again."""
        self.service.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.service.process.wait(30)
        self.kill()

    def fill(self) -> None:
        """Leave no space on the disk for a while."""
        free = shutil.disk_usage(self.home).free
        try:
            with suppress(OSError), self._filler.open("wb") as out:
                for _ in range(free // (1 << 20) + 2):
                    out.write(bytes(1 << 20))
            time.sleep(self.rng.uniform(0.5, 3))
        finally:
            self._filler.unlink(missing_ok=True)

    def jump(self) -> None:
        """Let the clock of the service be another."""
        self._offset.write_text(str(self.rng.choice(JUMPS)))

    def dawdle(self) -> None:
        """Send bodies that do not end, and leave answers unread."""
        port = int(self.address.rpartition(":")[2])
        head = f"host: 127.0.0.1\r\nauthorization: Bearer {self.key}\r\n"
        left = []
        for path in (
            "POST /v1/documents",
            "POST /v1/score",
            "GET /v1/runs",
            "POST /v1/jobs/x/events",
        ):
            with suppress(OSError):
                one = socket.create_connection(("127.0.0.1", port), timeout=2)
                body = "content-type: application/json\r\ncontent-length: 999\r\n" * (
                    "POST" in path
                )
                one.sendall(f"{path} HTTP/1.1\r\n{head}{body}\r\n".encode())
                left.append(one)
        time.sleep(self.rng.uniform(0.2, 1.5))
        for one in left:
            one.close()

    def take_over(self) -> None:
        """Let another process write the index, and kill it: the service writes it again."""
        command = [sys.executable, "-m", "assay", "--home", str(self.home), "index", "compact"]
        other = subprocess.Popen(
            command, env={**os.environ, **SETTINGS}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(self.rng.uniform(0.3, 4))
        other.send_signal(signal.SIGKILL)
        other.wait()

    def end(self) -> None:
        """Stop the service for good."""
        self.service.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.service.process.wait(30)
        self._gone()

    def _gone(self) -> None:
        process = self.service.process
        process.kill()
        process.wait()
        self._drain.join(10)  # processes of the service may hold it open a little longer
        for log in filter(None, (process.stdout, process.stderr)):
            log.close()
        self.service.client.close()

    def checked(self, journals: list[Path]) -> Verdict:
        """What the invariants say of the workspace, while no service runs."""
        with Workspace(self._settings) as workspace:
            return check(workspace, journals)


def chaos(seconds: float, seed: int, folder: Path, *, full: bool, clock: Path | None) -> Figures:
    """Do everything at once for so long."""
    over, figures = threading.Event(), Figures()
    journals = [folder.parent / f"{folder.name}-{kind.__name__}.jsonl" for kind in WRITERS]
    world = Chaos(folder, seed, clock)
    began = time.monotonic()

    def new_caller() -> Caller:
        return Caller(lambda: world.address, world.key, over)

    writers: list[Writer] = [
        kind(new_caller(), path, seed + at)
        for at, (kind, path) in enumerate(zip(WRITERS, journals, strict=True))
    ]
    readers = [Reader(new_caller(), seed + at) for at in range(3)]
    events: list[Callable[[], None]] = [world.kill, world.stop, world.dawdle, world.take_over]
    events += [world.fill] if full else []
    events += [world.jump] if clock else []
    for thread in (*writers, *readers):
        thread.start()
    try:
        while time.monotonic() < began + seconds:
            # where a start takes long, the service is given as long to do something
            time.sleep(world.rng.uniform(0.5, world.longest_pause))
            event = world.rng.choice(events)
            event()
            figures.events[event.__name__] += 1
    finally:
        over.set()
        for thread in (*writers, *readers):
            thread.join(90)
        world.end()
    for caller in [one.caller for one in writers] + [one.caller for one in readers]:
        figures.statuses.update(caller.statuses)
        figures.unexpected += caller.defects
    figures.unexpected += [one for writer in writers for one in writer.unexpected]
    figures.add(world.checked(journals))
    figures.seconds = round(time.monotonic() - began, 1)
    return figures


@contextmanager
def disk(folder: Path) -> Iterator[bool]:
    """Mount a disk of its own at a folder, which can be filled; whether that was possible."""
    options = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    done = False
    if os.geteuid() == 0:
        done = subprocess.run(options, capture_output=True, check=False).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def wrong_clock(folder: Path) -> Path | None:
    """The library of ``tests/faults`` that makes the time of day wrong; None without a compiler."""
    compiler, made = shutil.which("cc"), folder / "clock.so"
    if compiler is None or sys.platform != "linux":
        return None
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, CLOCK, "-ldl"], check=True)
    return made


def main() -> None:
    """Print the figures as JSON; exit 1 where something was lost, wrong, damaged or a defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as place:
        folder = Path(place) / "disk"
        folder.mkdir()
        clock = wrong_clock(Path(place))
        with disk(folder) as full:
            found = chaos(60 * given.minutes, given.seed, folder, full=full, clock=clock)
    left_out = [name for name, there in (("full disk", full), ("clock", clock)) if not there]
    print(json.dumps({"seed": given.seed, "left_out": left_out, **vars(found)}, indent=1))
    raise SystemExit(not found.sound)


if __name__ == "__main__":
    main()
