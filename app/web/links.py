"""Where a link of a model may lead, and which host it really names."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlsplit

_WEB = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE)
_MAIL = re.compile(r"mailto:[^\s\\]+", re.IGNORECASE)
_PLACE = re.compile(r"#[^\s\\]*")
_HIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_BARE = re.compile(r"https?://[^\s<>\"'`|]+", re.IGNORECASE)
_LOOKS_LIKE_HOST = re.compile(r"[a-z][a-z0-9+.-]*:|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b", re.IGNORECASE)
_ENDS_A_SENTENCE = ".,;:!?*_~"


def safe_href(address: str) -> str | None:
    """The address if a reader may follow it: http, https, mailto or a place on this page. Else None."""
    if _HIDDEN.search(address):
        return None
    if _PLACE.fullmatch(address) or _MAIL.fullmatch(address):
        return address
    return address if _WEB.fullmatch(address) and host_of(address) else None


def host_of(address: str) -> str | None:
    """The host that an http address really leads to, in ASCII, or None where it names none."""
    try:
        host = urlsplit(address).hostname
        return host.encode("idna").decode("ascii") if host else None
    except (UnicodeError, ValueError):
        return None


def misleads(text: str, address: str) -> bool:
    """True where a reader could take the link for one to another host."""
    host = host_of(address)
    if host is None:
        return False
    if "@" in urlsplit(address).netloc:
        return True
    return bool(_LOOKS_LIKE_HOST.search(text)) and host.lower() not in text.lower()


def open_link(address: str) -> str:
    """The start tag of a link that leaves the page."""
    target = "" if address.startswith("#") else ' target="_blank"'
    return f'<a href="{escape(address)}"{target}>'


def link_bare_addresses(text: str) -> str:
    """Escaped HTML of a text in which each written-out web address is a link."""
    if "://" not in text:
        return escape(text, quote=False)
    pieces, done = [], 0
    for match in _BARE.finditer(text):
        address = _without_sentence_end(match.group())
        if (href := safe_href(address)) is not None:
            pieces += [escape(text[done : match.start()], quote=False), open_link(href)]
            pieces += [escape(address, quote=False), "</a>"]
            done = match.start() + len(address)
    pieces.append(escape(text[done:], quote=False))
    return "".join(pieces)


def _without_sentence_end(address: str) -> str:
    address = address.rstrip(_ENDS_A_SENTENCE)
    while address.endswith(")") and address.count(")") > address.count("("):
        address = address[:-1].rstrip(_ENDS_A_SENTENCE)
    return address
