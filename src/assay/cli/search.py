"""What does a search find, and why?"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.connection import connected, refuse_remote
from assay.cli.console import emit_json, emit_text, note, stdout_console
from assay.cli.options import DEGRADED, JsonFlag, takes_search_options
from assay.search.request import SEARCH_NAMES

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from assay.search.response import SearchHit, SearchResponse
    from assay.search.why import Why


@takes_search_options(SEARCH_NAMES, "given")
def command(
    ctx: typer.Context,
    *,
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    given: Mapping[str, Any],
    synonyms: Annotated[
        str | None, typer.Option(help="File of synonyms, built-in, or none.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Account for every score.")] = False,
    why: Annotated[
        str | None, typer.Option(help="Say why this document or chunk is not in the results.")
    ] = None,
    json_output: JsonFlag = False,
) -> int:
    """Search documents, with every score explained."""
    from assay.app.search import hints
    from assay.search.request import read_changes

    changes = read_changes(given)
    with connected(ctx, synonyms=synonyms) as assay:
        refuse_remote(assay.settings, "assay search", synonyms=synonyms)
        if why is not None:
            absence = assay.why(query, why, **changes)
            _show_absence(absence, as_json=json_output)
            return 0
        response = assay.search(query, **({"terms": True} if explain else {}) | changes)
        for line in hints(assay, response, changes):
            note(f"note: {line}")
    if json_output:
        emit_json(response)
    else:
        show(response, assay.settings.color, explain=explain)
    return DEGRADED if response.degraded else 0


def _show_absence(absence: "Why", *, as_json: bool) -> None:
    from assay.render import search as words

    if as_json:
        emit_json(absence)
    else:
        emit_text("\n".join(words.absence(absence)))


def show(response: "SearchResponse", color: str, *, explain: bool = False) -> None:
    """Print an answer for people; what is missing from it goes to stderr."""
    from assay.render import search as words

    said = [words.headline(response), *words.understood(response), *words.facets(response)]
    emit_text("\n".join(said))
    if response.results:
        stdout_console(color).print(_table(response, explain=explain))
    elif response.withheld:
        emit_text(f"{response.nothing_about} (--no-floor shows the nearest results)")
    else:
        emit_text("nothing found")
    for line in words.troubles(response):
        note(line)


def _table(response: "SearchResponse", *, explain: bool) -> "Table":
    from rich.table import Table

    from assay.render import search as words
    from assay.search.snippet import wanted_stems

    wanted = wanted_stems(response.query, response.synonyms)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0))
    table.add_column("#", justify="right", style="bold")
    table.add_column("score", justify="right")
    table.add_column("what was found", ratio=1)
    table.add_column("found by", no_wrap=True)
    table.add_column("lifted", no_wrap=True)
    for hit in response.results:
        table.add_row(
            str(hit.rank),
            f"{hit.score:.4f}",
            _cell(hit, wanted, explain=explain),
            "\n".join(words.found_by(hit)),
            words.boost(hit).replace(" ", "\n", 1),
        )
    return table


def _cell(hit: "SearchHit", wanted: set[str], *, explain: bool) -> "Text":
    from rich.text import Text

    from assay.render.escape import visible
    from assay.render.search import account, folded, terms
    from assay.search.snippet import snippet

    chunk = hit.chunk
    where = f"page {chunk.page}" if chunk.page else ""
    marks = [chunk.chunk_id, where, chunk.section_label, "table" if chunk.is_table else ""]
    if chunk.speaker_role != "UNKNOWN":
        marks.append(str(chunk.speaker_role))
    part = snippet(visible(chunk.text), wanted)
    body = Text(part.text)
    for start, end in part.marks:
        body.stylize("bold", start, end)
    lines = [
        Text(visible(chunk.title) or chunk.doc_id, style="bold"),
        Text(" · ".join(filter(None, marks)), style="cyan"),
        body,
    ]
    lines += [Text(line, style="cyan") for line in folded(hit)]
    said = account(hit) if explain else terms(hit)
    lines += [Text(line, style="dim") for line in said]
    return Text("\n").join(lines)
