"""Which function does ``module:function`` name, which code is it made of, and how is it called?

The function is the caller's own and runs with the caller's rights. Its code is the file of its
module and every file of the caller's that this imports, at the top or inside a function; of other
packages the version counts. Data files and folders count that the code names in quotes, such as a
prompt, unless it only writes them or asks whether they are there. What cannot be seen stays out:
services that are asked, and files whose names are put together.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from assay import limits
from assay.digests import digest_of
from assay.errors import AssayError, UsageError
from assay.time_limit import TimeLimit

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_IMPORTERS = frozenset({"import_module", "__import__"})
_NO_READERS = frozenset(
    {"write_text", "write_bytes", "touch", "mkdir", "makedirs", "unlink"}
    | {"exists", "is_file", "is_dir"}
)
_loaded: dict[str, tuple[ModuleSpec, str]] = {}
"""The file of each module as it was when we first saw the module, by name."""


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function by its name; ``digest`` identifies its code and is None where nobody knows it."""

    spec: str
    function: Callable[..., Any]
    digest: str | None


@dataclass(frozen=True, slots=True)
class UserObject:
    """Anything by its name; ``digest`` identifies the code of its module, where that is known."""

    value: Any
    digest: str | None


@dataclass(frozen=True, slots=True)
class TimedFunction:
    """A user's function with a name for the record of a run; a call gets ``seconds``.

    ``code`` identifies the function's code. Where nobody knows it, no two have the same name: what
    one said does not tell what another would say.
    """

    error: ClassVar[type[AssayError]]
    takes: ClassVar[str]

    function: Callable[..., Any]
    label: str = ""
    code: str | None = None
    seconds: float = 60.0
    _limit: TimeLimit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", self.code or f"unknown-{secrets.token_hex(6)}")
        object.__setattr__(self, "_limit", TimeLimit(self.seconds))

    @property
    def name(self) -> str:
        """Identifies everything known to affect what the function returns."""
        return f"{self.called}(code={self.code})"

    @property
    def called(self) -> str:
        """The function's own name, or a given label."""
        module = getattr(self.function, "__module__", "?")
        return self.label or f"{module}:{getattr(self.function, '__qualname__', '?')}"

    def call(self, *given: Any) -> Any:
        """What the function returns, awaited; its exceptions become an ``error`` that names it."""
        try:
            return self._limit.call(lambda resolve: resolve(self.function(*given)))
        except (Exception, SystemExit) as problem:  # user code
            raise self.error(
                f"{self.called} failed: {type(problem).__name__}: {problem!s:.200}",
                hint=f"it gets {self.takes}; ASSAY_DEBUG=1 shows where it failed",
            ) from problem


def load_function(spec: str) -> UserFunction:
    """Import what ``module:function`` names; modules of the working folder are found, too."""
    found = load_object(spec)
    if not callable(found.value):
        module, _, name = spec.partition(":")
        raise UsageError(f"{module} has no function {name}")
    return UserFunction(spec, found.value, found.digest)


def load_object(spec: str) -> UserObject:
    """Import what ``module:name`` names, whatever it is."""
    module_name, colon, name = spec.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f"{spec!r:.80} is not module:function", hint="such as my_engine:search")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: Any = _imported(module_name)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise UsageError(f"{module_name} has no function {name}")
    return UserObject(found, code_digest(module_name))


def _imported(module_name: str) -> Any:
    """The module. No compiled copy is kept: Python takes one for current for a whole second."""
    keeps_copies, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        return importlib.import_module(module_name)
    except Exception as problem:  # importing runs the user's code
        said = f"{type(problem).__name__}: {problem}"
        raise UsageError(f"{module_name} cannot be imported: {said:.500}") from problem
    finally:
        sys.dont_write_bytecode = keeps_copies


def code_digest(module_name: str) -> str | None:
    """SHA-256 of a module's code, as the module's docstring defines it.

    None where a file is not known or was edited after Python had loaded it: then the code that runs
    is not the code on the disk.
    """
    root = module_name.partition(".")[0]
    digests: dict[str, str] = {}
    packages: set[str] = set()
    data: dict[str, Any] = {}
    waiting = [module_name]
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in digests or (top in sys.stdlib_module_names and top != root):
            continue
        spec = _spec(name)
        if spec is None:
            if name == module_name:
                return None
            continue  # a name inside a module, or a package that is not installed
        if top != root and (top == "assay" or _INSTALLED.intersection(Path(_file(spec)).parts)):
            packages.add(top)
            continue
        if len(digests) >= limits.MAX_CODE_FILES:
            return None
        read = _read(name, spec)
        if read is None:
            return None
        digests[name] = hashlib.sha256(read).hexdigest()
        waiting += _parents(name)
        if _file(spec).endswith(".py"):
            waiting += _imports(read, spec)
            data |= _named_data(read, Path(_file(spec)).parent)
            if len(data) > limits.MAX_CODE_FILES:
                return None
    versions = {top: _version(top) for top in packages}
    return digest_of([digests, versions, *([data] if data else [])])


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is found; nothing is imported for it."""
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    if isinstance(loaded, ModuleSpec):
        return loaded
    parent, dot, _ = name.rpartition(".")
    try:
        if not dot:
            return importlib.util.find_spec(name)
        above = _spec(parent)
        places = None if above is None else above.submodule_search_locations
        return None if places is None else PathFinder.find_spec(name, list(places))
    except (ImportError, AttributeError, ValueError):
        return None


def _file(spec: ModuleSpec) -> str:
    return spec.origin if spec.has_location and spec.origin is not None else ""


def _read(name: str, spec: ModuleSpec) -> bytes | None:
    """The file of a module; nothing for a folder without one, None where it cannot be known."""
    if spec.origin is None and spec.submodule_search_locations is not None:
        return b""
    try:
        content = Path(_file(spec)).read_bytes()
    except OSError:
        return None
    if getattr(sys.modules.get(name), "__spec__", None) is spec:
        digest = hashlib.sha256(content).hexdigest()
        known = _loaded.get(name)
        if known is None or known[0] is not spec:
            _loaded[name] = spec, digest
        elif known[1] != digest:
            return None
    return content


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _imports(source: bytes, spec: ModuleSpec) -> Iterator[str]:
    """The modules that a file imports; some are only names inside of one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, spec)
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Call) and _called(node.func) in _IMPORTERS and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _named_data(source: bytes, folder: Path) -> dict[str, Any]:
    """The state of every file that the code names, from the working folder or its own."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    unread = {
        name
        for node in nodes
        if isinstance(node, ast.Call) and not _may_read(node)
        for name in _quoted(ast.walk(node))
    }
    found: dict[str, Any] = {}
    for name in sorted(_quoted(nodes) - unread):
        for at, place in enumerate(dict.fromkeys([Path.cwd() / name, folder / name])):
            found |= _state(place, f"{at} {name}")
    return found


def _quoted(nodes: Iterable[ast.AST]) -> set[str]:
    """Constants that could be names of files."""
    values = (node.value for node in nodes if isinstance(node, ast.Constant))
    texts = (value for value in values if isinstance(value, str))
    return {text for text in texts if text.strip("./") and len(text) <= 1_000 and "\0" not in text}


def _may_read(call: ast.Call) -> bool:
    """Whether a call may read the file that it names; some write it, or ask whether it is there."""
    called = _called(call.func)
    if called != "open":
        return called not in _NO_READERS
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = [value.value for value in values if isinstance(value, ast.Constant)]
    return not any(
        isinstance(text, str) and len(text) <= 3 and set(text) & set("wax+") for text in texts
    )


def _state(place: Path, name: str) -> dict[str, Any]:
    """What tells a file, or every file of a folder, from what it was; nothing where there is none.

    A file is told by its content, one that is large or in a folder by its size and time.
    """
    try:
        if place.is_file():
            about = place.stat()
            if about.st_size <= limits.MAX_DATA_BYTES:
                return {name: hashlib.sha256(place.read_bytes()).hexdigest()}
            return {name: [about.st_size, about.st_mtime_ns]}
        if not place.is_dir() or place.resolve() in (Path.cwd(), *Path.cwd().parents):
            return {}
        inside = islice((one for one in place.rglob("*") if one.is_file()), limits.MAX_CODE_FILES)
        states = {str(one.relative_to(place)): one.stat() for one in inside}
    except OSError:
        return {}
    return {
        f"{name}/{one}": [about.st_size, about.st_mtime_ns]
        for one, about in states.items()
        if "__pycache__" not in one
    }


def _base(node: ast.ImportFrom, spec: ModuleSpec) -> str:
    """The module that ``from ... import`` names, in full."""
    if not node.level:
        return node.module or ""
    parts = (spec.parent or "").split(".")
    above = parts[: len(parts) - (node.level - 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _version(package: str) -> str:
    names = packages_distributions().get(package, [package])
    try:
        return " ".join(f"{name} {version(name)}" for name in sorted(set(names)))
    except PackageNotFoundError:
        return ""
