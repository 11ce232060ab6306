"""What an exception without an answer means, by its class and by the words of the system beneath it."""

from __future__ import annotations

import re
from typing import Literal

from app.engine.errors import ProviderErrorKind

_RULES: tuple[tuple[Literal["class", "system"], str, ProviderErrorKind | Literal["aborted"]], ...] = (
    ("class", r"CancelledError|Cancelled|KeyboardInterrupt|GeneratorExit|Aborted", "aborted"),
    ("class", r"UnsupportedProtocol|InvalidURL|LocalProtocolError|Unicode\w*Error", "local"),
    ("class", r"\w*Timeout(Error|Exception)?|StreamSilent|StillAtWork", "timeout"),
    ("class", r"JSONDecodeError|DecodeError|StreamUnreadable", "server"),
    ("class", r"NoPicture|AddressInstead", "invalid"),
    ("class", r"TooManyRedirects|PageInstead", "unreachable"),
    ("class", r"ContextOverflowError|ContextWindowExceededError", "overflow"),
    ("class", r"ContentPolicyViolationError", "policy"),
    ("class", r"DefaultCredentialsError|NoCredentialsError|AuthError", "auth"),
    ("system", r"certificate|\bssl\b|\btls\b", "unreachable"),
    ("system", r"temporary failure in name resolution", "dropped"),
    ("system", r"name resolution|name or service not known|nodename nor servname|getaddrinfo", "unreachable"),
    (
        "system",
        r"connection refused|errno (111|61|10061)\b|unreachable|no route to host|host is down",
        "unreachable",
    ),
    ("system", r"reset by peer|broken pipe|connection aborted|server disconnected|peer closed", "dropped"),
    ("class", r"ConnectError|ConnectionRefusedError|gaierror", "unreachable"),
    ("class", r"ReadError|WriteError|CloseError|RemoteProtocolError|ProxyError|DecodingError", "dropped"),
    ("class", r"StreamEnded|EndOfStream|BrokenResourceError|ClosedResourceError", "dropped"),
    (
        "class",
        r"NetworkError|TransportError|Connection\w*Error|APIConnectionError|IncompleteRead\w*",
        "dropped",
    ),
)
"""In order of how sure they are; the class as a whole, or somewhere in what the system said."""

_STATUS = {
    "BadRequestError": 400,
    "AuthenticationError": 401,
    "PaymentRequiredError": 402,
    "PermissionDeniedError": 403,
    "NotFoundError": 404,
    "UnprocessableEntityError": 422,
    "RateLimitError": 429,
    "InternalServerError": 500,
    "BadGatewayError": 502,
    "ServiceUnavailableError": 503,
}
"""The classes by which client libraries spell a status."""


def kind_of_exception(name: str, message: str) -> ProviderErrorKind | Literal["aborted"] | None:
    """None where the class only spells a status, or where nothing is known of it."""
    # The text of a class that spells a status is the server's; only its causes are the system's.
    system = message.partition(" <- ")[2] if name in _STATUS else message
    for where, pattern, kind in _RULES:
        if re.fullmatch(pattern, name) if where == "class" else re.search(pattern, system.lower()):
            return kind
    return None


def status_of_class(name: str) -> int | None:
    return _STATUS.get(name)
