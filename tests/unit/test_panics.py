"""Is what a panic prints kept back, and everything else shown?"""

from __future__ import annotations

import os
import threading

import pytest
from polars.exceptions import PanicException

from assay.panics import STDERR, without_panic_text


def printing(problem: BaseException | None = None) -> None:
    with without_panic_text():
        os.write(STDERR, b"thread panicked at some.rs\n")
        if problem is not None:
            raise problem


def test_a_panic_leaves_no_text(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PanicException):
        printing(PanicException("unwrap"))
    assert capfd.readouterr().err == ""
    os.write(STDERR, b"later\n")
    assert capfd.readouterr().err == "later\n"


def test_what_else_is_printed_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    printing()
    with pytest.raises(ValueError, match="other"):
        printing(ValueError("other"))
    assert capfd.readouterr().err.count("panicked") == 2


def test_other_threads_are_left_alone(capfd: pytest.CaptureFixture[str]) -> None:
    beside = threading.Thread(target=printing)
    beside.start()
    beside.join()
    assert "panicked" in capfd.readouterr().err
