"""Is the collector as it was once a pause is over?"""

from __future__ import annotations

import gc

import pytest

from assay import garbage


def test_nothing_is_collected_meanwhile() -> None:
    gc.unfreeze()
    assert gc.isenabled()
    with garbage.paused():
        assert not gc.isenabled()
        with garbage.paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_an_error_ends_the_pause() -> None:
    with pytest.raises(ValueError, match="early"), garbage.paused():
        raise ValueError("early")
    assert gc.isenabled()


def test_what_was_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with garbage.paused():
            pass
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
