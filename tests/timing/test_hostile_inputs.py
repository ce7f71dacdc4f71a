"""Does input that somebody made to be slow take no longer than any other?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.errors import FormatError
from assay.hits.qrels import load_qrels
from assay.hits.run import judge
from assay.ingest import read_corpus
from assay.ingest.json_rows import parse
from assay.ingest.parsed import FileLocation
from assay.ingest.table_html import sanitised
from assay.ingest.xml_input import parse_xml
from assay.search.boost import default_lexicon, detect
from assay.search.query_type import classify
from tests.unit.hits.test_kernels import matched, needs_compiled
from tests.unit.ingest.test_hostile import survives
from tests.unit.ingest.test_xml_input import bomb

HERE = FileLocation("c.jsonl", 3)
INVERSE = pow(0x9E3779B97F4A7C15, -1, 1 << 64)  # of what spreads hashes
SIZE = 300_000


@needs_compiled
def test_hashes_that_somebody_made_to_crowd_take_no_longer() -> None:
    """All of them begin at one place of the table, so each would look at all before it."""
    own = [one * INVERSE % (1 << 64) for one in range(200_000)]
    start = time.perf_counter()
    assert matched([(own, own)]) is None
    assert time.perf_counter() - start < 5


@needs_compiled
def test_what_is_wanted_of_crowded_hashes_takes_no_longer() -> None:
    """Each row has a place of its own, and they fill half of the table without a gap."""
    count = 1 << 16
    own = [(place << 47) * INVERSE % (1 << 64) for place in range(count)]
    wanted = [((place << 47) + 1) * INVERSE % (1 << 64) for place in range(0, count, 8)]
    start = time.perf_counter()
    assert matched([(own, wanted)]) is None
    assert time.perf_counter() - start < 5
    assert matched([(own, own[:3])]) == [0, 1, 2]


def test_all_equal_scores_take_no_longer_than_sorting() -> None:
    """Hundreds of thousands of tied documents, half of them judged, in well under a minute."""
    count = 100_000
    docs = [f"d{n:06d}" for n in range(count)]
    qrels = load_qrels({"q": dict.fromkeys(docs[::2], 1)})
    begin = time.process_time()
    table = judge(qrels, {"q": dict.fromkeys(docs, 1.0)})
    pairs = judge(qrels, {"q": {doc: n // 2 for n, doc in enumerate(docs)}})
    assert time.process_time() - begin < 20
    assert table.rank.tolist() == list(range(2, count + 1, 2))
    assert table.tied.tolist() == pairs.tied.tolist() == [count // 2]
    assert pairs.rank.tolist() == list(range(2, count + 1, 2))


def test_hostile_text_is_classified_quickly() -> None:
    for query in ("a-" * 500_000, "what " * 200_000, "'" * 1_000_000, "A1" * 500_000):
        began = time.perf_counter()
        classify(query)
        assert time.perf_counter() - began < 0.5


def test_hostile_text_is_read_in_time_that_grows_with_its_length() -> None:
    lexicon = default_lexicon()
    for text in ("adverse " * 200_000, "a" * 1_000_000, "-" * 1_000_000, "how was " * 100_000):
        began = time.perf_counter()
        detect(text, lexicon)
        assert time.perf_counter() - began < 0.5


def test_tables_in_tables_are_refused_quickly() -> None:
    begun = time.process_time()
    with pytest.raises(FormatError, match=r"c\.jsonl:3: tables nested more than 4 deep"):
        sanitised("<table><tr><td>" * 10_000, HERE)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_bomb_of_entities_is_refused_before_it_grows(encoding: str) -> None:
    begun = time.process_time()
    with pytest.raises(FormatError, match=r"c\.jsonl"):
        parse_xml(bomb().encode(encoding), HERE)
    assert time.process_time() - begun < 2


def test_a_key_that_stands_twice_among_very_many_is_found_at_once() -> None:
    keys = ", ".join(f'"{number}": 1' for number in range(50_000))
    began = time.process_time()
    with pytest.raises(FormatError, match="the key '49999' appears twice"):
        parse(f'{{{keys}, "49999": 2}}'.encode(), HERE)
    assert time.process_time() - began < 5


SLOW = {
    "file.md": [b"# a" + b" " * SIZE + b"b", b"# " + b" #" * SIZE + b"x", b"=" * SIZE + b"x"],
    "file.vtt": [b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + part for part in (
        b"<v " * SIZE, b"<v" + b" " * SIZE, b"<" * SIZE)],
    "file.txt": [b"." + b" " * SIZE + b"a", b"!" + b")" * SIZE + b"a", b"a." * SIZE,
                 b"\n" * SIZE + b"x", b"A" * SIZE, b"1 " * SIZE, "头".encode() * SIZE],
    "file.xml": [b"<article><body><sec><title>" + b"dose " * SIZE + b"</title><p>x</p></sec>"
                 b"</body></article>",
                 b"<article><body><table-wrap><caption><p>" + b"dose " * SIZE + b"</p></caption>"
                 b"<table><tr>" + b"<td colspan='1000' rowspan='1000'>x</td>" * 3 + b"</tr>"
                 + b"<tr><td>y</td></tr>" * 90 + b"</table></table-wrap></body></article>"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, number) for name, many in SLOW.items() for number in range(len(many))],
)
def test_nothing_takes_long(name: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SLOW[name][number])
    begun = time.process_time()
    survives(lambda: list(read_corpus(path)))
    assert time.process_time() - begun < 5
