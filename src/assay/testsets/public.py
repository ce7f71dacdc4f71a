"""How are the queries and judgments of a public collection read: BEIR, MTEB, TREC, ir_datasets?

Judgments are in separate files, one per line, and are read by the reader of ``assay score``; MTEB
has the same as JSON lines or parquet, in pieces (``test-00000-of-00001.parquet``). Grades below 0
mean that a document was seen but not judged; they are left out. Queries without any judgment are
left out and counted: collections have many of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

from assay.errors import (
    FormatError,
    InputError,
    MissingFileError,
    Problem,
)
from assay.extras import import_optional
from assay.hits.sources import read_all, source
from assay.hits.trec_lines import read_qrels_lines
from assay.model.testset import GoldenQuery, Judgment
from assay.plural import counted
from assay.strict_yaml import FORBIDDEN
from assay.testsets.draft import DraftQuery, DraftSet
from assay.testsets.export import marks_beside
from assay.testsets.rows import rows_of, whole_grade

QUERIES = ("queries.*", "queries-*", "queries/*")
JUDGMENTS = ("qrels", "default", "data")  # folders, the first that is there
PACKED = (".gz", ".zst")
TABLES = (".jsonl", ".parquet")
VERSION = "v1"
_TOPIC = re.compile(r"<top>((?:(?!</?top>).)*+)</top>", re.DOTALL | re.IGNORECASE)
_COVID_TOPIC = re.compile(
    r"<topic\s(?:(?!number\s*=)[^<>])*+number\s*=\s*[\"']([^\"'<>]*+)[\"'][^<>]*+>"
    r"((?:(?!</?topic\b).)*+)</topic>",
    re.DOTALL,
)
_TAG = re.compile(r"<([A-Za-z_]+)[^<>]*>")
_FILLED_TAG = re.compile(rf"{_TAG.pattern}\s*+[^<\s]")
_COVID = "query"
_PARTS = ("disease", "gene", "variant", "demographic", "other", "treatment")
"""Elements of topics of precision medicine, which make a query together."""
_WHOLE = ("summary", "description", "note")
"""Elements of topics of clinical decision support: the first that is there is the query."""
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_NAME = re.compile(r"[^A-Za-z0-9_.:#-]+")


class _Text(NamedTuple):
    """One query; ``synthetic`` is the passage that it was made from."""

    name: str
    text: str
    line: int | None
    synthetic: str | None = None


def read_beir(folder: Path, draft: DraftSet, split: str | None = None) -> None:
    """Fill a draft from a folder of BEIR or MTEB; ``split`` names the judgments, else test."""
    queries = [path for form in QUERIES for path in _tables(folder, form)]
    if not queries:
        raise InputError(
            f"{folder}: no queries.jsonl here", hint="is this a folder of BEIR or MTEB?"
        )
    judgments = _judgment_files(folder, split)
    draft.name = name_of(folder)
    draft.description = f"BEIR queries of {folder.name}, judged in {judgments[0].name}"
    draft.source = str(queries[0])
    texts = (text for path in queries for text in _beir_queries(path))
    _join(draft, texts, _judged(draft, judgments), judgments[0].name)
    if split is not None:
        draft.provenance = {**draft.provenance, "part": split}


def _tables(folder: Path, form: str) -> list[Path]:
    """The files of a form that hold rows, packed or not, in the order of their names."""
    return [path for path in sorted(folder.glob(form)) if _kind(path) in TABLES]


def _kind(path: Path) -> str:
    name = path.name
    for end in PACKED:
        name = name.removesuffix(end)
    return Path(name).suffix


def read_irds(name: str, draft: DraftSet, field: str = "title") -> None:
    """Fill a draft from a set of ir_datasets, which may have to download it first."""
    ir_datasets = import_optional("ir_datasets")
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise MissingFileError(
            f"ir_datasets has no set {name!r:.120}", hint="ir_datasets list shows their names"
        ) from None
    for what, there in (("queries", dataset.has_queries()), ("judgments", dataset.has_qrels())):
        if not there:
            parts = [one for one in ir_datasets.registry if str(one).startswith(f"{name}/")]
            hint = f"a part may have them: {', '.join(map(str, parts[:5]))}" if parts else None
            raise InputError(f"{name} of ir_datasets has no {what}", hint=hint)
    draft.name = _NAME.sub("-", name).strip("-._:#") or "imported"
    draft.description = f"{name} of ir_datasets"
    draft.source = f"irds:{name}"
    texts = (
        _Text(str(one.query_id), str(getattr(one, field, None) or one.default_text()), None)
        for one in dataset.queries_iter()
    )
    rows = (
        _Judged(str(one.query_id), str(one.doc_id), int(one.relevance), draft.source, None)
        for one in dataset.qrels_iter()
    )
    _join(draft, texts, _by_query(draft, rows), draft.source)


def read_trec(topics: Path, qrels: Path, draft: DraftSet, *, field: str = "title") -> None:
    """Fill a draft from TREC topics and qrels; ``field`` chooses the text of XML topics."""
    draft.name = name_of(topics)
    draft.description = f"TREC topics of {topics.name}, judged in {qrels.name}"
    marks = _marks(topics)
    texts = (one._replace(synthetic=marks.get(one.name)) for one in _topics(topics, field, draft))
    _join(draft, texts, _judged(draft, [qrels]), qrels.name)


def _marks(topics: Path) -> dict[str, str]:
    """The passages that topics were made from, where our own export left a file beside them."""
    path = topics.with_name(marks_beside(topics.name))
    if path == topics or not path.is_file():
        return {}
    rows = (line.partition("\t") for line in _bytes(path).decode("utf-8", "replace").splitlines())
    return {name: passage for name, _, passage in rows if passage}


def name_of(path: Path) -> str:
    """A name for a test set, from that of a file or folder."""
    stem = path.resolve().name.split(".")[0] or "imported"
    return _NAME.sub("-", stem).strip("-._:#") or "imported"


def _bytes(path: Path) -> bytes:
    with source(path) as origin, origin.open() as stream:
        return read_all(stream)


def _judgment_files(folder: Path, split: str | None) -> list[Path]:
    """The files of judgments of a part, which may be cut into pieces."""
    place = next(
        (folder / name for name in JUDGMENTS if (folder / name).is_dir()), folder / "qrels"
    )
    found: dict[str, list[Path]] = {}
    for path in sorted(place.glob("*")):
        if _kind(path) in (".tsv", *TABLES):
            part = re.sub(r"-[0-9]{5}-of-[0-9]{5}$", "", path.name.split(".")[0])
            found.setdefault(part, []).append(path)
    wanted = split or ("test" if "test" in found or len(found) != 1 else next(iter(found)))
    if wanted not in found:
        there = ", ".join(found) or "none"
        raise MissingFileError(f"{place}: no judgments {wanted}.tsv", hint=f"there: {there}")
    return found[wanted]


def _beir_queries(path: Path) -> Iterator[_Text]:
    for row in rows_of(_bytes(path), str(path)):
        name, text = row.first(("id",)), row.first(("text",))
        if not isinstance(name, (str, int)) or not isinstance(text, str):
            raise FormatError(
                "a query is {_id, text}", source=str(path), line=row.line, hint="is this BEIR?"
            )
        about = row.first(("metadata",))
        passage = about.get("synthetic") if isinstance(about, Mapping) else None
        yield _Text(str(name), text, row.line, str(passage) if passage else None)


def _topics(path: Path, field: str, draft: DraftSet) -> Iterator[_Text]:
    """Topics in TREC's form, in those of its medical tracks, or as ``id<TAB>text`` lines."""
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
            yield _Text(number[1], _element(found[1], field, str(path), line), line)
    elif _COVID_TOPIC.search(text):
        yield from _medical_topics(text, path, field, draft)
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
                yield _Text(name.strip(), words.strip(), line)


def _medical_topics(text: str, path: Path, field: str, draft: DraftSet) -> Iterator[_Text]:
    """Topics with their number as an attribute; without a field, what usually makes a query."""
    told: set[str] = set()
    for found in _COVID_TOPIC.finditer(text):
        line = _line(text, found.start())
        wanted = _wanted(found[2]) if field == "title" else (field,)
        if wanted not in ((_COVID,), (), ("title",)):
            told.add(" and ".join(wanted))
        parts = (_element(found[2], name, str(path), line) for name in wanted)
        words = " ".join(parts) if wanted else _clean(unescape(found[2]))
        yield _Text(found[1].strip(), words, line)
    if told and field == "title":
        draft.warn(None, f"topics are read from {'; '.join(sorted(told))}; --field names another")


def _wanted(body: str) -> tuple[str, ...]:
    """The elements of a topic that make its query; none where it holds only text."""
    there = {tag.lower() for tag in _FILLED_TAG.findall(body)}
    if not there:
        return () if body.strip() and not _TAG.search(body) else (_COVID,)
    if whole := next((name for name in (_COVID, "title", *_WHOLE) if name in there), None):
        return (whole,)
    return tuple(name for name in _PARTS if name in there) or (_COVID,)


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


def _join(
    draft: DraftSet,
    texts: Iterator[_Text],
    judged: Mapping[str, Mapping[str, Judgment]],
    judgments: str,
) -> None:
    """Queries with their judgments; ``draft.source`` is the file of the queries."""
    seen: dict[str, int | None] = {}
    left_out = 0
    for name, text, line, synthetic in texts:
        if name in seen:
            draft.problem(line, f"the query {name!r:.80} appears twice, first on line {seen[name]}")
        elif name in judged:
            golden = GoldenQuery(
                name,
                _clean(text),
                relevant_docs=tuple(judged[name].values()),
                synthetic=synthetic,
            )
            draft.queries.append(DraftQuery(golden, line))
        else:
            left_out += 1
        seen.setdefault(name, line)
    draft.version = VERSION
    draft.provenance = {"queries": Path(draft.source).name, "judgments": judgments}
    if left_out:
        draft.warn(
            None, f"{counted(left_out, 'query')} without a judgment in {judgments}: left out"
        )
    for name in judged:
        if name not in seen:
            draft.warn(None, f"query {name} is judged in {judgments} and has no text: left out")
    leave_out_without_relevant(draft)


class _Judged(NamedTuple):
    """One line of judgments. A tuple, since there are many."""

    query: str
    doc: str
    grade: int
    source: str
    line: int | None


def _judged(draft: DraftSet, files: Sequence[Path]) -> dict[str, dict[str, Judgment]]:
    rows = (row for path in files for row in _judgment_rows(path))
    return _by_query(draft, rows)


def _judgment_rows(path: Path) -> Iterator[_Judged]:
    """The judgments of a file, as TREC and BEIR have them or as rows of MTEB."""
    if _kind(path) not in TABLES:
        found = read_qrels_lines(_bytes(path), str(path))
        for values in zip(found.query, found.doc, found.grade, found.line, strict=True):
            query, doc, grade, line = values
            yield _Judged(query, doc, grade, str(path), line)
        return
    for row in rows_of(_bytes(path), str(path)):
        ids = [row.first(names) for names in (("queryid", "qid"), ("corpusid", "docid"))]
        judged = whole_grade(row.first(("score", "relevance", "grade")))
        if judged is None or not all(isinstance(one, (str, int)) for one in ids):
            raise FormatError(
                "a judgment is {query-id, corpus-id, score}", source=row.place, line=row.line
            )
        yield _Judged(str(ids[0]), str(ids[1]), judged, row.place, row.line)


def _by_query(draft: DraftSet, rows: Iterable[_Judged]) -> dict[str, dict[str, Judgment]]:
    judged: dict[str, dict[str, Judgment]] = {}
    unjudged = 0
    for query, doc, grade, source_name, line in rows:
        if grade < 0:
            unjudged += 1
            continue
        found = judged.setdefault(query, {})
        ours = draft.graded(grade)
        if ours is None:
            hint = f"{draft.grade_hint()}; assay score takes any qrels as they are"
            message = f"the grade of {doc} is {grade}"
            draft.problems.append(Problem(message, source_name, line, query, hint))
        if doc in found:
            message = f"{doc} is judged twice"
            draft.problems.append(Problem(message, source_name, line, query, "keep one judgment"))
        # a set with a problem is refused; the rest of it is still read, to name every problem
        found.setdefault(doc, Judgment(doc, ours or 0))
    if unjudged:
        draft.warn(None, f"{counted(unjudged, 'judgment')} below 0 (not judged): left out")
    return judged


def leave_out_without_relevant(draft: DraftSet) -> None:
    """Leave out queries that measure nothing, with a warning: no grade above 0, no reference."""
    for item in draft.queries:
        if not item.query.has_truth:
            message = "no relevant document and no reference answer: left out"
            draft.warn(item.line, message, query_id=item.query.query_id)
    draft.queries = [item for item in draft.queries if item.query.has_truth]


def _clean(text: str) -> str:
    """Text without characters that YAML cannot represent."""
    return " ".join(FORBIDDEN.sub(" ", text).split())
