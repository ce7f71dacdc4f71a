"""Which settings, names of measures and backups must be refused, naming what is wrong?"""

from __future__ import annotations

import io
import json
import tarfile

from tests.badinputs.case import Entry, accepted, refused
from tests.badinputs.ways import as_backup, as_measures, as_settings


def backup(manifest: bytes, name: str = "manifest.json") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(manifest)
        archive.addfile(entry, io.BytesIO(manifest))
    return target.getvalue()


FIELDS = {"format": 1, "assay": "0", "created_at": "x", "last_change": 0, "documents": 0, "runs": 0}

CASES: tuple[Entry, ...] = (
    refused("settings-unknown", as_settings, "colour: red\n", "assay.yaml:1: "),
    refused("settings-twice", as_settings, "seed: 1\nseed: 2\n", "assay.yaml:2: the key 'seed'"),
    refused("settings-kind", as_settings, "seed: many\n", "assay.yaml:1: "),
    refused("settings-range", as_settings, "confidence: 1.5\n", "assay.yaml:1: "),
    refused("settings-nan", as_settings, "confidence: .nan\n", "assay.yaml:1: "),
    refused("settings-digits", as_settings, "seed: " + "9" * 5000 + "\n", "assay.yaml:1: "),
    refused("settings-list", as_settings, "- seed\n", "assay.yaml:1: "),
    refused("settings-weights", as_settings, "seed: 1\nweights: dense=1\n", "assay.yaml:2: weights: "),
    accepted(
        "settings-no-models", as_settings,
        "dense_model: none\nsplade_model: none\nweights: bm25=1\n", "bm25=1",
    ),
    refused("settings-no-component", as_settings, "components: dense\n", "assay.yaml:1: none of them"),
    refused("settings-bomb", as_settings, "a: &a [1]\nb: *a\n", "assay.yaml:1: "),
    refused("settings-large", as_settings, "#" * 300_000, "assay.yaml is larger than"),
    refused("measure-unknown", as_measures, "nDGC@10", "nDGC@10"),
    refused("measure-cutoff-0", as_measures, "nDCG@0", "nDCG@0"),
    refused("measure-cutoff-large", as_measures, "nDCG@99999999999999999999", "nDCG@999"),
    refused("measure-parameter", as_measures, "nDCG(gain=cubic)@10", "cubic"),
    refused("measure-code", as_measures, "__import__('os').system('id')@10", "__import__"),
    refused("measure-braces", as_measures, "P@{" + "1," * 5000 + "1}", "measure"),
    refused("measure-empty", as_measures, "", "measure"),
    refused("backup-empty", as_backup, b"", "input.tar.gz"),
    refused("backup-text", as_backup, b"hello", "input.tar.gz: not a whole backup"),
    refused("backup-deep", as_backup, lambda: backup(b"[" * 200_000), "its manifest cannot be read"),
    refused("backup-list", as_backup, lambda: backup(b"[]"), "its manifest cannot be read"),
    refused(
        "backup-kinds", as_backup,
        lambda: backup(json.dumps({**FIELDS, "documents": "x", "files": {"assay.db": [0, ""]}}).encode()),
        "its manifest cannot be read",
    ),
    refused(
        "backup-nul", as_backup,
        lambda: backup(json.dumps({**FIELDS, "files": {"testsets/a\0b": [0, ""]}}).encode()),
        "names files that no workspace has",
    ),
    refused(
        "backup-dotdot", as_backup,
        lambda: backup(json.dumps({**FIELDS, "files": {"testsets/../../x": [0, ""]}}).encode()),
        "names files that no workspace has",
    ),
)  # fmt: skip
