"""The catalogue of settings: every one with its kind, its default and what it does.

A value comes as text, from a form or the command line, and is stored as JSON. Whoever reads a setting gets
a value of its kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeGuard, assert_never

from app.infra.errors import InfraError

Value = str | bool | float

_ON = ("true", "on", "yes", "1")
_OFF = ("false", "off", "no", "0")


class SettingError(InfraError):
    """There is no such setting, or it does not take that value. The text names what it takes."""


@dataclass(frozen=True, slots=True)
class Setting:
    """``number`` takes what lies between ``low`` and ``high``, ``amount`` that or nothing, ``choice`` one of some."""

    key: str
    kind: Literal["switch", "choice", "number", "amount", "text"]
    default: Value
    help: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0


SETTINGS: Mapping[str, Setting] = {
    setting.key: setting
    for setting in (
        Setting(
            "access.mode",
            "choice",
            "standard",
            "How much members may do without asking, in new conversations.",
            choices=("cautious", "standard", "trusted"),
        ),
        Setting(
            "budget.conversation",
            "amount",
            "",
            "US dollars that one conversation may cost. Empty: as much as it takes.",
            low=0.01,
            high=100_000,
        ),
        Setting(
            "budget.day",
            "amount",
            "",
            "US dollars that all conversations together may cost in one day (UTC). Empty: as much as they take.",
            low=0.01,
            high=100_000,
        ),
        Setting(
            "budget.unknown",
            "choice",
            "pass",
            "Whether calls whose price is unknown pass uncounted while there is a budget, or are not made.",
            choices=("pass", "stop"),
        ),
        Setting(
            "compaction.threshold",
            "number",
            0.8,
            "Share of the model's window that may fill up before older messages are summarised.",
            low=0.1,
            high=0.95,
        ),
        Setting(
            "composer.enter",
            "choice",
            "steer",
            "What Enter does while an answer is being written: steer it, or queue the message for after it.",
            choices=("steer", "queue"),
        ),
        Setting(
            "evolution.enabled",
            "switch",
            False,
            "Whether members learn from how their work went. Nothing reads it yet.",
        ),
        Setting(
            "image.model",
            "text",
            "",
            "The model that draws pictures, as provider/model. Empty: members draw none.",
        ),
        Setting(
            "memory.enabled",
            "switch",
            False,
            "Whether members remember things between conversations. Nothing reads it yet.",
        ),
        Setting(
            "model.auxiliary",
            "text",
            "",
            "The model that writes summaries, as provider/model. Empty: the one that answers in the conversation.",
        ),
        Setting(
            "model.default",
            "text",
            "",
            "The model of new conversations, as provider/model. Empty: the first one that is configured.",
        ),
        Setting(
            "model.reasoning",
            "choice",
            "off",
            "How much thinking is asked of models that are known to reason. off: none, they do as they are used to.",
            choices=("off", "low", "medium", "high"),
        ),
        Setting(
            "plan.parallel",
            "number",
            1.0,
            "How many steps of a plan may be done at the same time, for plans that are set from now on.",
            low=1,
            high=20,
        ),
        Setting(
            "web.search",
            "choice",
            "duckduckgo",
            "Who searches the web. Brave and Tavily need a key, SearXNG the address of a server.",
            choices=("duckduckgo", "brave", "tavily", "searxng"),
        ),
        Setting(
            "web.searxng_url",
            "text",
            "",
            "The address of a SearXNG server, such as http://127.0.0.1:8888.",
        ),
        Setting(
            "workspace.default",
            "text",
            "",
            "The folder that new conversations of the page work in. Empty: ~/Plancia.",
        ),
    )
}


def find_setting(key: str) -> Setting:
    """The setting of that name. Raises ``SettingError``, with the nearest name."""
    if key in SETTINGS:
        return SETTINGS[key]
    close = get_close_matches(key, SETTINGS, n=1)
    meant = f" Did you mean {close[0]}?" if close else f" There are: {', '.join(SETTINGS)}."
    raise SettingError(f'There is no setting "{key}".{meant}')


def parse(key: str, text: str) -> Value:
    """The value that ``text`` stands for. Raises ``SettingError`` naming the values that are taken."""
    setting = find_setting(key)
    given = text.strip()
    match setting.kind:
        case "switch":
            return _switch(setting, given)
        case "choice":
            return _choice(setting, given)
        case "number":
            return _number(setting, given)
        case "amount":
            return _number(setting, given.removeprefix("$")) if given else ""
        case "text":
            return _text(setting, given)
        case _:
            assert_never(setting.kind)


def fits(value: object, setting: Setting) -> TypeGuard[Value]:
    """Whether a stored value still is one of this setting; what an older catalogue allowed may not be."""
    try:
        return isinstance(value, Value) and parse(setting.key, written(value)) == value
    except SettingError:
        return False


def written(value: Value) -> str:
    """The text that ``parse`` takes back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _switch(setting: Setting, given: str) -> bool:
    if given.lower() in _ON:
        return True
    if given.lower() in _OFF:
        return False
    raise _refusal(setting, given, "true or false")


def _choice(setting: Setting, given: str) -> str:
    if given.lower() in setting.choices:
        return given.lower()
    raise _refusal(setting, given, " or ".join(setting.choices))


def _number(setting: Setting, given: str) -> float:
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if setting.low <= number <= setting.high:
        return number
    nothing = " or nothing" if setting.kind == "amount" else ""
    raise _refusal(setting, given, f"a number from {setting.low:g} to {setting.high:g}{nothing}")


def _text(setting: Setting, given: str) -> str:
    if given.isprintable():
        return given
    raise _refusal(setting, given, "one line of text without control characters")


def _refusal(setting: Setting, given: str, taken: str) -> SettingError:
    return SettingError(f'{setting.key} takes {taken}, not "{given[:80]}".')
