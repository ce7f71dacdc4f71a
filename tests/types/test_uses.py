"""Does a type checker accept what is right and refuse what is wrong?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

USES = Path(__file__).with_name("uses.py")


@pytest.mark.slow
def test_wrong_uses_of_public_names_fail_under_mypy() -> None:
    """``strict`` refuses an ignore that is not needed: each wrong use must be an error."""
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", str(USES)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_misspelt_option_is_named(tmp_path: Path) -> None:
    """The same without the ignore, so that the message is seen."""
    program = tmp_path / "program.py"
    program.write_text('import assay\nassay.open("x").search("aspirin", fusin="rrf")\n')
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", str(program)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert 'Unexpected keyword argument "fusin"' in done.stdout
