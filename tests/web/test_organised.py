"""Behind "Conversation organised": the summary, what the model does not see any more, and what if neither is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.messages import Image, Marker, Message, Summary, Text, ToolCall, ToolResult
from app.group_chat.room import Room
from app.web.left_out import left_out
from app.web.organised import GONE, SHOWN
from app.workspace import messages, sessions, turns
from app.workspace.rows import MessageRow
from tests.web.dom import elements, read, text_of
from tests.web.pages import HTMX, Open, open_page

pytestmark = pytest.mark.anyio

TIME = "2026-11-30T14:10:24.871Z"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


def said(id: str, text: str) -> Message:
    return Message("user", (Text(text),), id, TIME)


async def organised(opened: Open, count: int, *more: Message) -> tuple[Room, MessageRow]:
    """A conversation with so many messages of the user, then a summary of them, then its notice."""
    room, store = opened.conversation(), opened.bench.store
    session = sessions.session_of(store, room.id, "commander")
    turn = turns.start_turn(store, room.id, member="commander", session=session.id, trigger="t")
    turns.end_turn(store, turn.id, state="completed")
    summary = Message("user", (Text(f"## Goal\nHigh water {HOSTILE}"),), "sum", TIME, summary=Summary(None))
    history = await room._members.open_session(session)
    await history.append(
        *(said(f"m{n}", f"Message {n} {HOSTILE}") for n in range(1, count + 1)), *more, summary
    )
    data = {"notice": "compaction", "before": 9000, "after": 900, "summary": "sum"}
    return room, messages.add_message(
        store, room.id, kind="notice", member="commander", data=data, turn=turn.id
    )


def address(room: Room, row: MessageRow) -> str:
    return f"/conversations/{room.id}/organised/{row.id}"


def texts(html: str) -> list[str]:
    """The numbers of the messages that are shown."""
    items = [each for each in elements(read(html)) if each.get("class") == "as-typed"]
    return [text_of(item).split(" ")[1] for item in items]


async def test_the_line_opens_what_was_left_out_and_says_that_the_chat_keeps_it(opened: Open) -> None:
    room, row = await organised(opened, 3)
    page = (await opened.browser.get(f"/conversations/{room.id}")).text
    assert "Conversation organised: 9.0k → 900 tokens" in page
    assert page.count(address(room, row)) == 2
    assert "Message 1" not in page
    part = (await opened.browser.get(address(room, row), HTMX)).text
    assert "the place of 3 messages. The chat itself keeps everything." in part
    assert texts(part) == ["1", "2", "3"]
    assert "<h2>Goal</h2>" in part


async def test_nothing_of_it_is_html_of_somebody_else(opened: Open) -> None:
    room, row = await organised(opened, 3)
    for headers in ((), (HTMX,)):
        got = await opened.browser.get(address(room, row), *headers)
        assert "<script>alert" not in got.text
        assert not [each for each in elements(read(got.text)) if each.get("onerror")]


async def test_thousands_come_a_page_at_a_time(opened: Open) -> None:
    room, row = await organised(opened, 2 * SHOWN + 7)
    at = address(room, row)
    for start, first, last, more in (
        (0, 1, 50, "next 50 of 107"),
        (50, 51, 100, "next 7 of 107"),
        (100, 101, 107, ""),
    ):
        part = (await opened.browser.get(f"{at}?from={start}", HTMX)).text
        assert texts(part) == [str(number) for number in range(first, last + 1)]
        assert more in part
        assert ("from=" in part) == bool(more)
        assert ("What the model reads instead" in part) == (start == 0)
    whole = (await opened.browser.get(f"{at}?from={SHOWN}")).text
    assert f"51 to 100 of {2 * SHOWN + 7}" in whole
    assert "Message 51 " in whole
    assert "Message 50 " not in whole
    for wrong, status in (("9999", 404), ("-1", 400), ("x", 400), ("9" * 20, 400)):
        assert (await opened.browser.get(f"{at}?from={wrong}")).status == status


async def test_a_history_that_is_gone_or_unreadable_is_said(opened: Open) -> None:
    room, row = await organised(opened, 1)
    session = sessions.session_of(opened.bench.store, room.id, "commander")
    file = opened.bench.folder.root / session.path
    lines = file.read_bytes()
    for damage in (lambda: file.write_bytes(lines[:200]), file.unlink):
        damage()
        for headers in ((), (HTMX,)):
            got = await opened.browser.get(address(room, row), *headers)
            assert (got.status, GONE in got.text) == (200, True)
    file.mkdir()
    got = await opened.browser.get(address(room, row), HTMX)
    assert "cannot be read: there is a folder of that name" in got.text
    assert "The chat itself keeps everything." in got.text


async def test_looking_changes_nothing_on_the_disk(opened: Open) -> None:
    """The turn may be writing a line just now: half of one is not torn, it is not finished."""
    room, row = await organised(opened, 3)
    file = opened.bench.folder.root / sessions.session_of(opened.bench.store, room.id, "commander").path
    with file.open("ab") as writing:
        writing.write(b'{"id":"half of a li')
    before = file.read_bytes()
    got = await opened.browser.get(address(room, row), HTMX)
    assert "Message 3" in got.text
    assert [each.read_bytes() for each in file.parent.iterdir()] == [before]


async def test_only_a_compaction_of_this_conversation_can_be_opened(opened: Open) -> None:
    room, row = await organised(opened, 1)
    other, _ = await organised(opened, 1)
    store = opened.bench.store
    stopped = messages.add_message(
        store, room.id, kind="notice", member="commander", data={"notice": "stopped"}
    )
    older = messages.add_message(
        store, room.id, kind="notice", member="commander", data={"notice": "compaction"}
    )
    for wrong in (address(other, row), address(room, stopped), address(room, older)):
        assert (await opened.browser.get(wrong)).status == 404


def test_each_message_is_said_in_plain_words_and_cut() -> None:
    history = (
        said("u1", "Read it\x00."),
        Message("assistant", (Text("I read."), ToolCall("c1", "read_file", {"path": "a.txt"})), "a1", TIME),
        Message("tool", (ToolResult("c1", "ahoy\n" * 100),), "r1", TIME),
        Message("user", (Image("results/c/img_1.png", "image/png"),), "p1", TIME),
        Message("assistant", (Text("Half"), Marker("interrupted")), "a2", TIME),
        Message("user", (Text("## Goal"),), "s1", TIME, summary=Summary(None)),
    )
    items = left_out(history, "Commander", 0, 99)
    assert [(item.label, item.shown.text.split("\n")[-1]) for item in items] == [
        ("You", "Read it\ufffd."),
        ("Commander", "→ read a.txt"),
        ("Result of read", "ahoy"),
        ("Shown to the model", "A picture"),
        ("Commander", "Half"),
        ("Earlier summary", "## Goal"),
    ]
    assert items[2].shown.note == "first 30 of 101 lines shown"
    assert left_out(history, "Commander", 2, 1) == items[2:3]
