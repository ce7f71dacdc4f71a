"""What do people read instead of an id?"""

from __future__ import annotations

from pathlib import Path

from assay.app.workspace import Workspace
from assay.settings import configure

WORDS = {"dense_model": "none", "splade_model": "none"}
LONG = "Aspirin eases headache. " + "It is taken with water. " * 200


def test_a_label_has_title_and_beginning(tmp_path: Path) -> None:
    config = configure({"home": tmp_path, **WORDS}, environ={}, folder=tmp_path)
    with Workspace(config) as workspace:
        workspace.add([{"doc_id": "d1", "title": "Aspirin", "text": LONG}])
        first = workspace.document("d1").chunks[0]
        found = workspace.labels([first.chunk_id, "d1", "elsewhere"])
        assert set(found) == {first.chunk_id, "d1"}
        assert found["d1"] == found[first.chunk_id]
        assert found["d1"].title == "Aspirin"
        assert found["d1"].text.startswith("Aspirin eases headache. It is")
        assert len(found["d1"].text) <= 300

        workspace.add([{"doc_id": "d1", "title": "Acetylsalicylic acid", "text": "Short."}])
        assert workspace.labels([first.chunk_id])[first.chunk_id].text == "Short."
        workspace.delete("d1")
        gone = workspace.labels([first.chunk_id, "d1"])
        assert set(gone) == {first.chunk_id}
        assert gone[first.chunk_id].text == ""
