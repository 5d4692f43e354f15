"""Settings from four sources, and every mistake told at once."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from seedbed.base.errors import InvalidInput
from seedbed.base.settings import Settings, load_settings


def test_each_source_wins_over_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "seedbed.toml").write_text("port = 1\ncpus = 1\npolicy = 'fifo'\n")
    environ = {"SEEDBED_HOME": str(tmp_path), "SEEDBED_PORT": "2", "SEEDBED_CPUS": "2"}
    settings = load_settings({"port": 3, "host": None}, environ)
    assert (settings.port, settings.cpus, settings.policy) == (3, 2.0, "fifo")
    assert settings.host == "127.0.0.1"
    assert settings.home == tmp_path


def test_unknown_keys_and_wrong_values_are_all_told_with_the_near_match(tmp_path: Path) -> None:
    environ = {"SEEDBED_HOME": str(tmp_path), "SEEDBED_POORT": "1", "SEEDBED_PORT": "many"}
    with pytest.raises(InvalidInput) as caught:
        load_settings({}, environ)
    text = str(caught.value)
    assert "'poort' is not a setting. Did you mean 'port'" in text
    assert "'port' is 'many'; it must be a whole number from 0 to 65,535." in text


def test_an_unknown_key_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "seedbed.toml").write_text("colour = 'red'\n")
    with pytest.raises(InvalidInput, match="'colour' is not a setting"):
        load_settings({"home": tmp_path}, {})


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "seedbed.toml").write_text("port = = 3")
    with pytest.raises(InvalidInput, match=r"seedbed\.toml is not valid TOML"):
        load_settings({"home": tmp_path}, {})


def test_variables_of_the_client_are_not_settings_of_the_service(tmp_path: Path) -> None:
    environ = {"SEEDBED_URL": "http://127.0.0.1:1", "SEEDBED_TOKEN": "t", "SEEDBED_BENCH_DATA": "x"}
    assert load_settings({"home": tmp_path}, environ).home == tmp_path


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    settings = load_settings({"home": tmp_path}, {})
    with pytest.raises(ValidationError):
        settings.port = 1  # type: ignore[misc]


def test_the_database_is_a_file_in_the_home_unless_a_server_is_named(tmp_path: Path) -> None:
    assert load_settings({"home": tmp_path}, {}).database_url == f"sqlite:///{tmp_path / 'seedbed.db'}"
    named = load_settings({"home": tmp_path, "database": "postgresql://u@h/d"}, {})
    assert named.database_url == "postgresql+psycopg://u@h/d"


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_import_roots_come_from_a_variable_as_from_a_path(tmp_path: Path) -> None:
    settings = load_settings({"home": tmp_path}, {"SEEDBED_IMPORT_ROOTS": "/a:/b"})
    assert settings.import_roots == (Path("/a"), Path("/b"))
