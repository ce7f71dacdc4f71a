"""What can be done with test sets?

Each module adds its verbs to ``app``; ``--help`` lists them in the order of the imports.
"""

from assay.cli.testset import sets, rounds  # isort: skip
from assay.cli.testset.shared import app

__all__ = ["app", "rounds", "sets"]
