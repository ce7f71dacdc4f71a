"""Do searches, answers and evaluations become spans, without their words?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from assay import extras, opentelemetry, tracing
from assay.app.workspace import Workspace
from assay.errors import MissingDependencyError, UsageError
from tests.unit.app.results import GOLDEN, evaluated


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with evaluated(tmp_path_factory.mktemp("spans") / "home") as workspace:
        yield workspace


@pytest.fixture
def spans() -> Iterator[Any]:
    """The spans that a real SDK exported."""
    export = pytest.importorskip(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter", reason="no SDK is installed"
    )
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    exporter = export.InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    opentelemetry.instrument(provider)
    yield exporter.get_finished_spans
    opentelemetry.uninstrument()


def test_a_search_is_a_span_without_its_words(here: Workspace, spans: Any) -> None:
    found = here.search("zyx headache", components=("bm25",))
    (one,) = spans()
    assert (one.name, one.status.is_ok) == ("assay.search", True)
    assert one.attributes["assay.results"] == len(found.results)
    assert one.attributes["assay.components"] == ("bm25",)
    assert one.attributes["assay.degraded"] is False
    assert one.attributes["assay.generation"] == found.generation
    assert not [key for key, value in one.attributes.items() if "headache" in str(value)]


def test_an_answer_holds_its_search(here: Workspace, spans: Any) -> None:
    here.answer("what lowers cholesterol?")
    inner, outer = spans()
    assert [inner.name, outer.name] == ["assay.search", "assay.answer"]
    assert inner.parent.span_id == outer.context.span_id
    assert outer.attributes["assay.grounded"] in (True, False)


def test_an_evaluation_says_what_it_scored(here: Workspace, spans: Any) -> None:
    made = here.evaluate(GOLDEN, rrf_k=11)
    (one,) = [one for one in spans() if one.name == "assay.evaluate"]
    assert one.attributes["assay.run_ids"] == (made.run_id,)
    assert one.attributes["assay.metric.recall_at_10"] == made["Recall@10"]
    assert one.attributes["assay.cached"] is False


def test_an_error_is_one_of_the_span_and_of_the_caller(here: Workspace, spans: Any) -> None:
    with pytest.raises(UsageError):
        here.search("headache", fusin=1)  # type: ignore[call-arg]
    (one,) = spans()
    assert not one.status.is_ok
    assert [event.name for event in one.events] == ["exception"]


# Without the SDK


class Heard:
    """A listener of our own."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.facts: dict[str, object] = {}

    def __call__(self, name: str) -> Heard:
        self.names.append(name)
        return self

    def __enter__(self) -> Heard:
        return self

    def __exit__(self, *problem: object) -> None:
        self.names.append("end")

    def note(self, name: str, value: object) -> None:
        self.facts[name] = value


def test_whoever_listens_is_told_and_nobody_else(here: Workspace) -> None:
    heard = Heard()
    tracing.listen(heard)
    try:
        here.search("migraine")
    finally:
        tracing.listen(None)
    here.search("migraine headache")
    assert heard.names == ["assay.search", "end"]
    assert heard.facts["results"] == 1


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", gone)
    with pytest.raises(MissingDependencyError, match="the extra opentelemetry"):
        opentelemetry.instrument()
