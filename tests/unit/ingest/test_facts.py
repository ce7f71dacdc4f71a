"""Do documents bring the facts that people filter by, under the same names and types?"""

from __future__ import annotations

from pathlib import Path

from assay.ingest.corpus import read_corpus
from tests.unit.ingest.samples import entries, only, write_lines


def test_an_article_has_the_year_of_its_issue_and_its_first_date(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<article><front><article-meta><article-id pub-id-type="doi">10.1/x</article-id>'
        '<pub-date pub-type="epub"><day>9</day><month>12</month><year>2018</year></pub-date>'
        '<pub-date pub-type="ppub"><month>Jan</month><year>2019</year></pub-date>'
        '<kwd-group kwd-group-type="MeSH"><kwd>Asthma</kwd></kwd-group>'
        "<kwd-group><kwd>wheeze</kwd><kwd>Wheeze</kwd></kwd-group>"
        "</article-meta></front><body><p>x</p></body></article>"
    )
    found = only("jats", path).metadata
    assert (found["year"], found["published_date"]) == (2019, "2018-12-09")
    assert (found["mesh"], found["keywords"]) == (("Asthma",), ("wheeze",))
    assert found["names"] == ("wheeze", "Asthma", "10.1/x")


def test_a_kit_is_named_by_its_drug_and_not_by_its_swab(tmp_path: Path) -> None:
    path = tmp_path / "kit.xml"
    swab = (
        "<part><partProduct><name>Wipe</name><asEntityWithGeneric><genericMedicine>"
        "<name>alcohol</name></genericMedicine></asEntityWithGeneric></partProduct></part>"
    )
    path.write_text(
        '<document xmlns="urn:hl7-org:v3"><setId root="s"/><component><structuredBody><component>'
        "<section><subject><manufacturedProduct><manufacturedProduct>"
        f'<code code="1-2" codeSystem="{"2.16.840.1.113883.6.69"}"/><name>Penex</name>'
        "<asEntityWithGeneric><genericMedicine><name>drugamab</name></genericMedicine>"
        '</asEntityWithGeneric><ingredient classCode="ACTIM"><ingredientSubstance>'
        "<name>DRUGAMAB SODIUM</name><activeMoiety><activeMoiety><name>Drugamab</name>"
        "</activeMoiety></activeMoiety></ingredientSubstance></ingredient>"
        '<ingredient classCode="IACT"><ingredientSubstance><name>WATER</name>'
        f"</ingredientSubstance></ingredient>{swab}"
        "</manufacturedProduct></manufacturedProduct></subject><text>Inject.</text></section>"
        "</component></structuredBody></component></document>"
    )
    found = only("spl", path).metadata
    assert found["drugs"] == ("Penex", "drugamab", "DRUGAMAB SODIUM")
    assert found["identifiers"] == ("s", "1-2")


def test_a_label_without_products_is_named_by_its_title(tmp_path: Path) -> None:
    path = tmp_path / "label.xml"
    path.write_text(
        "<document><title>ITCHEX<br/>(drugamab injection)</title><component><structuredBody>"
        "<component><section><text>x</text></section></component></structuredBody></component>"
        "</document>"
    )
    assert only("spl", path).metadata["drugs"] == ("ITCHEX", "drugamab injection")


def test_rows_bring_names_and_identifiers_under_any_usual_key(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "d.jsonl",
        {"id": "a", "text": "x", "metadata": {"pmcid": "12345", "atc": ["B01AF02"], "drug": "X"}},
        {"id": "NCT00001832#Results", "text": "x", "metadata": {"names": ["ours"]}},
        {"id": "plain", "text": "x", "metadata": {"year": "2020", "note": ""}},
    )
    first, second, third = (entry.document.metadata for entry in entries("jsonl", path))
    assert first["identifiers"] == ("PMC12345", "B01AF02")
    assert first["names"] == ("X", "PMC12345", "B01AF02")
    assert second == {"names": ("ours", "NCT00001832"), "identifiers": ("NCT00001832",)}
    assert third == {"year": 2020, "note": ""}


def test_a_document_of_ready_made_chunks_has_what_all_of_them_say(tmp_path: Path) -> None:
    rows = [
        {"chunk_id": f"c{page}", "doc_id": "d", "text": "x", "metadata": {"page": page, "year": 9}}
        for page in (1, 2)
    ]
    ((document, chunks),) = read_corpus(write_lines(tmp_path / "c.jsonl", *rows))
    assert document.metadata == {"year": 9}
    assert chunks[1].metadata == {"year": 9, "page": 2}
