"""Questions are drawn from documents, and the same seed draws the same."""

from __future__ import annotations

from assay.ingest.corpus import Pair
from assay.model.document import Chunk, Document
from reproduce.sampled import ABSENT, ARMS, DOSES, PAIRS, drawn

TRIAL = "Nausea was common. Ixabepilone 40 mg was infused; erythema nodosum followed."
ARTICLE = "Erythema of the skin; sildenafil 50 mg was taken by all of them."


def pair(doc_id: str, title: str, text: str) -> Pair:
    return Document(doc_id, text, title=title), (Chunk(f"{doc_id}:chunk_0", doc_id, text, title),)


PAIRED = [
    pair("NCT00000001", "NCT00000001: Ixabepilone; Ixabepilone Plus Radiation", TRIAL),
    pair("PMC1", "Sildenafil in mountaineers", ARTICLE),
]


def test_what_is_asked_is_what_the_documents_say() -> None:
    asked = {(one.kind, one.ask): one.documents for one in drawn(PAIRED, 0)}
    assert asked[PAIRS, "erythema nodosum"] == {"NCT00000001"}
    assert asked[DOSES, "sildenafil dose"] == {"PMC1"}
    assert asked[ARMS, "Ixabepilone Plus Radiation"] == {"NCT00000001"}
    absent = [ask for kind, ask in asked if kind == ABSENT]
    assert absent
    assert not any(ask.startswith(("sildenafil", "viagra", "ixabepilone")) for ask in absent)


def test_a_seed_draws_the_same_questions() -> None:
    assert drawn(PAIRED, 3) == drawn(PAIRED, 3)
    assert drawn(PAIRED, 3) != drawn(PAIRED, 4)
