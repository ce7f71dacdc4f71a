"""How is an optional package imported?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from assay.errors import MissingDependencyError


def import_optional(package: str, extra: str | None = None) -> Any:
    """Import a package, or say how to install it; ``extra`` is the extra that contains it."""
    try:
        return import_module(package)
    except ImportError as error:
        wanted = f"'assay[{extra}]'" if extra else package.replace("_", "-")
        raise MissingDependencyError(
            f"this needs the package {package}, which cannot be imported: {error}",
            hint=f"install it with: pip install {wanted}",
        ) from error
