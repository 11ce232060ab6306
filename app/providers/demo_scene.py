"""How the demo model reads a history: which request counts, what has been done about it, where it stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.engine.messages import Marker, Message, ToolCall, ToolResult
from app.providers.demo_words import SUGGESTIONS, SceneKind

_TOUR = re.compile(r"\b(tour|giro|show me around)\b", re.IGNORECASE)
_CONTINUE = re.compile(
    r"\s*(?:(?:please\s+)?(?:continue|go on|carry on|continua)\b.{0,40}$|go on from where you stopped\.)",
    re.IGNORECASE,
)
_LATE_ANSWER = "You had asked the user with a form"
"""How a member is told the answer of a form whose call was cut off."""
_SHORT = 200


_State = Literal["idle", "open", "cut"]


@dataclass(frozen=True, slots=True)
class Deed:
    """A call that has its result."""

    call: ToolCall
    result: ToolResult

    @property
    def path(self) -> str:
        return str(self.call.arguments.get("path", ""))

    @property
    def ok(self) -> bool:
        return self.result.status == "ok"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the user asked for, and what has been done about it since."""

    request: str
    deeds: tuple[Deed, ...] = ()
    begun: bool = False
    cut_text: str = ""
    """The beginning of an answer that was stopped: what is still to come goes on from there."""
    added: str | None = None
    """What the user put in while it was under way."""

    @property
    def kind(self) -> SceneKind:
        return scene_kind(self.request)

    def last(self, tool: str, path: str | None = None) -> int | None:
        """The place of the latest such call among ``deeds``; one that was cut off before it ran is none."""
        for place in reversed(range(len(self.deeds))):
            deed = self.deeds[place]
            if deed.call.name == tool and path in (None, deed.path) and deed.result.status != "interrupted":
                return place
        return None

    def times(self, tool: str, path: str) -> int:
        return sum(deed.call.name == tool and deed.path == path for deed in self.deeds)


def scene_kind(request: str) -> SceneKind:
    """A suggested prompt, or its title, is its own scene; a short request for a tour in other words is the tour."""
    asked = _plain(request)
    for suggestion in SUGGESTIONS:
        if asked in (_plain(suggestion.prompt), _plain(suggestion.title)):
            return suggestion.kind
    return "tour" if len(asked) <= _SHORT and _TOUR.search(asked) else "other"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".!?")


def read_scene(messages: Sequence[Message]) -> Scene:
    """The request that counts: the last one, or one under way that the last one only adds to or continues."""
    results = {result.call_id: result for message in messages for result in message.results}
    scene = Scene("")
    state: _State = "idle"
    for message in messages:
        if message.role == "user" and message.text.strip():
            scene, state = _hear(scene, message.text, state), "open"
        elif message.role == "assistant" and any(isinstance(block, Marker) for block in message.blocks):
            state = "cut"
        elif message.role == "assistant":
            deeds = tuple(Deed(call, results[call.id]) for call in message.calls if call.id in results)
            rest = "" if message.calls else scene.cut_text + message.text
            scene = Scene(scene.request, scene.deeds + deeds, begun=True, cut_text=rest)
            state = "open" if message.calls else "idle"
    return scene


def _hear(scene: Scene, text: str, state: _State) -> Scene:
    if state != "idle" and text.startswith(_LATE_ANSWER):
        return _answered(scene, text)
    if state != "idle" and scene.begun and _CONTINUE.match(text):
        return scene
    if state == "open" and (scene.begun or (scene.kind != "other" and scene_kind(text) == "other")):
        return replace(scene, added=text)
    return Scene(text)


def _answered(scene: Scene, text: str) -> Scene:
    """The form was answered after all: its call counts as done."""
    deeds = list(scene.deeds)
    for place in reversed(range(len(deeds))):
        deed = deeds[place]
        if deed.call.name == "ask_user" and not deed.ok:
            result = ToolResult(deed.call.id, text.partition("Here it is.")[2].strip(), "ok")
            deeds[place] = replace(deed, result=result)
            return replace(scene, deeds=tuple(deeds))
    return scene
