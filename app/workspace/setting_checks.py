"""What a setting names has to be there: that much cannot be told from the text alone."""

from __future__ import annotations

from app.engine.errors import ProviderError
from app.hands.errors import Refused
from app.infra.settings import SettingError, Value, parse
from app.providers.drawing import expect_pictures
from app.providers.routing import Sources
from app.workspace.folders import chosen_folder


def checked_setting(key: str, text: str, models: Sources) -> Value:
    """The value that ``text`` stands for. In a thread: a keyring may ask its user first.

    Raises ``SettingError`` as ``parse`` does and for a model or a server that could not be asked, and
    ``FolderUnusable``.
    """
    value = parse(key, text)
    if key == "workspace.default" and value:
        chosen_folder(str(value))
    if key == "model.auxiliary" and value:
        try:
            models.resolve(str(value))
        except ProviderError as error:
            raise SettingError(f'"{value}" cannot be asked for summaries. {error.message}') from error
    if key == "image.model" and value:
        try:
            expect_pictures(models.for_pictures().resolve(str(value)))
        except ProviderError as error:
            raise SettingError(f'"{value}" cannot be asked for pictures. {error.message}') from error
    if key == "web.searxng_url" and value:
        from app.hands.web_address import web_address  # brings in httpx, and most settings need none

        try:
            web_address(str(value))
        except Refused as refused:
            raise SettingError(
                f'web.searxng_url takes an address like http://127.0.0.1:8888, not "{value}".'
            ) from refused
    return value
