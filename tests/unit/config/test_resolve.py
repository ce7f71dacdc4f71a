"""Does the right source win, and does every value know where it comes from?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.errors import AssayError, ConfigError, DuplicateError, MissingFileError
from assay.settings import SETTINGS, Settings, configure, unknown_variables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def in_folder(
    folder: Path, text: str = "", *, env: Mapping[str, str] | None = None, **flags: object
) -> Settings:
    """The configuration seen from a folder that holds this ``assay.yaml``."""
    if text:
        (folder / "assay.yaml").write_text(text, encoding="utf-8")
    return configure(flags, environ=env or {}, folder=folder)


def test_defaults(tmp_path: Path) -> None:
    config = in_folder(tmp_path)
    assert config.measures == "nDCG@10 RR@10 Recall@{5,10,20}"
    assert (config.confidence, config.alpha, config.margin) == (0.95, 0.05, 0.01)
    assert (config.resamples, config.seed) == (10_000, 42)
    assert (config.ci_method, config.color) == ("bca", "auto")
    assert config.home == tmp_path / ".assay"
    assert set(config.origins.values()) == {"default"}


def test_every_setting_has_a_field_and_an_origin(tmp_path: Path) -> None:
    config = in_folder(tmp_path)
    assert list(config.as_dict()) == list(SETTINGS) == list(config.origins)


def test_precedence(tmp_path: Path) -> None:
    env = {"ASSAY_SEED": "2"}
    file = tmp_path / "assay.yaml"
    steps = [
        (in_folder(tmp_path), 42, "default"),
        (in_folder(tmp_path, "# mine\nseed: 1\n"), 1, f"file {file}:2"),
        (in_folder(tmp_path, env=env), 2, "env ASSAY_SEED"),
        (in_folder(tmp_path, env=env, seed=3), 3, "flag --seed"),
    ]
    assert [(c.seed, c.origins["seed"]) for c, _, _ in steps] == [(v, o) for _, v, o in steps]


def test_a_flag_that_was_not_given_and_an_empty_variable_count_for_nothing(tmp_path: Path) -> None:
    assert in_folder(tmp_path, env={"ASSAY_SEED": ""}, seed=None).origins["seed"] == "default"


def test_the_nearest_file_upwards(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    in_folder(tmp_path, "seed: 1\nalpha: 0.01\n")
    assert configure(environ={}, folder=deep).seed == 1
    in_folder(tmp_path / "a", "seed: 2\n")
    config = configure(environ={}, folder=deep)
    assert (config.seed, config.alpha) == (2, 0.05)


def test_the_workspace_is_the_nearest_folder_upwards(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    (tmp_path / ".assay").mkdir()
    deep.mkdir(parents=True)
    (deep / ".assay").write_text("a file is no workspace", encoding="utf-8")
    config = configure(environ={}, folder=deep)
    assert config.home == tmp_path / ".assay"
    assert config.origins["home"] == "default (nearest .assay)"


def test_a_relative_home_counts_from_whoever_wrote_it(tmp_path: Path) -> None:
    deep = tmp_path / "a"
    deep.mkdir()
    in_folder(tmp_path, "home: work\n")
    assert configure(environ={}, folder=deep).home == tmp_path / "work"
    assert configure(environ={"ASSAY_HOME": "work"}, folder=deep).home == deep / "work"
    assert configure({"home": "/x"}, environ={}, folder=deep).home.as_posix() == "/x"


def test_values_of_every_type_from_a_file(tmp_path: Path) -> None:
    config = in_folder(
        tmp_path,
        "measures: 'P@5'\nconfidence: 9e-1\nresamples: 500\nci_method: percentile\nmargin: 0\n",
    )
    assert (config.measures, config.confidence, config.resamples) == ("P@5", 0.9, 500)
    assert (config.ci_method, config.margin) == ("percentile", 0.0)


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    assert in_folder(tmp_path, "# nothing yet\n").seed == 42


BAD_FILES = {
    "seed: 1\nresample: 5\n": "assay.yaml:2: 'resample' is not a setting",
    "seed: '42'\n": 'seed must be a whole number from 0 to 9223372036854775807, not "42"',
    "\nconfidence: .nan\n": ":2: confidence must be a number strictly between 0 and 1, not '.nan'",
    "confidence: 1\n": "not '1'",
    "resamples: 1_000\n": "not '1_000'",
    "resamples: 1e3\n": "not '1e3'",
    "seed: true\n": "not 'true'",
    "seed:\n": "not ''",
    "seed: [1]\n": "assay.yaml:1: seed must be a single value",
    "color: NO\n": "color must be auto, always or never, not 'NO'",
    "- seed\n": "assay.yaml:1: the file must hold lines such as 'seed: 42'",
    "seed\n": "assay.yaml:1: the file must hold",
    f"seed: {'9' * 5000}\n": "99...",
}


@pytest.mark.parametrize(
    ("text", "message"), BAD_FILES.items(), ids=[key[:20] for key in BAD_FILES]
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        in_folder(tmp_path, text)
    assert message in caught.value.message
    assert caught.value.message.startswith(f"{tmp_path / 'assay.yaml'}:")


def test_an_unknown_key_answers_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        in_folder(tmp_path, "resample: 5\n")
    assert caught.value.hint
    assert caught.value.hint.startswith("did you mean resamples? known settings: home, measures")


def test_yaml_trouble_keeps_its_own_error(tmp_path: Path) -> None:
    with pytest.raises(DuplicateError):
        in_folder(tmp_path, "seed: 1\nseed: 2\n")


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "assay.yaml").mkdir()
    with pytest.raises(MissingFileError, match="not a regular file"):
        in_folder(tmp_path)


@pytest.mark.parametrize(
    ("env", "flags", "subject"),
    [
        ({"ASSAY_SEED": "-1"}, {}, "ASSAY_SEED must be"),
        ({"ASSAY_MARGIN": "inf"}, {}, "ASSAY_MARGIN must be"),
        ({}, {"ci_method": "BCa"}, "--ci-method must be bca or percentile, not 'BCa'"),
        ({}, {"confidence": float("nan")}, "--confidence must be"),
        ({}, {"sede": 1}, "sede is not a setting"),
    ],
)
def test_a_bad_value_names_its_source(
    tmp_path: Path, env: dict[str, str], flags: dict[str, object], subject: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        configure(flags, environ=env, folder=tmp_path)
    assert subject in caught.value.message


def test_a_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(AssayError, match="no longer exists"):
        configure(environ={})


def test_variables_that_set_nothing() -> None:
    environ = {"ASSAY_SEDE": "1", "ASSAY_SEED": "1", "ASSAY_DEBUG": "1", "ASSAY_Q": "", "HOME": "/"}
    assert unknown_variables(environ) == {"ASSAY_Q": None, "ASSAY_SEDE": "ASSAY_SEED"}
