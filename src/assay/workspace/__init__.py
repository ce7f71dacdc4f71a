"""Where do corpus, models and index of one project live, and who wires them together?

A workspace is a folder: ``assay.db`` is the truth, ``index/`` is derived from it and can be
rebuilt, ``vectors/`` keeps what models made of texts so that nothing is encoded twice. This package
is the only place that builds stores, encoders and indexes from configuration: ``folder.py`` has the
workspace itself, the other files what it does, a question each.
"""

from assay.workspace.encoding import NO_MODEL, Progress
from assay.workspace.folder import Workspace, open_workspace
from assay.workspace.searching import COMPONENTS

__all__ = ["COMPONENTS", "NO_MODEL", "Progress", "Workspace", "open_workspace"]
