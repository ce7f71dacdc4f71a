"""No question of the allowed length holds up a service, whatever patterns make of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import limits
from assay.app.workspace import Workspace
from assay.model.document import Chunk
from tests.unit.search.corpus import filled

CHUNKS = [
    Chunk("a:0", "a", "Metformin is given in doses of 500 mg. The maximum is 2,550 mg a day."),
    Chunk("b:0", "b", "Children with asthma received 1.5 mg of ketotifen every 3 weeks."),
]
MOST_S = 4.0
"""Of processor time on a slow machine; these took 5 to 28 s."""
REPEATED = ("1.5,", "a-", "what is the dose of ", "max dose of metformin ", "10 mg every 3 weeks ")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with filled(tmp_path_factory.mktemp("long") / "home", CHUNKS, components="bm25") as opened:
        opened.answer("dose of metformin")
        yield opened


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_long_question_takes_little_time(workspace: Workspace, repeated: str) -> None:
    question = (repeated * limits.MAX_QUERY_CHARS)[: limits.MAX_QUERY_CHARS].strip()
    began = time.process_time()
    workspace.search(question)
    workspace.answer(question)
    assert time.process_time() - began < MOST_S


def test_the_end_of_a_long_question_still_finds_words(tmp_path: Path) -> None:
    question = "the " * 300 + "ketotifen"
    assert len(question) > limits.MAX_ASKED_CHARS
    with filled(tmp_path / "home", CHUNKS, components="bm25") as workspace:
        assert workspace.search(question, floor=False).results[0].chunk.chunk_id == "b:0"
