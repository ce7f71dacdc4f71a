"""Which statements does a passage support, contradict, or leave open?

    python -m training.statements PACKAGES TOKENIZER OUT

Few such pairs were labelled by people: SciFact's claims with their evidence, and NLI4CT's
statements about trials. Many more are made from sentences of the training passages:

- supported: a sentence of the passage, whole or shortened; a conclusion or a title that states
  something, whose passage lacks it;
- contradicted: the same with another number, the opposite direction, a negation more or less, or
  two sides exchanged. Half of the time the passage is changed instead, or both are and agree, so
  that a statement alone tells nothing;
- left open: a detail whose passage lacks it, a sentence, conclusion or its opposite of another
  passage, another drug's name in its place.

``OUT/statements.npz`` has tokens, label, source and part (train, dev or test) of every pair.
SciFact's validation claims and NLI4CT's development statements are the test; a sixth of SciFact's
training claims and of the articles are for development.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training import sources
from training.prepare import Tokens, ragged, write
from training.sources import DATA, Text

VERDICTS = ("supported", "contradicted", "not_enough")
SUPPORTED, CONTRADICTED, OPEN = range(3)
LONGEST, LONGEST_STATEMENT = 300, 90
MEDLINE, PASSAGES = 15_000, 8_000  # texts that sentences are taken from

_OPPOSITES = (
    ("increased", "decreased"),
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("increasing", "decreasing"),
    ("higher", "lower"),
    ("greater", "smaller"),
    ("more", "fewer"),
    ("improved", "worsened"),
    ("improves", "worsens"),
    ("improvement", "deterioration"),
    ("reduced", "raised"),
    ("reduces", "raises"),
    ("reduction", "rise"),
    ("better", "worse"),
    ("longer", "shorter"),
    ("superior", "inferior"),
    ("effective", "ineffective"),
    ("positive", "negative"),
    ("positively", "negatively"),
    ("beneficial", "harmful"),
    ("safe", "unsafe"),
    ("upregulated", "downregulated"),
    ("up-regulated", "down-regulated"),
    ("activates", "inhibits"),
    ("promotes", "suppresses"),
    ("promoted", "suppressed"),
    ("activation", "inhibition"),
    ("gain", "loss"),
    ("before", "after"),
    ("presence", "absence"),
    ("high", "low"),
    ("early", "late"),
    ("rare", "common"),
    ("protects", "predisposes"),
    ("associated", "unassociated"),
    ("significant", "negligible"),
    ("similar", "different"),
)
OPPOSITE = {a: b for pair in _OPPOSITES for a, b in (pair, pair[::-1])}
_DIRECTION = re.compile(r"\b(" + "|".join(sorted(map(re.escape, OPPOSITE), key=len)[::-1]) + r")\b")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:[.,]\d+)?(?![\w-])")
_VERB = re.compile(r"\b(is|are|was|were|can|may|did|does|has|have|had|could|should)\b(?! not)")
_NOT = re.compile(r"\b(is|are|was|were|can|may|did|does|has|have|had|could|should) not\b|\bno\b")
_SIDES = re.compile(r"\b([\w-]{4,}) (than|versus|vs|vs\.|compared with|compared to) ([\w-]{4,})\b")
_STATES = re.compile(
    r"\b(is|are|was|were|has|have|does|do|can|may|not|\w{4,}[^su]es|increases?|reduces?|improves?|"
    r"induces?|inhibits?|predicts?|affects?|prevents?|protects?|regulates?|requires?|mediates?)\b"
    r"(?!.*\?)"
)
_WORD = re.compile(r"[a-z][a-z-]{4,}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A passage, a statement, what the passage says of it, and how it was made."""

    premise: str
    statement: str
    verdict: int
    source: str
    part: str


def other_number(sentence: str, chance: random.Random) -> str | None:
    """The sentence with one of its numbers changed."""
    found = [one for one in _NUMBER.finditer(sentence) if one.group() not in ("95", "0")]
    if not found:
        return None
    one = chance.choice(found)
    text = one.group().replace(",", "")
    value = float(text)
    made = value * chance.choice((0.4, 0.6, 1.4, 1.7, 2.5, 10.0)) + chance.choice((0, 1))
    places = len(text.partition(".")[2])
    shown = f"{made:.{places}f}"
    if shown == text:
        return None
    return sentence[: one.start()] + shown + sentence[one.end() :]


def other_direction(sentence: str, chance: random.Random) -> str | None:
    """The sentence with one word turned to its opposite."""
    found = list(_DIRECTION.finditer(sentence))
    if not found:
        return None
    one = chance.choice(found)
    return sentence[: one.start()] + OPPOSITE[one.group()] + sentence[one.end() :]


def negated(sentence: str, chance: random.Random) -> str | None:
    """The sentence with a negation more, or one less."""
    found = list(_NOT.finditer(sentence))
    if found and chance.random() < 0.8:
        one = chance.choice(found)
        kept = one.group(1) or "a"
        return sentence[: one.start()] + kept + sentence[one.end() :]
    verbs = list(_VERB.finditer(sentence))
    if not verbs or found:
        return None
    one = verbs[0]
    return f"{sentence[: one.end()]} not{sentence[one.end() :]}"


def exchanged(sentence: str, chance: random.Random) -> str | None:
    """The sentence with the two sides of a comparison exchanged."""
    del chance
    found = _SIDES.search(sentence)
    if not found:
        return None
    first, joint, second = found.groups()
    return f"{sentence[: found.start()]}{second} {joint} {first}{sentence[found.end() :]}"


WRONG = {
    "number": other_number,
    "direction": other_direction,
    "negation": negated,
    "sides": exchanged,
}


def shortened(sentence: str, chance: random.Random) -> str:
    """A sentence without brackets, or without its last clause: what it says stays true."""
    short = re.sub(r" ?[(\[][^()\[\]]*[)\]]", "", sentence)
    clause = re.split(r"(?:, (?:and|but|which|while|whereas|with)|;) ", short)
    if len(clause) > 1 and len(clause[0]) > 45 and chance.random() < 0.6:
        short = clause[0].rstrip(" ,;.") + "."
    begin = re.match(r"(?:[A-Z][\w ]{2,25}[:,] )(?=[A-Za-z])", short)
    if begin and chance.random() < 0.4:
        short = short[begin.end() :]
    return short[:1].upper() + short[1:]


class Drugs:
    """Names of drugs, to put one in place of another."""

    def __init__(self, packages: Path) -> None:
        names = {
            name.lower()
            for synonyms in sources.lexicon(packages).synonyms.values()
            for name in synonyms
            if re.fullmatch(r"[A-Za-z]{6,18}", name)
        }
        common = ("ine", "ol", "ide", "ib", "ab", "in", "ate", "il", "am", "one", "ir", "an")
        self._names = sorted(name for name in names if name.endswith(common))
        self._known = frozenset(self._names)

    def other(self, sentence: str, passage: str, chance: random.Random) -> str | None:
        """The sentence about a drug that the passage does not name."""
        words = [word for word in _WORD.finditer(sentence.lower()) if word.group() in self._known]
        if not words:
            return None
        one, new = chance.choice(words), chance.choice(self._names)
        if new in passage.lower():
            return None
        return sentence[: one.start()] + new + sentence[one.end() :]


def made(
    texts: list[Text], drugs: Drugs, chance: random.Random, others: dict[str, list[Text]]
) -> Iterator[Pair]:
    """Pairs from the sentences of texts; ``others`` are texts of the same article."""
    for text in texts:
        part = "dev" if sources.held_out(text.name.partition("#")[0], 6) else "train"
        fit = [n for n, one in enumerate(text.sentences) if 45 < len(one) < 320]
        if len(fit) < 3:
            continue
        whole = _joined(text)
        n = chance.choice(fit)
        sentence = text.sentences[n]
        said = shortened(sentence, chance) if chance.random() < 0.6 else sentence
        for kind in chance.sample(list(WRONG), len(WRONG)):
            wrong = WRONG[kind](sentence, chance)
            if wrong is None:
                continue
            if chance.random() < 0.5:
                yield Pair(whole, said, SUPPORTED, "sentence", part)
                yield Pair(whole, wrong, CONTRADICTED, kind, part)
            else:
                turned = _joined(text, n, wrong)
                yield Pair(turned, wrong, SUPPORTED, "sentence", part)
                yield Pair(turned, said, CONTRADICTED, kind, part)
            break
        changed = drugs.other(said, whole, chance)
        if changed is not None:
            yield Pair(whole, changed, OPEN, "drug", part)
        if n not in text.conclusions and n > 0 and chance.random() < 0.5:
            yield Pair(_joined(text, n), said, OPEN, "detail", part)
        for other in others.get(text.name.partition("#")[0], [])[:6]:
            if other.name != text.name and chance.random() < 0.25:
                said = chance.choice(other.sentences)
                if 45 < len(said) < 320:
                    yield Pair(whole, said, OPEN, "article", part)
        yield from _concluded(text, chance, part, chance.choice(texts))


def _concluded(text: Text, chance: random.Random, part: str, other: Text) -> Iterator[Pair]:
    """A conclusion or a title, and its opposite, whose passage lacks it."""
    stated = []
    final = [n for n in text.conclusions if n > 1 and 45 < len(text.sentences[n]) < 320]
    if final:
        n = chance.choice(final)
        stated.append((_joined(text, n), text.sentences[n]))
    if text.source == "medline" and _STATES.search(text.title):
        stated.append((" ".join(text.sentences), text.title))
    for premise, said in stated:
        found = (change(said, chance) for change in chance.sample((other_direction, negated), 2))
        wrong = next(filter(None, found), None)
        yield Pair(premise, said, SUPPORTED, "conclusion", part)
        if wrong is not None:
            yield Pair(premise, wrong, CONTRADICTED, "opposite", part)
        if chance.random() < 0.4:
            yield Pair(_joined(other), wrong or said, OPEN, "other", part)


def _joined(text: Text, without: int = -1, instead: str = "") -> str:
    kept = [one if n != without else instead for n, one in enumerate(text.sentences)]
    return f"{text.title}\n{' '.join(filter(None, kept))}"


def scifact(chance: random.Random) -> Iterator[Pair]:
    """Claims with their abstracts and with evidence sentences alone."""
    folder = DATA / "scifact"
    titles = {row["_id"]: row["title"] for row in sources.rows(folder / "corpus.jsonl")}
    texts = {
        row["doc_id"]: row["sentences"] for row in sources.rows(folder / "corpus_sentences.jsonl")
    }
    verdicts = {"SUPPORT": SUPPORTED, "CONTRADICT": CONTRADICTED}
    for row in sources.rows(folder / "claims_evidence.jsonl"):
        if row["split"] == "test":
            continue
        claim = row["claim"]
        part = "test"
        if row["split"] == "train":
            part = "dev" if sources.held_out(claim, 6) else "train"
        evidence = {one["doc_id"]: one for one in row["evidence"]}
        for key in row["cited_doc_ids"]:
            one = evidence.get(key)
            verdict = verdicts[one["label"]] if one else OPEN
            premise = f"{titles[key]}\n{' '.join(texts[key])}"
            yield Pair(premise, claim, verdict, "claim", part)
            if one is None:
                continue
            chosen = [texts[key][n] for n in one["sentences"]]
            yield Pair(" ".join(chosen), claim, verdict, "rationale", part)
            rest = [s for n, s in enumerate(texts[key]) if n not in one["sentences"]]
            if len(rest) > 2 and part == "train":
                at = chance.randrange(len(rest) - 1)
                yield Pair(" ".join(rest[at : at + 2]), claim, OPEN, "beside", part)
            if part == "train":
                wrong = negated(claim, chance) or other_direction(claim, chance)
                if wrong is not None:
                    turned = {SUPPORTED: CONTRADICTED, CONTRADICTED: SUPPORTED}[verdict]
                    yield Pair(premise, wrong, turned, "turned", part)


def nli4ct() -> Iterator[Pair]:
    """Statements about trials with the lines that decide them."""
    folder = DATA / "nli4ct"
    lines = {row["_id"]: row["text"] for row in sources.rows(folder / "lines.jsonl")}
    queries = {row["_id"]: row for row in sources.rows(folder / "queries.jsonl")}
    verdicts = {"Entailment": SUPPORTED, "Contradiction": CONTRADICTED}
    for split, part in (("train", "train"), ("dev", "test")):
        evidence: dict[str, list[str]] = {}
        for query, line, _ in sources.judged(folder / "evidence_qrels" / f"{split}.tsv"):
            evidence.setdefault(query, []).append(line)
        for query, keys in evidence.items():
            facts = queries[query]["metadata"]
            said = []
            for label, trial in (("Primary trial", "primary"), ("Secondary trial", "secondary")):
                own = [lines[key].strip() for key in keys if key.startswith(f"{facts[trial]}#")]
                said += [f"{label}: {' '.join(own)}"] if own else []
            yield Pair(
                " ".join(said), queries[query]["text"], verdicts[facts["label"]], "nli4ct", part
            )


def texts_of(packages: Path, chance: random.Random) -> tuple[list[Text], dict[str, list[Text]]]:
    """The texts that sentences are taken from, and those of one article together."""
    found = list(sources.medline(packages))
    chance.shuffle(found)
    found = found[:MEDLINE]
    rows = [
        row
        for row in sources.rows(DATA / "evidence_inference" / "passages_ccby.jsonl")
        if not sources.held_out(row["metadata"]["doc"])
    ]
    articles: dict[str, list[Text]] = {}
    passages = []
    for row in rows:
        text = Text("evidence_inference", row["_id"], row["title"], sources.split(row["text"]))
        if len(text.sentences) > 3:
            articles.setdefault(text.name.partition("#")[0], []).append(text)
            passages.append(text)
    for same in articles.values():
        chance.shuffle(same)
    chance.shuffle(passages)
    return found + passages[:PASSAGES], articles


def main(arguments: list[str]) -> None:
    """Write every pair."""
    packages, tokenizer, target = (Path(each) for each in arguments)
    chance = random.Random(0)
    texts, articles = texts_of(packages, chance)
    pairs = [*scifact(chance), *nli4ct(), *made(texts, Drugs(packages), chance, articles)]
    tokens = Tokens(tokenizer)
    premises, premise_borders = ragged(
        (row[:LONGEST] for row in tokens.of([one.premise for one in pairs])), np.uint16
    )
    statements, statement_borders = ragged(
        (row[:LONGEST_STATEMENT] for row in tokens.of([one.statement for one in pairs])), np.uint16
    )
    write(
        target / "statements.npz",
        premises=premises,
        premise_borders=premise_borders.astype(np.int32),
        statements=statements,
        statement_borders=statement_borders.astype(np.int32),
        verdict=np.uint8([one.verdict for one in pairs]),
        source=np.array([one.source for one in pairs]),
        part=np.array([one.part for one in pairs]),
    )
    print(len(pairs), "pairs")
    for key, count in sorted(
        Counter((p.source, p.part, VERDICTS[p.verdict]) for p in pairs).items()
    ):
        print(*key, count)
    for one in chance.sample(pairs[5000:], 30):
        print(f"{one.source}: {VERDICTS[one.verdict]}: {one.statement}")


if __name__ == "__main__":
    main(sys.argv[1:])
