"""Which bad inputs must be answered well? Ids only; the cases say what each of them is."""

from __future__ import annotations

ASKED: dict[str, str] = {
    "test sets": """
        alias-bomb self-alias duplicate-key id-no id-012 id-1_000 id-time id-date id-1e3 id-tilde
        id-pmid nan inf 1e999 5000-digits tag-timestamp tag-python tag-binary nested-1000
        json-depth-5000 two-documents empty-file top-list top-scalar nul tab bom utf-16 latin-1
        lone-surrogate grade-2**63 grade-true grade-quoted grade-4 grade-negative grade-fraction
        weights-nan no-relevant all-grades-0 judged-twice id-twice id-case-twin id-nfc-twin
        trailing-spaces text-empty text-1mb text-emoji text-right-to-left unknown-type
        not-in-corpus 10k-queries 0-queries 1-query identical-runs constant-difference
    """,
    "trec": """
        5-columns 7-columns document-twice score-nan score-inf score-1_0 score-fullwidth ties
        ranks-contradict-scores query-missing-in-run query-missing-in-qrels no-overlap nbsp-in-id
        u2028-in-id crlf comments tabs double-spaces negative-relevance gzip gzip-cut gzip-bomb
        10m-lines no-final-newline
    """,
    "corpora": """
        u2028-in-text u0085-in-text half-last-line 100mb-line id-twice-same id-twice-other
        text-missing text-empty id-dotdot id-slash id-300 id-dash only-stopwords html-script
        html-onerror html-javascript html-svg html-style-url html-unclosed html-10k-nested
        vectors-dimension vectors-nan vectors-zero archive-dotdot archive-links archive-bomb
    """,
    "http": """
        k-negative k-0 k-1e9 k-10abc k-repeated components-empty components-twice
        components-unknown components-1000 weights-missing weights-0 weights-negative
        weights-unknown rrf_k-negative rrf_k-0 rrf_k-1e18 fusion-RRF2 q-1mb q-nul q-ff q-regex
        equal-scores length-lies slow-body no-end content-type compressed-bomb 100k-queries
        dataset-dotdot dataset-dots dataset-nul dataset-5000 id-with-another-body client-gone
        spoofed-host rerank-without-gpu aggregate-nothing
    """,
    "commands": """
        missing-file folder fifo unreadable dash closed-stdout ctrl-c compare-with-itself
        compare-versions compare-corpora baseline-0 baseline-null drop-of-5-percent
        read-only-home no-home-variable c-locale two-processes latency-limit
    """,
    "security": """
        loopback-only keys-hashed keys-scoped keys-not-in-addresses body-counted caps id-form
        html-sanitised csp markdown-escaped csv-defused log-lines no-pickle model-hashes
        closed-labels sqlite-settings
    """,
    "settings": "",
    "found by fuzzing": "",
}


def ids(group: str) -> set[str]:
    """The ids of one group."""
    return set(ASKED[group].split())
