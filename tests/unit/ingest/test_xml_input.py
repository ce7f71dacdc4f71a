"""Is XML read without obeying it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import limits
from assay.errors import FormatError, LimitError
from assay.ingest.parsed import FileLocation
from assay.ingest.watch import Watch
from assay.ingest.xml_input import ElementRules, markup, parse_xml, plain, read_xml

HERE = FileLocation("a.xml")
READING = ElementRules(
    skip=frozenset({"skip"}),
    blocks=frozenset({"p", "li"}),
    bullets=frozenset({"li"}),
    led={"term": ": "},
)


def bomb(levels: int = 9) -> str:
    entities = "".join(
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, levels)
    )
    return f'<!DOCTYPE a [<!ENTITY e0 "lol">{entities}]><a b="&e{levels - 1};">&e{levels - 1};</a>'


@pytest.mark.parametrize(
    "text",
    [
        bomb(),
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]><a/>',
        '<!DOCTYPE a [<!ENTITY harmless "h">]><a>&harmless;</a>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(text: str, encoding: str) -> None:
    with pytest.raises(FormatError, match=r"a\.xml"):
        parse_xml(text.encode(encoding), HERE)


def test_a_dtd_elsewhere_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "own.dtd").write_text('<!ENTITY secret "SECRET">')
    path = tmp_path / "a.xml"
    path.write_text('<!DOCTYPE a SYSTEM "own.dtd"><a>x &secret; &mdash; &alpha; y</a>')
    assert plain(read_xml(path, Watch()), READING) == "x &secret; — α y"


def test_xinclude_and_instructions_do_nothing() -> None:
    root = parse_xml(
        b'<a xmlns:xi="http://www.w3.org/2001/XInclude"><?php x?><!-- c -->'
        b'<xi:include href="/etc/passwd" parse="text"/>t</a>',
        HERE,
    )
    assert plain(root, READING) == "t"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a><b></a>", r"a\.xml:1: not XML"),
        (b"", "not XML"),
        (b"<a>\n\n<b></a>", r"a\.xml:3: not XML"),
        (b'<?xml version="1.0" encoding="nonsense"?><a/>', "not XML"),
        (b"<a>\x00</a>", "not XML"),
        (b"<a>" * 5000 + b"</a>" * 5000, r"a\.xml"),
        (b"<a>" * 220 + b"</a>" * 220, "nested more than 200 deep"),
    ],
)
def test_bad_xml_is_refused_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_xml(data, HERE)


def test_files_have_a_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_XML_BYTES", 10)
    path = tmp_path / "a.xml"
    path.write_text("<a>too long</a>")
    with pytest.raises(LimitError, match="more than 10 bytes"):
        read_xml(path, Watch())


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<a> one\n two </a>", "one two"),
        ("<a>x<skip>no</skip>y</a>", "x y"),
        ("<a><p>one</p><p>two</p></a>", "one\ntwo"),
        ("<a>list:<li><p>one</p></li><li>two</li></a>", "list:\n- one\n- two"),
        ("<a><li><term>AE</term><p>adverse event</p></li></a>", "- AE: adverse event"),
        ("<a>10<sup>6</sup> and m<sup>-2</sup></a>", "10^6 and m^-2"),
        ("<a>5<sup>th</sup>, X<sup>®</sup></a>", "5th, X®"),
        ("<a>Score<sup>a</sup></a>", "Score [a]"),
        ("<a>25 mg<sup>a</sup> or 200<sup>*</sup></a>", "25 mg [a] or 200 [*]"),
        ("<td>45<sup>a,b</sup></td>", "45 [note a,b]"),
        ("<a>2<sup>n</sup>, x<sup>k</sup>, M<sup>c</sup>Donald</a>", "2^n, x^k, M^cDonald"),
        ("<a>Score<sup>12</sup></a>", "Score [12]"),
        ("<a>A study<sup>1,2</sup> showed</a>", "A study [1,2] showed"),
        ("<a>5<sup>12</sup></a>", "5 [12]"),
        ("<a>110<sup>3</sup></a>", "110 [3]"),
        ("<td>5<sup>12</sup></td>", "5 [note 12]"),
        ("<a><sup>1</sup>Any grade</a>", "[1] Any grade"),
        ("<a>5 x 10<sup>9</sup>/L, 10<sup>-4</sup></a>", "5 x 10^9/L, 10^-4"),
        ("<a>kg/m<sup>2</sup>, mm<sup>3</sup>, <i>R</i><sup>2</sup></a>", "kg/m^2, mm^3, R^2"),
        ("<a>the <sup>13</sup>C test, <sup>99m</sup>Tc</a>", "the ^13C test, ^99mTc"),
        (
            "<a>Ca<sup>2+</sup>, CO<sub>2</sub>, CHA<sub>2</sub>DS<sub>2</sub>-VASc</a>",
            "Ca^2+, CO2, CHA2DS2-VASc",
        ),
        ("<a>mg/m<sup>2 </sup>basis</a>", "mg/m^2 basis"),
        ('<a>known<sup><xref ref-type="bibr">1</xref></sup>.</a>', "known."),
        ('<a>known [<xref ref-type="bibr">1</xref>].</a>', "known [1]."),
        ('<n:a xmlns:n="urn:x"><n:p>named</n:p></n:a>', "named"),
        ("<a/>", ""),
    ],
)
def test_reading(xml: str, text: str) -> None:
    assert plain(parse_xml(xml.encode(), HERE), READING) == text


def test_nothing_reads_as_nothing() -> None:
    assert plain(None, READING) == ""


def test_cell_markup_holds_text_and_little_else() -> None:
    xml = "<td>a &lt;b&gt; <i onclick='x'>c</i><sup>2</sup><br/>d<skip>e</skip><p>f</p></td>"
    assert markup(parse_xml(xml.encode(), HERE), READING) == ("a &lt;b&gt; c<sup>2</sup><br>d<br>f")


BIBR = '<xref ref-type="bibr">{}</xref>'


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (f"a study{BIBR.format(1)},{BIBR.format(2)} showed", "a study showed"),
        (f"since 2010.{BIBR.format('13–18')} We", "since 2010. We"),
        ("a study<xref ref-type='bibr'><sup>4</sup></xref> of", "a study of"),
        (f"known [{BIBR.format(1)},{BIBR.format(2)}-{BIBR.format(4)}]", "known [1,2-4]"),
        (f"known[{BIBR.format(12)}{BIBR.format(13)}]", "known[12, 13]"),
        (f"see {BIBR.format(10)},{BIBR.format(11)}.", "see [10,11]."),
        (f"the population {BIBR.format(3)}, are", "the population [3], are"),
        (f"in Japan {BIBR.format(6)}–{BIBR.format(8)}.", "in Japan [6–8]."),
        (f"{BIBR.format(6)} and {BIBR.format(8)} say", "[6] and [8] say"),
        (f"of {BIBR.format(6)}, {BIBR.format('Smith, 2010')}", "of [6], Smith, 2010"),
        (f"by {BIBR.format('Smith, 2010')}.", "by Smith, 2010."),
        ('Table <xref ref-type="table">1</xref>', "Table 1"),
        (
            'Fig.<xref ref-type="fig">1</xref>, Table<xref ref-type="table">2</xref>',
            "Fig.1, Table2",
        ),
        (f"see ref.{BIBR.format(3)}", "see ref.[3]"),
        ("a score of 10<sup>1,2</sup>", "a score of 10 [1,2]"),
        ('Appendix 1,<xref ref-type="app">2</xref>', "Appendix 1,2"),
        ('Other<xref ref-type="table-fn">1</xref> <b>8</b>', "Other [note 1] 8"),
        ('0.604<xref ref-type="fn">a</xref>', "0.604 [note a]"),
        ('0.01<sup><xref ref-type="table-fn">2</xref></sup>', "0.01 [note 2]"),
        ('0.01<xref ref-type="fn">*</xref>', "0.01 [note *]"),
    ],
)
def test_references_are_not_read_as_digits(xml: str, text: str) -> None:
    assert plain(parse_xml(f"<a>{xml}</a>".encode(), HERE), READING) == text


def test_notes_and_citations_of_a_cell_are_no_digits_of_its_markup() -> None:
    cell = f'<td>12<xref ref-type="table-fn">3</xref> of 40{BIBR.format(7)}</td>'
    assert markup(parse_xml(cell.encode(), HERE), READING) == "12<sup>3</sup> of 40"
