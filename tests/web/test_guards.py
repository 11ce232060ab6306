"""Who may speak to the server: every refusal, and the look-alikes that must get through."""

from __future__ import annotations

import hashlib
import itertools
from base64 import b64encode
from collections.abc import Sequence
from urllib.parse import urlsplit

import pytest
from html5lib import parse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from app.infra.paths import asset_root
from app.web.answers import Refusals
from app.web.assets import Assets
from app.web.guards import LONGEST_BODY, Guard, HostCheck, TokenCheck
from app.web.rendering import Templates
from app.web.response_headers import CONTENT_SECURITY_POLICY
from tests.fakes.clock import FakeClock
from tests.web.asgi import Got, ask

PORT = 8484
HOST = ("host", f"127.0.0.1:{PORT}")
COOKIE = ("cookie", "plancia-ab12=the-session")
SAME = ("sec-fetch-site", "same-origin")

pytestmark = pytest.mark.anyio


class Inside:
    """The application behind the gate; it remembers who came through."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.app = Starlette(
            routes=[
                Route("/", self.page, methods=["GET", "POST"]),
                Route("/healthz", self.page),
                Route("/static/{name}", self.static),
                Route("/conversations/{id}/stream", self.page),
                Mount("/mounted", routes=[Route("/x", self.page)]),
                Route("/broken", self.broken),
            ]
        )

    async def page(self, request: Request) -> Response:
        await request.body()
        self.seen.append((request.method, request.url.path))
        return PlainTextResponse("inside")

    async def static(self, request: Request) -> Response:
        return PlainTextResponse("a file", headers={"Cache-Control": "public, max-age=31536000, immutable"})

    async def broken(self, request: Request) -> Response:
        raise RuntimeError("a defect")


class Gate:
    def __init__(self, names: Sequence[str] = ()) -> None:
        self.inside = Inside()
        self.clock = FakeClock()
        templates = Templates(asset_root("templates"), Assets(asset_root("static")))
        self.guard = Guard(
            self.inside.app,
            hosts=HostCheck(PORT, names),
            door=TokenCheck("the-token", "the-session", "ab12", self.clock),
            refusals=Refusals(templates),
        )

    async def ask(
        self, method: str = "GET", path: str = "/", *headers: tuple[str, str], **more: object
    ) -> Got:
        return await ask(self.guard, method, path, headers, **more)  # type: ignore[arg-type]


@pytest.fixture
def gate() -> Gate:
    return Gate()


FOREIGN_HOSTS = [
    "evil.example",
    f"evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    f"127.0.0.1.nip.io:{PORT}",
    f"localhost.:{PORT}",
    f"127.0.0.1.:{PORT}",
    f"user@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}@evil.example",
    "",
    "localhost",
    "127.0.0.1",
    "127.0.0.1:8485",
    "localhost:80",
    f"2130706433:{PORT}",
    f"0x7f000001:{PORT}",
    f"0177.0.0.1:{PORT}",
    f"127.1:{PORT}",
    f"127.0.0.2:{PORT}",
    f"0.0.0.0:{PORT}",
    f"[::ffff:127.0.0.1]:{PORT}",
    f"[::]:{PORT}",
    f"::1:{PORT}",
    f"127.0.0.1:{PORT}/",
    f"127.0.0.1:{PORT}, evil.example",
    f" 127.0.0.1:{PORT}",
    f"x/../admin?:{PORT}",
]


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
async def test_a_foreign_host_is_refused_even_with_the_cookie_and_its_own_origin(
    gate: Gate, host: str
) -> None:
    got = await gate.ask("GET", "/", ("host", host), COOKIE, ("origin", f"http://{host}"))
    assert got.status == 403
    assert gate.inside.seen == []


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}"])
async def test_each_name_of_this_machine_is_let_in(gate: Gate, host: str) -> None:
    assert (await gate.ask("GET", "/", ("host", host), COOKIE)).text == "inside"


@pytest.mark.parametrize("hosts", [[], [HOST, HOST], [HOST, ("host", "evil.example")]])
async def test_no_host_and_two_hosts_are_refused(gate: Gate, hosts: list[tuple[str, str]]) -> None:
    assert (await gate.ask("GET", "/", *hosts, COOKIE)).status == 403


@pytest.mark.parametrize(
    ("name", "host"), [("192.168.1.40", "192.168.1.40:8484"), ("fe80::1", "[fe80::1]:8484")]
)
async def test_the_address_it_was_told_to_listen_on_counts_too(name: str, host: str) -> None:
    assert (await Gate([name]).ask("GET", "/", ("host", host), COOKIE)).status == 200
    assert (await Gate().ask("GET", "/", ("host", host), COOKIE)).status == 403


PATHS = ["/", "/healthz", "/static/x.css", "/conversations/c/stream", "/mounted/x", "/nowhere", "/broken"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_the_host_is_checked_at_every_address(gate: Gate, path: str, method: str) -> None:
    assert (await gate.ask(method, path, ("host", "evil.example"), COOKIE, SAME)).status == 403


SITES = [None, "same-origin", "none", "same-site", "cross-site", "nonsense"]
ORIGINS = [
    None,
    f"http://127.0.0.1:{PORT}",
    "null",
    "http://evil.example",
    f"http://localhost:{PORT}",
    "http://127.0.0.1:9",
]
MATRIX = list(itertools.product(["GET", "POST"], SITES, ORIGINS))


@pytest.mark.parametrize(("method", "site", "origin"), MATRIX)
async def test_origin_and_fetch_metadata(
    gate: Gate, method: str, site: str | None, origin: str | None
) -> None:
    sent = [HOST, COOKIE]
    sent += [("sec-fetch-site", site)] if site else []
    sent += [("origin", origin)] if origin else []
    own = origin in (None, f"http://127.0.0.1:{PORT}")
    if method == "POST":
        allowed = own and (site == "same-origin" or (site is None and origin is not None))
    else:
        allowed = own and site in (None, "same-origin", "none")
    assert (await gate.ask(method, "/", *sent)).status == (200 if allowed else 403)
    assert bool(gate.inside.seen) == allowed


FOLLOWED = [
    ("cross-site", "navigate", "document", 200),
    ("same-site", "navigate", "document", 200),
    ("cross-site", "navigate", "iframe", 403),
    ("cross-site", "no-cors", "image", 403),
    ("same-site", "no-cors", "script", 403),
    ("cross-site", "cors", "empty", 403),
    ("cross-site", "navigate", "", 403),
    ("nonsense", "navigate", "document", 403),
]


@pytest.mark.parametrize(("site", "mode", "goal", "status"), FOLLOWED)
async def test_another_page_may_link_here_but_not_embed(
    gate: Gate, site: str, mode: str, goal: str, status: int
) -> None:
    metadata = [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", goal)]
    assert (await gate.ask("GET", "/", HOST, COOKIE, *metadata)).status == status
    assert (await gate.ask("POST", "/", HOST, COOKIE, *metadata)).status == 403


@pytest.mark.parametrize("header", ["origin", "sec-fetch-site"])
async def test_a_header_sent_twice_is_refused(gate: Gate, header: str) -> None:
    value = {"origin": f"http://127.0.0.1:{PORT}", "sec-fetch-site": "same-origin"}[header]
    assert (await gate.ask("GET", "/", HOST, COOKIE, (header, value), (header, value))).status == 403


@pytest.mark.parametrize("path", [path for path in PATHS if path != "/healthz"])
async def test_without_a_session_no_address_answers(gate: Gate, path: str) -> None:
    got = await gate.ask("GET", path, HOST)
    assert got.status == 401
    assert "plancia open" in got.text
    assert gate.inside.seen == []


async def test_health_answers_without_a_session_but_not_to_everybody(gate: Gate) -> None:
    assert (await gate.ask("GET", "/healthz", HOST)).status == 200
    assert (await gate.ask("GET", "/healthz/", HOST)).status == 401
    assert (await gate.ask("GET", "/healthz", HOST, ("origin", "http://evil.example"))).status == 403


COOKIES = [
    ("plancia-ab12=the-session", 200),
    ("other=1; plancia-ab12=the-session", 200),
    ("plancia-ab12=planted; plancia-ab12=the-session", 200),
    ("plancia-ab12=planted", 401),
    ("plancia-ab12=", 401),
    ("plancia-ab12=the-token", 401),
    ("plancia-other=the-session", 401),
    ("plancia-ab12=the-session-and-more", 401),
    ("plancia-ab12=\xff", 401),
    ("=the-session", 401),
    (";;;", 401),
]


@pytest.mark.parametrize(("cookie", "status"), COOKIES)
async def test_only_the_session_of_this_server_is_one(gate: Gate, cookie: str, status: int) -> None:
    assert (await gate.ask("GET", "/", HOST, ("cookie", cookie))).status == status


async def test_the_token_becomes_a_cookie_and_leaves_the_address(gate: Gate) -> None:
    got = await gate.ask("GET", "/conversations/c", HOST, query="tab=usage&token=the-token&x=%26")
    assert got.status == 303
    assert got.header("location") == "/conversations/c?tab=usage&x=%26"
    cookie = got.header("set-cookie") or ""
    parts = [part.strip() for part in cookie.split(";")]
    assert parts[0] == "plancia-ab12=the-session"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(parts)
    assert "domain" not in cookie.lower()
    assert "the-token" not in str(got.headers)
    assert gate.inside.seen == []


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "///evil.example/x", "//evil.example/%0d%0aX: y"]
)
async def test_the_redirect_stays_on_this_server(gate: Gate, path: str) -> None:
    place = (await gate.ask("GET", path, HOST, query="token=the-token")).header("location") or ""
    assert place.startswith("/")
    assert not place.startswith(("//", "/\\"))
    assert urlsplit(place).netloc == ""
    assert "\r" not in place
    assert "\n" not in place


async def test_a_signed_in_browser_may_follow_an_old_link(gate: Gate) -> None:
    got = await gate.ask("GET", "/", HOST, COOKIE, query="token=of-last-week")
    assert (got.status, got.header("location"), got.header("set-cookie")) == (303, "/", None)


@pytest.mark.parametrize(
    "query",
    ["token=", "token=wrong", "token=the-token&token=the-token", "token=THE-TOKEN", "Token=the-token"],
)
async def test_a_wrong_token_opens_nothing(gate: Gate, query: str) -> None:
    got = await gate.ask("GET", "/", HOST, query=query)
    assert got.status == 401
    assert got.header("set-cookie") is None


async def test_a_token_does_not_stand_for_a_session_in_a_post(gate: Gate) -> None:
    assert (await gate.ask("POST", "/", HOST, SAME, query="token=the-token")).status == 401


async def test_guessing_slows_down_and_the_right_token_stays_quick(gate: Gate) -> None:
    for _ in range(1000):
        assert (await gate.ask("GET", "/", HOST, query="token=guess")).status == 401
    assert len(gate.clock.slept) == 1000 - TokenCheck.FREE_TRIES
    assert gate.clock.slept == sorted(gate.clock.slept)
    assert gate.clock.slept[-1] == TokenCheck.LONGEST_DELAY
    waited = len(gate.clock.slept)
    assert (await gate.ask("GET", "/", HOST, query="token=the-token")).status == 303
    assert len(gate.clock.slept) == waited


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PUT", "DELETE", "PATCH", "CONNECT", "BREW"])
async def test_other_methods_are_refused_and_open_no_other_origin(gate: Gate, method: str) -> None:
    got = await gate.ask(method, "/", HOST, COOKIE, SAME, ("access-control-request-method", "POST"))
    assert got.status == 405
    assert got.header("allow") == "GET, HEAD, POST"
    assert not any(name.startswith("access-control-") for name, _ in got.headers)


@pytest.mark.parametrize("header", ["x-http-method-override", "x-method-override", "x-http-method"])
async def test_a_method_override_has_no_effect(gate: Gate, header: str) -> None:
    await gate.ask("GET", "/", HOST, COOKIE, (header, "POST"))
    assert gate.inside.seen == [("GET", "/")]


async def test_forwarded_hosts_mean_nothing(gate: Gate) -> None:
    forwarded = [("x-forwarded-host", f"127.0.0.1:{PORT}"), ("forwarded", f"host=127.0.0.1:{PORT}")]
    assert (await gate.ask("GET", "/", ("host", "evil.example"), COOKIE, *forwarded)).status == 403


@pytest.mark.parametrize("length", [str(LONGEST_BODY + 1), "999999999999999999999", "-1", "many"])
async def test_a_body_that_announces_too_much_is_not_read(gate: Gate, length: str) -> None:
    assert (await gate.ask("POST", "/", HOST, COOKIE, SAME, ("content-length", length))).status == 413
    assert gate.inside.seen == []


async def test_a_body_that_goes_on_too_long_is_cut_off(gate: Gate) -> None:
    half = bytes(LONGEST_BODY // 2)
    assert (await gate.ask("POST", "/", HOST, COOKIE, SAME, body=[half, half])).status == 200
    assert (await gate.ask("POST", "/", HOST, COOKIE, SAME, body=[half, half, b"x"])).status == 413


ANSWERS = [
    ("page", "GET", "/", [HOST, COOKIE]),
    ("static", "GET", "/static/x.css", [HOST, COOKIE]),
    ("not found", "GET", "/nowhere", [HOST, COOKIE]),
    ("wrong method", "POST", "/static/x.css", [HOST, COOKIE, SAME]),
    ("no session", "GET", "/", [HOST]),
    ("wrong host", "GET", "/", [("host", "evil.example")]),
    ("refused method", "TRACE", "/", [HOST]),
    ("health", "GET", "/healthz", [HOST]),
]


@pytest.mark.parametrize(
    ("method", "path", "headers"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS]
)
async def test_every_answer_carries_the_headers_that_protect(
    gate: Gate, method: str, path: str, headers: list[tuple[str, str]]
) -> None:
    got = await gate.ask(method, path, *headers)
    assert got.header("x-content-type-options") == "nosniff"
    assert got.header("referrer-policy") == "same-origin"
    assert got.header("x-frame-options") == "DENY"
    assert got.header("cross-origin-opener-policy") == "same-origin"
    assert got.header("cross-origin-resource-policy") == "same-origin"
    assert "camera=()" in (got.header("permissions-policy") or "")
    policy = got.header("content-security-policy") or ""
    assert policy.split("; ")[0] == "default-src 'none'"
    assert "unsafe" not in policy
    assert not any(name.startswith("access-control-") for name, _ in got.headers)
    assert all(
        sum(1 for name, _ in got.headers if name == each) == 1
        for each in ("cache-control", "content-security-policy")
    )


async def test_pages_are_kept_by_nobody_and_static_files_by_their_hash(gate: Gate) -> None:
    assert (await gate.ask("GET", "/", HOST, COOKIE)).header("cache-control") == "no-store"
    assert "immutable" in (
        (await gate.ask("GET", "/static/x.css", HOST, COOKIE)).header("cache-control") or ""
    )


async def test_the_policy_of_a_page_is_the_strict_one(gate: Gate) -> None:
    assert (await gate.ask("GET", "/", HOST, COOKIE)).header(
        "content-security-policy"
    ) == CONTENT_SECURITY_POLICY


async def test_a_defect_behind_the_gate_is_an_answer_with_its_headers(gate: Gate) -> None:
    got = await gate.ask("GET", "/broken", HOST, COOKIE)
    assert got.status == 500
    assert got.header("content-security-policy") == CONTENT_SECURITY_POLICY


async def test_a_refusal_is_a_page_for_a_reader_and_a_sentence_for_a_script(gate: Gate) -> None:
    page = await gate.ask("GET", "/", HOST, ("sec-fetch-dest", "document"))
    heading = parse(page.text, namespaceHTMLElements=False).find(".//h1")
    assert heading is not None
    assert heading.text == "This browser is not signed in yet"
    script = await gate.ask("GET", "/conversations/c/stream", HOST, ("sec-fetch-dest", "empty"))
    assert script.status == 401
    assert (script.header("content-type") or "").startswith("text/plain")
    assert "<" not in script.text


async def test_the_few_rules_of_a_refusal_are_the_only_ones_its_policy_lets_in(gate: Gate) -> None:
    got = await gate.ask("GET", "/", HOST)
    rules = parse(got.text, namespaceHTMLElements=False).findtext(".//style") or ""
    digest = b64encode(hashlib.sha256(rules.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in (got.header("content-security-policy") or "")


async def test_a_head_request_gets_no_body(gate: Gate) -> None:
    got = await gate.ask("HEAD", "/", HOST)
    assert (got.status, got.body) == (401, b"")


async def test_no_page_of_the_gate_tells_the_token_or_the_session(gate: Gate) -> None:
    for headers in ([HOST], [("host", "evil.example")], [HOST, COOKIE]):
        got = await gate.ask("GET", "/", *headers, query="token=guess")
        assert "the-token" not in got.text + str(got.headers)
        assert "the-session" not in got.text + str(got.headers)
