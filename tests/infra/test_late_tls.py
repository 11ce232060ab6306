"""Certificates that are read late are the same ones: who is trusted, who is not, and when they are not needed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.infra.late_tls import LateTLS

pytestmark = pytest.mark.anyio


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A server's certificate that only who knows it trusts; its key stands in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@asynccontextmanager
async def server(certificate: Path | None = None) -> AsyncIterator[str]:
    """Says hello to every request; its address without the scheme."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello")
        writer.close()

    context = None
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def client(tls: LateTLS) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(verify=tls, mounts={"all://127.0.0.1": None}) as each:
        yield each


async def test_a_server_that_is_trusted_is_reached(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with server(certificate) as address, client(LateTLS()) as http:
        for _ in range(2):
            assert (await http.get(f"https://{address}/")).text == "hello"


async def test_a_server_that_nobody_vouches_for_is_refused(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    async with server(certificate) as address, client(LateTLS()) as http:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await http.get(f"https://{address}/")


async def test_a_certificate_for_another_name_is_refused(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with server(certificate) as address, client(LateTLS()) as http:
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await http.get(
                f"https://localhost:{address.partition(':')[2]}/", extensions={"sni_hostname": "localhost"}
            )


async def test_certificates_are_read_once_a_handshake_needs_them(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = LateTLS()
    async with client(tls) as http:
        async with server() as address:
            assert (await http.get(f"http://{address}/")).text == "hello"
        assert not tls.is_made
        async with server(certificate) as address:
            assert (await http.get(f"https://{address}/")).text == "hello"
        assert tls.is_made
