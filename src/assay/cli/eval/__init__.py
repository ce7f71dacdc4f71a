"""What can be done with evaluations?

Each module adds its verbs to ``app``; ``assay eval --help`` lists them in the order of the imports.
"""

from assay.cli.eval import running, stored, deciding, reporting  # isort: skip
from assay.cli.eval.shared import app

__all__ = ["app", "deciding", "reporting", "running", "stored"]
