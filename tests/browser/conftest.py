"""A service over a small workspace, and a browser in front of it.

Debian's chromium is driven by playwright; where either is absent these tests are skipped. Each page
that is looked at leaves pictures in ``tests/browser/pictures`` (not part of the repository).
"""

from __future__ import annotations

import io
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from assay.app.annotation import Desk
from assay.app.workspace import Workspace
from assay.http.app import create_app
from assay.http.edge.logs import service_log
from assay.http.service import Service
from assay.ingest import read_corpus
from assay.model.annotation import Item, Purpose, Round, RoundQuery
from assay.model.document import Chunk, Document
from assay.settings import configure
from tests.browser.hostile import DOCUMENTS as EVIL
from tests.browser.hostile import EVIL_TABLE, PAYLOADS
from tests.unit.http.small import DOCUMENTS, TEST_SET

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("ASSAY_CHROMIUM", "/usr/bin/chromium")
EVERYTHING = os.environ.get("ASSAY_BROWSER") == "all"
beside_the_main_path = pytest.mark.skipif(not EVERYTHING, reason="make browser tries it")
"""What a plain run of all tests leaves out: it has one path of each part of the workbench."""
PICTURES = Path(__file__).parent / "pictures"
SETTINGS = {"dense_model": "none", "splade_model": "none", "rate_limit": 0, "query_log": "off"}


@dataclass
class Looked:
    """A page that is open, and everything it complained about or asked of another host."""

    page: Page
    root: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page of the service."""
        self.page.goto(self.root + path, wait_until="networkidle")

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        found: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return found


@pytest.fixture(scope="module")
def site_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its workspace."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(site_home: Path) -> Iterator[str]:
    """The address of a service with documents, two runs and a round of judging."""
    home = site_home
    config = configure({"home": home, **SETTINGS}, environ={}, folder=home)
    with Workspace(config) as workspace:
        _fill(workspace, home)
    with serving(Service(config, service_log(io.StringIO())), _runs) as root:
        yield root


@contextmanager
def serving(service: Service, prepare: Callable[[TestClient], None]) -> Iterator[str]:
    """The address of a service on a port of its own."""
    app = create_app(service)
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as client:
        prepare(client)
        listener = socket.create_server(("127.0.0.1", 0))
        quiet = uvicorn.Config(app, log_config=None, lifespan="off", access_log=False, ws="none")
        server = uvicorn.Server(quiet)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 20
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)
    service.close()


def _fill(workspace: Workspace, home: Path) -> None:
    corpus = home / "corpus.jsonl"
    rows = [*DOCUMENTS, *EVIL]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    workspace.store_documents(read_corpus(corpus))
    # past the reader, which would have cleaned it: the page must not rest on that
    table = Chunk(
        chunk_id="table:chunk_0", doc_id="table", text="aspirin headache dose table",
        is_table=True, table_html=EVIL_TABLE, spans=((0, 27),), chunker_version="test",
    )  # fmt: skip
    workspace.store.put([(Document("table", "aspirin headache dose table"), (table,))])
    workspace.update_index()
    held = Round("round-1", Purpose.REFRESH, "small", "v1", "0" * 64, ("ann", "bob"), 13,
                 "2026-01-01T00:00:00Z")  # fmt: skip
    items = [
        Item("q1", f"d{at}:chunk_0", f"d{at}", f"Passage {at} {text}", table_html=EVIL_TABLE)
        if at == 0
        else Item("q1", f"d{at}:chunk_0", f"d{at}", f"Passage {at} {text}")
        for at, text in enumerate(PAYLOADS)
    ]
    store = workspace.annotations
    store.create(held, [RoundQuery("q1", f"headache {PAYLOADS[0]}")], items)
    at_desk = Desk(store, held)
    for item in items[:4]:
        for name, grade in (("ann", 3), ("bob", 3 if item is not items[0] else 0)):
            at_desk.grade(name, item.key, grade)


def _runs(client: TestClient) -> None:
    queries = [
        *TEST_SET["queries"],
        {
            "query_id": "evil",
            "query_text": f"aspirin {PAYLOADS[0]} {PAYLOADS[1]}",
            "query_type": "paraphrase",
            "relevant_docs": [{"doc_id": "evil0:chunk_0", "grade": 2}],
        },
    ]
    for name, depth in (("run_a", "1"), ("run_b", "100")):
        answer = client.post(
            f"/v1/evaluate?evaluation_id={name}&depth={depth}",
            json={**TEST_SET, "queries": queries},
        )
        assert answer.status_code == 200, answer.text
    judged = {**TEST_SET, "name": "answered"}
    answer = client.post("/v1/evaluate?evaluation_id=judged&judge=words&name=judged", json=judged)
    assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium; not for the whole session, since its driver holds this thread's loop."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no {CHROMIUM}: apt install chromium, or name another in ASSAY_CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def look(browser: Browser, site: str) -> Iterator[Callable[..., Looked]]:
    """Open a window of some width and theme; afterwards nothing may have been complained about."""
    with looking(browser, site) as make:
        yield make


@contextmanager
def looking(browser: Browser, site: str) -> Iterator[Callable[..., Looked]]:
    """Windows in front of a service; each has its own cookies."""
    opened: list[tuple[Any, Looked]] = []

    def make(width: int = 1280, theme: Any = "light", zone: str = "UTC") -> Looked:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            reduced_motion="reduce",
            timezone_id=zone,
        )
        page = context.new_page()
        page.set_default_timeout(20_000)
        seen = Looked(page, site)
        page.on("console", lambda said: _complain(seen, said.type, said.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("request", lambda asked: _foreign(seen, asked.url))
        opened.append((context, seen))
        return seen

    yield make
    for context, seen in opened:
        context.close()
        assert seen.complaints == []


def _complain(seen: Looked, kind: str, text: str) -> None:
    if kind in {"error", "warning"}:
        seen.complaints.append(text)


def _foreign(seen: Looked, url: str) -> None:
    if not url.startswith((seen.root + "/", "data:")):
        seen.complaints.append(f"asked {url}")
