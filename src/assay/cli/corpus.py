"""Which documents are in the workspace?"""

from typing import Annotated

import typer

from assay.cli.console import emit_json, emit_text
from assay.cli.options import JsonFlag, configuration, group
from assay.counting import counted

app = group("Look at stored documents, or delete them.")

PREVIEW = 300


@app.command("show")
def show(
    ctx: typer.Context,
    doc_id: Annotated[str, typer.Argument(help="Id of the document.")],
    json_output: JsonFlag = False,
) -> None:
    """Show a document and its chunks."""
    from dataclasses import asdict

    from assay.errors import MissingFileError
    from assay.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        found = workspace.store.document(doc_id)
    if found is None:
        raise MissingFileError(
            f"there is no document {doc_id!r:.80}", hint="assay index info counts them"
        )
    fields, chunks = found
    if json_output:
        emit_json({**fields, "chunks": [asdict(chunk) for chunk in chunks]})
        return
    emit_text(f"{doc_id}  {fields['title']}")
    emit_text(
        f"{counted(len(fields['text']), 'character')}, {counted(len(chunks), 'chunk')}, "
        f"{fields['chunker_version']}"
    )
    for chunk in chunks:
        marks = [chunk.section_label, chunk.intent_hint, "table" if chunk.is_table else ""]
        if chunk.speaker_role != "UNKNOWN":
            marks.append(str(chunk.speaker_role))
        spans = ", ".join(f"{start}-{end}" for start, end in chunk.spans)
        text = " ".join(chunk.text.split())
        shown = text if len(text) <= PREVIEW else f"{text[:PREVIEW]}..."
        emit_text(f"\n{chunk.chunk_id}  [{spans}]  {' · '.join(filter(None, marks))}\n  {shown}")


@app.command("delete")
def delete(
    ctx: typer.Context,
    doc_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    json_output: JsonFlag = False,
) -> None:
    """Delete documents, and bring the index up to date."""
    from assay.workspace import Workspace

    with Workspace(configuration(ctx)) as workspace:
        workspace.require()
        written = workspace.store.delete(doc_ids)
        if written.deleted:
            workspace.update_index()
    if json_output:
        emit_json({"deleted": written.deleted, "chunks": written.chunks})
    else:
        emit_text(
            f"{counted(written.deleted, 'document')} deleted, {counted(written.chunks, 'chunk')}"
        )
