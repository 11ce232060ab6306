"""Settings as the user left them."""

from __future__ import annotations

import pytest

from app.infra.settings import SETTINGS, SettingError
from app.models.tables import Setting
from app.workspace.settings import all_settings, get_setting, reset_setting, set_setting
from app.workspace.store import Store


def test_untouched_settings_have_their_defaults(store: Store) -> None:
    assert all_settings(store) == {key: setting.default for key, setting in SETTINGS.items()}
    assert get_setting(store, "access.mode") == "standard"


def test_a_change_stays(store: Store) -> None:
    assert set_setting(store, "compaction.threshold", "0.6") == 0.6
    assert set_setting(store, "memory.enabled", "on") is True
    assert set_setting(store, "memory.enabled", "off") is False
    assert get_setting(store, "compaction.threshold") == 0.6
    assert all_settings(store)["memory.enabled"] is False


def test_a_change_can_be_taken_back(store: Store) -> None:
    set_setting(store, "composer.enter", "queue")
    assert reset_setting(store, "composer.enter") == "steer"
    assert get_setting(store, "composer.enter") == "steer"


def test_a_refused_value_changes_nothing(store: Store) -> None:
    set_setting(store, "access.mode", "trusted")
    with pytest.raises(SettingError):
        set_setting(store, "access.mode", "reckless")
    assert get_setting(store, "access.mode") == "trusted"


@pytest.mark.parametrize("act", [get_setting, reset_setting, lambda store, key: set_setting(store, key, "1")])
def test_an_unknown_setting_is_refused(store: Store, act: object) -> None:
    assert callable(act)
    with pytest.raises(SettingError, match="no setting"):
        act(store, "no.such")


def test_what_an_older_catalogue_stored_does_no_harm(store: Store) -> None:
    store.database.run(Setting.insert(key="access.mode", value="paranoid"))
    store.database.run(Setting.insert(key="gone.setting", value=[1, 2]))
    assert get_setting(store, "access.mode") == "standard"
    assert "gone.setting" not in all_settings(store)
