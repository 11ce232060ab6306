"""Files with a message: from the form that brings them to what the model is asked, and back to the page."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import pytest
from PIL import Image as Pillow

from app.engine.messages import Image
from app.engine.provider import Stop
from app.engine.scripted import call
from app.engine.tools import ToolOutput
from app.group_chat.room import Room
from app.web.guards import LONGEST_BODY, LONGEST_UPLOAD
from app.workspace.attached import LARGEST_FILE, MOST_FILES, attachments_of
from app.workspace.conversations import load_conversation
from app.workspace.messages import list_messages, load_message
from app.workspace.queue import list_queued
from app.workspace.rows import MessageRow, QueuedRow
from tests.web.asgi import Got, ask
from tests.web.pages import HOST, HTMX, SAME, OpenByHand, open_by_hand
from tests.web.readers import address_of

pytestmark = pytest.mark.anyio

BOUNDARY = "a-boundary-that-nothing-else-has"

Upload = tuple[str, bytes]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("attached")) as opened:
        yield opened


@pytest.fixture
async def talk(opened: OpenByHand) -> AsyncIterator[Talk]:
    room = opened.conversation()
    yield Talk(opened, room)
    await room.stop()
    opened.hand.forget()


class Talk:
    def __init__(self, opened: OpenByHand, room: Room) -> None:
        self.opened = opened
        self.room = room
        self.at = address_of(room)
        self.folder = opened.bench.folder

    async def send(
        self,
        act: str,
        *files: Upload,
        field: str = "attachments",
        headers: Sequence[tuple[str, str]] = (),
        **fields: str,
    ) -> Got:
        """``post``, and what comes of it."""
        got = await self.post(act, *files, field=field, headers=headers, **fields)
        await self.opened.hand.settle(self.room)
        return got

    async def post(
        self,
        act: str,
        *files: Upload,
        field: str = "attachments",
        headers: Sequence[tuple[str, str]] = (),
        **fields: str,
    ) -> Got:
        """A form as a browser sends it that has files to send."""
        body = b"".join(part(name, value.encode()) for name, value in fields.items())
        body += b"".join(part(field, data, name) for name, data in files)
        kind = ("content-type", f"multipart/form-data; boundary={BOUNDARY}")
        sent = [HOST, SAME, self.opened.browser.cookie, kind, *headers]
        body += f"--{BOUNDARY}--\r\n".encode()
        return await ask(self.opened.app, "POST", f"{self.at}/{act}", sent, body=[body])

    async def upload(self, *files: Upload) -> str:
        """The chips of files that are chosen."""
        got = await self.send("attachments", *files)
        assert got.status == 200
        return got.text

    @property
    def rows(self) -> list[MessageRow]:
        return list_messages(self.opened.bench.store, self.room.id)

    @property
    def waiting(self) -> list[QueuedRow]:
        return list_queued(self.opened.bench.store, self.room.id)

    async def asked_by_form(self) -> str:
        """The id of the form, once it stands in the chat."""
        with anyio.fail_after(20):
            async for _ in self.room.feed.follow(0):
                if found := [row.id for row in self.rows if row.kind == "form"]:
                    return found[0]
        raise AssertionError

    @property
    def asked(self) -> str:
        """The last thing that the model was told."""
        return self.opened.model.requests[-1].messages[-1].text


def part(name: str, data: bytes, filename: str | None = None) -> bytes:
    file = f'; filename="{filename}"' if filename is not None else ""
    head = f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"{file}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def picture(width: int = 8, height: int = 6) -> bytes:
    file = io.BytesIO()
    Pillow.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


async def test_a_file_goes_with_its_message_and_the_model_is_told_where_it_lies(talk: Talk) -> None:
    got = await talk.send("messages", ("nightly.log", b"two lines\nof it\n"), text="What failed?")
    assert got.status == 303
    [file] = attachments_of(talk.rows[0].data)
    assert (talk.folder.root / file.path).read_bytes() == b"two lines\nof it\n"
    assert f"- {talk.folder.root / file.path} (" in talk.asked
    assert "16 bytes" in talk.asked
    assert talk.asked.endswith("What failed?")


async def test_a_picture_is_shown_to_the_model_and_to_the_reader(talk: Talk) -> None:
    got = await talk.send("messages", ("dashboard.png", picture()), text="Look.")
    [file] = attachments_of(talk.rows[0].data)
    last = talk.opened.model.requests[-1].messages[-1]
    assert [block for block in last.blocks if isinstance(block, Image)] == [Image(file.picture, "image/png")]
    assert "(a picture, shown below, " in talk.asked
    page = await talk.opened.browser.follow(got)
    seen = f"{talk.at}/pictures/{file.picture.rpartition('/')[2]}"
    assert f'src="{seen}"' in page.text
    shown = await talk.opened.browser.get(seen)
    assert (shown.status, shown.header("content-type")) == (200, "image/png")


async def test_what_was_sent_stands_in_its_article_and_is_given_back_as_a_file(talk: Talk) -> None:
    page = b"<script>alert(1)</script>"
    await talk.send("messages", ("<b>a page</b>.html", page), text="Read it.")
    [file] = attachments_of(talk.rows[0].data)
    shown = await talk.opened.browser.get(talk.at)
    assert "b_.html" in shown.text
    assert "Attached by you" in shown.text
    assert "<b>a page" not in shown.text
    got = await talk.opened.browser.get(f"{talk.at}/attachments/{file.id}")
    assert got.body == page
    assert got.header("content-type") == "application/octet-stream"
    assert (got.header("content-disposition") or "").startswith("attachment")
    assert "sandbox" in (got.header("content-security-policy") or "")


async def test_a_file_alone_is_a_message_and_names_the_conversation(talk: Talk) -> None:
    await talk.send("messages", ("berths.csv", b"1,2\n"), text="")
    assert talk.asked.endswith("</attached>")
    assert load_conversation(talk.opened.bench.store, talk.room.id).title == "berths.csv"


async def test_chosen_files_wait_where_no_member_reads_them_until_they_are_sent(talk: Talk) -> None:
    chips = await talk.upload(("a.txt", b"first"), ("a.txt", b"second"))
    ids = re.findall(r'value="(\w+)"', chips)
    assert len(ids) == 2
    assert not (talk.folder.attachments / talk.room.id).exists()
    again = await talk.opened.browser.get(f"{talk.at}/attachments?ids={'+'.join(ids)}")
    assert again.text == chips
    await talk.send("messages", text="Compare.", client_id="one", attachments=" ".join(ids))
    await talk.send("messages", text="Compare.", client_id="one", attachments=" ".join(ids))
    files = [attachments_of(row.data) for row in talk.rows if row.kind == "user"]
    assert [[(talk.folder.root / one.path).read_bytes() for one in each] for each in files] == [
        [b"first", b"second"]
    ]


async def test_the_same_form_twice_keeps_its_files_once(talk: Talk) -> None:
    for _ in range(2):
        await talk.send("messages", ("twice.txt", b"a"), text="Read it.", client_id="one")
    assert len([row for row in talk.rows if row.kind == "user"]) == 1
    assert len(list(talk.folder.attachments.rglob("twice.txt"))) == 1


async def test_a_file_that_is_taken_away_before_it_is_sent_is_gone(talk: Talk) -> None:
    [id] = re.findall(r'value="(\w+)"', await talk.upload(("shot.png", picture())))
    got = await talk.opened.browser.post(f"{talk.at}/attachments/{id}/remove", {}, HTMX)
    assert got.status == 204
    assert (await talk.opened.browser.get(f"{talk.at}/attachments/{id}")).status == 404
    refused = await talk.send("messages", headers=[HTMX], text="Look.", attachments=id)
    assert refused.status == 422
    assert "not there any more" in refused.text
    assert talk.rows == []


async def test_without_script_a_refused_file_loses_neither_the_text_nor_the_other_files(talk: Talk) -> None:
    got = await talk.send("messages", ("empty.txt", b""), ("full.txt", b"full"), text="Read <both>.")
    assert got.status == 422
    assert talk.rows == []
    assert "empty.txt is empty" in got.text
    assert "Read &lt;both&gt;.</textarea>" in got.text
    [id] = re.findall(r'name="attachments" value="(\w+)"', got.text)
    sent = await talk.send("messages", text="Read one.", attachments=id)
    assert sent.status == 303
    assert [one.name for one in attachments_of(talk.rows[0].data)] == ["full.txt"]


async def test_without_script_one_file_less_leaves_the_rest_as_it_was(talk: Talk) -> None:
    first, second = re.findall(r'value="(\w+)"', await talk.upload(("a.txt", b"a"), ("b.txt", b"b")))
    got = await talk.send(f"attachments/{first}/remove", text="Half", attachments=f"{first} {second}")
    assert got.status == 200
    assert re.findall(r'name="attachments" value="(\w+)"', got.text) == [second]
    assert "Half</textarea>" in got.text


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([("huge.bin", bytes(LARGEST_FILE + 1))], "huge.bin is 25 MB; the limit is 25 MB."),
        ([(f"{number}.txt", b"x") for number in range(MOST_FILES + 1)], "too many for one message"),
    ],
)
async def test_too_big_and_too_many_are_said_in_words(talk: Talk, files: list[Upload], why: str) -> None:
    got = await talk.send("messages", *files, text="All of it")
    assert got.status == 422
    assert why in got.text
    assert "All of it</textarea>" in got.text


async def test_a_waiting_message_keeps_its_files_and_takes_them_along_when_it_is_deleted(talk: Talk) -> None:
    await talk.send("messages", text="Begin.")
    await talk.send("messages", ("outline.md", b"# One"), text="Then this")
    await talk.send("messages", ("a.md", b"a"), ("b.md", b"b"), text="And these")
    page = await talk.opened.browser.get(talk.at)
    assert "<bdi>outline.md</bdi>" in page.text
    assert "2 files" in page.text
    first, second = talk.waiting
    await talk.opened.browser.post(f"{talk.at}/queue/{first.id}/edit", {"text": ""}, HTMX)
    await talk.opened.browser.post(f"{talk.at}/queue/{second.id}/delete", {}, HTMX)
    [kept] = talk.waiting
    [file] = attachments_of(kept.data)
    assert kept.text == ""
    assert [one.name for one in sorted((talk.folder.attachments / talk.room.id).iterdir())] == [file.id]


async def test_a_message_that_steers_brings_its_files_into_the_turn(talk: Talk) -> None:
    await talk.send("messages", text="Begin.")
    await talk.send("steer", ("hint.png", picture()), text="Look here")
    talk.opened.hand.give("model", call("count"), Stop("tool_calls"))
    await talk.opened.hand.settle(talk.room)
    talk.opened.hand.give("tool", ToolOutput("done"))
    await talk.opened.hand.settle(talk.room)
    last = talk.opened.model.requests[-1].messages[-1]
    assert last.text.endswith("Look here")
    assert any(isinstance(block, Image) for block in last.blocks)


async def test_a_form_may_be_answered_by_a_file(talk: Talk) -> None:
    """Nothing of what a refused one brought is answered; a file in another field is no answer."""
    fields = [
        {"id": "before", "type": "file", "label": "Last report"},
        {"id": "why", "type": "text", "label": "Why"},
    ]
    await talk.send("messages", text="Ask me.")
    talk.opened.hand.give("model", call("ask_user", title="Report", fields=fields), Stop("tool_calls"))
    form = await talk.asked_by_form()
    empty = await talk.post(f"forms/{form}", ("empty.txt", b""), field="answer.before", action="send")
    assert empty.status == 422
    assert "empty.txt is empty" in empty.text
    elsewhere = await talk.post(f"forms/{form}", ("a.txt", b"a"), field="answer.why", action="send")
    assert elsewhere.status == 400
    got = await talk.send(f"forms/{form}", ("november.txt", b"Traffic"), field="before", action="send")
    assert got.status == 303
    answers = load_message(talk.opened.bench.store, form).data["answers"]
    assert Path(answers["before"]).read_bytes() == b"Traffic"
    page = await talk.opened.browser.get(talk.at)
    assert '<dd dir="auto">november.txt</dd>' in page.text


async def test_only_a_request_that_brings_files_may_be_long(talk: Talk) -> None:
    kind = ("content-type", "multipart/form-data; boundary=x")
    for act, size, status in (
        ("messages", LONGEST_BODY + 1, 422),
        ("messages", LONGEST_UPLOAD + 1, 413),
        ("title", LONGEST_BODY + 1, 413),
    ):
        sent = [HOST, SAME, talk.opened.browser.cookie, kind, ("content-length", str(size))]
        got = await ask(talk.opened.app, "POST", f"{talk.at}/{act}", sent, body=[b"--"])
        assert got.status == status, act
