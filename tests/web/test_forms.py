"""Forms of a request: fields as they were typed, in words where they are too much."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message

from app.web.forms import LONGEST_FIELD, MOST_VALUES, Form, read_form

pytestmark = pytest.mark.anyio
URLENCODED = "application/x-www-form-urlencoded"


async def read(body: bytes, kind: str = URLENCODED) -> Form:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "headers": [(b"content-type", kind.encode())], "app": object()}
    return await read_form(Request(scope, receive))


async def refused(body: bytes, kind: str = URLENCODED) -> int:
    with pytest.raises(HTTPException) as caught:
        await read(body, kind)
    return caught.value.status_code


async def test_a_field_is_raw_or_tidy_and_a_missing_one_is_empty() -> None:
    form = await read(b"a=+one%0D%0A+two+&b=")
    assert (form.raw("a"), form.text("a")) == (" one\n two ", "one\n two")
    assert (form.raw("b"), form.raw("c"), form.text("c")) == ("", "", "")


async def test_line_ends_are_those_of_everywhere_else_and_nuls_go() -> None:
    assert (await read(b"a=1%0D%0A2%0D3%0A4%00")).raw("a") == "1\n2\r3\n4"


async def test_of_a_field_that_comes_twice_one_counts() -> None:
    assert (await read(b"a=1&a=2")).raw("a") == "2"


async def test_a_file_is_no_text() -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\nno\r\n--x--\r\n'
    assert await refused(part, "multipart/form-data; boundary=x") == 400


async def test_a_million_characters_have_room_and_more_than_the_longest_field_has_not() -> None:
    assert len(urlencode({"a": "👍" * 1_000})) * 1_000 < LONGEST_FIELD
    text = "👍" * 100_000
    assert (await read(urlencode({"a": text}).encode())).raw("a") == text
    assert await refused(b"a=" + b"x" * (LONGEST_FIELD + 1)) == 413
    head = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
    assert (
        await refused(head + b"x" * (LONGEST_FIELD + 1) + b"\r\n--x--\r\n", "multipart/form-data; boundary=x")
        == 413
    )


async def test_more_fields_than_a_page_has_are_refused() -> None:
    assert await refused(b"&".join(b"a=1" for _ in range(MOST_VALUES + 1))) == 400


async def test_what_is_no_form_has_no_fields() -> None:
    assert (await read(b'{"a": 1}', "application/json")).raw("a") == ""
