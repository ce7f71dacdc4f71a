"""Is the corpus that ships well-formed, complete, and of one mind about its numbers?"""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from assay.ingest import read_corpus
from assay.model.document import ID_FORM, IngestionMode, SpeakerRole

ROOT = Path(str(files("assay") / "data" / "corpus"))
SPL = "{urn:hl7-org:v3}"
SECTIONS = {
    "34067-9", "34068-7", "34070-3", "43685-7", "34084-4", "34073-7", "43684-0", "34090-1",
}  # fmt: skip
MAX_BYTES = 600_000


def paths(folder: str, suffix: str) -> list[Path]:
    return sorted((ROOT / folder).glob(f"*{suffix}"))


def study(nct: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "trials" / f"{nct}.json").read_text("utf-8"))
    return found


def reviews() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "reviews.jsonl").read_text("utf-8").splitlines()]


def words(path: Path) -> str:
    return " ".join("".join(ET.parse(path).getroot().itertext()).split())


def affected(nct: str, term: str, kind: str = "otherEvents") -> list[tuple[int, int]]:
    events = study(nct)["resultsSection"]["adverseEventsModule"][kind]
    stats = next(event["stats"] for event in events if event["term"] == term)
    return [(stat["numAffected"], stat["numAtRisk"]) for stat in stats]


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}"


def table_rows(path: Path) -> Iterator[list[str]]:
    for row in ET.parse(path).getroot().iter():
        if row.tag.removeprefix(SPL) == "tr":
            yield [" ".join("".join(cell.itertext()).split()) for cell in row]


def test_the_corpus_is_complete_and_small() -> None:
    assert len(paths("trials", ".json")) == 15
    assert len(paths("labels", ".xml")) == 8
    assert len(paths("articles", ".xml")) == 7
    assert len(reviews()) == 38
    assert [path.name for path in paths("interviews", "")] == [
        "interview_001.json",
        "interview_002.vtt",
    ]
    assert (ROOT / "README.md").is_file()
    assert sum(path.stat().st_size for path in ROOT.rglob("*") if path.is_file()) < MAX_BYTES


@pytest.mark.parametrize("path", [path for path in sorted(ROOT.rglob("*")) if path.is_file()])
def test_text_is_clean(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    odd = {char for char in text if unicodedata.category(char)[0] == "C" and char != "\n"}
    assert not odd
    assert text == unicodedata.normalize("NFC", text)
    assert text.endswith("\n")
    assert not re.search("[\u2028\u2029\u0085\u00a0\ufeff]", text)


def test_ids_are_unique_well_formed_and_cannot_be_real() -> None:
    trials = [study(path.stem)["protocolSection"] for path in paths("trials", ".json")]
    ncts = [trial["identificationModule"]["nctId"] for trial in trials]
    labels = [ET.parse(path).getroot().find(f"{SPL}setId") for path in paths("labels", ".xml")]
    sets = [label.get("root", "") for label in labels if label is not None]
    articles = [ET.parse(path).getroot() for path in paths("articles", ".xml")]
    pmcs = [article.findtext(".//article-id[@pub-id-type='pmc']") or "" for article in articles]
    ids = [*ncts, *sets, *pmcs, *(row["doc_id"] for row in reviews())]
    assert len(ids) == len(set(ids)) == 15 + 8 + 7 + 38
    assert all(ID_FORM.fullmatch(name) for name in ids)
    assert all(re.fullmatch(r"NCT9000\d{4}", name) for name in ncts)
    assert all(re.fullmatch(r"9900000\d", name) for name in pmcs)
    assert [path.stem for path in paths("trials", ".json")] == ncts


def test_trials_have_what_a_registry_record_has() -> None:
    for path in paths("trials", ".json"):
        record = study(path.stem)
        protocol = record["protocolSection"]
        assert protocol["conditionsModule"]["conditions"]
        assert protocol["armsInterventionsModule"]["armGroups"]
        assert protocol["outcomesModule"]["primaryOutcomes"]
        criteria = protocol["eligibilityModule"]["eligibilityCriteria"]
        assert "Inclusion Criteria:" in criteria
        assert "Exclusion Criteria:" in criteria
        assert record["hasResults"] is ("resultsSection" in record)
    assert [path.stem for path in paths("trials", ".json") if not study(path.stem)["hasResults"]] \
        == ["NCT90001003"]  # fmt: skip


def test_counts_of_events_fit_those_at_risk() -> None:
    for path in paths("trials", ".json"):
        if not study(path.stem)["hasResults"]:
            continue
        module = study(path.stem)["resultsSection"]["adverseEventsModule"]
        groups = {group["id"]: group for group in module["eventGroups"]}
        for kind in ("serious", "other"):
            assert module[f"{kind}Events"]
            for event in module[f"{kind}Events"]:
                assert [stat["groupId"] for stat in event["stats"]] == list(groups)
                for stat in event["stats"]:
                    group = groups[stat["groupId"]]
                    assert stat["numAtRisk"] == group[f"{kind}NumAtRisk"]
                    assert stat["numAffected"] <= group[f"{kind}NumAffected"] <= stat["numAtRisk"]


def test_labels_have_every_section_and_a_table_of_reactions() -> None:
    for path in paths("labels", ".xml"):
        root = ET.parse(path).getroot()
        codes = {code.get("code") for code in root.iter(f"{SPL}code")}
        assert codes >= SECTIONS
        reactions = next(
            section
            for section in root.iter(f"{SPL}section")
            if (code := section.find(f"{SPL}code")) is not None and code.get("code") == "34084-4"
        )
        assert next(reactions.iter(f"{SPL}table"), None) is not None
        brand = root.findtext(f".//{SPL}manufacturedProduct/{SPL}name")
        generic = root.findtext(f".//{SPL}genericMedicine/{SPL}name")
        assert root.findtext(f"{SPL}title", "").startswith(f"{brand} ({generic})")


def test_articles_have_abstract_sections_and_a_table() -> None:
    for path in paths("articles", ".xml"):
        root = ET.parse(path).getroot()
        assert len(root.findall(".//abstract/sec")) == 4
        assert [sec.get("sec-type") for sec in root.findall("body/sec")] == [
            "intro",
            "methods",
            "results",
            "discussion",
        ]
        assert root.findall(".//table-wrap/table/tbody/tr")


def test_reviews_are_short_and_dated() -> None:
    for row in reviews():
        assert 90 <= len(row["text"].split()) <= 200
        assert re.fullmatch(r"20[12]\d", row["metadata"]["year"])
    topics = {row["metadata"]["topic"] for row in reviews()}
    assert topics == {
        "cardiology", "nephrology", "oncology", "endocrinology", "infectious disease",
        "psychiatry", "neurology", "respiratory",
    }  # fmt: skip


def test_the_offline_interview_is_in_order() -> None:
    interview = json.loads((ROOT / "interviews" / "interview_001.json").read_text("utf-8"))
    segments = interview["segments"]
    times = [time for turn in segments for time in (turn["start_time"], turn["end_time"])]
    assert interview["ingestion_mode"] == "OFFLINE"
    assert times == sorted(times)
    assert {turn["speaker"] for turn in segments} == set(SpeakerRole)
    assert [turn["segment_id"] for turn in segments] == [
        f"interview_001-{number:02d}" for number in range(1, len(segments) + 1)
    ]


def test_the_live_interview_is_in_order() -> None:
    text = (ROOT / "interviews" / "interview_002.vtt").read_text("utf-8")
    header, *blocks = text.strip().split("\n\n")
    assert header.splitlines()[0] == "WEBVTT"
    assert "ingestion_mode: LIVE" in header.splitlines()
    cues = [block.splitlines() for block in blocks if not block.startswith("NOTE")]
    stamps = [stamp for _, times, _ in cues for stamp in times.split(" --> ")]
    assert stamps == sorted(stamps)
    assert all(re.fullmatch(r"<v (?:Clinician|Patient)>[^<>]+</v>", said) for *_, said in cues)
    assert [name for name, *_ in cues] == [f"interview_002-{n:02d}" for n in range(1, 32)]


def test_every_part_is_read_and_chunked() -> None:
    notes: list[str] = []
    pairs = list(read_corpus(ROOT, progress=lambda step: notes.append(step.note)))
    assert list(filter(None, notes)) == [
        f"{ROOT}: left out, text about the other files (use assay ingest FILE): README.md"
    ]
    chunks = [chunk for _, found in pairs for chunk in found]
    assert len(pairs) == 15 + 8 + 7 + 38 + 2
    assert 300 <= len(chunks) <= 420
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert sum(chunk.is_table for chunk in chunks) > 60
    turns = [chunk for chunk in chunks if chunk.interview_id]
    assert len(turns) == 62
    assert {chunk.speaker_role for chunk in turns} == set(SpeakerRole)
    offline = [chunk for chunk in turns if chunk.interview_id == "interview_001"]
    assert {chunk.ingestion_mode for chunk in offline} == {IngestionMode.OFFLINE}
    live = [chunk for chunk in turns if chunk.interview_id == "interview_002"]
    assert {chunk.ingestion_mode for chunk in live} == {IngestionMode.LIVE}
    assert {chunk.title for chunk in live} == {"Video visit: migraine and medicines"}


@pytest.mark.parametrize(
    ("nct", "term", "kind", "article", "row"),
    [
        ("NCT90001001", "Hyperkalemia", "otherEvents", "PMC99000001", "Hyperkalaemia"),
        ("NCT90001104", "Genital mycotic infection", "otherEvents", "PMC99000002", ""),
        ("NCT90001308", "Pneumonitis", "otherEvents", "PMC99000004", ""),
        ("NCT90001614", "Hyponatremia", "otherEvents", "PMC99000006", "Hyponatraemia"),
    ],
)
def test_article_tables_agree_with_the_registry(
    nct: str, term: str, kind: str, article: str, row: str
) -> None:
    expected = [f"{a} ({percent(a, b)})" for a, b in affected(nct, term, kind)]
    assert [row or term, *expected] in list(table_rows(ROOT / "articles" / f"{article}.xml"))


@pytest.mark.parametrize(
    ("nct", "term", "label"),
    [
        ("NCT90001001", "Hyperkalemia", "nephrava"),
        ("NCT90001512", "Somnolence", "zephralin"),
        ("NCT90001715", "Diarrhea", "penavrex"),
        ("NCT90001816", "Urinary retention", "pulvaris"),
    ],
)
def test_label_tables_agree_with_the_registry(nct: str, term: str, label: str) -> None:
    expected = [percent(a, b) for a, b in affected(nct, term)]
    assert [term, *expected] in list(table_rows(ROOT / "labels" / f"{label}.xml"))


def test_the_bleeding_of_clarion_is_the_same_in_registry_article_and_label() -> None:
    outcomes = study("NCT90001206")["resultsSection"]["outcomeMeasuresModule"]["outcomeMeasures"]
    bleeding = next(one for one in outcomes if one["title"] == "Participants With Major Bleeding")
    any_site = bleeding["classes"][0]["categories"][0]["measurements"]
    counts = [int(value["value"]) for value in any_site]
    at_risk = [int(value["value"]) for value in bleeding["denoms"][0]["counts"]]
    shown = [f"{a} ({percent(a, b)})" for a, b in zip(counts, at_risk, strict=True)]
    found = bleeding["analyses"][0]
    low, high = found["ciLowerLimit"], found["ciUpperLimit"]
    article = list(table_rows(ROOT / "articles" / "PMC99000003.xml"))
    label = list(table_rows(ROOT / "labels" / "clotrevo.xml"))
    assert ["Any major bleeding", *shown, f"{found['paramValue']} ({low} to {high})"] in article
    assert ["Major bleeding", *shown, f"{found['paramValue']} ({low}, {high})"] in label


def test_records_articles_and_labels_name_each_other() -> None:
    for path in paths("articles", ".xml"):
        ncts = set(re.findall(r"NCT\d{8}", words(path)))
        for nct in ncts:
            citation = study(nct)["protocolSection"]["referencesModule"]["references"][0]
            assert path.stem in citation["citation"]
    known = {path.stem for path in paths("trials", ".json")}
    for path in paths("labels", ".xml"):
        assert set(re.findall(r"NCT\d{8}", words(path))) <= known


def test_the_readme_names_only_what_exists() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    reviewed = {row["doc_id"] for row in reviews()}
    assert set(re.findall(r"rev-[a-z]+-\d\d", text)) <= reviewed
    assert set(re.findall(r"NCT9\d{7}", text)) == {path.stem for path in paths("trials", ".json")}
    for brand in set(re.findall(r"label-([a-z]+)", text)):
        assert (ROOT / "labels" / f"{brand}.xml").is_file()
    assert "not medical advice" in text
    assert "Apache-2.0" in text
