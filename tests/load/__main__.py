"""Are the promises about overload kept? Over the loopback, in about half a minute.

    python -m tests.load [--home FOLDER] [--seconds 6] [--rounds 2]

``make bench-serve`` measures the same at length and writes it down. Run it on an idle machine:
latency says nothing where other programs want the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
from pathlib import Path

from bench.serve import measure, prepare, start
from tests.load.promises import broken


def main() -> int:
    """0 where every promise was kept."""
    parser = argparse.ArgumentParser(description="Ask four times more than can be answered.")
    parser.add_argument("--home", type=Path, help="a workspace; the demo corpus by default")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder) / "home"
        prepare(home)
        process, port = start(home)
        try:
            figures = asyncio.run(measure(port, given.queries, given.seconds, given.rounds))
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    print(json.dumps(figures, indent=1))
    problems = broken(figures)
    for problem in problems:
        print(f"broken: {problem}", file=sys.stderr)
    print("every promise was kept" if not problems else f"{len(problems)} promises were broken")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
