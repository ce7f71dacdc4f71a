"""What do these tests borrow from the unit tests?"""

from tests.unit.http.conftest import (  # noqa: F401 - fixtures
    client,
    home,
    log,
    make_service,
    small,
    small_home,
)
