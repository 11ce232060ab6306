"""What a setting names has to be there: that much cannot be told from the text alone."""

from __future__ import annotations

from app.infra.settings import Value, parse
from app.workspace.folders import chosen_folder


def checked_setting(key: str, text: str) -> Value:
    """The value that ``text`` stands for. Raises ``SettingError`` as ``parse`` does, and ``FolderUnusable``."""
    value = parse(key, text)
    if key == "workspace.default" and value:
        chosen_folder(str(value))
    return value
