"""Which surfaces offer which verb, and which test compares them?

One row for each verb of the application layer. ``python`` is ``module.function`` below
``assay.app``, ``command`` what follows ``assay``, ``server`` whether ``--server`` reaches it,
``routes`` and ``pages`` what HTTP and the browser offer. A surface that is empty does not offer the
verb, and ``why_not`` says why. ``test`` names the comparison: ``file::function`` in this folder.
"""

from __future__ import annotations

from dataclasses import dataclass

OPERATOR = "only for who runs this machine: a key that leaks must not be able to do it"
BESIDE = "assay keys is for who runs the machine; administrators elsewhere use HTTP or the page"
FILES = "about files of whoever calls"
CUSTODIAN = "the custodian of a test set works beside the workspace; judging is over HTTP"
ELSEWHERE = "a page, HTTP and the Python client are what another machine uses"
PARTS = "a part of another verb, for programs that go step by step"


@dataclass(frozen=True)
class Row:
    """One verb; see the docstring of the module."""

    python: str
    command: str = ""
    server: bool = False
    routes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    test: str = ""
    why_not: str = ""


def row(python: str, command: str = "", *places: str, server: bool = False, test: str = "",
        why_not: str = "") -> Row:  # fmt: skip
    """A row; places that begin with ``/`` are pages, others are routes."""
    routes = tuple(one for one in places if not one.startswith("/"))
    pages = tuple(one for one in places if one.startswith("/"))
    return Row(python, command, server, routes, pages, test, why_not)


# fmt: off
TABLE = (
    row("workspace.Workspace.search", "search", "GET /v1/search", "/search", server=True, test="test_search.py::test_search"),
    row("workspace.Workspace.why", "", "GET /v1/search/why", "/search/why", server=True, test="test_search.py::test_why"),
    row("workspace.Workspace.answer", "answer", "GET /v1/answer", "/answer", server=True, test="test_search.py::test_answer"),
    row("search.options_of_caller", "", "GET /v1/search/classify", "GET /v1/sections", "GET /v1/index/freshness", why_not=PARTS),
    row("configurations.save_configuration", "", "/search/configuration/{name}", "/ui/save-configuration", why_not="made where one searches; assay eval ab reads the file"),

    row("corpus.ingest", "ingest", "POST /v1/files", test="test_corpus.py::test_a_file_is_read_as_a_request_is", why_not=FILES),
    row("vectors.encode_corpus", "encode", why_not=FILES),
    row("corpus.add", "", "POST /v1/documents", "/ui/documents/add", server=True, test="test_corpus.py::test_documents_come_in_and_go"),
    row("corpus.list_documents", "corpus list", "GET /v1/documents", "/documents", "/ui/documents", server=True, test="test_corpus.py::test_a_page_of_documents"),
    row("corpus.document", "corpus show", "GET /v1/documents/{doc_id:path}", "/documents/{doc_id:path}", server=True, test="test_corpus.py::test_a_document"),
    row("document_uses.document_uses", "corpus uses", "GET /v1/documents/{doc_id:path}/uses", "/documents/{doc_id:path}/uses", server=True, test="test_corpus.py::test_uses_of_a_document"),
    row("corpus.delete", "corpus delete", "DELETE /v1/documents/{doc_id:path}", "POST /v1/documents/delete", server=True, test="test_corpus.py::test_documents_come_in_and_go"),
    row("workspace.Workspace.present", "", "POST /v1/chunks/present", "POST /v1/chunks/places", "POST /v1/chunks/labels", server=True, why_not=PARTS),
    row("index.index_card", "index info", "GET /v1/index", server=True, test="test_corpus.py::test_the_index"),
    row("index.check_index", "index check", "GET /v1/index/check", server=True, test="test_corpus.py::test_the_index"),
    row("index.write_index", "index update", "POST /v1/index", server=True, test="test_corpus.py::test_the_index"),
    row("index.write_index", "index compact", "POST /v1/index", server=True, test="test_corpus.py::test_the_index"),
    row("index.write_index", "index rebuild", "POST /v1/index", server=True, test="test_corpus.py::test_the_index"),
    row("index.write_index", "index reencode", "POST /v1/index", server=True, test="test_corpus.py::test_the_index"),
    row("models.list_models", "models list", "GET /v1/models", server=True, test="test_corpus.py::test_models"),
    row("models.pull_models", "models pull", why_not=OPERATOR),
    row("models.check_models", "models check", why_not=OPERATOR),
    row("keys.create_key", "keys create", "POST /v1/keys", "/ui/keys", test="test_corpus.py::test_keys", why_not=BESIDE),
    row("keys.list_keys", "keys list", "GET /v1/keys", "GET /v1/whoami", "/keys", test="test_corpus.py::test_keys", why_not=BESIDE),
    row("keys.revoke_key", "keys revoke", "DELETE /v1/keys/{key_id}", "/ui/keys/{key_id}/revoke", test="test_corpus.py::test_keys", why_not=BESIDE),
    row("backup.back_up", "backup", "GET /v1/backup", server=True, test="test_corpus.py::test_a_backup"),
    row("backup.restore", "restore", why_not=OPERATOR),
    row("doctor.examine", "doctor", "GET /readyz", "GET /healthz", why_not=OPERATOR),

    row("judges.sheet", "judge sheet", "GET /v1/runs/{ref}/claims", why_not=ELSEWHERE, test="test_claims.py::test_a_claim_is_graded_the_same_way_on_every_surface"),
    row("judges.ClaimDesk", "judge claims", "GET /v1/runs/{ref}/claims/next", "POST /v1/runs/{ref}/claims/grades", "POST /v1/runs/{ref}/claims/undo", "/claims", "/claims/{ref}", "/ui/claims/{ref}", why_not=ELSEWHERE,
        test="test_claims.py::test_a_claim_is_graded_the_same_way_on_every_surface"),
    row("judges.grade", "judge grade", why_not=FILES),
    row("judges.check", "judge check", "POST /v1/runs/{ref}/claims/check", "/claims/{ref}/agreement", "/ui/claims/{ref}/check", why_not=ELSEWHERE, test="test_claims.py::test_the_judge_is_compared_with_people_everywhere"),
    row("evaluation.evaluate", "eval run", "POST /v1/evaluate", "/evaluate", "/ui/evaluate", server=True, test="test_evaluate.py::test_every_way_gives_the_same_values"),
    row("tuning.tune", "eval tune", why_not="an experiment of hundreds of settings beside the workspace"),
    row("runs.list_runs", "eval list", "GET /v1/runs", "/runs", "/", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("run_view.show", "eval show", "GET /v1/runs/{ref}/scores", "GET /v1/runs/{ref}", "/runs/{ref}", "/runs/{ref}/queries", "/runs/{ref}/stages", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("run_view.query", "", "GET /v1/runs/{ref}/queries/{query_id}", "/runs/{ref}/query/{query}", "/runs/{ref}/answer/{query}", server=True, test="test_runs.py::test_a_judged_document_is_found_where_it_was_scored"),
    row("run_view.outcomes", "", "GET /v1/runs/{ref}/queries", "GET /v1/runs/{ref}/testset", server=True, why_not=PARTS),
    row("runs.rescore", "eval rescore", "POST /v1/runs/{ref}/rescore", why_not="it writes: the service rescores its own runs"),
    row("runs.tag", "eval tag", "PUT /v1/runs/{ref}/tags/{tag}", "DELETE /v1/tags/{tag}", "/ui/tag", server=True, why_not=""),
    row("runs.delete", "eval delete", "DELETE /v1/runs/{ref}", "/ui/runs/delete", server=True, test="test_runs.py::test_a_deleted_run_comes_back_the_same_way_on_every_surface"),
    row("runs.deleted", "", "GET /v1/deleted-runs", server=True, test="test_runs.py::test_a_deleted_run_comes_back_the_same_way_on_every_surface", why_not="assay eval list --deleted"),
    row("runs.restore", "eval restore", "POST /v1/deleted-runs/{run_id}/restore", "/ui/runs/restore", server=True, test="test_runs.py::test_a_deleted_run_comes_back_the_same_way_on_every_surface"),
    row("runs.history", "eval history", "GET /v1/history/{suite}", "/runs", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("run_view.export", "eval export", "GET /v1/runs/{ref}/trec", server=True, test="test_runs.py::test_a_run_file_is_the_same_on_every_surface"),
    row("run_exchange.push", "eval push", "POST /v1/runs", "GET /v1/runs/{ref}/export", server=True),
    row("reports.report", "eval report", "GET /v1/runs/{ref}/report", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("reports.bundle", "eval bundle", server=True, why_not=FILES),
    row("reports.verify_bundle", "eval verify-bundle", server=True, why_not=FILES),
    row("comparison.compare", "eval compare", "POST /v1/compare", "/compare", "/compare/query", "/compare/several", "/compare/export", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("comparison.ab", "eval ab", "POST /v1/ab", "/ab", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("workspace.Workspace.timings", "", "POST /v1/ab", server=True, test="test_evaluate.py::test_two_configurations_are_timed_in_turn_on_every_surface"),
    row("gate.gate", "eval gate", "POST /v1/gate", "/gate", server=True, test="test_runs.py::test_a_verb_says_the_same_on_every_surface"),
    row("prometheus.publish", "eval publish", "GET /metrics", "POST /v1/publish", "/ui/publish", server=True),

    row("scoring.score_runs", "score", "POST /v1/score", test="test_corpus.py::test_scores", why_not=FILES),
    row("scoring.classify_file", "classify", "POST /v1/classify", test="test_corpus.py::test_decisions", why_not=FILES),
    row("", "measures", "GET /v1/measures", why_not="a list that is part of the code"),
    row("workflow.query_metrics", "", "POST /api/evaluation/compute_metrics", "POST /api/evaluation/aggregate", "POST /api/evaluation/speaker_breakdown",
        "POST /api/evaluation/report", "POST /api/retrieval/batch", "GET /api/evaluation/dataset/{dataset_id}", why_not=PARTS),
    row("saved.save_evaluation", "", "POST /api/evaluation/save", why_not=PARTS),
    row("timetable.timetable", "schedule list", "GET /v1/schedules", "/schedule", server=True, test="test_evaluate.py::test_the_clock_is_set_the_same_way_on_every_surface"),
    row("timetable.schedule", "schedule add", "POST /v1/schedules", "PUT /v1/schedules/{entry_id}", "/ui/schedule", server=True, test="test_evaluate.py::test_the_clock_is_set_the_same_way_on_every_surface"),
    row("timetable.unschedule", "schedule remove", "DELETE /v1/schedules/{entry_id}", "/ui/schedule/{entry_id}/remove", server=True, test="test_evaluate.py::test_the_clock_is_set_the_same_way_on_every_surface"),
    row("jobs.open_jobs", "", "GET /v1/jobs", "GET /v1/jobs/{job_id}", "DELETE /v1/jobs/{job_id}", "GET /v1/jobs/{job_id}/events", "POST /v1/jobs/{job_id}/resume", "/jobs", "/jobs/{job_id}", "/ui/jobs/{job_id}/{action}", server=True, why_not="a service has jobs, a command waits for its own work"),

    row("testsets.list_sets", "testset list", "GET /v1/testsets", "/testsets", server=True, test="test_testsets.py::test_the_same_sets_are_listed"),
    row("testsets.show", "testset show", "GET /v1/testsets/{name}", "/testsets/{name}", test="test_testsets.py::test_what_is_held_out_is_masked_and_every_look_is_logged", why_not=CUSTODIAN),
    row("testsets.validate", "testset validate", "POST /v1/testsets/validate", "/ui/validate", test="test_testsets.py::test_the_same_problems_are_found", why_not=FILES),
    row("testsets.split", "testset split", "POST /v1/testsets/{name}/split", test="test_testsets.py::test_the_same_queries_are_held_out", why_not=CUSTODIAN),
    row("testsets.overlap", "testset overlap", test="test_testsets.py::test_what_two_sets_share_is_found", why_not=FILES),
    row("testsets.diff", "testset diff", "GET /v1/testsets/{name}/diff/{other}", "/testsets/{name}/diff/{other}", test="test_testsets.py::test_the_same_differences_are_found", why_not=CUSTODIAN),
    row("testsets.import_file", "testset import", "POST /v1/testsets", "/ui/testsets", test="test_testsets.py::test_a_file_is_the_same_set_however_it_comes_in", why_not=FILES),
    row("testsets.export", "testset export", "GET /v1/testsets/{name}/export", test="test_testsets.py::test_the_same_files_go_out_and_looks_are_logged", why_not=FILES),
    row("testsets.schema", "testset schema", "GET /v1/testset-schema", test="test_testsets.py::test_the_same_schema", why_not="the same wherever it is asked for"),
    row("drafts.grade", "testset grade", "PUT /v1/testsets/{name}/grades", "/ui/grade", test="test_testsets.py::test_a_question_is_graded_the_same_way_everywhere", why_not=CUSTODIAN),
    row("drafts.fork", "testset fork", "POST /v1/testsets/{name}/fork", "/ui/fork", test="test_testsets.py::test_a_judged_set_is_forked_and_never_changed", why_not=CUSTODIAN),
    row("pool.sample", "testset sample", "/annotate/new", "/ui/rounds/draw", test="test_testsets.py::test_the_same_queries_are_drawn_and_the_same_passages_pooled", why_not=CUSTODIAN),
    row("pool.pool", "testset pool", "/ui/rounds", test="test_testsets.py::test_the_same_queries_are_drawn_and_the_same_passages_pooled", why_not=CUSTODIAN),
    row("suggestions.suggest", "testset suggest", "POST /v1/testsets/suggest", test="test_testsets.py::test_the_same_questions_are_suggested", why_not=CUSTODIAN),
    row("first_set.new", "testset new", "POST /v1/rounds", why_not=ELSEWHERE, test="test_testsets.py::test_a_first_set_comes_the_same_way_from_every_surface"),
    row("first_set.add_judge", "testset second", "POST /v1/rounds/{round_id}/second", "/ui/rounds/{name}/second", test="test_testsets.py::test_a_first_set_comes_the_same_way_from_every_surface", why_not=CUSTODIAN),
    row("first_set.finish", "testset finish", "POST /v1/rounds/{round_id}/finish", "GET /v1/rounds/{round_id}", test="test_testsets.py::test_a_first_set_comes_the_same_way_from_every_surface", why_not=CUSTODIAN),
    row("annotation.automatic", "", "POST /v1/rounds/{round_id}/judge", "GET /v1/rounds/{round_id}/review", test="test_testsets.py::test_an_automatic_judge_says_the_same_on_every_surface", why_not="assay annotate --judge, and --review"),
    row("annotation.open_desks", "testset rounds", "GET /v1/rounds", "/annotate", test="test_testsets.py::test_the_same_rounds_are_listed", why_not=CUSTODIAN),
    row("annotation.Desk", "annotate", "GET /v1/rounds/{round_id}/next", "POST /v1/rounds/{round_id}/grades", "POST /v1/rounds/{round_id}/undo", "/annotate/{name}", "/annotate/{name}/mine", "/ui/annotate/{name}",
        test="test_testsets.py::test_a_passage_is_judged_the_same_way_on_every_surface", why_not=ELSEWHERE),
    row("annotation.Desk", "testset agreement", "GET /v1/rounds/{round_id}/agreement", "GET /v1/rounds/{round_id}/disputes", "/annotate/{name}/agreement", "/annotate/{name}/passages", test="test_testsets.py::test_agreement_and_disputes_are_the_same", why_not=CUSTODIAN),
    row("annotation.Desk", "testset adjudicate", "POST /v1/rounds/{round_id}/decisions", "/annotate/{name}/decide", "/ui/decide/{name}", test="test_testsets.py::test_agreement_and_disputes_are_the_same", why_not=CUSTODIAN),
    row("annotation.Desk", "testset export-tasks", test="test_testsets.py::test_tasks_go_out_and_grades_come_in", why_not=FILES),
    row("annotation.Desk", "testset import-grades", test="test_testsets.py::test_tasks_go_out_and_grades_come_in", why_not=FILES),
    row("refresh.propose", "testset refresh", "/annotate/{name}/next", "/ui/next/{name}", test="test_testsets.py::test_the_next_version_is_the_same", why_not=CUSTODIAN),
    row("refresh.reanchor", "testset reanchor", test="test_testsets.py::test_judgments_are_carried_the_same_way", why_not=CUSTODIAN),
    row("held_out.check_overfitting", "testset heldout", why_not=CUSTODIAN),

    row("", "config show", why_not="about this machine"),
    row("", "config hash", why_not="about this machine"),
    row("", "config limits", why_not="about this machine"),
    row("", "config trust", why_not="about this machine"),
    row("", "serve", why_not="about this machine"),
    row("", "mcp", server=True, test="test_mcp.py::test_tools_say_what_python_says", why_not="a pipe to an assistant on this machine"),
    row("", "demo", why_not="about this machine"),
)
INTERFACE = {
    "figures": "prometheus.publish",
    "search": "workspace.Workspace.search", "why": "workspace.Workspace.why", "answer": "workspace.Workspace.answer",
    "sections": "search.options_of_caller", "freshness": "search.options_of_caller",
    "documents": "corpus.list_documents", "document": "corpus.document", "document_uses": "document_uses.document_uses", "delete": "corpus.delete",
    "add": "corpus.add", "add_frame": "corpus.add",
    "index_card": "index.index_card", "check_index": "index.check_index",
    "write_index": "index.write_index", "models": "models.list_models", "backup": "backup.back_up",
    "test_sets": "testsets.list_sets", "carry_out": "evaluation.evaluate", "runs": "runs.list_runs",
    "stored_run": "run_view.outcomes", "delete_run": "runs.delete", "deleted_runs": "runs.deleted",
    "restore_run": "runs.restore", "archived": "workspace.Workspace.present",
    "present": "workspace.Workspace.present", "labels": "workspace.Workspace.present",
    "schedules": "timetable.timetable", "schedule": "timetable.schedule", "unschedule": "timetable.unschedule",
    "timings": "workspace.Workspace.timings",
}
"""What a workspace and a service both can, and the row of it."""
PLUMBING = {"settings", "require"}
# fmt: on
EVERYWHERE = {"GET /docs", "GET /openapi.json"}
"""Routes of the service itself."""
FRAME = {"/ui/style.css", "/sign-in", "/sign-out", "/ui/palette"}
"""Pages around the others."""
