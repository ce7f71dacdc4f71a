"""Is this installation fit for work?"""

import typer

from assay.cli.console import emit_columns, emit_json, emit_text
from assay.cli.options import JsonFlag, configuration
from assay.plural import counted

UNFIT = 1


def command(ctx: typer.Context, json_output: JsonFlag = False) -> int:
    """Check models, disk, store and index, and say what to do."""
    from assay.app.doctor import State, examine

    findings = examine(configuration(ctx))
    faults = sum(finding.state is State.FAULT for finding in findings)
    if json_output:
        emit_json({"fit": not faults, "findings": findings})
    else:
        emit_columns(
            [(f.state, f.name, f.says + (f" ({f.hint})" if f.hint else "")) for f in findings]
        )
        if faults:
            emit_text(f"\n{counted(faults, 'fault')} to fix")
    return UNFIT if faults else 0
