"""Headers of every answer: what a browser may do with it, and that nobody keeps it."""

from __future__ import annotations

from starlette.types import Message, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_CLOSED = (
    "camera",
    "display-capture",
    "geolocation",
    "microphone",
    "payment",
    "usb",
    "serial",
    "hid",
    "midi",
)

SAFE_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", ", ".join(f"{feature}=()" for feature in _CLOSED).encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"x-dns-prefetch-control", b"off"),
    (b"cache-control", b"no-store"),
)


def with_safe_headers(send: Send) -> Send:
    """Adds those that the answer does not set itself."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {bytes(name).lower() for name, _ in given}
            message = {
                **message,
                "headers": [*given, *(pair for pair in SAFE_HEADERS if pair[0] not in names)],
            }
        await send(message)

    return guarded
