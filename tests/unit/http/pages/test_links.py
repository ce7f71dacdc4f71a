"""Does every link that somebody is offered lead somewhere, for everybody?"""

from __future__ import annotations

import html
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from starlette.testclient import TestClient

from assay.app.keys import create_key
from assay.app.layout import Layout
from tests.unit.http.conftest import client_of, service_of
from tests.unit.http.pages.conftest import PERSON

pytestmark = pytest.mark.slow

FIRST = ("/search", "/search?q=headache", "/ui/palette", "/ui/palette?q=r", "/answer?q=headache")
ELSEWHERE = ("/docs", "/metrics", "/readyz", "/search/why", "/sign-in")
"""What is no page, and what wants more than its address."""
TELLING = frozenset({"clock", "deleted", "document", "entry", "from", "judged", "reveal", "two"})
"""Parameters that make another page of an address."""
LINK = re.compile(r'(?:href|hx-get)="([^"#]+)')
MOST_BYTES = 300_000


@pytest.fixture(scope="module", params=[("read", "annotate"), ("read", "evaluate")])
def person(
    request: pytest.FixtureRequest, evaluated_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    """Somebody with a key, in front of a workspace with two runs."""
    home = tmp_path_factory.mktemp("links") / "home"
    shutil.copytree(evaluated_home, home)
    key = create_key(Layout(home), "ann", request.param).key
    service = service_of(home, io.StringIO())
    with client_of(service, headers={**PERSON, "authorization": f"Bearer {key}"}) as client:
        yield client
    service.close()


def _shape(path: str) -> tuple[str, ...]:
    """Addresses that show other things in the same way: one of them is enough."""
    found = urlsplit(path)
    names = {name for name in re.findall(r"(?:^|&)([^=&]+)=", found.query) if name in TELLING}
    return re.sub(r"(?<=/)(run_[ab]|q\d|d\d|test_set\w*)(?=/|$)", "X", found.path), *sorted(names)


def test_nobody_is_offered_what_is_refused(person: TestClient) -> None:
    waiting, seen = list(FIRST), set(map(_shape, FIRST))
    refused, heavy = [], []
    for path in waiting:
        answer = person.get(path)
        if answer.status_code >= 400:
            refused.append((answer.status_code, path))
        if len(answer.content) > MOST_BYTES:
            heavy.append((len(answer.content), path))
        for link in LINK.findall(answer.text):
            target = urljoin(path, html.unescape(link))
            shape = _shape(target)
            if shape not in seen and not target.startswith(
                (*ELSEWHERE, "/static", "data:", "http")
            ):
                seen.add(shape)
                waiting.append(target)
    assert len(waiting) > 25
    assert refused == []
    assert heavy == []
