"""What do these tests borrow from the unit tests?"""

from tests.unit.http.conftest import home, log, make_service, small_home  # noqa: F401 - fixtures
from tests.unit.opensearch.test_opensearch import node  # noqa: F401 - a fixture
