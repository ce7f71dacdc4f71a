"""How do the sources become arrays of tokens that a GPU can draw training pairs from?

    python -m training.prepare PACKAGES TOKENIZER OUT

Everything is tokenised once. A document is a run of tokens; a query taken from it is a second run,
with the place of the sentence that the passage then lacks. So a batch is nothing but index
arithmetic on the GPU. ``OUT/pool.npz`` has the training data, ``OUT/NAME.npz`` each collection that
measures it.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training import sources
from training.sources import DATA, Ask, Lexicon, Text

LONGEST = 254  # tokens kept of a document, special ones not counted
LONGEST_QUERY = 62
SOURCES = tuple(source.name for source in sources.SOURCES)
KINDS = ("title", "mesh", "sentence", "conclusion", "question", "synonym", "claim", "prompt")
EVIDENCE_PASSAGES = 42_000
# descriptors that say who was studied rather than what was found
TAGS = frozenset(
    [
        "Humans",
        "Animals",
        "Male",
        "Female",
        "Adult",
        "Aged",
        "Child",
        "Infant",
        "Adolescent",
        "Mice",
        "Rats",
        "Pregnancy",
        "Middle Aged",
        "Young Adult",
        "Aged, 80 and over",
        "Child, Preschool",
        "Infant, Newborn",
    ]
)


class Tokens:
    """A tokenizer that knows no special tokens, and a store of what it made."""

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def inside(self) -> NDArray[np.bool_]:
        """Which pieces go on a word that another one began."""
        pieces = self._tokenizer.get_vocab()
        found = np.zeros(len(pieces), np.bool_)
        found[[at for piece, at in pieces.items() if piece.startswith("##")]] = True
        return found

    def of(self, texts: list[str]) -> list[NDArray[np.uint16]]:
        """The tokens of each text."""
        made = []
        for at in range(0, len(texts), 4096):
            found = self._tokenizer.encode_batch(texts[at : at + 4096], add_special_tokens=False)
            made += [np.array(one.ids, np.uint16) for one in found]
        return made


def ragged(rows: Iterable[Any], kind: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Rows of different lengths as one array and the borders between them."""
    parts = [np.asarray(row, kind) for row in rows]
    borders = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return (np.concatenate(parts) if parts else np.zeros(0, kind)), borders


def texts_and_asks(packages: Path) -> tuple[list[Text], list[Ask], Lexicon]:
    """Every document of the pool, and every query."""
    chance = random.Random(0)
    lexicon = sources.lexicon(packages)
    texts: list[Text] = []
    asks: list[Ask] = []

    def add(text: Text) -> int:
        texts.append(text)
        return len(texts) - 1

    for text in sources.medline(packages):
        at = add(text)
        _from_text(text, at, asks, chance, sentences=2)
        _from_mesh(text, at, asks, lexicon, chance)
    _evidence(add, texts, asks, chance)
    _questions(add, asks, chance)
    for text, names in sources.phenotypes(packages):
        at = add(text)
        asks += [Ask(name, at, "synonym", without_title=True) for name in dict.fromkeys(names)]
    _claims(add, asks)
    return texts, asks, lexicon


def _from_text(
    text: Text, at: int, asks: list[Ask], chance: random.Random, *, sentences: int
) -> None:
    if len(text.title) > 15 and text.source == "medline":
        asks.append(Ask(text.title, at, "title", without_title=True))
    choice = [n for n, one in enumerate(text.sentences[:9]) if 40 < len(one) < 300]
    if len(choice) < 3:
        return
    picked = chance.sample(choice, min(sentences, len(choice)))
    asks += [Ask(text.sentences[n], at, "sentence", sentence=n) for n in picked]
    final = [n for n in text.conclusions if 40 < len(text.sentences[n]) < 300]
    if final:
        n = chance.choice(final)
        asks.append(Ask(text.sentences[n], at, "conclusion", sentence=n))


def _from_mesh(
    text: Text, at: int, asks: list[Ask], lexicon: Lexicon, chance: random.Random
) -> None:
    """Headings and their synonyms as a searcher types them: one, two or three together."""
    topics = [one for one in text.mesh if one[1] not in TAGS]
    major = [one for one in topics if one[2]] or topics
    for count in (1, 2, 3):
        choice = major if len(major) >= count and chance.random() < 0.7 else topics
        if len(choice) < count:
            continue
        picked = chance.sample(choice, count)
        words = [_spoken(key, heading, lexicon, chance) for key, heading, _ in picked]
        joint = chance.choice((" ", ", ", " and ")) if count > 1 else " "
        asks.append(Ask(joint.join(words), at, "mesh", mesh=tuple(key for key, _, _ in picked)))


def _spoken(key: str, heading: str, lexicon: Lexicon, chance: random.Random) -> str:
    """A heading as people say it: a synonym half of the time, and never turned round."""
    known = lexicon.synonyms.get(key, [])
    if known and chance.random() < 0.5:
        return chance.choice(known)
    if heading.count(", ") == 1:
        return " ".join(reversed(heading.split(", ")))
    return heading


def _evidence(add: Any, texts: list[Text], asks: list[Ask], chance: random.Random) -> None:
    """Passages of randomised trials; articles kept for development are left out."""
    folder = DATA / "evidence_inference"
    prompts = {row["_id"]: row["text"] for row in sources.rows(folder / "queries.jsonl")}
    judgments = sources.judged(folder / "passage_qrels" / "train.tsv")
    wanted = {document for _, document, _ in judgments}
    passages = [
        row
        for row in sources.rows(folder / "passages_ccby.jsonl")
        if not sources.held_out(row["metadata"]["doc"])
    ]
    chance.shuffle(passages)
    passages.sort(key=lambda row: row["_id"] not in wanted)
    where = {}
    for row in passages[:EVIDENCE_PASSAGES]:
        text = Text("evidence_inference", row["_id"], row["title"], sources.split(row["text"]))
        if sum(map(len, text.sentences)) < 150:
            continue
        where[row["_id"]] = at = add(text)
        _from_text(text, at, asks, chance, sentences=1)
    for query, document, _ in judgments:
        if document in where:
            asks.append(Ask(prompts[query], where[document], "prompt"))


def _questions(add: Any, asks: list[Ask], chance: random.Random) -> None:
    """Consumer-health and research questions."""
    for row in sources.rows(DATA / "medquad" / "pairs.jsonl"):
        at = add(Text("medquad", row["url"], "", sources.split(row["answer"])))
        question = row["question"].replace(" ?", "?").replace("What is (are)", "What is")
        asks.append(Ask(question, at, "question"))
        names = [row["focus"], *row["synonyms"]]
        if chance.random() < 0.5 and names[0]:
            asks.append(Ask(f"{chance.choice(names)} {row['type']}", at, "synonym"))
    for name, split, keep in (
        ("covidqa", "test", lambda key: not sources.kept_passage(key)),
        ("pubmedqa", "dev", lambda key: True),
    ):
        folder = DATA / name
        asked = {row["_id"]: row["text"] for row in sources.rows(folder / "queries.jsonl")}
        where = {}
        for row in sources.rows(folder / "corpus.jsonl"):
            if keep(row["_id"]):
                text = Text(name, row["_id"], row.get("title") or "", sources.split(row["text"]))
                where[row["_id"]] = add(text)
        for query, document, _ in sources.judged(folder / "qrels" / f"{split}.tsv"):
            if document in where:
                asks.append(Ask(asked[query], where[document], "question"))


def _claims(add: Any, asks: list[Ask]) -> None:
    """SciFact's claims for training; its other abstracts are only ever wrong answers."""
    folder = DATA / "scifact"
    asked = {row["_id"]: row["text"] for row in sources.rows(folder / "queries.jsonl")}
    where = {}
    for row in sources.rows(folder / "corpus.jsonl"):
        where[row["_id"]] = add(
            Text("scifact", row["_id"], row["title"], sources.split(row["text"]))
        )
    for query, document, _ in sources.judged(folder / "qrels" / "train.tsv"):
        asks.append(Ask(asked[query], where[document], "claim"))


def nodes(mesh: Iterable[str], lexicon: Lexicon) -> set[str]:
    """Descriptors with every place above them in MeSH's tree."""
    found: set[str] = set()
    for key in mesh:
        found.add(key)
        for tree in lexicon.trees.get(key, ()):
            parts = tree.split(".")
            found |= {".".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return found


def pool(packages: Path, tokens: Tokens, target: Path) -> None:
    """Write the training data."""
    texts, asks, lexicon = texts_and_asks(packages)
    print(len(texts), "documents", len(asks), "queries", flush=True)
    flat = [part for text in texts for part in (text.title, *text.sentences)]
    encoded = iter(tokens.of(flat))
    documents, places = [], []
    for text in texts:
        parts = [next(encoded) for _ in range(1 + len(text.sentences))]
        documents.append(np.concatenate(parts)[:LONGEST])
        places.append(np.cumsum([0, *map(len, parts)]))
    spoken = tokens.of([ask.text for ask in asks])
    queries, pairs = [], []
    for ask, row in zip(asks, spoken, strict=True):
        place, total = places[ask.document], len(documents[ask.document])
        hole = (0, 0)
        if ask.without_title:
            hole = (0, int(place[1]))
        elif ask.sentence >= 0:
            hole = (int(place[ask.sentence + 1]), int(place[ask.sentence + 2]))
        begin, end = min(hole[0], total), min(hole[1], total)
        if len(row) < 1 or total - (end - begin) < 8:
            continue
        fold = _fold(ask.text) if ask.kind == "claim" else 0
        pairs.append((ask.document, begin, end - begin, KINDS.index(ask.kind), fold))
        queries.append((row[:LONGEST_QUERY], ask.mesh))
    counts = Counter(node for text in texts for node in nodes((m[0] for m in text.mesh), lexicon))
    kept = {node: at for at, node in enumerate(n for n, count in counts.items() if count > 2)}
    size = sum(bool(text.mesh) for text in texts)
    rarity = np.float32([math.log(size / counts[node]) for node in kept])

    def places_of(mesh: Iterable[str]) -> list[int]:
        return sorted(kept[node] for node in nodes(mesh, lexicon) if node in kept)[:160]

    document_tokens, document_borders = ragged(documents, np.uint16)
    query_tokens, query_borders = ragged((row for row, _ in queries), np.uint16)
    mesh, mesh_borders = ragged((places_of(m[0] for m in t.mesh) for t in texts), np.uint16)
    asked, asked_borders = ragged((places_of(keys) for _, keys in queries), np.uint16)
    write(
        target / "pool.npz",
        document_tokens=document_tokens,
        document_borders=document_borders.astype(np.int32),
        document_source=np.uint8([SOURCES.index(text.source) for text in texts]),
        query_tokens=query_tokens,
        query_borders=query_borders.astype(np.int32),
        pairs=np.int32(pairs),
        mesh=mesh,
        mesh_borders=mesh_borders.astype(np.int32),
        asked=asked,
        asked_borders=asked_borders.astype(np.int32),
        rarity=rarity,
        inside=tokens.inside(),
    )
    kinds = Counter(KINDS[pair[3]] for pair in pairs)
    print(len(document_tokens), "tokens", dict(kinds), len(kept), "places in MeSH's tree")


def _fold(text: str) -> int:
    """One of three parts, for measuring on claims that a training did not see."""
    return 1 + random.Random(f"fold {text}").randrange(3)


def write(path: Path, **arrays: NDArray[Any]) -> None:
    """Write arrays compressed."""
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def collection(name: str, folder: Path, splits: list[str], tokens: Tokens, target: Path) -> None:
    """Write one collection with its judgments and, where they were made, BM25's lists."""
    # what models are asked in the product; it is not there where models are trained
    from assay.search.question import ask
    from assay.search.synonyms import built_in

    corpus = {
        row["_id"]: f"{row['title']}\n{row['text']}" if row.get("title") else row["text"]
        for row in sources.rows(folder / "corpus.jsonl")
    }
    texts = {row["_id"]: row["text"] for row in sources.rows(folder / "queries.jsonl")}
    asked = {key: ask(text, built_in()).for_component("dense") for key, text in texts.items()}
    ids = {key: at for at, key in enumerate(corpus)}
    queries: dict[str, int] = {}
    part, judgments = [], []
    for split in splits:
        for query, document, grade in sources.judged(folder / "qrels" / f"{split}.tsv"):
            if query not in texts or document not in ids:
                continue
            if query not in queries:
                queries[query] = len(queries)
                part.append(_part(name, split, query, document, texts[query]))
            judgments.append((queries[query], ids[document], grade))
    document_tokens, document_borders = ragged(
        (row[:LONGEST] for row in tokens.of(list(corpus.values()))), np.uint16
    )
    query_tokens, query_borders = ragged(
        (row[:LONGEST_QUERY] for row in tokens.of([asked[key] for key in queries])), np.uint16
    )
    more = {}
    lists = target / f"bm25_{name}.npz"
    if lists.exists():
        found = np.load(lists)
        hits = [
            (queries[query], ids[document], score)
            for query, document, score in zip(
                found["queries"].tolist(),
                found["documents"].tolist(),
                found["scores"].tolist(),
                strict=True,
            )
            if query in queries
        ]
        more = {
            "bm25": np.int32([(query, document) for query, document, _ in hits]),
            "bm25_scores": np.float32([score for _, _, score in hits]),
        }
    write(
        target / f"{name}.npz",
        document_tokens=document_tokens,
        document_borders=document_borders.astype(np.int32),
        query_tokens=query_tokens,
        query_borders=query_borders.astype(np.int32),
        part=np.array(part),
        judgments=np.int32(judgments),
        **more,
    )
    print(name, len(corpus), "documents", len(queries), "queries", Counter(part), flush=True)


def _part(name: str, split: str, query: str, document: str, text: str) -> str:
    """Which part of a collection a query is in: seen in training, kept from it, or for the end."""
    if name == "scifact" and split == "train":
        return f"fold{_fold(text)}"
    if name == "covidqa":
        return "kept" if sources.kept_passage(document) else "seen"
    return split


def kept_evidence(
    folder: Path, distractors: int = 6000, *, source: Path = DATA / "evidence_inference"
) -> None:
    """A collection from the articles of Evidence Inference that training never sees."""
    import json

    prompts = {row["_id"]: row["text"] for row in sources.rows(source / "queries.jsonl")}
    judgments = [
        (query, document, grade)
        for query, document, grade in sources.judged(source / "passage_qrels" / "train.tsv")
        if sources.held_out(document.partition("#")[0])
    ]
    wanted = {document for _, document, _ in judgments}
    rows = [
        row
        for row in sources.rows(source / "passages_ccby.jsonl")
        if sources.held_out(row["metadata"]["doc"])
    ]
    chance = random.Random(1)
    chance.shuffle(rows)
    rows.sort(key=lambda row: row["_id"] not in wanted)
    rows = rows[: len(wanted) + distractors]
    here = {row["_id"] for row in rows}
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({key: row[key] for key in ("_id", "title", "text")}) + "\n" for row in rows
        )
    judgments = [one for one in judgments if one[1] in here]
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"_id": query, "text": prompts[query]}) + "\n"
            for query in sorted({one[0] for one in judgments})
        )
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, one)) for one in judgments)]
    (folder / "qrels" / "kept.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("kept evidence", len(rows), "passages", len(judgments), "judgments", flush=True)


COLLECTIONS = {
    "nfcorpus": ["dev", "test"],
    "scifact": ["train", "test"],
    "covidqa": ["test"],
    "cranfield": ["test"],
    "med1033": ["test"],
    "dialogues": ["train"],
}


def main(arguments: list[str]) -> None:
    """Fetch, tokenise and write everything, or only the named parts."""
    packages, tokenizer, target = (Path(each) for each in arguments[:3])
    wanted = arguments[3:] or ["fetch", "kept", "pool", *COLLECTIONS, "evidence"]
    tokens = Tokens(tokenizer)
    kept = target / "evidence"
    for name in wanted:
        if name == "fetch":
            sources.fetch(packages)
        elif name == "kept":
            kept_evidence(kept)
        elif name == "pool":
            pool(packages, tokens, target)
        elif name == "evidence":
            collection(name, kept, ["kept"], tokens, target)
        else:
            collection(name, DATA / name, COLLECTIONS[name], tokens, target)


if __name__ == "__main__":
    main(sys.argv[1:])
