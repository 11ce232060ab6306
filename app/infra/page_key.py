"""What a browser that was let in carries, kept over restarts so that an open page finds its server again."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass

from app.infra.errors import DataFolderError
from app.infra.files import write_atomic
from app.infra.paths import DataFolder, in_words


@dataclass(frozen=True, slots=True)
class PageKey:
    """``session`` is the value of the cookie, ``instance`` the part of its name that is this data folder's own."""

    session: str
    instance: str


def load_page_key(folder: DataFolder) -> PageKey:
    """The key of this folder, made at the first start and anew where it cannot be read. Raises ``DataFolderError``."""
    try:
        kept = json.loads(folder.page_key.read_bytes())
        return PageKey(str(kept["session"]), str(kept["instance"]))
    except (OSError, ValueError, KeyError, TypeError):
        return _new(folder)


def _new(folder: DataFolder) -> PageKey:
    key = PageKey(secrets.token_urlsafe(32), secrets.token_hex(4))
    try:
        write_atomic(folder.page_key, json.dumps(asdict(key)).encode(), mode=0o600)
    except OSError as error:
        raise DataFolderError(in_words(error, folder.root)) from error
    return key
