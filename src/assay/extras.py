"""Which extra brings a package that only some verbs need, and what is said where it is missing?

Whoever scores, compares and gates installs none of them. ``pyproject.toml`` has the extras; a test
compares the two.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from assay.errors import MissingDependencyError

DISTRIBUTION = "assay-search"
"""What pip calls this package."""
EXTRA_OF = {
    "faiss": "search",
    "huggingface_hub": "search",
    "lxml": "search",
    "nh3": "search",
    "onnxruntime": "search",
    "pypdfium2": "search",
    "Stemmer": "search",
    "tokenizers": "search",
    "fastapi": "serve",
    "prometheus_client": "serve",
    "starlette": "serve",
    "structlog": "serve",
    "uvicorn": "serve",
    "matplotlib": "plots",
    "mlflow": "mlflow",
    "opentelemetry": "opentelemetry",
    "polars": "frames",
    "psycopg": "postgres",
    "sentence_transformers": "gpu",
    "torch": "gpu",
    "transformers": "gpu",
}


_NEEDS_CLOCK = frozenset({"onnxruntime"})
"""Packages whose import never ends where the time of day is negative."""


def require(*packages: str) -> None:
    """Refuse, with what to install, where one of these packages is not here."""
    for package in packages:
        if not is_here(package):
            raise missing(package)


def import_optional(package: str) -> Any:
    """The package, or an error that says how to install it."""
    if package in _NEEDS_CLOCK and package not in sys.modules and time.time() < 0:
        raise MissingDependencyError(
            f"{package} cannot be loaded while this machine's clock is before 1970",
            hint="set the clock",
        )
    try:
        return import_module(package)
    except ImportError as error:
        raise missing(package, error) from error


class Late:
    """A module of an optional package, imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        module = import_optional(self._name)
        self.__dict__.update(vars(module))
        return getattr(module, attribute)


def is_here(package: str) -> bool:
    """Whether the package is installed; it is not imported."""
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


def missing(package: str, error: ImportError | None = None) -> MissingDependencyError:
    """What to say where a package is not here, or cannot be imported.

    What is named as missing is the package that was not found, which may be one that another needs.
    """
    package = package.partition(".")[0]
    extra = EXTRA_OF.get(package)
    broken = error is not None and not isinstance(error, ModuleNotFoundError)
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        extra = EXTRA_OF.get(package, extra)
    why = f"cannot be imported: {error}" if broken else "is not installed"
    wanted = f"'{installed_from()}[{extra}]'" if extra else package.replace("_", "-")
    needed = f"the extra {extra}" if extra else f"the package {package}"
    named = f"the package {package} {why}" if extra else f"which {why}"
    return MissingDependencyError(
        f"this needs {needed}{': ' if extra else ', '}{named}", hint=f"pip install {wanted}"
    )


def installed_from() -> str:
    """What pip was given to install this package: a wheel, a folder, or its name."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        told = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
        place = urlsplit(told["url"])
        return unquote(place.path) if place.scheme == "file" else DISTRIBUTION
    except (PackageNotFoundError, ValueError, LookupError, TypeError):
        return DISTRIBUTION


def explained(error: ImportError) -> MissingDependencyError | None:
    """The same for an import that failed; None where no package is missing, or our own code is."""
    package = (error.name or "").partition(".")[0]
    absent = isinstance(error, ModuleNotFoundError) and package not in ("", "assay")
    return missing(package, error) if absent or package in EXTRA_OF else None
