"""What a reader is told when something did not work: what happened, why if known, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.web.rendering import Templates


@dataclass(frozen=True, slots=True)
class ErrorWords:
    title: str
    sentence: str
    command: str = ""
    """What to type in a terminal, or nothing."""


WORDS: Mapping[int, ErrorWords] = {
    400: ErrorWords(
        "This request cannot be read", "Something in it is missing or out of place. Go back and try again."
    ),
    401: ErrorWords(
        "This browser is not signed in yet",
        "Plancia answers only to the browser you open it in, so that no other page or program can use it.",
        "plancia open",
    ),
    403: ErrorWords(
        "This request was refused",
        "It came from another page, or under another name than the address Plancia printed when it started. "
        "Open that address itself.",
    ),
    404: ErrorWords("There is nothing here", "It may have been deleted, or the address is mistyped."),
    405: ErrorWords(
        "This cannot be done here", "The address exists, but it does not take this kind of request."
    ),
    409: ErrorWords("Not now", "Something else has to end first. Try again in a moment."),
    413: ErrorWords(
        "This is too big", "It is larger than what Plancia takes in one request. Send less at once."
    ),
    422: ErrorWords("Something is missing", "A field is empty or does not fit. Look at what was typed."),
    500: ErrorWords(
        "Something went wrong inside Plancia",
        "Nothing that was saved is lost. Load the page again; if it happens again, the log says more.",
    ),
    503: ErrorWords("Plancia cannot do this right now", "Try again in a moment."),
}


def words_for(status: int, sentence: str = "") -> ErrorWords:
    """The words of a status; ``sentence`` says it more exactly where somebody knows better."""
    words = WORDS.get(status) or WORDS[500 if status >= 500 else 400]
    return replace(words, sentence=sentence) if sentence else words


def error_response(
    templates: Templates, request: Request, status: int, sentence: str = "", reference: str = ""
) -> Response:
    """A page, or for a part of a page one sentence. ``reference`` is the id under which the log has it."""
    part = request.headers.get("hx-request") == "true"
    name = "errors/sentence.html" if part else "errors/page.html"
    values = {"status": status, "words": words_for(status, sentence), "reference": reference}
    return HTMLResponse(templates.render(name, **values), status_code=status)
