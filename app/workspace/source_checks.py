"""What a model source must be like before it is stored: each refusal says what is wrong and what is taken."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import replace
from typing import get_args
from urllib.parse import SplitResult, urlsplit

from app.providers.sources import SourceConfig, SourceKind
from app.workspace.errors import InvalidSource

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}|[a-z_][a-z0-9_]{0,99}")
_SECRET = re.compile(r"[a-z][a-z0-9._-]{0,39}([:/][a-z0-9._-]{1,40}){1,3}")

_AT_HOME = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
"""Endings of names that only a local network knows."""


def checked(source: SourceConfig, *, plain_http_confirmed: bool = False) -> SourceConfig:
    """``source``, tidied up: its URL without final slashes, its models once each. Raises ``InvalidSource``."""
    _check_name(source)
    _check_keys(source)
    _check_figures(source)
    return replace(
        source, base_url=_checked_url(source, plain_http_confirmed), models=_checked_models(source.models)
    )


def _check_name(source: SourceConfig) -> None:
    if source.name == "demo":
        raise InvalidSource('"demo" is the name of the built-in demo model. Choose another name.', "name")
    if not _NAME.fullmatch(source.name):
        raise InvalidSource(
            f'"{source.name[:60]}" cannot be the name of a model source: it takes 1 to 40 small letters, digits, '
            "dots, hyphens and underscores, and begins with a letter or a digit.",
            "name",
        )
    if source.kind not in get_args(SourceKind):
        raise InvalidSource(
            f'There is no kind "{source.kind}". Kinds: {", ".join(get_args(SourceKind))}.', "kind"
        )


def _check_keys(source: SourceConfig) -> None:
    for key in source.keys:
        if not (_VARIABLE.fullmatch(key) or _SECRET.fullmatch(key)):
            raise InvalidSource(
                "A key is given by name: an environment variable such as OPENAI_API_KEY. What was given does not "
                "look like a name; if it is the key itself, set it as a variable and name that.",
                "key_env",
            )


def _check_figures(source: SourceConfig) -> None:
    for name, tokens in (("The window", source.context), ("The output limit", source.max_output)):
        if tokens is not None and tokens < 1:
            raise InvalidSource(f"{name} of {source.name} is {tokens} tokens; it takes a number above 0.")
    prices = [price for price in (source.price_in, source.price_out) if price is not None]
    if len(prices) == 1:
        raise InvalidSource(f"Give both prices of {source.name} or none: the one for input and for output.")
    if any(price < 0 or not math.isfinite(price) for price in prices):
        raise InvalidSource(f"A price of {source.name} is not one: US dollars per million tokens, 0 or more.")


def _checked_models(models: tuple[str, ...]) -> tuple[str, ...]:
    tidy = tuple(dict.fromkeys(model.strip() for model in models))
    for model in tidy:
        if not model or len(model) > 200 or not model.isprintable() or " " in model:
            raise InvalidSource(
                f'"{model[:60]}" cannot be the name of a model: it takes 1 to 200 characters without spaces.',
                "models",
            )
    return tidy


def _checked_url(source: SourceConfig, plain_http_confirmed: bool) -> str | None:
    if source.base_url is None or not source.base_url.strip():
        _require_known_host(replace(source, base_url=None))
        return None
    url = source.base_url.strip()
    parts = _parts(source, url)
    if parts.scheme == "http" and not plain_http_confirmed and not _is_near(parts.hostname or ""):
        raise InvalidSource(
            f"{url} would send the key and every text unencrypted over the internet. Use https://, "
            "or confirm that you want this.",
            "plain_http",
        )
    return url.rstrip("/")


def _require_known_host(source: SourceConfig) -> None:
    known = source.host is not None and source.host.base_url is not None
    if source.kind in ("openai", "gateway") and not known:
        raise InvalidSource(
            f'Where "{source.name}" is cannot be told from its name, so it needs an address: a base URL such as '
            "https://host/v1 or http://127.0.0.1:8000/v1. OpenAI itself is https://api.openai.com/v1.",
            "base_url",
        )


def _parts(source: SourceConfig, url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _not_an_address(source, url) from None
    if not fine or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise _not_an_address(source, url)
    if parts.username is not None or parts.password is not None:
        raise InvalidSource(
            f"The address of {source.name} holds a user or a password before the @. Leave it out, and give the key "
            "by the name of a variable.",
            "base_url",
        )
    return parts


def _not_an_address(source: SourceConfig, url: str) -> InvalidSource:
    return InvalidSource(
        f'The address of {source.name} cannot be used: "{url[:120]}" is not like https://host/v1 '
        "or http://127.0.0.1:8000/v1.",
        "base_url",
    )


def _is_near(host: str) -> bool:
    """This machine or its own network, as far as the name or the number tells."""
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_global
    except ValueError:
        name = host.rstrip(".").lower()
        return name == "localhost" or "." not in name or name.endswith(_AT_HOME)
