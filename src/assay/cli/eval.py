"""What can be done with evaluations?

The verbs stand in modules of their own (``eval_run.py``, ``eval_runs.py`` ...). Such a module has
``verbs = typer.Typer()`` with ``@verbs.command("name")`` functions; a row in ``MODULES`` adds them.
"""

from importlib import import_module

from assay.cli.options import group

app = group("Run test sets, keep the runs, look at them and compare them.")

MODULES = (
    "eval_run",
    "eval_runs",
    "eval_show",
    "eval_tune",
    "eval_compare",
    "eval_report",
    "eval_push",
    "eval_publish",
)

for _name in MODULES:
    app.registered_commands += import_module(f"assay.cli.{_name}").verbs.registered_commands
