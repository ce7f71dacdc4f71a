"""How is a package loaded that only some uses of the program need?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assay.errors import MissingDependencyError


def needed(package: str, extra: str = "models") -> Any:
    """Import a package, or say how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"this needs the package {package}, which cannot be imported: {error}",
            hint=f"install it with: pip install 'assay[{extra}]'",
        ) from error
