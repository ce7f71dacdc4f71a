"""Which run and qrels files must be refused with a line, or read as trec_eval would?"""

from __future__ import annotations

import gzip
import os

import zstandard

from tests.badinputs.case import Entry, accepted, refused
from tests.badinputs.ways import QRELS, RUN, as_qrels, as_run

UNPACKED = b"#" + b" " * 99_998 + b"\n"
LINES = 10_000_000 if os.environ.get("ASSAY_LARGE") else 100_000


def bomb() -> bytes:
    """A few kilobytes that unpack to 100 MB."""
    return gzip.compress(UNPACKED * 1_000)


def zstd_bomb() -> bytes:
    """The same in another packing."""
    return bytes(zstandard.ZstdCompressor().compress(UNPACKED * 1_000))


def many() -> bytes:
    """A run of very many lines."""
    results = 1_000
    block = "".join(f" Q0 d{at} {at} {results - at} t\n" for at in range(results))
    queries = (f"q{at}" for at in range(1, LINES // results + 1))
    return "".join(block.replace(" Q0", f"{name} Q0") for name in queries).encode()


def scored(score: str) -> str:
    return RUN + f"q2 Q0 d 2 {score} t\n"


CASES: tuple[Entry, ...] = (
    refused("5-columns", as_run, RUN + "q2 Q0 d 2 1\n", "input:4: 5 columns"),
    refused("5-columns/qrels", as_qrels, QRELS + "q2 0 d 1 x\n", "input:4: "),
    refused("7-columns", as_run, RUN + "q2 Q0 d 2 1 my tag\n", "input:4: 7 columns"),
    refused("document-twice", as_run, RUN + "q1 Q0 a 9 0.5 t\n", "input:4: "),
    refused("document-twice/qrels", as_qrels, QRELS + "q1 0 a 1\n", "input:4: "),
    refused("score-nan", as_run, scored("nan"), "input:4: "),
    refused("score-inf", as_run, scored("-inf"), "input:4: "),
    refused("score-inf/1e999", as_run, scored("1e999"), "input:4: "),
    refused("score-1_0", as_run, scored("1_0"), "input:4: "),
    refused("score-fullwidth", as_run, scored("１０"), "input:4: "),
    accepted("ties", as_run, RUN.replace(" 2 2 t", " 2 3 t"), "ties decided the rank of 2 judged"),
    accepted("ranks-contradict-scores", as_run, RUN.replace("a 1 3", "a 9 3"), "1.0000"),
    accepted("query-missing-in-run", as_run, RUN[:28], "1 of 2 queries is missing from the run"),
    accepted(
        "query-missing-in-qrels", as_run, RUN + "q9 Q0 a 1 1 t\n", "1 query of the run not in"
    ),
    refused("no-overlap", as_run, RUN.replace("q", "topic"), "no query"),
    accepted("nbsp-in-id", as_run, RUN + "q2 Q0 d\u00a0x 2 0 t\n", "1.0000"),
    accepted("u2028-in-id", as_run, RUN + "q2 Q0 d\u2028x 2 0 t\n", "1.0000"),
    accepted("crlf", as_run, RUN.replace("\n", "\r\n"), "1.0000"),
    accepted("crlf/qrels", as_qrels, QRELS.replace("\n", "\r\n"), "1.0000"),
    accepted("comments", as_run, "# made by hand\n\n" + RUN, "1.0000"),
    accepted("tabs", as_run, RUN.replace(" ", "\t"), "1.0000"),
    accepted("double-spaces", as_run, RUN.replace(" ", "  "), "1.0000"),
    accepted("negative-relevance", as_qrels, QRELS + "q1 0 z -1\n", "1.0000"),
    accepted("gzip", as_run, gzip.compress(RUN.encode()), "1.0000"),
    accepted("gzip/zstd", as_run, zstandard.ZstdCompressor().compress(RUN.encode()), "1.0000"),
    refused("gzip-cut", as_run, gzip.compress(RUN.encode())[:-9], "damaged or truncated"),
    refused("gzip-bomb", as_run, bomb, "unpacks to more than"),
    refused("gzip-bomb/zstd", as_run, zstd_bomb, "unpacks to more than"),
    accepted("10m-lines", as_run, many, "queries of the run not in the qrels"),
    accepted("no-final-newline", as_run, RUN.rstrip("\n"), "1.0000"),
    accepted("no-final-newline/qrels", as_qrels, QRELS.rstrip("\n"), "1.0000"),
)
