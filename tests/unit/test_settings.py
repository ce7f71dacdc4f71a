"""Does the right source win, is every value typed, and does the hash change when results could?"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.encode.catalog import DEFAULT_ENCODERS
from assay.errors import AssayError, ConfigError, DuplicateError, MissingFileError
from assay.model.sampling import Sampling
from assay.search.request import RETRIEVAL_OPTIONS
from assay.settings import (
    SETTINGS,
    Setting,
    Settings,
    configure,
    guarded_settings,
    unknown_variables,
)
from assay.trust import trust


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
    assert config.sampling == Sampling("bca", 0.95, 10_000, 42)
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
        ({}, {"ci_method": "BC"}, "--ci-method must be bca or percentile, not 'BC'"),
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
    known = [row.env for row in SETTINGS.values()]
    assert {"ASSAY_OPENSEARCH_PASSWORD", "ASSAY_API_KEY", "ASSAY_DEBUG"} < set(known)
    environ = dict.fromkeys((*known, "ASSAY_SEDE", "ASSAY_Q", "HOME"), "1")
    assert unknown_variables(environ) == {"ASSAY_Q": None, "ASSAY_SEDE": "ASSAY_SEED"}


# Types, absence


def test_every_value_has_the_type_of_its_field(tmp_path: Path) -> None:
    env = {"ASSAY_DEBUG": "1", "ASSAY_RERANK": "on", "ASSAY_BOOSTS": "off"}
    config = in_folder(
        tmp_path, "dense_model: none\nmodels: here\nrerank_timeout_ms: auto\n", env=env
    )
    assert (config.debug, config.search.rerank, config.search.boosts) == (True, True, False)
    assert (config.dense_model, config.lexicon, config.server, config.api_key) == (None,) * 4
    assert config.models == tmp_path / "here"
    assert config.search.rerank_timeout_ms is None
    for zero in ("0", "0.0"):  # as older versions wrote and showed it
        older = in_folder(tmp_path, env={"ASSAY_RERANK_TIMEOUT_MS": zero})
        assert older.search.rerank_timeout_ms is None


def test_options_of_a_search_are_settings_under_the_same_names(tmp_path: Path) -> None:
    for name, one in RETRIEVAL_OPTIONS.items():
        if name != "synonyms":  # the setting names a file of them
            assert (name in SETTINGS) is one.setting, name
    config = in_folder(
        tmp_path, "components: dense, bm25\nweights: bm25=1,dense=3\nsynonyms: s.txt\n"
    )
    assert config.search.components == ("bm25", "dense")
    assert config.search.weights == {"bm25": 1.0, "dense": 3.0}
    assert config.search.synonyms is True
    assert in_folder(tmp_path, "seed: 1\n").synonyms == "built-in"
    assert in_folder(tmp_path, "seed: 1\n").search.synonyms is True
    assert in_folder(tmp_path, "synonyms: none\n").search.synonyms is False


@pytest.mark.parametrize(("text", "on"), [("2", True), ("yes please", True), ("no", False)])
def test_any_word_switches_debugging_on_but_those_for_off(
    tmp_path: Path, text: str, on: bool
) -> None:
    assert in_folder(tmp_path, env={"ASSAY_DEBUG": text}).debug is on


def test_weights_must_fit_the_components(tmp_path: Path) -> None:
    text = "components: bm25,dense\nweights: bm25=1\n"
    with pytest.raises(ConfigError, match=r"assay\.yaml:2: weights: dense has no weight"):
        in_folder(tmp_path, text)
    (tmp_path / "assay.yaml").unlink()
    with pytest.raises(ConfigError, match=r"^ASSAY_WEIGHTS: weights: splade has no weight"):
        in_folder(tmp_path, env={"ASSAY_WEIGHTS": "bm25=1,dense=1"})
    with pytest.raises(ConfigError, match=r"^--weights: weights: all are 0"):
        in_folder(tmp_path, components="bm25", weights="bm25=0")


def test_a_component_without_a_model_is_not_asked_and_needs_no_weight(tmp_path: Path) -> None:
    text = "dense_model: none\nsplade_model: none\nweights: bm25=1\n"
    assert in_folder(tmp_path, text).search.components == ("bm25",)
    with pytest.raises(ConfigError, match=r"^ASSAY_COMPONENTS: none of them has a model: dense"):
        in_folder(tmp_path, env={"ASSAY_COMPONENTS": "dense"})


def test_what_is_shown_reads_back_as_the_same_settings(tmp_path: Path) -> None:
    for flags in ({}, {name: value for name, value in OTHER_VALUE.items() if name != "database"}):
        config = configure(flags, environ={}, folder=tmp_path)
        shown = config.as_text()
        texts = {name: shown[name] for name, row in SETTINGS.items() if not row.secret}
        secrets = {name: OTHER_VALUE[name] for name, row in SETTINGS.items() if row.secret}
        again = configure({**texts, **(secrets if flags else {})}, environ={}, folder=tmp_path)
        assert again == config


# Secrets


SECRETS = ("opensearch_user", "opensearch_password", "opensearch_api_key", "api_key")


def test_secrets_are_known_and_never_shown(tmp_path: Path) -> None:
    env = {f"ASSAY_{name.upper()}": f"geheim-{name}" for name in SECRETS}
    config = in_folder(tmp_path, env=env)
    assert {name for name, row in SETTINGS.items() if row.secret} == set(SECRETS)
    for name in SECRETS:
        assert config.value(name) == f"geheim-{name}"
        assert config.as_dict()[name] == config.as_text()[name] == "***"
        assert config.origins[name] == f"env ASSAY_{name.upper()}"
    everywhere = (
        repr(config),
        str(config.as_dict()),
        str(config.as_text()),
        config.canonical_json(),
    )
    assert not any("geheim" in text for text in everywhere)
    unset = in_folder(tmp_path)
    assert [unset.as_dict()[name] for name in SECRETS] == [None] * 4
    assert [unset.as_text()[name] for name in SECRETS] == ["none"] * 4


def test_a_secret_keeps_its_blanks_and_loses_line_ends(tmp_path: Path) -> None:
    config = in_folder(tmp_path, env={"ASSAY_OPENSEARCH_PASSWORD": " pw \r\n"})
    assert config.opensearch_password == " pw "


def test_a_secret_that_is_refused_is_not_quoted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        in_folder(tmp_path, api_key=b"geheim")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_a_file_is_refused_with_its_variable(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        in_folder(tmp_path, f"{name}: geheim\n")
    assert f"assay.yaml:1: {name} is a secret" in caught.value.message
    assert "geheim" not in caught.value.message
    assert caught.value.hint == f"set ASSAY_{name.upper()}"


@pytest.mark.parametrize("name", ["database", "opensearch_url", "server"])
def test_a_password_in_an_address_is_never_shown(tmp_path: Path, name: str) -> None:
    flags = {name: "postgresql://me:se:cret@host:5432/name?a=b@c"}
    config = configure(flags, environ={}, folder=tmp_path)
    assert "cret" in config.value(name)
    wanted = "postgresql://me:***@host:5432/name?a=b@c"
    assert config.as_dict()[name] == config.as_text()[name] == wanted
    assert "se:cret" not in repr(config)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://h/db?user=u&password=sekret", "postgresql://h/db?user=u&password=***"),
        ("postgresql://h/db?sslpassword=sekret#x", "postgresql://h/db?sslpassword=***#x"),
        ("postgresql://u:sek/ret@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:sek?ret@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:sek@ret@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:sek ret@h/db", "postgresql://u:***@h/db"),
        ("postgresql://me@site:sekret@h/db", "postgresql://me@site:***@h/db"),
        ("postgresql://:sekret@h/db", "postgresql://:***@h/db"),
        ("https://u:sek@a:1 https://v:ret@b:2", "https://u:***@a:1 https://v:***@b:2"),
        ("http://h:9200/x?API_KEY=sekret&y=1", "http://h:9200/x?API_KEY=***&y=1"),
        ("https://h:9200 https://g:9200/path?a=b", "https://h:9200 https://g:9200/path?a=b"),
    ],
)
def test_no_form_of_an_address_shows_its_password(tmp_path: Path, address: str, shown: str) -> None:
    config = configure({"database": address}, environ={}, folder=tmp_path)
    assert config.as_text()["database"] == config.as_dict()["database"] == shown
    assert config.database == address
    assert "sek" not in repr(config)


# The table


@pytest.mark.parametrize("row", SETTINGS.values(), ids=lambda row: str(row.name))
def test_a_row_is_complete_and_its_default_valid(row: Setting) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.name)
    assert row.help
    if row.default:
        read = row.kind.read(row.default)
        assert row.kind.read(row.kind.write(read)) == read
    else:
        assert row.secret


def test_names_derive_from_the_row() -> None:
    row = SETTINGS["ci_method"]
    assert (row.env, row.flag) == ("ASSAY_CI_METHOD", "--ci-method")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("opensearch_prefix", "Assay"),
        ("opensearch_prefix", "a,b"),
        ("opensearch_prefix", "a*"),
        ("opensearch_prefix", "a/b"),
        ("opensearch_prefix", "-a"),
        ("opensearch_prefix", "_all"),
        ("opensearch_refresh", "1 sec"),
        ("opensearch_refresh", "1"),
    ],
)
def test_what_a_cluster_would_refuse_after_a_load_is_refused_before(name: str, text: str) -> None:
    with pytest.raises(ValueError):
        SETTINGS[name].kind.read(text)


def test_names_and_intervals_of_a_cluster() -> None:
    assert SETTINGS["opensearch_prefix"].kind.read("team-1_x") == "team-1_x"
    for text in ("-1", "500ms", "30s"):
        assert SETTINGS["opensearch_refresh"].kind.read(text) == text


# The hash


OTHER_VALUE = {
    "chunk_separator": "#",
    "dense_key_variable": "MY_KEY",
    "reranker_key_variable": "MY_OTHER_KEY",
    "dense_model": "all-minilm-l6-v2",
    "splade_model": "none",
    "home": "elsewhere",
    "measures": "P@5",
    "confidence": 0.9,
    "resamples": 99,
    "seed": 7,
    "ci_method": "percentile",
    "alpha": 0.01,
    "margin": 0.02,
    "database": "postgresql://me:secret@host/name",
    "components": "bm25,dense",
    "fusion_method": "weighted",
    "rrf_k": 10,
    "weights": "bm25=1,splade=1,dense=2",
    "per_type_weights": "on",
    "type_weights": "paraphrase:bm25=1,splade=1,dense=2",
    "own_components": "labels=my_search:labels",
    "normalization": "dbsf",
    "depth": 50,
    "boosts": "off",
    "group_by": "document",
    "collapse": "on",
    "lexicon": "own.yaml",
    "synonyms": "synonyms.txt",
    "rerank": "on",
    "reranker": "ms-marco-minilm-l12-v2",
    "rerank_share": "0.7",
    "rerank_timeout_ms": 500,
    "component_timeout_ms": 100,
    "answerer": "my_answers:say",
    "answer_model": "tiny",
    "answer_key_variable": "MY_KEY",
    "answer_seconds": "5",
    "judge": "my_judges:say",
    "judge_model": "tiny",
    "judge_key_variable": "MY_KEY",
    "judge_prompts": "prompts",
    "judge_seconds": "5",
    "judge_concurrency": "2",
    "engine": "opensearch",
    "opensearch_url": "http://node:9200",
    "opensearch_prefix": "trials",
    "opensearch_shards": "3",
    "opensearch_replicas": "2",
    "opensearch_refresh": "5s",
    "graph_from": "1000",
    "models": "elsewhere",
    "threads": "1",
    "color": "never",
    "host": "0.0.0.0",
    "port": "1",
    "allowed_hosts": "search.example",
    "search_slots": "3",
    "search_queue": "3",
    "evaluation_slots": "3",
    "rate_limit": "3",
    "request_seconds": "3",
    "shutdown_seconds": "3",
    "log_level": "warning",
    "log_format": "text",
    "query_log": "text",
    "query_log_days": "3",
    "query_log_rows": "3",
    "schedule": "0 3 * * * v1",
    "metrics_textfile": "assay.prom",
    "metrics_test_set": "test_set_v1",
    "metrics_part": "holdout",
    "metrics_configuration": "shallow",
    "metrics_match": "doc",
    "pushgateway": "localhost:9091",
    "server": "localhost:8321",
    "debug": "on",
    "opensearch_user": "me",
    "opensearch_password": "secret",
    "opensearch_api_key": "secret",
    "opensearch_ca": "ca.pem",
    "api_key": "assay_1",
}
DEFAULT_JSON = (
    '{"alpha":0.05,"answer_model":null,"answerer":"extractive","boosts":true,"ci_method":"bca'
    '","components":["bm25","splade","dense"],"confidence":0.95,"dense_model":"'
    f'{DEFAULT_ENCODERS[0]}","depth":100,"engine":"embedded","fusion_method":"rrf","graph_from":200000,'
    '"judge":"entailment","judge_model":null,"judge_prompts":null,"lexicon"'
    ':null,"margin":0.01,"measures":"nDCG@10 RR@10 Recall@{5,10,20}","normalization":"min-max'
    '","per_type_weights":false,"rerank":false,"reranker":"assay-bio-rerank","resamples'
    '":10000,"rrf_k":60,"seed":42,"splade_model":"'
    f"{DEFAULT_ENCODERS[1]}"
    '","synonyms":"built-in","weights":{}}'
)


@pytest.fixture
def config(tmp_path: Path) -> Settings:
    return configure(environ={}, folder=tmp_path)


def test_the_canonical_json_of_the_defaults(config: Settings) -> None:
    """Stored runs refer to this: a change of the text is a change of every hash."""
    assert config.canonical_json() == DEFAULT_JSON
    assert config.config_hash() == hashlib.sha256(DEFAULT_JSON.encode()).hexdigest()


@pytest.mark.parametrize("name", SETTINGS)
def test_the_hash_covers_what_changes_results(tmp_path: Path, config: Settings, name: str) -> None:
    other = configure({name: OTHER_VALUE[name]}, environ={}, folder=tmp_path)
    changed = other.config_hash() != config.config_hash()
    assert changed is SETTINGS[name].changes_results


def test_the_origin_does_not_count(tmp_path: Path, config: Settings) -> None:
    same = configure({"seed": 42}, environ={}, folder=tmp_path)
    assert same == config
    assert same.origins != config.origins


def test_a_value_has_one_form(tmp_path: Path) -> None:
    written = [
        configure({"alpha": text}, environ={}, folder=tmp_path) for text in ("0.05", "5e-2", ".050")
    ]
    assert len({config.config_hash() for config in written}) == 1


@pytest.mark.parametrize("name", ["lexicon", "synonyms"])
def test_of_a_file_its_content_counts_and_not_its_place(tmp_path: Path, name: str) -> None:
    def hashed(file: str, content: str) -> str:
        (tmp_path / file).write_text(content)
        return configure({name: tmp_path / file}, environ={}, folder=tmp_path).config_hash()

    first = hashed("one.txt", "heart, cardiac")
    assert hashed("other.txt", "heart, cardiac") == first
    assert hashed("one.txt", "heart, coronary") != first


def test_text_outside_ascii_and_broken_bytes_can_be_hashed(tmp_path: Path) -> None:
    config = configure({"measures": "P@5 é \udcff"}, environ={}, folder=tmp_path)
    assert json.loads(config.canonical_json())["measures"] == "P@5 é \udcff"
    assert len(config.config_hash()) == 64


def test_it_cannot_change(config: Settings) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.seed = 1  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.origins["seed"] = "x"  # type: ignore[index]


GUARDED = {
    "answerer": "evil:run",
    "own_components": "mine=evil:Component",
    "metrics_configuration": "evil:search",
    "server": "https://collector.example",
    "opensearch_url": "http://collector.example:9200",
    "opensearch_ca": "theirs.pem",
    "database": "postgresql://collector.example/x",
    "pushgateway": "http://collector.example",
    "answer_key_variable": "AWS_SECRET_ACCESS_KEY",
    "judge": "evil:run",
    "judge_key_variable": "AWS_SECRET_ACCESS_KEY",
    "metrics_textfile": "/home/somebody/.bashrc",
    "dense_model": "https://collector.example/v1",
    "splade_model": "https://collector.example/v1",
}


@pytest.mark.parametrize(("name", "value"), GUARDED.items())
def test_a_file_that_lies_there_runs_no_code_and_sends_no_secret(
    tmp_path: Path, name: str, value: str
) -> None:
    """A checkout of a stranger's branch may hold an ``assay.yaml``, also in a parent folder."""
    (tmp_path / "assay.yaml").write_text(f"seed: 7\n{name}: {value}\n", encoding="utf-8")
    (tmp_path / "inside").mkdir()
    home = {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    with pytest.raises(ConfigError, match=rf"assay.yaml:2: {name} .* not trusted") as refused:
        configure(environ=home, folder=tmp_path / "inside")
    assert "assay config trust" in str(refused.value.hint)
    # what the user says wins, so the file's word is not needed
    given = {**home, f"ASSAY_{name.upper()}": SETTINGS[name].default or "none"}
    assert configure(environ=given, folder=tmp_path).seed == 7


@pytest.mark.parametrize("name", GUARDED)
def test_harmless_values_need_no_trust(tmp_path: Path, name: str) -> None:
    (tmp_path / "assay.yaml").write_text(f"{name}: {SETTINGS[name].default}\n", encoding="utf-8")
    assert configure(environ={}, folder=tmp_path).origins[name].startswith("file")


def test_a_file_that_the_user_names_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("server: https://search.example\n", encoding="utf-8")
    assert configure(environ={}, folder=tmp_path, file=path).server == "https://search.example"
    named = configure(environ={"ASSAY_CONFIG": "mine.yaml"}, folder=tmp_path)
    assert named.origins["server"] == f"file {path}:1"
    with pytest.raises(MissingFileError, match=r"other.yaml"):
        configure(environ={"ASSAY_CONFIG": "other.yaml"}, folder=tmp_path)
    assert unknown_variables({"ASSAY_CONFIG": "x"}) == {}


def test_trust_holds_until_what_it_is_about_changes(tmp_path: Path) -> None:
    path, home = tmp_path / "assay.yaml", {"XDG_CONFIG_HOME": str(tmp_path / "user")}
    path.write_text("server: https://search.example\n", encoding="utf-8")
    trust(path, guarded_settings(path), home)
    assert configure(environ=home, folder=tmp_path).server == "https://search.example"
    path.write_text("seed: 9\nserver: https://search.example\n", encoding="utf-8")
    assert configure(environ=home, folder=tmp_path).seed == 9
    path.write_text("seed: 9\nserver: https://other.example\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="not trusted"):
        configure(environ=home, folder=tmp_path)
    path.write_text("server: https://search.example\nanswerer: evil:run\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="answerer can run code"):
        configure({"server": "http://localhost:1"}, environ=home, folder=tmp_path)
