"""Why no model can answer, in words: what is wrong and which command or page puts it right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from app.engine.errors import ProviderError
from app.providers.sentences import SETTINGS

EXTRA = 'pip install "plancia[providers]"'


def unknown_provider(name: str, known: Iterable[str]) -> ProviderError:
    return ProviderError(
        "unknown_model",
        f'There is no model source "{name}".{_meant(name, known)} '
        f"Add it with `plancia provider add {name} --kind openai --base-url URL`, "
        f"or on the page under {SETTINGS}.",
    )


def unknown_name(name: str, known: Iterable[str]) -> ProviderError:
    return ProviderError(
        "unknown_model",
        f'No model source offers "{name}".{_meant(name, known)} '
        f"Write it as provider/model; `plancia provider list` shows what there is, {SETTINGS} adds more.",
    )


def not_offered(source: str, model: str, offered: tuple[str, ...]) -> ProviderError:
    shown = ", ".join(offered[:5]) + (", …" if len(offered) > 5 else "")
    return ProviderError(
        "unknown_model",
        f'The model source "{source}" does not offer "{model}", only {shown}.'
        f"{_meant(model, offered)} Add models under {SETTINGS}.",
    )


def no_model_chosen(source: str) -> ProviderError:
    return ProviderError(
        "unknown_model",
        f'The model source "{source}" has no model yet. Name one with --model {source}/MODEL, '
        f"or choose one under {SETTINGS}.",
    )


def no_key(title: str, name: str, kind: str, variable: str) -> ProviderError:
    return ProviderError(
        "auth",
        f"{title} has no key yet. Set {variable}, run `plancia provider add {name} "
        f"--kind {kind} --key-env {variable}`, or add the key on the page under {SETTINGS}.",
    )


def key_missing(source: str, names: Iterable[str]) -> ProviderError:
    shown = ", ".join(names)
    return ProviderError(
        "auth",
        f'The key of the model source "{source}" is gone: nothing is stored or set under {shown}. '
        f"Enter it again under {SETTINGS}, or remove the source and add it anew with `plancia provider`.",
    )


def bad_address(source: str, url: str) -> ProviderError:
    return ProviderError(
        "local",
        f'The address of the model source "{source}" cannot be used: {url!r} is not like '
        f"https://host/v1 or http://127.0.0.1:8000/v1. Correct it under {SETTINGS}.",
    )


def no_address(source: str) -> ProviderError:
    return ProviderError(
        "local", f'The model source "{source}" has no address. Give it a base URL under {SETTINGS}.'
    )


def draws_nothing(source: str) -> ProviderError:
    return ProviderError(
        "local",
        f'"{source}" draws no pictures: servers of its kind only answer in words. Choose a model of an '
        f"OpenAI-compatible source or of one that litellm reaches, under {SETTINGS}.",
    )


def no_pictures_here(source: str, status: int | None) -> ProviderError:
    return ProviderError(
        "invalid",
        f"{source} draws no pictures at its address (HTTP {status}). Choose a model of another source for them, under "
        f"{SETTINGS}.",
        status=status,
    )


def not_drawn(source: str, error: ProviderError) -> ProviderError:
    said = f" It says: “{error.detail}”" if error.detail else ""
    return ProviderError(
        "invalid",
        f"{source} refused to draw this (HTTP {error.status}).{said} Ask for it otherwise: in other words, in another "
        "size, or without references.",
        status=error.status,
        detail=error.detail,
    )


def extra_missing(source: str) -> ProviderError:
    return ProviderError(
        "local", f'"{source}" is reached through an extra that is not installed. Add it with: {EXTRA}'
    )


def _meant(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, tuple(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""
