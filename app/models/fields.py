"""Column types at the border of the store: what goes in is text that every reader can read again."""

from __future__ import annotations

import json
from typing import Any

from peewee import TextField


class CleanText(TextField):
    """Text without NUL characters and lone surrogates: SQLite cuts at the one, UTF-8 refuses the other."""

    def db_value(self, value: Any) -> Any:
        return clean_text(value) if isinstance(value, str) else value


class JsonText(TextField):
    """A JSON value as readable text, its strings and keys clean. None is stored as NULL."""

    def db_value(self, value: Any) -> Any:
        return None if value is None else json.dumps(clean(value), ensure_ascii=False, separators=(",", ":"))

    def python_value(self, value: Any) -> Any:
        return None if value is None else json.loads(value)


def clean_text(text: str) -> str:
    """Pairs of surrogates become the character they mean, single ones U+FFFD; NULs go."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean(value: Any) -> Any:
    """The same JSON value with every string in it clean."""
    match value:
        case str():
            return clean_text(value)
        case dict():
            return {clean_text(str(key)): clean(item) for key, item in value.items()}
        case list() | tuple():
            return [clean(item) for item in value]
        case _:
            return value
