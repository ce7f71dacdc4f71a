"""How does the work of an annotator read in a spreadsheet, or in Label Studio?

Nothing here says where a passage came from, or what the other annotator thinks of it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from assay.annotation.exchange import CANNOT_JUDGE, CSV_COLUMNS
from assay.model.annotation import Grade, ItemKey, Task
from assay.render.escape import csv_cell

LABEL_STUDIO_VIEW = """<View>
  <Header value="$query"/>
  <Text name="title" value="$title"/>
  <Text name="text" value="$text"/>
  <Choices name="grade" toName="text" choice="single" showInline="true">
    <Choice value="0" hint="does not help" hotkey="0"/>
    <Choice value="1" hint="is on the topic and helps" hotkey="1"/>
    <Choice value="2" hint="answers a part of it" hotkey="2"/>
    <Choice value="3" hint="answers it fully" hotkey="3"/>
    <Choice value="cannot judge" hotkey="x"/>
  </Choices>
  <TextArea name="comment" toName="text" maxSubmissions="1" rows="2"/>
</View>
"""


def tasks_csv(tasks: Sequence[Task], grades: Mapping[ItemKey, Grade]) -> str:
    """One row a passage, with the annotator's own grades so far; no cell is a formula."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for task in tasks:
        said = grades.get((task.query_id, task.chunk_id))
        cells = (
            task.query_id,
            task.query_text,
            task.chunk_id,
            task.title,
            task.section_label,
            task.text,
            grade_word(said),
            said.comment if said else "",
        )
        writer.writerow([csv_cell(cell) for cell in cells])
    return out.getvalue()


def tasks_label_studio(tasks: Sequence[Task], grades: Mapping[ItemKey, Grade]) -> str:
    """Tasks as Label Studio imports them; what was graded already comes as an annotation."""
    rows = []
    for number, task in enumerate(tasks, 1):
        row = {
            "id": number,
            "data": {
                "round_id": task.round_id,
                "query_id": task.query_id,
                "query": task.query_text,
                "chunk_id": task.chunk_id,
                "title": task.title,
                "section": task.section_label,
                "text": task.text,
            },
        }
        said = grades.get((task.query_id, task.chunk_id))
        if said is not None:
            row["annotations"] = [{"result": _result(said)}]
        rows.append(row)
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def grade_word(said: Grade | None) -> str:
    """A grade as people write it."""
    if said is None:
        return ""
    return CANNOT_JUDGE if said.grade is None else str(said.grade)


def _result(said: Grade) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = [
        {
            "from_name": "grade",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [grade_word(said)]},
        }
    ]
    if said.comment:
        parts.append(
            {
                "from_name": "comment",
                "to_name": "text",
                "type": "textarea",
                "value": {"text": [said.comment]},
            }
        )
    return parts
