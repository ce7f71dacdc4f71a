"""Is a process told from another, alive from dead?"""

from __future__ import annotations

import subprocess
import sys

from assay.store.owner import alive, ended, this_process


def test_this_process_is_not_in_its_own_way() -> None:
    assert this_process() == this_process()
    assert not alive(this_process())
    assert not ended(this_process())


def test_another_process_is_alive_until_it_ends() -> None:
    code = "from assay.store.owner import this_process; print(this_process(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        owner = child.stdout.readline().strip()
        assert alive(owner)
        assert not ended(owner)
        host, number, started = owner.split("/")
        assert not alive(f"{host}/{number}/{int(started) + 1}"), "the number was used again"
        child.communicate("\n")
    assert not alive(owner)
    assert ended(owner)


def test_what_is_not_known_is_neither_alive_nor_ended() -> None:
    for owner in ("", "elsewhere/1/1", "no slashes", f"{this_process().split('/')[0]}/x/1"):
        assert not alive(owner)
        assert not ended(owner)
