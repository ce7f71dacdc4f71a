"""Documents and questions that would like to run a script."""

from __future__ import annotations

from typing import Any

PAYLOADS = (
    "<script>window.broken = 1</script>",
    "<img src=x onerror=window.broken=1>",
    '"><svg onload=window.broken=1>',
    "</textarea></title><script>window.broken=1</script>",
    "javascript:window.broken=1",
    "{{ 7 * 7 }}{% if 1 %}",
)
EVIL_TABLE = (
    "<table><caption>doses<script>window.broken=1</script></caption>"
    '<tr onclick="window.broken=1"><td style="background:url(javascript:window.broken=1)">10 mg'
    '<img src=x onerror="window.broken=1"></td><td><a href="javascript:window.broken=1">x</a></td>'
    "</tr></table>"
)
DOCUMENTS: list[dict[str, Any]] = [
    {"doc_id": f"evil{at}", "title": f"Evil {text}", "text": f"Evil headache {text} aspirin."}
    for at, text in enumerate(PAYLOADS)
]
