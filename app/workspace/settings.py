"""The user's settings: the catalogue's defaults, changed where the user changed them."""

from __future__ import annotations

from typing import get_args

from app.hands.permissions.access import AccessMode
from app.infra.settings import SETTINGS, Value, find_setting, fits, parse
from app.infra.settings import Setting as Entry
from app.models.statements import HOLE
from app.models.tables import Setting
from app.workspace.store import Store

_BY_KEY = Setting.select().where(Setting.key == HOLE)


def get_setting(store: Store, key: str) -> Value:
    """The value in force. Raises ``SettingError`` for an unknown key."""
    entry = find_setting(key)
    stored = store.database.find(_pair, _BY_KEY, key)
    return _in_force(entry, stored[1] if stored else None)


def get_number(store: Store, key: str) -> float:
    """``get_setting`` of one that is a number."""
    value = get_setting(store, key)
    assert isinstance(value, int | float)
    return value


def chosen_access(store: Store) -> AccessMode:
    """How much the members of a new conversation do without asking."""
    value = get_setting(store, "access.mode")
    return next((mode for mode in get_args(AccessMode) if mode == value), "standard")


def set_setting(store: Store, key: str, text: str) -> Value:
    """Change it to what ``text`` stands for and return that. Raises ``SettingError`` naming what is taken."""
    value = parse(key, text)
    with store.database.transaction():
        store.database.run(Setting.delete().where(Setting.key == key))
        store.database.run(Setting.insert(key=key, value=value))
    return value


def reset_setting(store: Store, key: str) -> Value:
    """Back to the default, which is returned."""
    default = find_setting(key).default
    store.database.run(Setting.delete().where(Setting.key == key))
    return default


def all_settings(store: Store) -> dict[str, Value]:
    """Every setting with the value in force, by key."""
    stored = dict(store.database.rows(_pair, Setting.select()))
    return {key: _in_force(entry, stored.get(key)) for key, entry in SETTINGS.items()}


def _pair(key: str, value: object) -> tuple[str, object]:
    return key, value


def _in_force(entry: Entry, stored: object) -> Value:
    return stored if fits(stored, entry) else entry.default
