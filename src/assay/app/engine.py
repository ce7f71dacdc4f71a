"""How are the models, the index and the cluster of a workspace opened and joined to a search?

The only place that builds encoders, components and searchers from settings.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from assay import extras, limits
from assay.errors import AssayError, CorruptError, EngineError, UsageError
from assay.model.answers import Usage
from assay.search.request import COMPONENTS, SearchOptions, without_components
from assay.settings import SETTINGS

if TYPE_CHECKING:
    from assay.app.workspace import Workspace
    from assay.encode.shelf import Shelf
    from assay.index.reader import Generation
    from assay.index.writer import Encoders
    from assay.model.answers import Answerer
    from assay.model.document import ChunkLabels, KeyedChunk
    from assay.model.judges import GivenJudge, Judge
    from assay.model.query import Component
    from assay.model.system import System
    from assay.model.vectors import (
        DenseEncoder,
        Entailment,
        Reranker,
        SearchEncoder,
        SparseEncoder,
    )
    from assay.opensearch.cluster import Cluster
    from assay.search.own_components import IndexedChunks
    from assay.search.searcher import Searcher
    from assay.search.snapshot import Snapshot
    from assay.search.synonyms import Synonyms
    from assay.settings import Settings

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with (stage, done, total); a total of 0 is not known."""


Signal: TypeAlias = Literal["dense", "splade"]
SIGNALS: tuple[Signal, ...] = ("dense", "splade")
NO_MODEL = "the configuration has no model for it"


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


# Models


def model_shelf(settings: Settings) -> Shelf:
    """Where models are looked for: in the workspace, then in the folder that all share."""
    from assay.encode.shelf import shelf

    return shelf(settings.home, settings.models)


CONFIGURED = "configured"
"""The judge that the settings name."""
GRADED_ANSWERS = 30
"""Answers of a judged run that are drawn for people, where nobody says how many."""


def model_name(settings: Settings, role: Signal, made: Mapping[str, str]) -> str | None:
    """The model for a signal, None where the settings want none.

    ``made`` are the models that made the index. A default changes with versions of assay, so where
    nobody chose a model, the index stays with its own until it is moved (``assay index reencode``).
    """
    from assay.encode.catalog import CARDS, named_in

    name: str | None = settings.value(f"{role}_model")
    if name is None or settings.origins.get(f"{role}_model") != "default":
        return name
    used = named_in(made.get(role, ""))
    return used if used in CARDS else name


def model_for(workspace: Workspace, role: Signal, made: Mapping[str, str]) -> str | None:
    """The same for this machine: where nobody chose a model and it is not here, none.

    An index that a model made keeps to it, so that a machine without it never takes it apart.
    """
    settings = workspace.settings
    name = model_name(settings, role, made)
    if name is None or role in made or settings.origins.get(f"{role}_model") != "default":
        return name
    return name if workspace.opened_models.is_here(name) else None


def lacking_models(workspace: Workspace, made: Mapping[str, str]) -> dict[str, str]:
    """The default models that are not on this machine, by the signal that goes without."""
    names = {role: model_name(workspace.settings, role, made) for role in SIGNALS}
    return {
        role: name
        for role, name in names.items()
        if name is not None and model_for(workspace, role, made) is None
    }


def words_only(lacking: Mapping[str, str]) -> str:
    """What to tell of models that are not here; an empty text where none is lacking."""
    if not lacking:
        return ""
    names = list(dict.fromkeys(lacking.values()))
    verb = "is" if len(names) == 1 else "are"
    how = "by words alone" if set(lacking) == set(SIGNALS) else f"without {next(iter(lacking))}"
    return (
        f"{how}: {' and '.join(names)} {verb} not on this machine "
        "(assay models pull, then assay index update)"
    )


def goes_without(workspace: Workspace) -> str:
    """What the index lacks: vectors of models that are not here, or of a service that was down."""
    from assay.encode.service import is_address

    made = made_by(workspace)
    if said := words_only(lacking_models(workspace, made)):
        return said
    name = model_name(workspace.settings, "dense", made)
    if name is None or not is_address(name) or "dense" in made:
        return ""
    return f"without dense: {name} has given no vectors yet (assay index update)"


def usual_options(workspace: Workspace) -> SearchOptions:
    """The options of a search that names none: components without a model are not asked."""
    settings = workspace.settings
    return without_components(settings.search, lacking_models(workspace, made_by(workspace)))


def newer_models(settings: Settings, made: Mapping[str, str]) -> dict[str, str]:
    """The default models that an index of these models could be moved to, by signal."""
    wanted = {role: settings.value(f"{role}_model") for role in SIGNALS}
    return {
        role: name
        for role, name in wanted.items()
        if name is not None and role in made and model_name(settings, role, made) != name
    }


def model_weights(made: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The weights that suit an index whose signals come from one model, by fusion method."""
    from assay.encode.catalog import CARDS, named_in
    from assay.search.request import FusionMethod

    used = {named_in(made.get(role, "")) for role in SIGNALS}
    card = CARDS.get(used.pop()) if len(used) == 1 else None
    if card is None:
        return {}
    known = {FusionMethod.RRF: card.rrf_weights, FusionMethod.WEIGHTED: card.score_weights}
    return {str(method): dict(weights) for method, weights in known.items() if weights}


class OpenModels:
    """The encoders of a workspace, each opened once, when it is first used."""

    def __init__(self, settings: Settings, kept: Path) -> None:
        self._settings, self._kept = settings, kept
        self._lock = threading.Lock()
        self._opened: dict[tuple[str, Signal], DenseEncoder | SparseEncoder] = {}

    def dense(self, name: str | None) -> DenseEncoder | None:
        """The dense model of that name."""
        found: Any = self._open(name, "dense")
        return cast("DenseEncoder | None", found)

    def sparse(self, name: str | None) -> SparseEncoder | None:
        """The sparse model of that name."""
        found: Any = self._open(name, "splade")
        return cast("SparseEncoder | None", found)

    def usage(self) -> list[str]:
        """What was asked of models behind addresses, a line each."""
        used = {name: getattr(one, "usage", None) for (name, _), one in self._opened.items()}
        return [f"{name}: {usage}" for name, usage in used.items() if usage and usage.requests]

    def spent(self) -> Usage:
        """Tokens and cost of all that was asked of models behind addresses so far."""
        used = [getattr(one, "usage", None) for one in self._opened.values()]
        known = [one for one in used if one is not None]
        return Usage(sum(one.cost for one in known), sum(one.tokens for one in known))

    def is_here(self, name: str) -> bool:
        """Whether the model of that name is on this machine, intact or not."""
        from assay.encode.catalog import CARDS

        return name not in CARDS or model_shelf(self._settings).find(CARDS[name]) is not None

    def _open(self, name: str | None, role: Signal) -> DenseEncoder | SparseEncoder | None:
        from assay.encode import encoders

        if name is None:
            return None
        with self._lock:
            if (name, role) not in self._opened:
                here, threads = model_shelf(self._settings), self._settings.threads
                whole = encoders.open_hybrid(name, here, threads=threads, kept=self._kept)
                if whole is not None:
                    self._opened |= {(name, "dense"): whole.dense, (name, "splade"): whole.sparse}
                elif role == "dense":
                    variable = key_variable(self._settings, "dense", name)
                    self._opened[name, role] = encoders.open_dense(
                        name, here, threads=threads, key_variable=variable
                    )
                else:
                    self._opened[name, role] = encoders.open_sparse(name, here, threads=threads)
            return self._opened[name, role]


def made_by(workspace: Workspace) -> Mapping[str, str]:
    """The models that made the index; none where there is no index that can be read."""
    try:
        return models(workspace)
    except AssayError:
        return {}


def key_variable(settings: Settings, role: Literal["dense", "reranker"], name: str) -> str | None:
    """The variable with the key of a model behind an address; None where it needs none.

    Only the settings may name the address of a reranker: a request, or a configuration that
    somebody saved, sends nothing anywhere.
    """
    from assay.encode.service import is_address

    if not is_address(name):
        return None
    if role == "reranker" and name != settings.search.reranker:
        raise UsageError(
            f"reranker: {name!r:.80} is an address, and only the setting may name one",
            hint=f"set {SETTINGS['reranker'].env}",
        )
    variable: str | None = settings.value(f"{role}_key_variable")
    return variable


def _reranker(settings: Settings, name: str) -> Reranker:
    from assay.encode.encoders import open_reranker

    variable = key_variable(settings, "reranker", name)
    return open_reranker(
        name, model_shelf(settings), threads=settings.threads, key_variable=variable
    )


def cached_encoders(
    workspace: Workspace,
    stack: ExitStack,
    progress: Progress,
    made: Mapping[str, str],
    folder: Path | None = None,
) -> Encoders:
    """The models as an index writer calls them: texts seen before come from the cache.

    ``made`` are the models of the index that is written on; none of a new one. ``folder`` is where
    the cache is, if not in the workspace.
    """
    from assay.encode.cache import VectorCache
    from assay.encode.corpus import EncodeProgress, encode_both, encode_dense, encode_sparse
    from assay.index.writer import Encoders
    from assay.model.vectors import whole_of

    def report(stage: str) -> Callable[[EncodeProgress], None]:
        return lambda state: progress(stage, state.done, state.total)

    def cache(model: str) -> VectorCache:
        return stack.enter_context(VectorCache(folder or workspace.layout.vectors, model))

    dense, sparse = workspace.encoders(made)
    whole = whole_of(dense)
    if whole is not None and whole is whole_of(sparse):
        both_cache = cache(whole.model_id)
        return Encoders(
            both=lambda texts: encode_both(whole, texts, both_cache, progress=report("encode")),
            dense_model=whole.model_id,
            sparse_model=whole.model_id,
            vocabulary=whole.vocabulary,
        )
    parts: dict[str, Any] = {}
    if dense is not None:
        dense_cache = cache(dense.model_id)
        parts |= {
            "dense": lambda texts: encode_dense(
                dense, texts, dense_cache, progress=report("dense")
            ),
            "dense_model": dense.model_id,
        }
    if sparse is not None:
        sparse_cache = cache(sparse.model_id)
        parts |= {
            "sparse": lambda texts: encode_sparse(
                sparse, texts, sparse_cache, progress=report("splade")
            ),
            "sparse_model": sparse.model_id,
            "vocabulary": sparse.vocabulary,
        }
    return Encoders(**parts)


def open_answerer(workspace: Workspace) -> Answerer:
    """What turns results into an answer, as the settings name it."""
    from assay.answers import answerers

    settings = workspace.settings
    return answerers.open_answerer(
        settings.answerer,
        dense_model=model_for(workspace, "dense", made_by(workspace)) or "",
        model=settings.answer_model,
        key_variable=settings.answer_key_variable,
        seconds=settings.answer_seconds,
    )


def open_judge(workspace: Workspace, judge: str | GivenJudge) -> Judge:
    """A judge whose opinions are kept in the workspace."""
    from assay.judges.kept import KeptJudge

    return KeptJudge(judge_of(workspace.settings, judge), workspace.opinions)


def judge_of(settings: Settings, judge: str | GivenJudge) -> Judge:
    """The judge that a name, a function or an object means; nothing that it says is kept."""
    from assay.judges import judges

    if not isinstance(judge, str):
        return judges.given_judge(judge, settings.judge_seconds)
    return judges.open_judge(
        settings.judge if judge == CONFIGURED else judge,
        entailment_model=lambda: shipped_entailment(settings),
        relevance_model=lambda: shipped_encoder(settings),
        model=settings.judge_model,
        key_variable=settings.judge_key_variable,
        seconds=settings.judge_seconds,
        concurrency=settings.judge_concurrency,
        prompts=settings.judge_prompts,
    )


def shipped_entailment(settings: Settings) -> Entailment:
    """The model that says whether passages support statements."""
    from assay.encode.catalog import DEFAULTS
    from assay.encode.encoders import open_entailment

    return open_entailment(DEFAULTS["entailment"], model_shelf(settings), threads=settings.threads)


def shipped_encoder(settings: Settings) -> SearchEncoder:
    """The encoder that thresholds of relevance were made for, whichever one the index has."""
    from assay.encode.catalog import DEFAULTS
    from assay.encode.encoders import open_hybrid

    found = open_hybrid(DEFAULTS["dense"], model_shelf(settings), threads=settings.threads)
    assert found is not None
    return found


# Index and cluster

NEWEST_S = 1.0
"""How long a search may wait for the name of the newest generation on a cluster."""


def open_cluster(settings: Settings, stack: ExitStack) -> Cluster:
    """The cluster that the settings name; ``stack`` closes its connections."""
    from assay.opensearch.cluster import Cluster, Shape
    from assay.opensearch.transport import Credentials, Transport

    transport = Transport(
        settings.opensearch_url or "",
        Credentials(
            user=settings.opensearch_user or "",
            password=settings.opensearch_password or "",
            api_key=settings.opensearch_api_key or "",
            ca=settings.opensearch_ca,
        ),
    )
    stack.callback(transport.close)
    shape = Shape(
        settings.opensearch_prefix,
        settings.opensearch_shards,
        settings.opensearch_replicas,
        settings.opensearch_refresh,
    )
    return Cluster(transport, shape)


def generation(workspace: Workspace) -> Generation:
    """The current generation of the index, opened; refused where it is of another store."""
    extras.require("Stemmer")
    from assay.index.manifest import load
    from assay.index.origin import FOREIGN, is_foreign
    from assay.index.reader import open_generation
    from assay.index.writer import cut_words_anew, outdated

    workspace.require()
    found = load(workspace.layout.index)
    if outdated(found) and not is_foreign(found.applied, found.card, workspace.store):
        cut_words_anew(workspace.layout.index, workspace.store)
    store = workspace.store
    opened = open_generation(workspace.layout.index, metadata=store.metadata_by_key)
    if is_foreign(opened.manifest.applied, opened.manifest.card, workspace.store):
        raise CorruptError(FOREIGN, hint="assay index rebuild")
    return opened


def generation_name(workspace: Workspace) -> str:
    """The newest generation, without opening it."""
    if workspace.cluster is not None:
        return workspace.cluster.current(NEWEST_S).name
    from assay.index.manifest import load

    return str(load(workspace.layout.index).generation)


def models(workspace: Workspace) -> Mapping[str, str]:
    """The models that made the index, by component."""
    if workspace.cluster is not None:
        return workspace.cluster.current().models
    from assay.index.manifest import load

    return load(workspace.layout.index).models


# Search


def open_searcher(workspace: Workspace) -> Searcher:
    """Search as configured; the caller closes it."""
    extras.require("Stemmer")
    from assay.encode.catalog import requires_gpu, reranker_share
    from assay.index.manifest import Watch, load
    from assay.index.reader import verify_once
    from assay.search.boost import load_lexicon
    from assay.search.rerank import Rerankers
    from assay.search.searcher import Searcher, Source

    workspace.require()
    settings, folder = workspace.settings, workspace.layout.index
    source = Source(partial(generation_name, workspace), partial(snapshot, workspace))
    if workspace.cluster is None:
        source = replace(
            source,
            stamp=Watch(folder),
            verify=lambda: verify_once(folder, load(folder)),
        )
    return Searcher(
        source,
        Rerankers(partial(_reranker, settings), requires_gpu, reranker_share),
        defaults=settings.search,
        lexicon=None if settings.lexicon is None else load_lexicon(settings.lexicon),
        synonyms=_synonyms(settings),
        own={name: one.digest for name, one in workspace.own_components.items()},
    )


def _synonyms(settings: Settings) -> Synonyms | None:
    """The synonyms that the settings name: assay's own, those of a file, or none."""
    from assay.search.request import BUILT_IN_SYNONYMS
    from assay.search.synonyms import built_in, read_synonyms

    named = settings.synonyms
    if named is None:
        return None
    return built_in() if named == BUILT_IN_SYNONYMS else read_synonyms(Path(named))


def components(workspace: Workspace, opened: Generation) -> dict[str, Component]:
    """The components that this index and these settings have, by name."""
    wanted = ["bm25", *(name for name in COMPONENTS if name in opened.manifest.models)]
    every = {name: _component(workspace, name, opened) for name in wanted}
    return {name: component for name, component in every.items() if component is not None}


def snapshot(workspace: Workspace) -> Snapshot:
    """The newest generation with its components, and why others are absent."""
    from assay.search.own_components import IndexedChunks
    from assay.search.snapshot import Snapshot

    if workspace.cluster is not None:
        return _cluster_snapshot(workspace, workspace.cluster)
    opened, store = workspace.generation(), workspace.store
    made = opened.manifest.models
    lacking = lacking_models(workspace, made)
    brought = IndexedChunks(opened.chunk_ids, store.chunks_by_key)
    present, absent = _present(
        workspace, brought, lacking, lambda name: _component(workspace, name, opened)
    )

    def find(name: str) -> list[KeyedChunk]:
        return [row for row in store.find(name) if row.key in opened.chunk_ids]

    return Snapshot(
        generation=str(opened.manifest.generation),
        components=present,
        chunks=store.chunks_by_key,
        labels=partial(opened.labels, older=store.labels_by_key),
        find=find,
        absent=absent,
        size=len(opened.chunk_ids),
        content=opened.manifest.content,
        word_index=opened.words,
        sections=opened.sections,
        fields=opened.fields,
        values=opened.values,
        chunk_ids=opened.chunk_ids,
        words=opened.words,
        model_weights=model_weights(made),
        dense_model=model_for(workspace, "dense", made) or "",
        lacking=lacking,
        lacking_said=words_only(lacking),
    )


def _cluster_snapshot(workspace: Workspace, cluster: Cluster) -> Snapshot:
    from assay.cache import Cache
    from assay.opensearch.cluster import refuse_foreign
    from assay.search.own_components import IndexedChunks
    from assay.search.snapshot import Snapshot

    workspace.require()
    store, current = workspace.store, cluster.current()
    if not current.generation:
        raise EngineError("there is no index on the cluster yet", hint="assay index update")
    refuse_foreign(current, store)
    made, opened = current.models, workspace.opened_models
    lacking = lacking_models(workspace, made)
    present, absent = _present(
        workspace,
        IndexedChunks(_chunk_ids_at(workspace, current.applied), store.chunks_by_key),
        lacking,
        lambda name: cluster.component(
            name,
            current,
            opened.sparse(model_for(workspace, "splade", made)) if name == "splade" else None,
            opened.dense(model_for(workspace, "dense", made)) if name == "dense" else None,
        ),
    )

    def find(name: str) -> list[KeyedChunk]:
        rows = store.find(name)
        there = cluster.keys(current.index, [row.key for row in rows]) if rows else set()
        return [row for row in rows if row.key in there]

    labels: Cache[int, ChunkLabels] = Cache(limits.MAX_CACHED_LABELS)
    words = cluster.words(current)
    return Snapshot(
        generation=current.name,
        components=present,
        chunks=store.chunks_by_key,
        labels=partial(labels.all_of, fetch=store.labels_by_key),
        find=find,
        absent=absent,
        size=cluster.count(current.index),
        word_index=words,
        words=words,
        content=current.content,
        sections=store.inventory.sections,
        fields=cluster.facts(current).fields,
        values=cluster.facts(current).values,
        model_weights=model_weights(made),
        dense_model=model_for(workspace, "dense", made) or "",
        lacking=lacking,
        lacking_said=words_only(lacking),
    )


def _chunk_ids_at(workspace: Workspace, change: int) -> dict[int, str]:
    """The chunks that there were at a change, for components that the user brings."""
    if not workspace.own_components:
        return {}
    pages = workspace.store.added_since(0, change)
    return {row.key: row.chunk.chunk_id for page in pages for row in page}


def _present(
    workspace: Workspace,
    chunks: IndexedChunks,
    lacking: Mapping[str, str],
    component_of: Callable[[str], Component | None],
) -> tuple[dict[str, Component], dict[str, str]]:
    """The components that can be asked; for each other one, why it cannot."""
    present: dict[str, Component] = {}
    absent: dict[str, str] = {}
    own = workspace.own_components
    for name in (*COMPONENTS, *own):
        try:
            component = own[name].build(chunks) if name in own else component_of(name)
        except AssayError as problem:
            absent[name] = f"{name}: {problem}"
            continue
        if component is None:
            lacked = lacking.get(name)
            why = f"the model {lacked} is not on this machine" if lacked else NO_MODEL
            absent[name] = f"{name}: {why}"
        else:
            present[name] = component
    return present, absent


def _component(workspace: Workspace, name: str, opened: Generation) -> Component | None:
    """One component; None where the settings want no model for it."""
    if name == "bm25":
        return opened.bm25()
    made = opened.manifest.models
    if name == "splade":
        sparse = workspace.opened_models.sparse(model_for(workspace, "splade", made))
        return None if sparse is None else opened.splade(sparse)
    dense = workspace.opened_models.dense(model_for(workspace, "dense", made))
    return None if dense is None else opened.dense(dense)


# Evaluation


def system(
    workspace: Workspace, options: SearchOptions, *, answers: bool, judged: bool = False
) -> System:
    """The search of this workspace under these options, as something to evaluate.

    Passages are kept of answers that are to be judged.
    """
    from assay.search.recorded import recorded_system

    return recorded_system(
        workspace.searcher,
        options,
        workspace.store.inventory,
        models=models(workspace),
        engine="embedded" if workspace.cluster is None else workspace.cluster.engine(),
        answerer=workspace.answerer if answers else None,
        keeps_passages=judged,
        spent=workspace.opened_models.spent,
    )
