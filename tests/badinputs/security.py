"""Which test shows each line of the security checklist?"""

from __future__ import annotations

from tests.badinputs.case import Covered, Entry

AUTH = "tests/unit/http/test_auth.py"
ESCAPE = "tests/unit/render/test_escape.py"

CASES: tuple[Entry, ...] = (
    Covered("loopback-only", f"{AUTH}::test_which_addresses_only_this_machine_reaches"),
    Covered("loopback-only/key", f"{AUTH}::test_an_open_public_service_does_not_start"),
    Covered("keys-hashed", f"{AUTH}::test_only_the_hash_of_a_key_is_kept"),
    Covered("keys-scoped", "tests/unit/http/test_documents.py::test_scopes_hold_for_what_changes_something"),
    Covered("keys-not-in-addresses", "tests/unit/http/test_search.py::test_what_makes_no_sense_is_refused_by_name"),
    Covered("body-counted", "tests/unit/http/test_frame.py::test_a_body_without_a_length_is_counted"),
    Covered("caps", "tests/unit/test_limits.py::test_the_table_lists_every_constant_once"),
    Covered("id-form", "tests/unit/http/test_workflow.py::test_a_dataset_is_a_name_and_never_a_path"),
    Covered("html-sanitised", "tests/unit/ingest/test_table_html.py::test_attacks_go"),
    Covered("html-sanitised/out", "tests/unit/http/test_search.py::test_stored_markup_is_made_harmless_once_more"),
    Covered("csp", "tests/unit/http/test_frame.py::test_every_answer_has_an_id_and_safe_headers"),
    Covered("markdown-escaped", f"{ESCAPE}::test_markdown"),
    Covered("csv-defused", f"{ESCAPE}::test_csv"),
    Covered("log-lines", "tests/unit/http/test_frame.py::test_a_log_line_cannot_be_forged"),
    Covered("no-pickle", "tests/supply/test_locks.py::test_nothing_unpickles_or_evaluates"),
    Covered("model-hashes", "tests/unit/encode/test_shelf.py::test_a_changed_file_is_found_and_never_loaded"),
    Covered("closed-labels", "tests/unit/http/test_metrics.py::test_random_requests_make_no_series"),
    Covered("sqlite-settings", "tests/unit/store/test_database.py::test_every_connection_is_strict_and_durable"),
)  # fmt: skip
