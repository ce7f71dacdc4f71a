"""Does the log hold up the service, whoever reads it?"""

from __future__ import annotations

import io
import json
import os

from assay.http.edge.logs import LogWriter, service_log


def test_lines_are_written_in_order() -> None:
    stream = io.StringIO()
    writer = LogWriter(stream)
    log = service_log(writer)
    for number in range(100):
        log.info("request", number=number)
    writer.close()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["number"] for line in lines] == list(range(100))


def test_a_reader_that_stops_reading_holds_up_nobody() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        writer = LogWriter(stream, size=50)
        log = service_log(writer)
        for number in range(2_000):  # far more than a pipe holds
            log.info("request", number=number, text="x" * 200)
        with os.fdopen(reading) as pipe:
            told = ""
            for _ in range(10_000):
                told = pipe.readline()
                if "lines lost" in told:
                    break
                log.info("more")
            assert json.loads(told)["lines"] > 0
            for _ in range(10_000):
                log.info("last")
                if "last" in pipe.readline():
                    break
            writer.close()


def test_a_closed_stream_does_not_end_the_thread_that_writes() -> None:
    stream = io.StringIO()
    writer = LogWriter(stream)
    stream.close()
    for _ in range(3):
        service_log(writer).info("nobody reads this")
    writer.close()
    assert writer._dropped == 3
    assert not writer._thread.is_alive()
