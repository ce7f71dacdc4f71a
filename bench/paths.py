"""How many of our own files and functions does one request pass?

    python -m bench.paths                 # GET /v1/search and assay eval run

A process of its own runs the command under a profiler that notes every function of ``src/assay``.
The search is the second one of a warm service, so that what is opened once does not count; the
evaluation is a whole command. Imports do not count.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

SPY = """
import os, sys, threading, time
from pathlib import Path
seen, folder, own = set(), Path(sys.argv[1]), os.sep + "assay" + os.sep
def note(frame, event, argument):
    if event == "call":
        code = frame.f_code
        key = (code.co_filename, code.co_qualname)
        if own in key[0] and "src" in key[0] and key not in seen and not importing(frame):
            seen.add(key)
def importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
def serve():
    while True:
        if (folder / "reset").exists():
            seen.clear(); (folder / "reset").unlink(); (folder / "ready").touch()
        if (folder / "dump").exists():
            import json
            (folder / "seen.json").write_text(json.dumps(sorted(seen)))
            (folder / "dump").unlink()
        time.sleep(0.02)
threading.Thread(target=serve, daemon=True).start()
threading.setprofile(note); sys.setprofile(note)
from assay.cli.main import run
code = run(sys.argv[2:])
sys.setprofile(None)
import json
(folder / "end.json").write_text(json.dumps(sorted(seen)))
sys.exit(code)
"""


def main() -> None:
    """Count, and print one line for each request."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        home = folder / "home"
        _assay("--home", str(home), "ingest", _corpus())
        found = {
            "GET /v1/search": _search(folder, home),
            "assay eval run": _evaluate(folder, home),
        }
    if options.json:
        print(json.dumps(found))
        return
    for name, (files, functions) in found.items():
        print(f"{name}: {files} files, {functions} functions of ours")


def _search(folder: Path, home: Path) -> tuple[int, int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SPY, str(folder), "--home", str(home), "serve", "--port", str(port)],
        stderr=subprocess.DEVNULL,
    )
    try:
        _ask(port, "hyperkalemia+adverse+events", patience_s=60)
        (folder / "reset").touch()
        _wait(folder / "ready")
        _ask(port, "brain+metastases+eligibility", patience_s=5)
        (folder / "dump").touch()
        _wait(folder / "seen.json")
        time.sleep(0.1)
        return _counted(folder / "seen.json")
    finally:
        process.terminate()
        process.wait(20)


def _evaluate(folder: Path, home: Path) -> tuple[int, int]:
    words = ["--home", str(home), "eval", "run", "-t", "test_set_v1", "--json", "--no-cache"]
    subprocess.run(
        [sys.executable, "-c", SPY, str(folder), *words],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return _counted(folder / "end.json")


def _counted(path: Path) -> tuple[int, int]:
    seen = json.loads(path.read_text())
    named = {tuple(pair) for pair in seen if "<lambda>" not in pair[1] and "comp>" not in pair[1]}
    return len({file for file, _ in named}), len(named)


def _ask(port: int, query: str, *, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while True:
        try:
            urllib.request.urlopen(
                f"http://127.0.0.1:{port}/v1/search?q={query}", timeout=20
            ).read()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _wait(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)


def _corpus() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "assay", "demo", "--corpus"],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def _assay(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "assay", *words], check=True, capture_output=True)


if __name__ == "__main__":
    main()
