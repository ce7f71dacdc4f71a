"""Does the log hold up the service, whoever reads it?"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from assay.http.edge.logs import LogWriter, service_log
from assay.http.service import Service
from assay.settings import configure


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


def test_people_get_one_line_that_nobody_can_forge() -> None:
    stream = io.StringIO()
    service_log(stream, form="text").info("request", path='/x"\nlevel=error event=forged', ms=1.5)
    line = stream.getvalue()
    assert line.count("\n") == 1
    assert line.startswith("timestamp=")
    assert " level=info event=request " in line
    assert "ms=1.5" in line


@pytest.mark.parametrize(("level", "events"), [("info", ["a", "b"]), ("warning", ["b"])])
def test_a_level_leaves_out_what_is_below_it(level: str, events: list[str]) -> None:
    stream = io.StringIO()
    log = service_log(stream, level=level)
    log.debug("never")
    log.info("a")
    log.warning("b")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == events


def test_the_settings_choose_level_and_form(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = {"log_level": "error", "log_format": "text"}
    service = Service(configure(flags, environ={}, folder=tmp_path))
    service.log.warning("quiet")
    service.log.error("loud", why="a test")
    service.close()
    said = capfd.readouterr().err
    assert "quiet" not in said
    assert 'event=loud why="a test"' in said
