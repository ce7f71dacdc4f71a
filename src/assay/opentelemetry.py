"""How do searches, answers and evaluations become spans of OpenTelemetry?

    >>> from assay import opentelemetry
    >>> opentelemetry.instrument()  # doctest: +SKIP

After that, every search, answer and evaluation of this process is a span of the tracer ``assay``:
how many results, which components answered or did not, how long each stage took, what a run scored.
The words of queries and documents are left out. It comes with the extra ``opentelemetry``; where
spans go, the SDK of your program says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assay import tracing
from assay.extras import import_optional
from assay.version import __version__

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider


class _Noted:
    """A span of OpenTelemetry as ours notes facts."""

    def __init__(self, span: Any) -> None:
        self._span = span

    def note(self, name: str, value: tracing.Fact | None) -> None:
        if value is not None:
            self._span.set_attribute(f"assay.{name}", value)


def instrument(tracer_provider: TracerProvider | None = None) -> None:
    """Tell OpenTelemetry of every search, answer and evaluation; twice is as good as once."""
    import_optional("opentelemetry")
    from opentelemetry import trace

    tracer = trace.get_tracer("assay", __version__, tracer_provider=tracer_provider)

    @contextmanager
    def opened(name: str) -> Iterator[tracing.Span]:
        with tracer.start_as_current_span(name) as span:
            yield _Noted(span)

    tracing.listen(opened)


def uninstrument() -> None:
    """Tell nobody any longer."""
    tracing.listen(None)
