"""Which documents are in the workspace?"""

from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.connection import connected
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.lazy import group
from assay.cli.options import JsonFlag
from assay.errors import AssayError
from assay.plural import counted, share_of
from assay.render.escape import visible

if TYPE_CHECKING:
    from assay.app.interface import Assay
    from assay.model.document import Chunk

app = group("Look at stored documents, or delete them.")

PREVIEW = 300
LOOKED_AT = 20  # documents whose judgments are looked for before they are deleted


@app.command("list")
def list_documents(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="How many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to skip.")] = 0,
    text: Annotated[
        str, typer.Option("--text", help="Only those with these words in their id or title.")
    ] = "",
    json_output: JsonFlag = False,
) -> None:
    """List documents by id, with their titles and how many chunks they have."""
    with connected(ctx) as assay:
        page = assay.documents(limit=limit, offset=offset, text=text)
    if json_output:
        emit_json(page)
        return
    shown = len(page.documents)
    if shown:
        rows = [(one.doc_id, str(one.chunks), visible(one.title)) for one in page.documents]
        emit_columns([("id", "chunks", "title"), *rows])
    if page.total == 0 and text:
        note(f"note: no document has {text!r:.80} in its id or title")
    elif page.total == 0:
        note("note: there are no documents yet: assay ingest PATH adds some")
    elif page.total > shown:
        note(f"note: {share_of(shown, page.total, 'document')}; --limit and --offset show others")


@app.command("show")
def show(
    ctx: typer.Context,
    doc_id: Annotated[str, typer.Argument(help="Id of the document.")],
    json_output: JsonFlag = False,
) -> None:
    """Show a document and its chunks."""
    with connected(ctx) as assay:
        document = assay.document(doc_id)
    if json_output:
        emit_json(document)
        return
    emit_text(visible(f"{doc_id}  {document.title}"))
    emit_text(
        f"{counted(len(document.text), 'character')}, {counted(len(document.chunks), 'chunk')}, "
        f"{document.chunker_version}"
    )
    for chunk in document.chunks:
        emit_text(visible(_preview(chunk)))


@app.command("uses")
def uses(
    ctx: typer.Context,
    doc_id: Annotated[str, typer.Argument(help="Id of the document.")],
    json_output: JsonFlag = False,
) -> None:
    """Show where a document was judged, and which queries of the newest runs found it."""
    with connected(ctx) as assay:
        found = assay.document_uses(doc_id)
    if json_output:
        emit_json(found)
        return
    if found.judged:
        rows = [(one.test_set, str(one.grade), visible(one.query_text)) for one in found.judged]
        emit_columns([("judged in", "grade", "query"), *rows])
    if found.found:
        rows = [(one.run_id, str(one.rank), visible(one.query_text)) for one in found.found]
        emit_columns([("found in", "rank", "query"), *rows])
    for line in found.notes:
        note(f"note: {line}")


def _preview(chunk: "Chunk") -> str:
    labels = [chunk.section_label, chunk.intent_hint, "table" * chunk.is_table]
    if chunk.speaker_role != "UNKNOWN":
        labels.append(str(chunk.speaker_role))
    spans = ", ".join(f"{start}-{end}" for start, end in chunk.spans)
    text = " ".join(chunk.text.split())
    shown = text if len(text) <= PREVIEW else f"{text[:PREVIEW]}..."
    return f"\n{chunk.chunk_id}  [{spans}]  {' · '.join(filter(None, labels))}\n  {shown}"


def _judged(assay: "Assay", doc_ids: Iterable[str]) -> dict[str, list[str]]:
    """The test sets in which the first of the documents are judged."""
    found = {}
    for doc_id in islice(dict.fromkeys(doc_ids), LOOKED_AT):
        with suppress(AssayError):  # deleting says what is wrong with an id
            found[doc_id] = sorted({use.test_set for use in assay.document_uses(doc_id).judged})
    return {doc_id: names for doc_id, names in found.items() if names}


@app.command("delete")
def delete(
    ctx: typer.Context,
    doc_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    json_output: JsonFlag = False,
) -> None:
    """Delete documents and update the index; if any id is unknown, nothing is deleted."""
    from assay.cli.progress import staged_progress

    with connected(ctx) as assay, staged_progress(assay.settings.color) as progress:
        judged = _judged(assay, doc_ids)
        written = assay.delete(doc_ids, progress)
    for doc_id, test_sets in judged.items():
        note(
            f"warning: {doc_id} is judged in {', '.join(test_sets)}: no search finds it any more, "
            "so these queries score less"
        )
    if json_output:
        emit_json(written)
    else:
        chunks = counted(written.chunks, "chunk")
        emit_text(f"{counted(written.deleted, 'document')} deleted, {chunks}")
