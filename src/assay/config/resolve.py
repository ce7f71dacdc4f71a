"""Which value does each setting have here, and who said so?

A flag wins over the environment, the environment over the nearest ``assay.yaml`` upwards, the file
over the default. Every value remembers its origin. An empty environment variable counts as unset.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay import limits
from assay.config.settings import SETTINGS, Setting, Value
from assay.errors import ConfigError, MissingFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from assay.strict_yaml import Node, ScalarNode

CONFIG_FILE = "assay.yaml"
WORKSPACE_FOLDER = ".assay"
OTHER_VARIABLES = frozenset({"ASSAY_API_KEY", "ASSAY_DEBUG", "ASSAY_SHARED_DATA"})  # read elsewhere


@dataclass(frozen=True, slots=True)
class Resolved:
    """The value of one setting and where it comes from, in words."""

    value: Value
    origin: str


def resolve_settings(
    flags: Mapping[str, object], environ: Mapping[str, str], folder: Path
) -> dict[str, Resolved]:
    """Every setting of the table, as seen from a folder."""
    unknown = [name for name in flags if name not in SETTINGS]
    if unknown:
        raise ConfigError(f"{unknown[0]} is not a setting", hint=_known(unknown[0]))
    path = _nearest_upwards(folder, CONFIG_FILE, os.path.lexists)
    written = _read_file(path) if path else {}
    return {
        name: _from_flag(setting, flags.get(name), folder)
        or _from_environment(setting, environ, folder)
        or _from_file(setting, written.get(name), path)
        or _default(setting, folder)
        for name, setting in SETTINGS.items()
    }


def _nearest_upwards(folder: Path, name: str, is_wanted: Callable[[Path], bool]) -> Path | None:
    """The nearest entry of that name in a folder or one of its parents."""
    places = (parent / name for parent in (folder, *folder.parents))
    return next((place for place in places if is_wanted(place)), None)


def working_folder() -> Path:
    """The folder in which the command runs."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise MissingFileError(
            "the current folder no longer exists", hint="cd to another"
        ) from error


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like the given one, if any does."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1)), None)


def unknown_variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    """Variables that look like settings and are none, each with the name it resembles."""
    known = {setting.env for setting in SETTINGS.values()} | OTHER_VARIABLES
    others = sorted(name for name in environ if name.startswith("ASSAY_") and name not in known)
    guesses = {name: nearest(name.removeprefix("ASSAY_").lower(), SETTINGS) for name in others}
    return {name: SETTINGS[guess].env if guess else None for name, guess in guesses.items()}


def _known(word: str) -> str:
    guess = nearest(word, SETTINGS)
    listing = f"known settings: {', '.join(SETTINGS)}"
    return f"did you mean {guess}? {listing}" if guess else listing


def _from_flag(setting: Setting, given: object, folder: Path) -> Resolved | None:
    if given is None:
        return None
    return _checked(setting, str(given), setting.flag, f"flag {setting.flag}", folder)


def _from_environment(
    setting: Setting, environ: Mapping[str, str], folder: Path
) -> Resolved | None:
    text = environ.get(setting.env)
    if not text:
        return None
    return _checked(setting, text, setting.env, f"env {setting.env}", folder)


def _from_file(setting: Setting, node: ScalarNode | None, path: Path | None) -> Resolved | None:
    if node is None or path is None:
        return None
    place = f"{path}:{node.line}"
    if setting.kind.numeric and node.quoted:
        raise _bad_value(
            setting, f'"{node.text}"', f"{place}: {setting.name}", "leave the quotes out"
        )
    return _checked(setting, node.text, f"{place}: {setting.name}", f"file {place}", path.parent)


def _default(setting: Setting, folder: Path) -> Resolved:
    if setting.name != "home":
        return Resolved(setting.kind.read(setting.default), "default")
    found = _nearest_upwards(folder, WORKSPACE_FOLDER, os.path.isdir)
    if found is not None:
        return Resolved(found, "default (nearest .assay)")
    return Resolved(folder / setting.default, "default")


def _checked(setting: Setting, text: str, subject: str, origin: str, base: Path) -> Resolved:
    """The text as a value; a relative path counts from the folder of whoever wrote it."""
    try:
        value = setting.kind.read(text)
    except ValueError as error:
        raise _bad_value(setting, repr(text), subject) from error
    return Resolved(base / value if isinstance(value, Path) else value, origin)


def _bad_value(setting: Setting, shown: str, subject: str, hint: str | None = None) -> ConfigError:
    short = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return ConfigError(
        f"{subject} must be {setting.kind.form}, not {short}", hint=hint or setting.help
    )


def _read_file(path: Path) -> dict[str, ScalarNode]:
    """The settings that a configuration file names."""
    from assay.strict_yaml import MappingNode, load_yaml

    root = load_yaml(path, max_bytes=limits.MAX_CONFIG_BYTES)
    if root is None:
        return {}
    if not isinstance(root, MappingNode):
        raise ConfigError(f"{path}:{root.line}: the file must hold lines such as 'seed: 42'")
    return {key.text: _entry(path, key, node) for key, node in root.entries}


def _entry(path: Path, key: ScalarNode, node: Node) -> ScalarNode:
    from assay.strict_yaml import ScalarNode

    if key.text not in SETTINGS:
        raise ConfigError(
            f"{path}:{key.line}: {key.text!r} is not a setting", hint=_known(key.text)
        )
    if not isinstance(node, ScalarNode):
        raise ConfigError(f"{path}:{key.line}: {key.text} must be a single value")
    return node
