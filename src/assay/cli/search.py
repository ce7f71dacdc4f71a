"""How does a question get its answer on the command line?"""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli import search_options
from assay.cli.console import emit_json, emit_text, note, stdout_console
from assay.cli.opening import is_remote, refuse_with_server
from assay.cli.options import DEGRADED, JsonFlag, configuration
from assay.cli.search_options import switch
from assay.plural import counted

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from assay.app.workspace import Workspace
    from assay.config import Configuration
    from assay.search.response import SearchHit, SearchResponse

MOST_SECTIONS = 30  # that a note names


def command(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    k: Annotated[int, typer.Option("-k", help="How many results.")] = 10,
    offset: Annotated[int, typer.Option(help="Results to pass over, for the next page.")] = 0,
    components: search_options.Components = None,
    fusion: search_options.Fusion = None,
    weights: search_options.Weights = None,
    rrf_k: search_options.RrfK = None,
    per_type_weights: search_options.PerTypeWeights = None,
    normalization: search_options.Normalization = None,
    depth: search_options.Depth = None,
    rerank: search_options.Rerank = None,
    reranker: search_options.Reranker = None,
    intent: Annotated[
        str | None, typer.Option(help="tabular, eligibility, ... or none, instead of guessing.")
    ] = None,
    query_type: Annotated[
        str | None, typer.Option(help="exact_term, paraphrase or complex_clinical.")
    ] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="PATIENT or CLINICIAN only.")] = None,
    section: Annotated[list[str] | None, typer.Option(help="These sections only.")] = None,
    interview: Annotated[list[str] | None, typer.Option(help="These interviews only.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="These sources only.")] = None,
    mode: Annotated[list[str] | None, typer.Option(help="OFFLINE or LIVE only.")] = None,
    doc: Annotated[list[str] | None, typer.Option(help="These documents only.")] = None,
    tables: Annotated[
        bool | None, typer.Option("--tables/--no-tables", help="Only tables, or none.")
    ] = None,
    boosts: search_options.Boosts = None,
    synonyms: Annotated[str | None, typer.Option(help="File of synonyms, or none.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Account for every score.")] = False,
    why: Annotated[
        str | None, typer.Option(help="Say why this document or chunk is not in the results.")
    ] = None,
    json_output: JsonFlag = False,
) -> int:
    """Search documents, with every score explained."""
    ranking: dict[str, Any] = {
        "components": components,
        "rrf_k": rrf_k,
        "weights": weights,
        "normalization": normalization,
        "depth": depth,
        "reranker": reranker,
    }
    config = configuration(
        ctx,
        **ranking,
        fusion=fusion,
        per_type_weights=switch(per_type_weights),
        rerank=switch(rerank),
        boosts=switch(boosts),
        synonyms=synonyms,
    )
    if is_remote(config):
        refuse_with_server("assay search", synonyms=synonyms)
        asked = {
            **ranking,
            "k": k,
            "offset": offset,
            "query_intent": intent,
            "query_type": query_type,
            "fusion_method": fusion,
            "per_type_weights": per_type_weights,
            "rerank": rerank,
            "boosts": boosts,
            "is_table": tables,
            "speaker": speaker,
            "section": section,
            "interview_id": interview,
            "source": source,
            "ingestion_mode": mode,
            "doc_id": doc,
        }
        return _from_service(config, query, why, asked, explain=explain, as_json=json_output)
    from assay.search.check import make_filters

    filters = make_filters(
        is_table=tables,
        speaker_role=speaker or (),
        section_label=section or (),
        interview_id=interview or (),
        source=source or (),
        ingestion_mode=mode or (),
        doc_id=doc or (),
    )
    options: dict[str, Any] = {"k": k, "offset": offset, "query_intent": intent, "filters": filters}
    options |= _given(components=components, query_type=query_type)
    if why is None:
        return _search(config, query, options, json_output, explain=explain)
    return _why(config, query, why, options, json_output)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _search(
    config: "Configuration", query: str, options: dict[str, Any], as_json: bool, *, explain: bool
) -> int:
    from assay.app.workspace import Workspace

    with Workspace(config) as workspace:
        response = workspace.search(query, **options)
        tell_if_incomplete(workspace)
        if not response.results and (asked := options["filters"].section_label):
            _tell_sections(workspace, asked)
    return _shown(config, response, as_json, explain=explain)


def _from_service(
    config: "Configuration",
    query: str,
    why: str | None,
    asked: dict[str, Any],
    *,
    explain: bool,
    as_json: bool,
) -> int:
    """The same answer, from a service."""
    from assay.cli.remote import client, response_of

    with client(config) as service:
        if why is not None:
            found = service.why(query, why, **asked)
            if as_json:
                emit_json(found)
            else:
                verdict = found["verdict"].replace("_", " ")
                emit_text(f"{found['document']}: {verdict}\n  {found['sentence']}")
            return 0
        response = response_of(service.search(query, **asked))
    return _shown(config, response, as_json, explain=explain)


def _shown(
    config: "Configuration", response: "SearchResponse", as_json: bool, *, explain: bool
) -> int:
    if as_json:
        emit_json(response.to_dict())
    else:
        show(response, config.color, explain=explain)
    return DEGRADED if response.degraded else 0


def tell_if_incomplete(workspace: "Workspace") -> None:
    """What was not read or not indexed cannot be found; say so, it looks like a poor search."""
    if workspace.store.counts()["documents"] == 0:
        note(f"note: the workspace {workspace.home} holds no documents yet (assay ingest PATH)")
    else:
        tell_if_behind(workspace)


def tell_if_behind(workspace: "Workspace", word: str = "note") -> None:
    """What is stored and not indexed cannot be found; where nobody can tell, nothing is said."""
    from assay.errors import AssayError

    with suppress(AssayError):
        if (behind := workspace.changes_behind()) > 0:
            told = counted(behind, "document change", "is")
            note(f"{word}: {told} not indexed yet (assay index update)")


def _tell_sections(workspace: "Workspace", asked: tuple[str, ...]) -> None:
    """Name the sections there are, where none of those asked for is among them."""
    known = workspace.store.places.sections()
    if known and not set(asked) & set(known):
        named = ", ".join(known[:MOST_SECTIONS]) + ("" if len(known) <= MOST_SECTIONS else ", ...")
        note(f"note: no document has a section {asked[0]!r:.60}; known: {named}")


def _why(
    config: "Configuration", query: str, wanted: str, options: dict[str, Any], as_json: bool
) -> int:
    from assay.app.workspace import Workspace
    from assay.render.search import absence

    with Workspace(config) as workspace:
        why = workspace.searcher.why(query, wanted, **options)
    if as_json:
        emit_json(why.to_dict())
    else:
        emit_text("\n".join(absence(why)))
    return 0


def show(response: "SearchResponse", color: str, *, explain: bool = False) -> None:
    """Print an answer for people; what is missing from it goes to stderr."""
    from assay.render import search as words

    emit_text("\n".join([words.headline(response), *words.understood(response)]))
    if response.results:
        stdout_console(color).print(_table(response, explain=explain))
    else:
        emit_text("nothing found")
    for line in words.troubles(response):
        note(line)


def _table(response: "SearchResponse", *, explain: bool) -> "Table":
    from rich.table import Table

    from assay.render import search as words
    from assay.render.snippet import stems

    wanted = stems(" ".join((response.query, *response.synonyms)))
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

    from assay.cli.streams import printable
    from assay.render.search import account
    from assay.render.snippet import snippet

    chunk = hit.chunk
    marks = [chunk.chunk_id, chunk.section_label, "table" if chunk.is_table else ""]
    if chunk.speaker_role != "UNKNOWN":
        marks.append(str(chunk.speaker_role))
    part = snippet(printable(chunk.text), wanted)
    body = Text(part.text)
    for start, end in part.marks:
        body.stylize("bold", start, end)
    lines = [
        Text(printable(chunk.title) or chunk.doc_id, style="bold"),
        Text(" · ".join(filter(None, marks)), style="cyan"),
        body,
    ]
    if explain:
        lines += [Text(line, style="dim") for line in account(hit)]
    return Text("\n").join(lines)
