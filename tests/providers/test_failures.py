"""What a failed call says to the user: one sentence of what happened, why and what to do, and never a key."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.engine.errors import ProviderError
from app.engine.messages import Message, ToolCall, ToolResult
from app.infra.redaction import Redactor
from app.providers.classify import Symptom
from app.providers.failures import read_body, read_exception, read_payload
from app.providers.openai_compatible import OpenAICompatible
from app.providers.sentences import Callee, provider_error
from app.providers.transport import open_client
from tests.case_tables import load_tsv
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, fail, page, say
from tests.providers.answers import NOON, ask, collect, said
from tests.providers.test_classify import ROWS, symptom

KEY = "sk-test-0123456789abcdef"


async def failure(wire: OpenAICompatible) -> ProviderError:
    error = (await collect(wire)).error
    assert error is not None
    return error


DEEP = ("[" * 60_000, '{"a":' * 60_000, '{"error":' + "[" * 600 + "]" * 600 + "}")
JSON = {"content-type": "application/json"}

SAID: list[tuple[Answer, str]] = [
    (fail(401, "no"), "local did not accept the key. Enter it again under Settings, Models."),
    (
        fail(403, "Role viewer may not"),
        "local does not allow this with the present key. It says: “Role viewer may not” Check",
    ),
    (fail(402, "Insufficient credits"), "The account at local has no credit left"),
    (fail(404, "The model `x` does not exist"), "local has no model called fake-model"),
    (fail(404, "Not Found"), "there is no model server at this address (HTTP 404). It usually ends in /v1"),
    (fail(429, "slow down", retry_after=7), "It asks to wait 7 s."),
    (fail(500, "oops"), "local failed on its own side (HTTP 500). It says: “oops” Try again later"),
    (
        fail(400, "temperature: too high"),
        "local refused the request (HTTP 400). It says: “temperature: too high”",
    ),
    (fail(413, "too large"), "This conversation is longer than fake-model at local can read."),
    (
        fail(302, headers={"location": "https://other.example/"}),
        "sends its callers to another address (HTTP 302)",
    ),
    (page(), "A web page came back"),
    ({"steps": [{"cut": True}]}, "broke before the answer was complete"),
    ({"steps": [{"raw": "this is no stream\n\n"}]}, "cannot be read as an answer of a model"),
    *(({"status": 400, "body": deep}, "local refused the request (HTTP 400).") for deep in DEEP),
    *(({"steps": [{"raw": f"data: {deep}\n\n"}]}, "cannot be read as an answer of a model") for deep in DEEP),
    *(({"headers": JSON, "body": deep}, "cannot be read as an answer of a model") for deep in DEEP),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "sentence"), SAID)
async def test_a_failure_says_what_happened_and_what_to_do(
    answer: Answer, sentence: str, llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    llm.script(answer)
    assert sentence in (await failure(wire())).message


@pytest.mark.anyio
async def test_a_key_that_the_server_repeats_is_not_shown(
    llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    llm.script(fail(400, f"Bad header Authorization: Bearer {KEY} (again {KEY})"))
    error = await failure(wire())
    assert KEY not in f"{error.message} {error.detail}"
    assert "[redacted]" in error.message


@pytest.mark.anyio
@pytest.mark.parametrize("key", ["sk-\r\nx: y", "sk-ключ"])
async def test_a_key_that_no_header_can_hold_is_said_and_not_sent(
    key: str, llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    error = await failure(wire(key=key))
    assert error.kind == "local"
    assert error.message.startswith("The key of local holds signs that no key has")
    assert key not in error.message
    assert llm.requests() == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("address", "kind", "words"),
    [
        ("http://127.0.0.1:1", "unreachable", "Nothing answers at 127.0.0.1:1. Start the server"),
        ("http://no-such-host.invalid", "unreachable", "There is no host called no-such-host.invalid."),
        ("ftp://127.0.0.1/v1", "local", "The address ftp://127.0.0.1/v1 of local cannot be used."),
        ("127.0.0.1/v1", "local", "cannot be used"),
        ("http://127.0.0.1:notaport/v1", "local", "cannot be used"),
        ("http://256.1.1.1/v1", "local", "cannot be used"),
    ],
)
async def test_an_address_that_leads_nowhere(
    address: str, kind: str, words: str, wire: Callable[..., OpenAICompatible]
) -> None:
    error = await failure(wire(address))
    # A resolver that is out of order says "try again", which is another thing than no such host.
    if "no-such-host" in address and error.kind == "dropped":
        assert "check the network" in error.message
    else:
        assert error.kind == kind
        assert words in error.message


@pytest.mark.anyio
async def test_a_host_that_no_resolver_takes_is_an_address_to_correct() -> None:
    async with open_client(ssl.create_default_context()) as client:
        error = await failure(OpenAICompatible("local", "http://../v1", KEY, client))
    assert error.message.startswith("The address http://../v1 of local cannot be used.")


@pytest.fixture
async def stranger(tmp_path: Path) -> AsyncIterator[int]:
    """The port of a TLS server with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = (
        builder.serial_number(1).not_valid_before(start).not_valid_after(start + datetime.timedelta(days=9))
    )
    certificate = builder.sign(key, hashes.SHA256())
    kept = tmp_path / "server.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    kept.write_bytes(private + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(kept)

    async def serve(stream: anyio.abc.SocketStream) -> None:
        await stream.aclose()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tls = anyio.streams.tls.TLSListener(listener, context, standard_compatible=False)
        tasks.start_soon(tls.serve, serve)
        yield listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_certificate_that_cannot_be_trusted(
    stranger: int, wire: Callable[..., OpenAICompatible]
) -> None:
    error = await failure(wire(f"https://127.0.0.1:{stranger}"))
    assert error.kind == "unreachable"
    assert "its certificate cannot be trusted. Nothing was sent." in error.message


@pytest.mark.anyio
async def test_a_plain_server_spoken_to_in_tls(llm: FakeLLM, wire: Callable[..., OpenAICompatible]) -> None:
    error = await failure(wire(llm.url.replace("http:", "https:")))
    assert error.kind == "unreachable"
    assert "should begin with http:// or https://" in error.message


WORDS_ONLY = [row for row in load_tsv("error_classes.tsv") if row["where"] in ("tool", "text")]


@pytest.mark.anyio
@pytest.mark.parametrize("row", WORDS_ONLY, ids=[row["id"] for row in WORDS_ONLY])
async def test_the_words_of_a_failure_in_an_answer_or_a_tool_result_are_only_words(
    row: dict[str, str], llm: FakeLLM, wire: Callable[..., OpenAICompatible]
) -> None:
    call = Message("assistant", (ToolCall("a", "read_file"),), "m2", NOON)
    result = Message("tool", (ToolResult("a", row["message"], "error"),), "m3", NOON)
    llm.script(say(row["message"]))
    found = await collect(wire(), ask(said("Go"), call, result))
    assert (found.text, found.end) == (row["message"], "complete")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_every_known_failure_has_a_whole_sentence(row: dict[str, str]) -> None:
    callee = Callee("acme", "model-x", "https://acme.example/v1", True, Redactor([KEY]))
    error = provider_error(symptom(row), callee)
    assert error.message.endswith((".", "”")) or ". " in error.message
    assert not {"{", "}"} & set(error.message.replace(error.detail or "", ""))
    assert len(error.message) < 700


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b'{"error":{"message":"no","type":"t","code":"c"}}', "t/c", "no"),
        (b'{"error":"no"}', "", "no"),
        (
            b'{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"slow"}}}',
            "429",
            "Provider returned error: slow",
        ),
        (b'[{"error":{"code":400,"message":"no","status":"INVALID"}}]', "400/INVALID", "no"),
        (
            b'{"detail":[{"loc":["body"],"msg":"field required"}]}',
            "",
            '[{"loc": ["body"], "msg": "field required"}]',
        ),
        (b'{"detail":"no"}', "", "no"),
        (b'{"errors":[{"message":"no","code":7}]}', "7", "no"),
        (b'{"error_code":18,"error_msg":"qps"}', "18", "qps"),
        (
            b'{"object":"error","message":"no","type":"BadRequestError","code":400}',
            "BadRequestError/400",
            "no",
        ),
        (b"<html><style>p{}</style><h1>502 Bad</h1> gateway</html>", "", "502 Bad gateway"),
        (b"plain words", "", "plain words"),
        (b"\xff\xfe", "", "\ufffd\ufffd"),
        (b"", "", ""),
        (b"null", "", ""),
        (b"[]", "", ""),
    ],
)
def test_an_error_is_found_in_whatever_it_is_wrapped(body: bytes, code: str, message: str) -> None:
    assert read_body(400, body) == Symptom(400, code, message)


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": [{"delta": {"content": "error"}}]},
        {"choices": [], "usage": {"prompt_tokens": 1}},
        {"choices": [{"delta": {}}], "error": None},
        {"id": "x", "object": "chat.completion.chunk"},
        {"base_resp": {"status_code": 0, "status_msg": "success"}, "choices": []},
        {"choices": [{"delta": {}}], "detail": "anything"},
    ],
)
def test_a_payload_that_only_looks_like_an_error_is_none(payload: dict[str, Any]) -> None:
    assert read_payload(payload) is None


def test_an_exception_is_read_with_its_causes() -> None:
    cause = OSError(111, "Connection refused")
    error = httpx.ConnectError("All connection attempts failed")
    error.__cause__ = cause
    found = read_exception(error)
    assert (found.raised, found.message) == (
        "ConnectError",
        "All connection attempts failed <- [Errno 111] Connection refused",
    )
