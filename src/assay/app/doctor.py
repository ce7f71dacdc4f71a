"""Is this installation fit for work, and if not, what should be done?

Each check looks at one thing and answers with a finding: ``ok``, ``note`` (works, but something is
worth knowing) or ``fault`` (something will not work), in words and with a hint.
"""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from assay import compiled, extras
from assay.app.workspace import Workspace
from assay.errors import AssayError
from assay.extras import is_here
from assay.plural import counted
from assay.settings import Settings
from assay.version import __version__

LOW_DISK_BYTES = 1 << 30
MANY_SEGMENTS = 200  # with more of them, opening the index takes a noticeable time


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    NOTE = "note"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw, and what to do about it."""

    name: str
    state: State
    says: str
    hint: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Every check, in the order in which things depend on each other."""
    with Workspace(settings) as workspace:
        checks: tuple[tuple[str, Callable[[Workspace], Iterator[Finding]]], ...] = (
            ("assay", _program),
            ("extras", _extras),
            ("disk", _disk),
            ("access", _access),
            ("models", _models),
            ("reranker", _reranker),
            ("components", _own_components),
            ("gpu", _gpu),
            ("store", _store),
            ("vectors", _vectors),
            ("cluster", _credentials),
            ("cluster", _cluster),
            ("index", _index),
            ("test sets", _test_sets),
            ("configurations", _configurations),
        )
        return [finding for name, check in checks for finding in _tried(name, check, workspace)]


def _tried(
    name: str, check: Callable[[Workspace], Iterator[Finding]], workspace: Workspace
) -> list[Finding]:
    try:
        return list(check(workspace))
    except AssayError as error:
        return [Finding(name, State.FAULT, error.message, error.hint or "")]


def _program(_: Workspace) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("assay", State.OK, f"{__version__} on Python {version}")
    if compiled.library() is not None:
        yield Finding("compiled code", State.OK, "found")
    else:
        hint = "install a C compiler, then reinstall assay (make setup in a checkout)"
        yield Finding("compiled code", State.OK, "none: scoring and search are slower", hint)


def _extras(_: Workspace) -> Iterator[Finding]:
    for extra in ("search", "serve", "frames"):
        lacking = [
            name for name, of in extras.EXTRA_OF.items() if of == extra and not is_here(name)
        ]
        if lacking:
            says = f"not installed: {', '.join(lacking)}"
            yield Finding(f"extra {extra}", State.NOTE, says, extras.missing(lacking[0]).hint or "")


def _disk(workspace: Workspace) -> Iterator[Finding]:
    place = workspace.home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    state = State.OK if free > LOW_DISK_BYTES else State.NOTE
    yield Finding("disk", state, f"{free / 1e9:.1f} GB free at {place}")


def _access(workspace: Workspace) -> Iterator[Finding]:
    """Who may read what is kept here: documents, and the hashes of keys."""
    if not workspace.home.exists():
        return
    if others := stat.S_IMODE(workspace.home.stat().st_mode) & 0o077:
        who = "everybody" if others & 0o007 else "a group"
        says = f"{workspace.home} is open to {who} on this machine"
        yield Finding("access", State.NOTE, says, f"chmod -R go= {workspace.home}")
    else:
        yield Finding("access", State.OK, f"{workspace.home} is its owner's alone")


def _models(workspace: Workspace) -> Iterator[Finding]:
    from assay.app.engine import (
        SIGNALS,
        lacking_models,
        made_by,
        model_name,
        model_shelf,
        newer_models,
    )
    from assay.encode.service import is_address
    from assay.encode.shelf import faults, how_to_get

    if not is_here("onnxruntime"):
        yield Finding("models", State.NOTE, "none is used without the extra search")
        return
    settings, made = workspace.settings, made_by(workspace)
    here, lacking = model_shelf(settings), lacking_models(workspace, made)
    has_chunks = _has_chunks(workspace)
    for role in reversed(SIGNALS):
        name = model_name(settings, role, made)
        if name is None:
            yield Finding(f"model {role}", State.NOTE, "switched off", f"set {role}_model")
            continue
        if is_address(name):
            yield _answering(settings, "dense", name)
            continue
        if role in lacking:
            says = f"{name} is not on this machine: search goes without it"
            hint = f"assay models pull {name}, then assay index update"
            yield Finding(f"model {role}", State.NOTE, says, hint)
            continue
        try:
            found = here.require(name)
        except AssayError as error:
            yield Finding(f"model {role}", State.FAULT, error.message, error.hint or "")
            continue
        wrong = faults(found.folder, found.card.files)
        if wrong:
            says = f"{found.folder}: {wrong[0]}"
            yield Finding(f"model {role}", State.FAULT, says, how_to_get(found.card))
        elif newer := newer_models(settings, made).get(role):
            says = f"{name} in {found.folder}; the default is {newer} now"
            yield Finding(f"model {role}", State.NOTE, says, "assay index reencode moves to it")
        elif role not in made and has_chunks:
            says = f"{name} in {found.folder}; the index was made without it"
            yield Finding(f"model {role}", State.NOTE, says, "assay index update")
        else:
            yield Finding(f"model {role}", State.OK, f"{name} in {found.folder}")


def _reranker(workspace: Workspace) -> Iterator[Finding]:
    """A reranker behind an address; one of this machine is needed only where it is asked for."""
    from assay.encode.service import is_address

    if is_address(workspace.settings.search.reranker):
        yield _answering(workspace.settings, "reranker", workspace.settings.search.reranker)


def _answering(settings: Settings, role: Literal["dense", "reranker"], name: str) -> Finding:
    """Whether the service behind an address answers; it is asked one short text."""
    from assay.app.engine import key_variable
    from assay.encode.service import ServiceDense, ServiceReranker, read_address

    what = "reranker" if role == "reranker" else f"model {role}"
    try:
        address, variable = read_address(name), key_variable(settings, role, name)
        if role == "reranker":
            ServiceReranker(address, variable).probe()
            return Finding(what, State.OK, f"{name} answers")
        dimension = ServiceDense(address, variable).probe()
    except AssayError as error:
        return Finding(what, State.FAULT, error.message, error.hint or "")
    return Finding(what, State.OK, f"{name} answers with vectors of {dimension} numbers")


def _has_chunks(workspace: Workspace) -> bool:
    try:
        return workspace.exists() and workspace.store.counts()["chunks"] > 0
    except AssayError:  # the check of the store says what is wrong with it
        return False


def _own_components(workspace: Workspace) -> Iterator[Finding]:
    for name, own in workspace.own_components.items():
        what = f"component {name}"
        if own.problem:
            hint = "PYTHONPATH or the working folder must have the module of own_components"
            yield Finding(what, State.FAULT, own.problem, hint)
        else:
            yield Finding(what, State.OK, own.spec)


def _gpu(_: Workspace) -> Iterator[Finding]:
    from assay.encode.torch_gpu import gpu_available

    if gpu_available():
        yield Finding("gpu", State.OK, "found by torch")
    else:
        yield Finding("gpu", State.OK, "none, and none is needed", "only some rerankers use one")


def _store(workspace: Workspace) -> Iterator[Finding]:
    if not workspace.exists() and workspace.layout.index.exists():
        says, hint = f"{workspace.database} is missing", "assay restore puts a backup into a folder"
        yield Finding("store", State.FAULT, says, hint)
        return
    if not workspace.exists():
        yield Finding(
            "store", State.NOTE, f"no workspace at {workspace.home} yet", "assay ingest PATH"
        )
        return
    from assay.store.check import problems

    if found := problems(workspace.database):
        hint = "assay restore puts a backup into a new folder; keep the damaged file"
        yield from (Finding("store", State.FAULT, one, hint) for one in found)
        return
    if _emptied(workspace):
        says = f"{workspace.database} is empty, yet the index was made from documents"
        yield Finding("store", State.FAULT, says, "assay restore puts a backup into a folder")
        return
    counts = workspace.store.counts()
    documents, chunks = counted(counts["documents"], "document"), counted(counts["chunks"], "chunk")
    says = f"{documents}, {chunks} in {workspace.home}"
    yield Finding("store", State.OK, says)


def _emptied(workspace: Workspace) -> bool:
    """Whether nothing was ever written to the database, and still an index was made of it.

    SQLite takes a file of no bytes for a new database.
    """
    try:
        return not workspace.store.last_change() and workspace.changes_behind() < 0
    except AssayError:  # the check of the index says what is wrong with it
        return False


def _vectors(workspace: Workspace) -> Iterator[Finding]:
    from assay.encode.cache import damage

    for path in sorted((workspace.layout.vectors).glob("*.db")):
        if wrong := damage(path):
            hint = "delete it: the vectors are computed again from the texts"
            yield Finding("vectors", State.FAULT, f"{path} was damaged: {wrong}", hint)


def _credentials(workspace: Workspace) -> Iterator[Finding]:
    cluster = workspace.cluster
    for url in () if cluster is None else cluster.transport.exposed:
        says = f"credentials go to {url} unencrypted"
        yield Finding("cluster", State.NOTE, says, "https in opensearch_url")


def _cluster(workspace: Workspace) -> Iterator[Finding]:
    cluster = workspace.cluster
    if cluster is None:
        return
    if lacking := cluster.unfit():
        yield from (Finding("cluster", State.FAULT, what, hint) for what, hint in lacking)
        return
    card = cluster.card(cluster.current())
    state = State.OK if card["cluster"]["status"] == "green" else State.NOTE
    says = f"{card['engine']}, {card['cluster']['nodes']} nodes, {card['cluster']['status']}"
    yield Finding("cluster", state, says)


def _test_sets(workspace: Workspace) -> Iterator[Finding]:
    from assay.app.testsets import due_sets, list_sets

    for entry in list_sets(workspace.layout):
        if not entry.shipped and entry.reading and (problems := entry.reading.problems):
            hint = f"assay testset validate {entry.name}"
            yield Finding("test set", State.FAULT, f"{entry.path}: {problems[0].message}", hint)
    for due in due_sets(workspace.layout):
        if due.overdue:
            hint = f"assay testset sample {due.name}"
            yield Finding("test set", State.NOTE, str(due), hint)


def _configurations(workspace: Workspace) -> Iterator[Finding]:
    from assay.app.configurations import list_configurations, read_configuration

    for name in list_configurations(workspace.layout):
        path = workspace.layout.configuration(name)
        try:
            read_configuration(str(path))
        except AssayError as error:
            hint = "mend or delete the file; save the configuration again where you search"
            yield Finding("configuration", State.FAULT, error.message, hint)


def _index(workspace: Workspace) -> Iterator[Finding]:
    if not workspace.exists() or not workspace.store.counts()["chunks"]:
        return
    from assay.index.origin import BEHIND

    for problem in (problems := workspace.check_index()):
        stale = problem.endswith(BEHIND)
        state, verb = (State.NOTE, "update") if stale else (State.FAULT, "rebuild")
        yield Finding("index", state, problem, f"assay index {verb}")
    if not problems:
        yield _wear(workspace.index_card())


def _wear(card: Mapping[str, Any]) -> Finding:
    """A sound index is slower the more segments and deleted chunks it has."""
    says = f"generation {card['generation']}, sound and up to date"
    segments, dead = card.get("segments", 0), card.get("dead_rows", 0)
    if segments > MANY_SEGMENTS:
        says += f", but in {segments} segments"
    elif dead > card["chunks"]:
        says += f", but {dead} of its chunks were replaced or deleted"
    else:
        return Finding("index", State.OK, says)
    return Finding("index", State.NOTE, says, "assay index compact")
