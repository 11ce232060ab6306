"""Templates: one Jinja environment, everything escaped, a missing name is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from app.web import times
from app.web.assets import Assets
from app.web.entries import MessageView


class _Compiled(BytecodeCache):
    """A template is compiled once a process, however many pages are opened in it."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


class Templates:
    """Renders the files below ``root``. Every template sees the addresses of the bundles."""

    def __init__(self, root: Path, assets: Assets) -> None:
        self.assets = assets
        self._environment = Environment(
            loader=FileSystemLoader(root),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            cache_size=-1,
            bytecode_cache=_COMPILED,
        )
        self._environment.globals |= {"styles": assets.styles.url, "script": assets.script.url}
        self._environment.globals |= {"early": assets.early.url, "toast": None}
        self._environment.filters |= {
            "utc": times.utc,
            "clock": times.clock_time,
            "day": times.day_name,
            "full": times.full_time,
            "duration": times.duration,
            "amount": times.amount,
            "dollars": times.dollars,
        }

    def render(self, name: str, /, **values: Any) -> Markup:
        """One template, by its path. Raises ``jinja2.UndefinedError`` for a name that was not given."""
        return Markup(self._environment.get_template(name).render(values))

    def render_message(self, message: MessageView) -> Markup:
        """The article of one message, the same for page, stream and export."""
        return self.render(f"messages/{message.kind}.html", message=message)
