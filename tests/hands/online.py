"""A run whose tools reach the small web of ``tests.fakes.web_server``."""

from __future__ import annotations

import datetime
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.engine.tools import Tool, ToolContext, ToolOutput
from app.hands.pages import ReadPage, read_page
from app.hands.search_engines import SearchEngine
from app.hands.web_ask import Ask, as_everywhere
from app.hands.web_fetch import Fetch, fetch_tool
from app.hands.web_search import WebSearch, search_tool
from app.hands.web_wire import Owner, Wire, owner_for_engines, owner_for_pages
from tests.fakes.http_wire import Request
from tests.fakes.web_server import Names, Serve, Website, serving


@dataclass(slots=True)
class Online:
    """The tools of a run, with the names it can look up."""

    website: Website
    names: Names = field(default_factory=Names)
    verify: ssl.SSLContext | bool = True
    owner: Owner = owner_for_pages
    has_proxy: bool = False
    read_page: ReadPage = read_page
    ask: Ask = as_everywhere
    seconds: float = 60.0
    most: int = 1_000_000

    @property
    def wire(self) -> Wire:
        return Wire(
            self.names.resolve, lambda: self.website.transport(self.verify), self.owner, self.has_proxy
        )

    async def fetch(self, url: str) -> ToolOutput:
        tool = fetch_tool(Fetch(self.wire, self.read_page, self.ask, self.seconds, self.most))
        return await call(tool, url=url)

    async def search(self, engine: SearchEngine, query: str, **more: int) -> ToolOutput:
        return await call(
            search_tool(WebSearch(self.wire, engine, self.ask, self.seconds)), query=query, **more
        )


def certificate_for(host: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate that it gave itself, and a client's that trusts just that one."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    both = folder / "both.pem"
    both.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(both)
    client = ssl.create_default_context(cadata=signed.public_bytes(serialization.Encoding.PEM).decode())
    return server, client


def shown(output: ToolOutput) -> str:
    """What stands between the two lines of the frame."""
    assert output.error is None, output.text
    first, _, rest = output.text.partition("\n\n")
    body, _, last = rest.rpartition("\n\n")
    marker = last.rpartition(", ")[2].rstrip("]")
    assert marker in first
    return body


async def search_at(
    engine: SearchEngine, serve: Serve, query: str = "ferry", **more: Any
) -> tuple[ToolOutput, Request | None]:
    """The output, and the request that came in."""
    path = engine.question("q", 1).address.target.partition("?")[0]
    async with serving({path: serve}) as website:
        online = Online(website, owner=owner_for_engines)
        output = await online.search(engine, query, **more)
    return output, website.requests[0] if website.requests else None


async def call(tool: Tool, **arguments: object) -> ToolOutput:
    return await tool.execute(arguments, ToolContext("call_1", lambda text, done, total: None))
