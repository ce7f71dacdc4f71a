"""How do values of the library become the JSON of an answer?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import nh3

from assay.ingest.table_html import ATTRIBUTES, DROPPED, TAGS
from assay.search.response import SearchResponse


def search_body(response: SearchResponse) -> dict[str, Any]:
    """The answer of a search; markup of tables is made harmless once more on its way out."""
    body = response.to_dict()
    for hit in body["results"]:
        if hit["table_html"]:
            hit["table_html"] = safe_table(hit["table_html"])
    return body


@lru_cache(maxsize=1_024)
def safe_table(html: str) -> str:
    """Table markup and nothing else, whatever the store holds."""
    return nh3.clean(
        html,
        tags=TAGS,
        clean_content_tags=DROPPED,
        attributes=ATTRIBUTES,
        link_rel=None,
        url_schemes=set(),
    )


def server_timing(response: SearchResponse) -> str:
    """The stages of a search for the tools of a browser."""
    return ", ".join(f"{name};dur={value:.2f}" for name, value in response.timings_ms.items())
