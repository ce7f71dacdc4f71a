"""How are the queries and judgments of a public collection read: BEIR folders, TREC topics?

Judgments are in separate files, one per line, and are read by the reader of ``assay score``. Grades
below 0 mean that a document was seen but not judged; they are left out. Queries without any
judgment are left out and counted: collections have many of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TypeAlias

from assay import limits
from assay.errors import FormatError, InputError, MissingFileError, Problem
from assay.hits.sources import read_all, source
from assay.hits.trec_lines import read_qrels_lines
from assay.model.testset import GoldenQuery, Judgment
from assay.plural import counted
from assay.strict_json import values
from assay.strict_yaml import FORBIDDEN
from assay.testsets.draft import DraftQuery, DraftSet

QUERY_FILES = ("queries.jsonl", "queries.jsonl.gz", "queries.jsonl.zst")
VERSION = "v1"
_Text: TypeAlias = tuple[str, str, int]  # id, text, line
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_COVID_TOPIC = re.compile(
    r"<topic\s[^>]*?number\s*=\s*[\"']([^\"']*)[\"'][^>]*>(.*?)</topic>", re.DOTALL
)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_NAME = re.compile(r"[^A-Za-z0-9_.:#-]+")


def read_beir(folder: Path, draft: DraftSet, split: str | None = None) -> None:
    """Fill a draft from a BEIR folder; ``split`` names the file of judgments, test by default."""
    queries = next((folder / name for name in QUERY_FILES if (folder / name).is_file()), None)
    if queries is None:
        raise InputError(f"{folder}: no queries.jsonl here", hint="is this a BEIR folder?")
    judgments = _qrels_file(folder / "qrels", split)
    draft.name = name_of(folder)
    draft.description = f"BEIR queries of {folder.name}, judged in {judgments.name}"
    draft.source = str(queries)
    _join(draft, _beir_queries(queries), judgments)
    if split is not None:
        draft.provenance = {**draft.provenance, "part": split}


def read_trec(topics: Path, qrels: Path, draft: DraftSet, *, field: str = "title") -> None:
    """Fill a draft from TREC topics and qrels; ``field`` chooses the text of XML topics."""
    draft.name = name_of(topics)
    draft.description = f"TREC topics of {topics.name}, judged in {qrels.name}"
    _join(draft, _topics(topics, field), qrels)


def name_of(path: Path) -> str:
    """A name for a test set, from that of a file or folder."""
    stem = path.resolve().name.split(".")[0] or "imported"
    return _NAME.sub("-", stem).strip("-._:#") or "imported"


def _bytes(path: Path) -> bytes:
    with source(path) as origin, origin.open() as stream:
        return read_all(stream)


def _qrels_file(folder: Path, split: str | None) -> Path:
    found = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.tsv*"))}
    wanted = split or ("test" if "test" in found or len(found) != 1 else next(iter(found)))
    if wanted not in found:
        there = ", ".join(found) or "none"
        raise MissingFileError(f"{folder}: no judgments {wanted}.tsv", hint=f"there: {there}")
    return found[wanted]


def _beir_queries(path: Path) -> Iterator[_Text]:
    for line, row in values(_bytes(path), str(path)):
        name = row.get("_id") if isinstance(row, dict) else None
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(name, (str, int)) or not isinstance(text, str):
            raise FormatError(
                "a query is {_id, text}", source=str(path), line=line, hint="is this BEIR?"
            )
        yield str(name), text, line


def _topics(path: Path, field: str) -> Iterator[_Text]:
    """Topics in TREC's form, in that of TREC-COVID, or as ``id<TAB>text`` lines."""
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError("not UTF-8", source=str(path), hint="save it as UTF-8") from None
    if _TOPIC.search(text):
        for found in _TOPIC.finditer(text):
            number = _NUMBER.search(found[1])
            line = _line(text, found.start())
            if number is None:
                raise FormatError("a topic without <num>", source=str(path), line=line)
            yield number[1], _element(found[1], field, str(path), line), line
    elif _COVID_TOPIC.search(text):
        for found in _COVID_TOPIC.finditer(text):
            line = _line(text, found.start())
            wanted = "query" if field == "title" else field
            yield found[1].strip(), _element(found[2], wanted, str(path), line), line
    else:
        for line, row in enumerate(text.splitlines(), 1):
            if row.strip():
                name, tab, words = row.partition("\t")
                if not tab:
                    raise FormatError(
                        "no tab between id and text",
                        source=str(path),
                        line=line,
                        hint="topics are <top> elements, <topic number=...> or id<TAB>text lines",
                    )
                yield name.strip(), words.strip(), line


def _element(body: str, name: str, where: str, line: int) -> str:
    """The text of one element, which need not be closed."""
    found = re.search(rf"<{re.escape(name)}>(.*?)(?=<|$)", body, re.DOTALL | re.IGNORECASE)
    words = " ".join(unescape(found[1]).split()) if found else ""
    words = re.sub(r"^(Topic|Description|Narrative):\s*", "", words)
    if not words:
        there = ", ".join(sorted({tag.lower() for tag in re.findall(r"<([A-Za-z]+)>", body)}))
        raise FormatError(
            f"a topic without <{name}>", source=where, line=line, hint=f"it has {there}"
        )
    return words


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)


def _join(draft: DraftSet, texts: Iterator[_Text], qrels: Path) -> None:
    """Queries with their judgments; ``draft.source`` is the file of the queries."""
    judged = _judged(draft, qrels)
    seen: dict[str, int] = {}
    left_out = 0
    for name, text, line in texts:
        if name in seen:
            draft.problem(line, f"the query {name!r:.80} appears twice, first on line {seen[name]}")
        elif name in judged:
            golden = GoldenQuery(name, _clean(text), relevant_docs=tuple(judged[name].values()))
            draft.queries.append(DraftQuery(golden, line))
        else:
            left_out += 1
        seen.setdefault(name, line)
    draft.version = VERSION
    draft.provenance = {"queries": Path(draft.source).name, "judgments": qrels.name}
    if left_out:
        draft.warn(
            None, f"{counted(left_out, 'query')} without a judgment in {qrels.name}: left out"
        )
    for name in judged:
        if name not in seen:
            draft.warn(None, f"query {name} is judged in {qrels.name} and has no text: left out")
    _leave_out_without_relevant(draft)


def _judged(draft: DraftSet, qrels: Path) -> dict[str, dict[str, Judgment]]:
    rows = read_qrels_lines(_bytes(qrels), str(qrels))
    judged: dict[str, dict[str, Judgment]] = {}
    unjudged = 0
    for query, doc, grade, line in zip(rows.query, rows.doc, rows.grade, rows.line, strict=True):
        if grade < 0:
            unjudged += 1
            continue
        found = judged.setdefault(query, {})
        if grade > limits.MAX_GOLDEN_GRADE:
            hint = "test sets grade from 0 to 3; assay score takes any qrels as they are"
            message = f"the grade of {doc} is {grade}"
            draft.problems.append(Problem(message, str(qrels), line, query, hint))
        if doc in found:
            message = f"{doc} is judged twice"
            draft.problems.append(Problem(message, str(qrels), line, query, "keep one judgment"))
        # a set with a problem is refused; the rest of it is still read, to name every problem
        found.setdefault(doc, Judgment(doc, min(grade, limits.MAX_GOLDEN_GRADE)))
    if unjudged:
        draft.warn(None, f"{counted(unjudged, 'judgment')} below 0 (not judged): left out")
    return judged


def _leave_out_without_relevant(draft: DraftSet) -> None:
    """Leave out queries whose judgments are all 0, which measure nothing, with a warning."""
    for item in draft.queries:
        if not item.query.judged:
            draft.warn(item.line, "no relevant document: left out", query_id=item.query.query_id)
    draft.queries = [item for item in draft.queries if item.query.judged]


def _clean(text: str) -> str:
    """Text without characters that YAML cannot represent."""
    return " ".join(FORBIDDEN.sub(" ", text).split())
