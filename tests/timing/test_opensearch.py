"""Does a node that hangs hold up nobody?"""

from __future__ import annotations

import contextlib
import socket
import threading
import time

from assay.errors import EngineError
from assay.opensearch.transport import Transport
from tests.unit.opensearch.test_opensearch import Answers


def test_a_node_that_hangs_gets_no_more_before_its_time_is_over(node: str) -> None:
    with socket.socket() as hung:
        hung.bind(("127.0.0.1", 0))
        hung.listen()
        transport = Transport(f"http://127.0.0.1:{hung.getsockname()[1]} {node}")
        Answers.script += [(200, b"{}")] * 10

        def ask() -> None:
            with contextlib.suppress(EngineError):
                transport.ask("GET", "/", timeout=3)

        stuck = [threading.Thread(target=ask) for _ in range(2)]
        for thread in stuck:
            thread.start()
        time.sleep(0.3)
        for _ in range(6):
            transport.ask("GET", "/", timeout=0.5)
        assert any(thread.is_alive() for thread in stuck)
        for thread in stuck:
            thread.join()
        transport.close()
