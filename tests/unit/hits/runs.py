"""A run file and what it says, for the tests of its readers."""

from __future__ import annotations

from .conftest import Reader
from .tables import ranks

RUN = (
    "q1 Q0 a 1 3.0 t\n"
    "q1 Q0 b 2 2.0 t\n"
    "q1 Q0 z 3 1.5 t\n"
    "q1 Q0 c 4 1.0 t\n"
    "q2 Q0 y 1 9.0 t\n"
    "q2 Q0 x 2 8.0 t\n"
)
EXPECTED = {"q1": [(1, 1), (2, 0), (4, 2)], "q2": [(2, 1)]}
SCORE_HINT = "(scores are decimal numbers such as 12.5 or 1e-3)"
COLUMN_HINT = "(a line is: query Q0 document rank score tag"
FILLER = "".join(f"f{n} Q0 d{n} 1 1.0 t\n" for n in range(40))


def check(reader: Reader, content: bytes | str, **more: object) -> None:
    """The content says the same as RUN."""
    table = reader.judge(content, **more)  # type: ignore[arg-type]
    assert {query: ranks(table, query) for query in table.queries} == EXPECTED
    assert table.retrieved.tolist() == [4, 2]
    assert table.top_score.tolist() == [3.0, 9.0]
    assert table.missing.tolist() == [False, False]
    assert table.tied.tolist() == [0, 0]
