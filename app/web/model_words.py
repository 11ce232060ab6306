"""What is known of models and keys, in the words of the settings page. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from app.engine.provider import AuthCheck
from app.providers.catalogue import ModelFacts
from app.providers.cooldown import Rest
from app.providers.logins import is_login
from app.providers.model_list import unlisted
from app.providers.oauth_questions import is_loopback
from app.providers.routing import KeyStanding
from app.providers.sources import SourceConfig
from app.web.plain import first_sentence
from app.web.settings_views import RestView, Tested
from app.web.times import amount, duration, elapsed


def facts_in_words(facts: ModelFacts, *, assumed: bool) -> str:
    """``Tools, pictures, reasoning, 200k tokens.``; ``assumed``: nobody knows its window."""
    able = [
        word
        for word, can in (
            ("tools", facts.tools),
            ("pictures", facts.images),
            ("reasoning", facts.reasoning),
        )
        if can
    ]
    window = f"{amount(facts.context_window)} tokens"
    words = ", ".join((*able, f"{window} assumed" if assumed else window))
    free = " Costs nothing." if facts.price_in == 0 and facts.price_out == 0 else ""
    return f"{words[0].upper()}{words[1:]}.{free}"


def key_in_words(source: SourceConfig, names: Sequence[str]) -> str:
    """What its models are asked with."""
    if len(names) > 1:
        return f"{len(names)} keys take turns"
    if names and is_login(names[0]):
        return "own login"
    if names:
        return "own key" if names[0] in source.keys and "/" in names[0] else f"key from {names[0]}"
    return "this computer" if is_near(source) else ""


def margin_of(source: SourceConfig, names: Sequence[str]) -> str:
    """The same in a word."""
    if source.origin == "environment":
        return "env"
    if names and is_login(names[0]):
        return "login"
    if names:
        return "1 key" if len(names) == 1 else f"{len(names)} keys"
    return "local" if is_near(source) else "no key"


def is_near(source: SourceConfig) -> bool:
    """Its server is this machine."""
    return is_loopback(source.base_url) if source.base_url else source.kind == "ollama"


def rest_view(rest: Rest, now: datetime) -> RestView:
    """How long it lasts, counted from ``now``."""
    left = elapsed((rest.until - now).total_seconds())
    what, _ = first_sentence(rest.sentence)
    return RestView(rest.until.astimezone(), left, stop(what), wrong=rest.kind != "rate_limit")


def shortest_rest(keys: Sequence[KeyStanding]) -> Rest | None:
    """The one that is over first, where all of them rest."""
    rests = [key.rest for key in keys if key.rest]
    return min(rests, key=lambda rest: rest.ends) if rests and len(rests) == len(keys) else None


def asleep(keys: Sequence[KeyStanding]) -> str:
    """``1 of 3 keys rests``, where some do and some do not."""
    count = sum(1 for key in keys if key.rest)
    if count in (0, len(keys)):
        return ""
    return f"{count} of {len(keys)} keys {'rests' if count == 1 else 'rest'}"


def result_of(check: AuthCheck, *models: str) -> Tested:
    """What a test found, and which of the models the server does not list."""
    if not check.ok:
        return Tested(False, stop(check.message))
    sentences = (stop(check.message), *unlisted(models, check.models))
    return Tested(True, " ".join(sentences), duration(check.latency_ms / 1000))


def stop(sentence: str) -> str:
    return sentence if not sentence or sentence[-1] in ".!?" else f"{sentence}."
