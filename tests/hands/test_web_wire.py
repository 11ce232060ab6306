"""The wire to the web: where it connects to, what it sends and remembers, how much it takes, and how it fails."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from ipaddress import ip_address
from pathlib import Path

import pytest

from app.hands.web_wire import owner_for_pages
from tests.fakes.http_wire import Reply, Request
from tests.fakes.web_server import PUBLIC, Names, page, redirect, serving
from tests.hands.online import Online, certificate_for, shown

pytestmark = pytest.mark.anyio

HELLO = "<h1>Hello</h1>"


async def test_the_number_that_was_checked_is_the_one_that_is_dialled() -> None:
    async with serving({"/": page(HELLO)}) as website:
        online = Online(website, Names({"example.com": [[PUBLIC], ["127.0.0.1"]]}))
        output = await online.fetch("http://example.com/")
    assert output.error is None
    assert website.dialled == [PUBLIC]
    assert online.names.asked == ["example.com"]
    assert website.requests[0].headers["host"] == "example.com"


@pytest.mark.parametrize(
    "number", ["10.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "169.254.169.254"]
)
async def test_a_name_with_one_closed_number_is_not_connected_to_at_all(number: str) -> None:
    async with serving({"/": page(HELLO)}) as website:
        output = await Online(website, Names({"example.com": [[PUBLIC, number]]})).fetch(
            "http://example.com/"
        )
    assert output.error == "E_DENIED"
    assert website.dialled == []


async def test_a_public_address_of_this_machine_is_refused() -> None:
    def owner(number: object) -> str | None:
        return "this machine" if str(number) == "1.1.1.1" else None

    async with serving({"/": page(HELLO)}) as website:
        output = await Online(website, owner=owner).fetch("http://1.1.1.1/")
    assert output.error == "E_DENIED"
    assert website.dialled == []


def test_numbers_of_this_machine_are_known_whatever_range_they_are_in() -> None:
    assert owner_for_pages(ip_address("1.1.1.1")) is None
    assert owner_for_pages(ip_address("127.0.0.1")) == "this machine"


async def test_a_number_is_asked_for_without_a_look_up() -> None:
    async with serving({"/": page(HELLO)}) as website:
        online = Online(website)
        await online.fetch("http://1.1.1.1/")
        await online.fetch("http://[2606:4700::1111]:81/")
    assert online.names.asked == []
    assert website.dialled == ["1.1.1.1", "2606:4700::1111"]
    assert [request.headers["host"] for request in website.requests] == ["1.1.1.1", "[2606:4700::1111]:81"]


async def test_where_one_number_does_not_answer_the_next_is_tried() -> None:
    async with serving({"/": page(HELLO)}) as website:
        website.unreachable = {"2606:4700::1111"}
        online = Online(website, Names({"example.com": [["2606:4700::1111", PUBLIC]]}))
        assert (await online.fetch("http://example.com/")).error is None
        website.unreachable.add(PUBLIC)
        output = await online.fetch("http://example.com/")
    assert output.error == "E_FAILED"
    assert output.transient


async def test_a_name_that_leads_nowhere_is_said_as_such() -> None:
    async with serving({}) as website:
        online = Online(website, Names({"nowhere.example": [[]]}))
        output = await online.fetch("http://nowhere.example/")
        online.has_proxy = True
        proxied = await online.fetch("http://nowhere.example/")
    assert output.error == "E_NOT_FOUND"
    assert "proxy" not in output.text
    assert "The environment names a proxy. It is not used" in proxied.text


async def test_nothing_is_remembered_between_requests() -> None:
    async with serving({"/": redirect("/b"), "/b": page(HELLO, set_cookie="a=b")}) as website:
        website.pages["/"] = page("", status=302, location="/b", set_cookie="id=1")
        online = Online(website)
        await online.fetch("http://example.com/")
        await online.fetch("http://example.com/b")
    assert len(website.requests) == 3
    sent = {name for request in website.requests for name in request.headers}
    assert sent == {"host", "user-agent", "accept", "accept-encoding", "connection"}


async def test_a_certificate_that_nobody_vouches_for_is_said_as_such(tmp_path: Path) -> None:
    certificate, _ = certificate_for("example.com", tmp_path)
    async with serving({"/": page(HELLO)}, certificate) as website:
        output = await Online(website).fetch("https://example.com/")
    assert (output.error, output.transient) == ("E_FAILED", False)
    assert "example.com cannot prove who it is (self-signed certificate)" in output.text


async def test_a_certificate_is_held_against_the_name_and_not_the_number(tmp_path: Path) -> None:
    certificate, trusting = certificate_for("example.com", tmp_path)
    async with serving({"/": page(HELLO)}, certificate) as website:
        online = Online(website, verify=trusting)
        assert (await online.fetch("https://example.com/")).error is None
        other = await online.fetch("https://other.example/")
    assert other.error == "E_FAILED"
    assert "not valid for 'other.example'" in other.text
    assert len(website.requests) == 1


async def test_a_packed_page_is_unpacked() -> None:
    packed = page(gzip.compress(HELLO.encode()), content_encoding="gzip")
    zlibbed = page(zlib.compress(HELLO.encode()), content_encoding="deflate")
    async with serving({"/gzip": packed, "/zlib": zlibbed}) as website:
        for path in ("gzip", "zlib"):
            assert "# Hello" in shown(await Online(website).fetch(f"http://example.com/{path}"))


async def test_a_bomb_is_unpacked_no_further_than_the_limit() -> None:
    bomb = gzip.compress(b"a" * 50_000_000)
    async with serving({"/": page(bomb, "text/plain", content_encoding="gzip")}) as website:
        output = await Online(website, most=1_000).fetch("http://example.com/")
    assert shown(output) == "a" * 1_000
    assert "only the first 1,000 bytes of it" in output.text


@pytest.mark.parametrize(
    ("encoding", "body"), [("gzip", b"no gzip"), ("br", b"x"), ("gzip, gzip", b"x"), ("zstd", b"x")]
)
async def test_what_cannot_be_unpacked_is_an_error(encoding: str, body: bytes) -> None:
    async with serving({"/": page(body, content_encoding=encoding)}) as website:
        output = await Online(website).fetch("http://example.com/")
    assert output.error == "E_FAILED"


async def test_of_a_body_without_an_end_the_beginning_is_shown_and_the_rest_not_read() -> None:
    async def endless(request: Request, reply: Reply) -> None:
        reply.start(200, {"content-type": "text/plain"})
        while True:
            await reply.chunk(b"more " * 100)
            await asyncio.sleep(0)

    async with serving({"/": endless}) as website:
        output = await Online(website, most=5_000).fetch("http://example.com/")
        await website.until_all_left()
    assert len(shown(output)) == 5_000


async def test_a_page_of_just_the_limit_is_whole() -> None:
    async with serving({"/": page("a" * 5_000, "text/plain")}) as website:
        output = await Online(website, most=5_000).fetch("http://example.com/")
    assert "only the first" not in output.text


@pytest.mark.parametrize("way", ["cut", "reset"])
async def test_a_connection_that_breaks_off_is_said_as_such(way: str) -> None:
    async def broken(request: Request, reply: Reply) -> None:
        reply.start(200, {"content-type": "text/plain"})
        await reply.chunk(b"half")
        getattr(reply, way)()

    async with serving({"/": broken}) as website:
        output = await Online(website).fetch("http://example.com/")
    assert (output.error, output.transient) == ("E_FAILED", True)
    assert "example.com did not answer as a web server does" in output.text
