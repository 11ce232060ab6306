"""Writes the bodies of requests on any wire, and writes them anew where the server refused one for its form."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from anyio.to_thread import run_sync

from app.engine.compiler import Compiler
from app.engine.ladder import BLIND, NOTHING, Left, Part, fails_on_form, step_down
from app.engine.messages import Origin
from app.engine.outline import Writer
from app.engine.pictures import LoadImage
from app.engine.provider import ModelRequest
from app.infra.logs import note
from app.providers.classify import Symptom, classify

_KEPT_HISTORIES = 16
_FORM_REFUSED = frozenset({400, 422})
MOST_REVISIONS = 12
"""Of one call: more than all options and all parts of a history. A server that wants more is not understood."""

Body = Mapping[str, Any]
"""Of a request: read it, do not change it."""


class Options(Protocol):
    """What one server takes beyond the history."""

    def apply(self, body: dict[str, Any], request: ModelRequest) -> dict[str, Any]:
        """The body with its options; what it shares with other requests stays as it is."""
        ...

    def give_way(self, sent: Body, symptom: Symptom) -> bool:
        """Whether ``sent`` was refused for an option that is put otherwise from now on: then ask again."""
        ...


@dataclass(slots=True)
class _History:
    """One conversation as this server has seen it: what is written already, and what it has to be spared."""

    compiler: Compiler
    left: Left = NOTHING

    def spared(self, request: ModelRequest) -> Left:
        """What this request leaves out: a model that cannot see is shown no pictures."""
        return self.left if request.sees_pictures else self.left | BLIND


class Bodies:
    """Remembers, for each session and model, what was written and what the server refused."""

    def __init__(
        self, provider: str, endpoint: str | None, writer: Writer, options: Options, load_image: LoadImage
    ) -> None:
        """``provider`` and ``endpoint`` are those that answers of this server carry as their origin."""
        self._provider = provider
        self._endpoint = endpoint
        self._writer = writer
        self._options = options
        self._load_image = load_image
        self._histories: OrderedDict[tuple[str, str], _History] = OrderedDict()

    async def draft(self, request: ModelRequest) -> Draft:
        """Pictures are loaded in a thread. Raises ``ProviderError`` of kind local for what cannot be written."""
        history = self._history(request)
        compiler = history.compiler
        while unseen := compiler.unseen(request, history.spared(request)):
            make_known = await run_sync(compiler.look, unseen, abandon_on_cancel=True)
            make_known()
        return Draft(request, history, self._options)

    def _history(self, request: ModelRequest) -> _History:
        key = (request.session_id or "", request.model)
        history = self._histories.pop(key, None)
        if history is None:
            origin = Origin(self._provider, request.model, self._endpoint)
            history = _History(Compiler(self._writer, origin, self._load_image))
        if request.session_id:
            self._histories[key] = history
            if len(self._histories) > _KEPT_HISTORIES:
                self._histories.popitem(last=False)
        return history


class Draft:
    """The body of one call, as it stands, in JSON."""

    def __init__(self, request: ModelRequest, history: _History, options: Options) -> None:
        self._request = request
        self._history = history
        self._options = options
        self.left_out: list[Part] = []
        """What this call had to do without, in the order in which it was refused."""
        self._revisions = 0
        self.body = self._write()

    def revise(self, symptom: Symptom) -> bool:
        """Write another body after this one was refused; False where another one is no help.

        First an option that the server does not know goes, then parts of the history, as ``ladder`` says. What
        has gone stays away from the session's later requests. They come to an end, whatever the server says.
        """
        self._revisions += 1
        if self._revisions > MOST_REVISIONS:
            return False
        if self._options.give_way(self._sent, symptom):
            self.body = self._write()
            return True
        return _is_about_form(symptom) and self._leave_out_more(symptom)

    def _leave_out_more(self, symptom: Symptom) -> bool:
        while (left := step_down(self._history.left, symptom.message)) is not None:
            (part,) = left - self._history.left
            self._history.left = left
            refused, self.body = self.body, self._write()
            if self.body != refused:
                self.left_out.append(part)
                note("request.reduced", model=self._request.model, reason=part)
                return True
        return False

    def _write(self) -> bytes:
        history, request = self._history, self._request
        body = history.compiler.compile(request, history.spared(request))
        body["stream"] = True
        self._sent: Body = self._options.apply(body, request)
        return msgspec.json.encode(self._sent)


def _is_about_form(symptom: Symptom) -> bool:
    if symptom.status in _FORM_REFUSED:
        return classify(symptom) == "invalid"
    return symptom.status == 500 and fails_on_form(symptom.message)
