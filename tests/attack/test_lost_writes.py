"""Is anything lost that several write at once into the same file?"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from assay import trust
from assay.app import drafts, testsets
from assay.app.configurations import save_configuration
from assay.app.layout import Layout
from assay.errors import AssayError, ConflictError
from assay.model.testset import GoldenQuery, Judgment
from assay.search.request import SearchOptions, changed
from assay.testsets.load import read_test_set

WRITERS, EACH = 8, 5
CHILD = """
import sys
from pathlib import Path
from assay.app import drafts
from assay.app.layout import Layout
from assay.model.testset import GoldenQuery, Judgment
who = sys.argv[2]
for at in range(int(sys.argv[3])):
    name = f"{who}-{at}"
    query = GoldenQuery(name, f"question {name}", relevant_docs=(Judgment("d1", 1),))
    drafts.add_query(Layout(Path(sys.argv[1])), "shared", query)
    print(name, flush=True)
"""


def _query(name: str) -> GoldenQuery:
    return GoldenQuery(name, f"question {name}", relevant_docs=(Judgment("d1", 1),))


def _at_once(tasks: list[Any]) -> list[Any]:
    """What each task gave or raised, all begun in the same moment."""
    together = Barrier(len(tasks))

    def run(task: Any) -> Any:
        together.wait()
        try:
            return task()
        except AssayError as error:
            return error

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


def test_of_queries_saved_at_once_none_is_lost(tmp_path: Path) -> None:
    layout = Layout(tmp_path)

    def save(who: int) -> list[str]:
        names = [f"w{who}-{at}" for at in range(EACH)]
        for name in names:
            drafts.add_query(layout, "shared", _query(name))
        return names

    saved = _at_once([partial(save, who) for who in range(WRITERS)])
    found = read_test_set(layout.test_set("shared")).sound()
    assert {query.query_id for query in found.queries} == {one for names in saved for one in names}


@pytest.mark.slow
def test_of_queries_saved_by_several_processes_none_is_lost(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), f"p{who}", "10"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in range(3)
    ]
    said = [child.communicate(timeout=120)[0].split() for child in children]
    assert [len(names) for names in said] == [10, 10, 10]
    found = read_test_set(Layout(tmp_path).test_set("shared")).sound()
    assert {query.query_id for query in found.queries} == {one for names in said for one in names}


def _upload(text: str) -> bytes:
    query = {
        "query_id": "q1",
        "query_text": text,
        "relevant_docs": [{"doc_id": "d1", "grade": 1}],
    }
    return json.dumps({"name": "mine", "version": "v1", "queries": [query]}).encode()


def test_of_two_sets_that_come_at_once_under_one_name_one_is_refused(tmp_path: Path) -> None:
    for at in range(10):
        layout = Layout(tmp_path / str(at))
        sent = [_upload(f"question {number}") for number in range(4)]
        answers = _at_once([partial(testsets.upload, layout, data) for data in sent])
        stored = [one for one in answers if isinstance(one, testsets.StoredSet)]
        assert len(stored) == 1
        assert sum(isinstance(one, ConflictError) for one in answers) == 3
        assert testsets.load(layout, "mine").checksum == stored[0].checksum


def test_the_same_set_at_once_is_new_only_once(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    answers = _at_once([partial(testsets.upload, layout, _upload("x"))] * 4)
    assert sorted(one.new for one in answers) == [False, False, False, True]


def test_of_configurations_saved_at_once_under_one_name_one_is_kept(tmp_path: Path) -> None:
    for at in range(10):
        layout = Layout(tmp_path / str(at))
        options = [changed(SearchOptions(), depth=50 + number) for number in range(4)]
        answers = _at_once([partial(save_configuration, layout, "mine", one) for one in options])
        assert sum(isinstance(one, Path) for one in answers) == 1
        assert sum(isinstance(one, ConflictError) for one in answers) == 3


def test_files_that_are_trusted_at_once_are_all_trusted(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    files = [tmp_path / f"{at}.yaml" for at in range(WRITERS)]
    guarded = {"server": "http://localhost"}
    _at_once([partial(trust.trust, path, guarded, environ) for path in files])
    assert all(trust.is_trusted(path, guarded, environ) for path in files)
