"""What a setting names has to be there: that much cannot be told from the text alone."""

from __future__ import annotations

from app.engine.errors import ProviderError
from app.engine.provider import ModelSource
from app.infra.settings import SettingError, Value, parse
from app.workspace.folders import chosen_folder


def checked_setting(key: str, text: str, models: ModelSource) -> Value:
    """The value that ``text`` stands for. In a thread: a keyring may ask its user first.

    Raises ``SettingError`` as ``parse`` does and for a model that could not be asked, and ``FolderUnusable``.
    """
    value = parse(key, text)
    if key == "workspace.default" and value:
        chosen_folder(str(value))
    if key == "model.auxiliary" and value:
        try:
            models.resolve(str(value))
        except ProviderError as error:
            raise SettingError(f'"{value}" cannot be asked for summaries. {error.message}') from error
    return value
