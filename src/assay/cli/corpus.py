"""Which documents are in the workspace?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration, group
from assay.cli.streams import printable
from assay.plural import counted, share_of

if TYPE_CHECKING:
    from assay.settings import Settings

app = group("Look at stored documents, or delete them.")

PREVIEW = 300


@app.command("list")
def list_documents(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="How many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to pass over.")] = 0,
    json_output: JsonFlag = False,
) -> None:
    """List documents by id, with their titles and numbers of chunks."""
    config = configuration(ctx)
    if config.server is not None:
        from assay.cli.remote import client

        with client(config) as service:
            found = service.documents(limit=limit, offset=offset)
    else:
        from assay.app.corpus import listed_documents
        from assay.app.workspace import Workspace

        with Workspace(config) as workspace:
            workspace.require()
            found = listed_documents(workspace, limit=limit, offset=offset)
    if json_output:
        emit_json(found)
        return
    total, page = found["total"], found["documents"]
    if page:
        rows = [(one["doc_id"], str(one["chunks"]), printable(one["title"])) for one in page]
        emit_columns([("id", "chunks", "title"), *rows])
    if total == 0:
        note("note: no document here yet: assay ingest PATH reads some")
    elif total > len(page):
        note(f"note: {share_of(len(page), total, 'document')}; --limit and --offset show others")


@app.command("show")
def show(
    ctx: typer.Context,
    doc_id: Annotated[str, typer.Argument(help="Id of the document.")],
    json_output: JsonFlag = False,
) -> None:
    """Show a document and its chunks."""
    config = configuration(ctx)
    if config.server is not None:
        from assay.cli.remote import client

        with client(config) as service:
            found = service.document(doc_id)
    else:
        found = _document(config, doc_id)
    if json_output:
        emit_json(found)
        return
    chunks = found["chunks"]
    emit_text(printable(f"{doc_id}  {found['title']}"))
    emit_text(
        f"{counted(len(found['text']), 'character')}, {counted(len(chunks), 'chunk')}, "
        f"{found['chunker_version']}"
    )
    for chunk in chunks:
        marks = [chunk["section_label"], chunk["intent_hint"], "table" * chunk["is_table"]]
        if chunk["speaker_role"] != "UNKNOWN":
            marks.append(str(chunk["speaker_role"]))
        spans = ", ".join(f"{start}-{end}" for start, end in chunk["spans"])
        text = " ".join(chunk["text"].split())
        shown = text if len(text) <= PREVIEW else f"{text[:PREVIEW]}..."
        said = " · ".join(filter(None, marks))
        emit_text(printable(f"\n{chunk['chunk_id']}  [{spans}]  {said}\n  {shown}"))


def _document(config: "Settings", doc_id: str) -> dict[str, Any]:
    from dataclasses import asdict

    from assay.app.workspace import Workspace

    with Workspace(config) as workspace:
        workspace.require()
        found = workspace.store.document(doc_id)
    if found is None:
        raise _absent(doc_id)
    fields, chunks = found
    return {**fields, "chunks": [asdict(chunk) for chunk in chunks]}


def _absent(doc_id: str) -> Exception:
    from assay.errors import MissingFileError

    return MissingFileError(
        f"there is no document {doc_id!r:.140}", hint="assay corpus list names those there are"
    )


@app.command("delete")
def delete(
    ctx: typer.Context,
    doc_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    json_output: JsonFlag = False,
) -> None:
    """Delete documents, and bring the index up to date; an unknown id is refused before that."""
    config = configuration(ctx)
    if config.server is not None:
        from assay.cli.remote import client

        with client(config) as service:
            wanted = list(dict.fromkeys(doc_ids))
            for one in wanted:
                service.document(one)
            done = [service.delete_document(one) for one in wanted]
        deleted, chunks = (sum(one[name] for one in done) for name in ("deleted", "chunks"))
    else:
        from assay.app.workspace import Workspace

        with Workspace(config) as workspace:
            workspace.require()
            for one in doc_ids:
                if workspace.store.document(one) is None:
                    raise _absent(one)
            written = workspace.store.delete(doc_ids)
            workspace.update_index()
        deleted, chunks = written.deleted, written.chunks
    if json_output:
        emit_json({"deleted": deleted, "chunks": chunks})
    else:
        emit_text(f"{counted(deleted, 'document')} deleted, {counted(chunks, 'chunk')}")
