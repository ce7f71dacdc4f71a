"""Do two files of one name ever replace one another without a word?"""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.app.workspace import Workspace
from assay.errors import InputError
from tests.unit.search.corpus import workspace


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "files"
    found.mkdir()
    (found / "report.html").write_text("<html><body><p>Gout in spring.</p></body></html>")
    (found / "report.txt").write_text("Scurvy at sea.")
    (found / "notes.txt").write_text("Rickets in winter.")
    return found


def texts(opened: Workspace) -> dict[str, str]:
    ids = [row.doc_id for row in opened.documents().documents]
    return {doc_id: opened.document(doc_id).text for doc_id in ids}


def test_in_one_folder_the_second_is_refused_by_name(here: Workspace, folder: Path) -> None:
    with here, pytest.raises(InputError, match=r"report\.txt: the document report") as caught:
        here.ingest(folder, index=False)
    assert "rename one of the files" in str(caught.value.hint)


def test_the_others_are_read_where_it_may_go_on(here: Workspace, folder: Path) -> None:
    with here:
        made = here.ingest(folder, index=False, keep_going=True)
        assert (made.added, made.failed) == (2, 1)
        assert "report.txt" in made.problems[0]
        assert texts(here) == {"report": "Gout in spring.", "notes": "Rickets in winter."}


def test_one_that_comes_later_does_not_replace_the_first(here: Workspace, folder: Path) -> None:
    with here:
        here.ingest(folder / "report.html", index=False)
        with pytest.raises(InputError, match="report was read from html and would be replaced"):
            here.ingest(folder / "report.txt", index=False)
        made = here.ingest(folder / "report.txt", index=False, keep_going=True)
        assert (made.replaced, made.failed) == (0, 1)
        assert texts(here) == {"report": "Gout in spring."}


def test_the_same_file_is_brought_up_to_date(here: Workspace, folder: Path) -> None:
    with here:
        here.ingest(folder / "report.txt", index=False)
        (folder / "report.txt").write_text("Scurvy ended.")
        assert here.ingest(folder / "report.txt", index=False).replaced == 1
        assert texts(here) == {"report": "Scurvy ended."}
