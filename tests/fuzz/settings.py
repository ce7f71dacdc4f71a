"""Which settings, names, manifests and other small files are fuzzed?"""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from assay.app.configurations import read_configuration
from assay.app.reports import verify_bundle
from assay.app.schedule import parse_schedule
from assay.encode.tensors import read_tensors
from assay.errors import UnknownRunError
from assay.evaluation.gate import parse_limits
from assay.evaluation.retrievers.http import load_mapping
from assay.index.manifest import FileSet, Manifest, load, save
from assay.measures.parse import parse_measures
from assay.search.boost import load_lexicon
from assay.search.request import SearchOptions, changed, read_changes
from assay.search.synonyms import read_synonyms
from assay.settings import configure
from assay.store.backup import restore
from assay.store.database import open_database
from tests.fuzz.harness import Harness

MEASURES = (
    b"nDCG@10 nDCG(gain=linear)@{5,10} RR@10 MAP P@5 Recall(rel=2)@100 RBP(p=0.8) ndcg_cut_10"
)
CONFIG = (
    b"home: .assay\nmeasures: nDCG@10 MRR\nconfidence: 0.95\nresamples: 1000\nseed: 7\n"
    b"weights: bm25=0.3,dense=0.7\nfusion_method: rrf\ncomponents: bm25,dense\n"
)
MAPPING = (
    b"method: POST\nheaders: {X-Key: a}\nbody: {query: '{query_text}', size: '{k}'}\n"
    b"results: hits.hits\nid: _id\nscore: _score\ntimeout_s: 5\n"
)
OPTIONS = (
    b"fusion_method: weighted\nweights: {bm25: 0.3, dense: 0.7}\nrrf_k: 10\ncomponents: [bm25]\n"
)
LEXICON = (
    b"tables:\n  results table: 1.0\nintents:\n  dosage:\n    base: 2.0\n"
    b"    sections: [dosage]\n    phrases: {how much: 0.8}\n"
)
TENSORS_HEADER = json.dumps(
    {"a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}
).encode()
TENSORS = len(TENSORS_HEADER).to_bytes(8, "little") + TENSORS_HEADER + b"\0" * 8
MASTER = json.dumps(
    {
        "form": 1,
        "runs": {"r": {}},
        "metrics": [],
        "recipe": {"measures": "MRR", "method": "bca", "level": 0.95, "resamples": 9, "seed": 1},
    }
).encode()


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def read_names(path: Path, rng: random.Random) -> str:
    """Names of measures, weights, limits of a gate, schedules, sides of a comparison."""
    read = rng.choice((parse_measures, parse_measures, parse_schedule, read_configuration,
                       lambda text: read_changes({"weights": text}),
                       lambda text: parse_limits(text.split())))  # fmt: skip
    read(_text(path))
    return "names"


def read_config(path: Path, rng: random.Random) -> str:
    """The configuration file."""
    del rng
    config = configure(environ={}, folder=path.parent)
    config.config_hash()
    return "settings"


def read_mapping(path: Path, rng: random.Random) -> str:
    """How another service is asked."""
    del rng
    load_mapping(path)
    return "mapping"


def read_options(path: Path, rng: random.Random) -> str:
    """A configuration that was saved from the playground."""
    del rng
    changed(SearchOptions(), **read_configuration(str(path)))
    return "options"


def read_index_manifest(path: Path, rng: random.Random) -> str:
    """The manifest, damaged; or changed and sealed with a checksum that is right."""
    if rng.random() < 0.5:
        content = json.loads(path.read_bytes()) if _is_json(path) else {}
        if isinstance(content, dict):
            content.pop("checksum", None)
            path.write_bytes(_sealed(content))
    load(path.parent)
    return "manifest"


def _is_json(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return True


def _sealed(content: dict[str, object]) -> bytes:
    from assay.index.manifest import _checksum

    return json.dumps({**content, "checksum": _checksum(content)}).encode()


@cache
def _database() -> bytes:
    """An empty workspace's database, as a backup holds it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "assay.db"
        open_database(path).dispose()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        return path.read_bytes()


def _backup() -> bytes:
    """The manifest of a sound backup."""
    files = {"assay.db": [len(_database()), hashlib.sha256(_database()).hexdigest()]}
    about = {"format": 1, "assay": "0", "created_at": "x", "last_change": 0}
    return json.dumps({**about, "documents": 0, "runs": 0, "files": files}).encode()


def read_backup(path: Path, rng: random.Random) -> str:
    """A backup whose manifest is the input, or whose bytes are."""
    data = path.read_bytes()
    if rng.random() < 0.8:
        with tarfile.open(path, "w:gz", compresslevel=1) as archive:
            for name, content in (("manifest.json", data), ("assay.db", _database())):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    home = path.parent / "restored"
    shutil.rmtree(home, ignore_errors=True)
    restore(path, home)
    return "backup"


def read_master(path: Path, rng: random.Random) -> str:
    """The file of a bundle that is checked."""
    del rng
    (path.parent / "MANIFEST.sha256").write_bytes(b"")
    verify_bundle(NO_RUNS, path.parent)  # type: ignore[arg-type]
    return "bundle"


class _NoRuns:
    """Enough of a workspace to ask for runs that are not there."""

    def require(self) -> None:
        pass

    def stored_run(self, ref: str) -> None:
        raise UnknownRunError(f"no run {ref!r}")


NO_RUNS = _NoRuns()


def read_lexicon(path: Path, rng: random.Random) -> str:
    """Phrases of one's own."""
    del rng
    load_lexicon(path)
    return "lexicon"


def read_synonym_file(path: Path, rng: random.Random) -> str:
    """Synonyms."""
    del rng
    read_synonyms(path)
    return "synonyms"


def read_weights_file(path: Path, rng: random.Random) -> str:
    """The arrays of a model."""
    del rng
    read_tensors(path.read_bytes(), "input")
    return "tensors"


def _manifest() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        part = FileSet("bm25-1", 3, {"meta.json": [12, "ab"]})
        save(Path(folder), Manifest(2, 7, (part,), (part,), None, {"dense": "m"}, {"chunks": 3}))
        return (Path(folder) / "MANIFEST.json").read_bytes()


HARNESSES = (
    Harness("names", "measures.parse, weights, gate limits, schedules", "typed by people, sent over HTTP",
            read_names, (MEASURES, b"bm25=0.3,dense=0.7", b"Recall@10=5% nDCG@10=0.02",
                         b"nightly=0 3 * * * small", b"fusion_method=rrf,k=10,bm25:0.3")),
    Harness("config", "settings, strict_yaml", "found in any parent folder", read_config,
            (CONFIG,), "assay.yaml"),
    Harness("mapping", "retrievers.http_mapping", "written for other services", read_mapping, (MAPPING,)),
    Harness("options", "app.configurations", "saved searches, edited by hand", read_options,
            (OPTIONS,), "input.yaml"),
    Harness("manifest", "index.manifest", "damage of the one file that names all others",
            read_index_manifest, (_manifest(),), "MANIFEST.json"),
    Harness("backup", "store.backup", "comes from another machine", read_backup, (_backup(),), "b.tar.gz"),
    Harness("bundle", "app.reports, evaluation.bundle", "published figures that are checked",
            read_master, (MASTER,), "metrics_master.json"),
    Harness("lexicon", "search.boost.lexicon", "phrases of one's own", read_lexicon, (LEXICON,)),
    Harness("synonyms", "search.synonyms", "lists of other people", read_synonym_file,
            (b"# c\nheart attack, myocardial infarction\nmi => heart attack\n",)),
    Harness("tensors", "encode.tensors", "weights of models from elsewhere", read_weights_file, (TENSORS,)),
)  # fmt: skip
