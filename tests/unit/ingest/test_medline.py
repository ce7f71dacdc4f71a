"""Are PubMed's citations read with their headings, replaced by updates and withdrawn?"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.errors import FormatError, InputError
from assay.ingest import read_corpus, read_documents
from assay.ingest.watch import Progress
from tests.unit.ingest.samples import CITATIONS, entries, parts


def citation(pmid: int, title: str) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>{title}"
        "</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    )


def written(folder: Path, name: str, *records: str) -> Path:
    path = folder / name
    path.write_text(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>")
    return path


@pytest.fixture
def citations(tmp_path: Path) -> Path:
    path = tmp_path / "pubmed24n0001.xml.gz"
    path.write_bytes(gzip.compress(CITATIONS.encode()))
    return path


def test_a_structured_abstract_has_a_section_per_label(citations: Path) -> None:
    first = entries("medline", citations)[0].document
    assert parts(first) == [
        ("introduction", "AIM", "AIM\nTo learn."),
        ("methods", "WHO TOOK PART", "WHO TOOK PART\nAdults, 10^6 cells."),
        ("results", "RESULTS", "RESULTS\nFewer itched."),
    ]


def test_an_abstract_is_one_chunk(citations: Path) -> None:
    (_, chunks), _ = read_corpus(citations)
    assert [chunk.chunk_id for chunk in chunks] == ["501:chunk_0"]
    assert chunks[0].text.startswith("AIM\nTo learn.")
    assert chunks[0].text.endswith("Fewer itched.")


def test_what_indexers_add_is_metadata(citations: Path) -> None:
    first = entries("medline", citations)[0].document
    assert (first.doc_id, first.title) == ("501", "Drug A for itch: a trial.")
    assert first.metadata == {
        "pmid": "501", "pmcid": "PMC77", "doi": "10.1/itch", "journal": "Made-up Letters",
        "year": 2019, "published_date": "2019-02-03", "authors": ("Roe AB", "The Itch Group"),
        "publication_types": ("Randomized Controlled Trial",), "language": "eng",
        "mesh": ("Pruritus", "Pruritus/drug therapy"), "chemicals": ("Drug A",),
        "keywords": ("itching",),
        "names": ("Pruritus", "Drug A", "itching", "501", "PMC77", "10.1/itch"),
        "identifiers": ("501", "PMC77", "10.1/itch"),
    }  # fmt: skip


def test_a_citation_may_have_a_title_only_and_a_season(citations: Path) -> None:
    second = list(read_documents(citations))[1].document
    assert (second.text, second.metadata["published_date"]) == ("[A title only].", "1998-11")


def test_first_names_and_qualifiers_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T"
        "</ArticleTitle><AuthorList><Author><LastName>Doe</LastName><ForeName>John</ForeName>"
        "</Author></AuthorList></Article><MeshHeadingList><MeshHeading><DescriptorName>Asthma"
        "</DescriptorName><QualifierName>drug therapy</QualifierName></MeshHeading>"
        "</MeshHeadingList></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )
    known = entries("medline", path)[0].document.metadata
    assert known["authors"] == ("Doe John",)
    assert known["mesh"] == ("Asthma", "Asthma/drug therapy")
    assert known["names"] == ("Asthma", "1")


def test_a_file_without_citations_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "none.xml")
    notes: list[str] = []
    assert not list(read_documents(path, progress=lambda step: notes.append(step.note)))
    assert notes == [f"{path}: no citations in it"]
    with pytest.raises(InputError, match="no citations"):
        list(read_documents(path, strict=True))


def test_a_book_is_a_citation(tmp_path: Path) -> None:
    path = tmp_path / "books.xml"
    path.write_text(
        "<PubmedBookArticleSet><PubmedBookArticle><BookDocument><PMID>9</PMID><Book><BookTitle>Of"
        " itch</BookTitle><PubDate><Year>2012</Year></PubDate></Book><Abstract><AbstractText>"
        "Scratch.</AbstractText></Abstract></BookDocument></PubmedBookArticle></PubmedBookArticleSet>"
    )
    ((document, _),) = read_corpus(path)
    assert (document.doc_id, document.title, document.text) == ("9", "Of itch", "Scratch.")
    assert document.metadata["year"] == 2012


def test_a_later_file_revises_and_withdraws(tmp_path: Path) -> None:
    written(tmp_path, "n1.xml", citation(1, "Old."), citation(2, "Stays."), citation(3, "Goes."))
    deleted = "<DeleteCitation><PMID>3</PMID><PMID>8</PMID></DeleteCitation>"
    written(tmp_path, "n2.xml", citation(1, "New."), deleted)
    steps: list[Progress] = []
    found = [(one.document.doc_id, one.document.title)
             for one in read_documents(tmp_path, progress=steps.append)]  # fmt: skip
    assert found == [("1", "Old."), ("2", "Stays."), ("3", "Goes."), ("1", "New.")]
    assert [step.withdrawn for step in steps if step.withdrawn] == [("3", "8")]


def test_what_comes_back_is_not_withdrawn(tmp_path: Path) -> None:
    written(tmp_path, "n1.xml", "<DeleteCitation><PMID>3</PMID></DeleteCitation>")
    written(tmp_path, "n2.xml", citation(3, "Back."))
    steps: list[Progress] = []
    assert len(list(read_documents(tmp_path, progress=steps.append))) == 1
    assert not any(step.withdrawn for step in steps)


def of_version(number: int, text: str) -> str:
    return citation(1, text).replace("<PMID>", f'<PMID Version="{number}">')


def test_the_newest_version_counts(tmp_path: Path) -> None:
    written(tmp_path, "a.xml", of_version(2, "Newer."), of_version(1, "Older."))
    notes: list[str] = []
    (found,) = read_documents(tmp_path, progress=lambda step: notes.append(step.note))
    assert found.document.title == "Newer."
    assert any("an older version of 1: left out" in note for note in notes)
    gone = '<DeleteCitation><PMID Version="{}">1</PMID></DeleteCitation>'
    for version, withdrawn in ((1, []), (2, [("1",)])):
        written(tmp_path, "b.xml", gone.format(version))
        steps: list[Progress] = []
        list(read_documents(tmp_path, progress=steps.append))
        assert [step.withdrawn for step in steps if step.withdrawn] == withdrawn


def test_books_are_withdrawn_too(tmp_path: Path) -> None:
    written(tmp_path, "a.xml", "<DeleteDocument><PMID>7</PMID></DeleteDocument>")
    steps: list[Progress] = []
    list(read_documents(tmp_path, progress=steps.append))
    assert steps[-1].withdrawn == ("7",)


@pytest.mark.parametrize(
    ("inside", "after", "text"),
    [
        ("", '<OtherAbstract Language="fre"><AbstractText>Rien.</AbstractText></OtherAbstract>',
         "Rien."),
        ("<Abstract/>", '<OtherAbstract Language="fre"><AbstractText>Rien.</AbstractText>'
         '</OtherAbstract><OtherAbstract Language="eng"><AbstractText>Nothing.</AbstractText>'
         "</OtherAbstract>", "Nothing."),
        ("<Abstract><AbstractText> </AbstractText></Abstract>",
         "<OtherAbstract><AbstractText>Nothing.</AbstractText></OtherAbstract>", "Nothing."),
    ],
)  # fmt: skip
def test_another_abstract_stands_in(tmp_path: Path, inside: str, after: str, text: str) -> None:
    record = (
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle>"
        f"{inside}<Language>eng</Language><Language>fre</Language><Journal><JournalIssue>"
        "<PubDate><Year>2020</Year><Month>Feb</Month><Day>30</Day></PubDate></JournalIssue>"
        f"</Journal></Article>{after}<SupplMeshList><SupplMeshName>COVID-19</SupplMeshName>"
        "</SupplMeshList></MedlineCitation></PubmedArticle>"
    )
    (found,) = entries("medline", written(tmp_path, "a.xml", record))
    known = found.document.metadata
    assert found.document.text == text
    assert (known["language"], known["mesh"]) == (("eng", "fre"), ("COVID-19",))
    assert known["published_date"] == "2020-02", "there is no 30 February"


def test_one_without_title_and_abstract_is_left_out_with_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, "n.xml", citation(1, ""), citation(2, "Here."))
    notes: list[str] = []
    assert [one.document.doc_id for one in entries("medline", path, notes)] == ["2"]
    assert notes == [f"{path}:1: 1 has no title: left out"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>", "without a citation"),
        (f"<PubmedArticleSet>{citation(1, 'x').replace('1', '')}</PubmedArticleSet>", "a PMID"),
        (f"<PubmedArticleSet>{citation(1, 'x')}", "not XML"),
        ('<!DOCTYPE a [<!ENTITY e "x">]><PubmedArticleSet>'
         f"{citation(1, '&e;')}</PubmedArticleSet>", "declares entities"),
    ],
)  # fmt: skip
def test_what_is_broken_is_an_error_with_its_place(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(content)
    with pytest.raises(FormatError, match=message) as caught:
        entries("medline", path)
    assert caught.value.source == str(path)


def test_records_before_a_broken_end_are_read_with_keep_going(tmp_path: Path) -> None:
    path = tmp_path / "cut.xml"
    path.write_text(f"<PubmedArticleSet>{citation(1, 'Whole.')}<PubmedArticle>")
    steps: list[Progress] = []
    found = read_documents(path, progress=steps.append, keep_going=True)
    assert [one.document.doc_id for one in found] == ["1"]
    assert any("not XML" in step.problem for step in steps)


def test_a_set_of_the_older_form_is_read(tmp_path: Path) -> None:
    path = tmp_path / "older.xml"
    bare = citation(7, "Itch").replace("<PubmedArticle>", "").replace("</PubmedArticle>", "")
    path.write_text(f"<MedlineCitationSet>{bare}</MedlineCitationSet>")
    (found,) = read_documents(path)
    assert (found.document.doc_id, found.document.title) == ("7", "Itch")
