"""What is said and done in a conversation over HTTP: what is answered, and what comes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.engine.provider import Stop, TextChunk
from app.group_chat.room import Room
from app.web.scene import ENTRIES_SHOWN
from app.workspace import conversations, messages
from app.workspace.queue import list_queued
from app.workspace.rows import MessageRow
from tests.web.asgi import Got, ask
from tests.web.live_page import LivePage
from tests.web.pages import HOST, HTMX, SAME, OpenByHand, open_by_hand, open_page
from tests.web.readers import Reader, address_of, expect_same
from tests.web.tree import Element

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("talk")) as opened:
        yield opened


@pytest.fixture
async def room(opened: OpenByHand) -> AsyncIterator[Room]:
    await opened.clock.sleep(60)
    room = opened.conversation()
    yield room
    await room.stop()
    opened.hand.forget()


class Talk:
    def __init__(self, opened: OpenByHand, room: Room) -> None:
        self.opened = opened
        self.room = room
        self.at = address_of(room)

    async def post(self, act: str, *headers: tuple[str, str], **fields: str) -> Got:
        got = await self.opened.browser.post(f"{self.at}/{act}", fields, *headers)
        await self.opened.hand.settle(self.room)
        return got

    async def answer(self, text: str = "Yes.") -> None:
        self.opened.hand.give("model", TextChunk(text), Stop("end"))
        await self.opened.hand.settle(self.room)

    async def page(self, query: str = "") -> LivePage:
        return await self.opened.browser.load(self.at + query)

    @property
    def rows(self) -> list[MessageRow]:
        return messages.list_messages(self.opened.bench.store, self.room.id)

    @property
    def said(self) -> list[str]:
        return [row.text for row in self.rows if row.kind == "user"]

    @property
    def waiting(self) -> list[str]:
        return [row.text for row in list_queued(self.opened.bench.store, self.room.id)]


@pytest.fixture
def talk(opened: OpenByHand, room: Room) -> Talk:
    return Talk(opened, room)


def sentence(got: Got) -> str:
    """The one sentence of an error, of a page or of a part of one."""
    page = LivePage.parsed(got.text)
    return next(each.text for each in page.walk() if each.attributes.get("data-part") == "sentence")


ACTS = ("messages", "steer", "stop", "resume", "title", "model", "delete")


async def test_a_form_without_script_leads_back_and_one_of_the_page_answers_nothing(talk: Talk) -> None:
    for headers, status in (((), 303), ((HTMX,), 204)):
        for act in ("messages", "steer", "stop", "resume", "title", "model"):
            got = await talk.post(act, *headers, text="Hello", title="A title")
            assert got.status == status, act
            assert got.header("location") == (talk.at if status == 303 else None)
            assert got.body == b""


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\x00", "\x00 \r\n"])
async def test_a_message_without_words_is_refused_with_a_sentence(talk: Talk, text: str) -> None:
    for act in ("messages", "steer"):
        got = await talk.post(act, HTMX, text=text)
        assert (got.status, sentence(got)) == (422, "There is nothing to send. Write a message first.")
    assert (await talk.post("messages")).status == 422
    assert talk.rows == []


async def test_the_same_client_id_counts_once(talk: Talk) -> None:
    for _ in range(2):
        assert (await talk.post("messages", HTMX, text="once", client_id="c1")).status == 204
    for _ in range(2):
        await talk.post("messages", HTMX, text="later", client_id="c2")
        await talk.post("steer", HTMX, text="later", client_id="c2")
    assert (talk.said, talk.waiting) == (["once"], ["later"])
    await talk.answer()
    await talk.answer()
    for client in ("c1", "c2"):
        assert (await talk.post("messages", HTMX, text="again", client_id=client)).status == 204
    assert talk.said == ["once", "later"]


async def test_messages_without_a_client_id_all_count(talk: Talk) -> None:
    await talk.post("messages", text="one")
    await talk.post("messages", text="two")
    await talk.post("messages", text="two", client_id="")
    assert (talk.said, talk.waiting) == (["one"], ["two", "two"])


async def test_a_message_of_a_megabyte_arrives_whole(talk: Talk) -> None:
    text = "a" * 500_000 + "à€👍" * 60_000
    assert (await talk.post("messages", HTMX, text=text)).status == 204
    assert talk.said == [text]
    assert (await talk.page()).articles[0].text.count("👍") > 1_000


async def test_what_is_too_big_is_refused_in_words(talk: Talk) -> None:
    got = await talk.post("messages", HTMX, text="a" * (14 << 20))
    assert got.status == 413
    assert sentence(got).startswith("It is larger than what Plancia takes")
    body = [b"x=" + b"a" * (1 << 20)] * 18
    headers = [
        HOST,
        SAME,
        talk.opened.browser.cookie,
        HTMX,
        ("content-type", "application/x-www-form-urlencoded"),
    ]
    got = await ask(talk.opened.app, "POST", f"{talk.at}/messages", headers, body=body)
    assert got.status == 413
    assert talk.rows == []


async def test_line_ends_nuls_and_halves_of_characters_are_harmless(talk: Talk) -> None:
    form = b"text=one%0D%0Atwo%00%0Athree%ED%A0%BD%FF&client_id=%00%ED%A0%BD"
    headers = [
        HOST,
        SAME,
        talk.opened.browser.cookie,
        HTMX,
        ("content-type", "application/x-www-form-urlencoded"),
    ]
    assert (await ask(talk.opened.app, "POST", f"{talk.at}/messages", headers, body=[form])).status == 204
    part = (
        b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\nhalf \\ud83d\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nno\r\n--x--\r\n'
    )
    kind = "multipart/form-data; boundary=x; charset=raw_unicode_escape"
    headers = [*headers[:-1], ("content-type", kind)]
    assert (await ask(talk.opened.app, "POST", f"{talk.at}/steer", headers, body=[part])).status == 400
    part = part.partition(b'--x\r\nContent-Disposition: form-data; name="file"')[0] + b"--x--\r\n"
    assert (await ask(talk.opened.app, "POST", f"{talk.at}/steer", headers, body=[part])).status == 204
    await talk.opened.hand.settle(talk.room)
    assert talk.said[0].startswith("one\ntwo\nthree")
    assert talk.waiting == ["half \ufffd"]
    (await talk.page()).shown()


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=y", "text/plain", "application/json", ""]
)
async def test_a_body_that_is_no_form_is_refused_in_words(talk: Talk, kind: str) -> None:
    headers = [HOST, SAME, talk.opened.browser.cookie, HTMX, ("content-type", kind)]
    got = await ask(talk.opened.app, "POST", f"{talk.at}/messages", headers, body=[b'{"text": "hello"}'])
    assert got.status in (400, 422)
    assert sentence(got)


@pytest.mark.parametrize("id", ["nobody", "conv_0", "%00", "..", "é", "a" * 5000])
async def test_a_conversation_that_is_not_there_is_said_in_words(opened: OpenByHand, id: str) -> None:
    for act in ACTS:
        got = await opened.browser.post(f"/conversations/{id}/{act}", {"text": "x", "title": "x"}, HTMX)
        assert got.status == 404, act
        assert "deleted" in sentence(got)
    for page in ("", "/stream", "/earlier?before=2"):
        got = await opened.browser.get(f"/conversations/{id}{page}")
        assert got.status == 404
        assert "To the conversations" in got.text


async def test_a_deleted_conversation_is_gone_until_it_is_brought_back(talk: Talk) -> None:
    await talk.post("messages", text="Keep this.")
    assert (await talk.post("delete", HTMX)).header("hx-redirect") == f"/?deleted={talk.room.id}"
    assert not talk.room.floor.is_live
    for act in ACTS:
        got = await talk.post(act, HTMX, text="more", title="more")
        assert (got.status, sentence(got)) == (404, "This conversation was deleted.")
    for page in ("", "/stream", "/earlier?before=2"):
        assert (await talk.opened.browser.get(talk.at + page)).status == 404
    got = await talk.post("undelete")
    assert (got.status, got.header("location")) == (303, talk.at)
    assert (await talk.page()).articles[0].text.strip().startswith("14:")


async def test_after_a_delete_the_next_page_offers_undo_until_it_is_undone(talk: Talk) -> None:
    await talk.post("title", title="A <b>name</b>")
    await talk.opened.clock.sleep(60)
    other = talk.opened.conversation()
    got = await talk.post("delete")
    assert (got.status, got.header("location")) == (303, f"/?deleted={talk.room.id}")
    landed = LivePage((await talk.opened.browser.follow(got)).text)
    assert landed.stream_address.startswith(address_of(other))
    toast = landed.element("toast")
    assert "hidden" not in toast.attributes
    assert "Deleted “A <b>name</b>”." in toast.text
    (form,) = toast.all("form")
    back = await talk.opened.browser.post(form.attributes["action"])
    assert LivePage((await talk.opened.browser.follow(back)).text).element("title").text == "A <b>name</b>"
    again = LivePage(
        (await talk.opened.browser.get(f"/conversations/{other.id}?deleted={talk.room.id}")).text
    )
    assert "hidden" in again.element("toast").attributes


async def test_after_the_last_delete_the_guide_offers_undo(opened: OpenByHand) -> None:
    for row in conversations.list_recent(opened.bench.store):
        got = await opened.browser.post(f"/conversations/{row.id}/delete")
    landed = await opened.browser.follow(got)
    assert "Welcome aboard" in landed.text
    assert f'action="/conversations/{row.id}/undelete"' in landed.text


@pytest.mark.parametrize("deleted", ["nobody", "", "%22%3E%3Cb%3E", "%00", "//evil.example"])
async def test_a_made_up_delete_is_passed_over(talk: Talk, deleted: str) -> None:
    got = await talk.opened.browser.get(f"/?deleted={deleted}")
    assert (got.header("location") or "").startswith("/conversations/")
    landed = LivePage((await talk.opened.browser.follow(got)).text)
    assert "hidden" in landed.element("toast").attributes


async def test_there_is_something_to_continue_only_after_trouble(talk: Talk) -> None:
    nothing = "There is nothing to continue: the last turn ended as it should."
    got = await talk.post("resume", HTMX)
    assert (got.status, sentence(got)) == (409, nothing)
    await talk.post("messages", text="Go")
    got = await talk.post("resume", HTMX)
    assert (got.status, sentence(got)[:25]) == (409, "A turn is running already")
    await talk.answer()
    assert (await talk.post("resume", HTMX)).status == 409
    await talk.post("messages", text="Go")
    await talk.post("stop")
    assert (await talk.post("resume", HTMX)).status == 204
    assert talk.room.floor.is_live


async def test_stop_where_nothing_runs_is_no_error(talk: Talk) -> None:
    assert (await talk.post("stop", HTMX)).status == 204


async def test_what_waits_is_edited_moved_sent_and_deleted(talk: Talk) -> None:
    await talk.post("messages", text="Go")
    for text in ("one", "two", "three"):
        await talk.post("messages", text=text)
    one, two, three = [row.id for row in list_queued(talk.opened.bench.store, talk.room.id)]
    assert (await talk.post(f"queue/{three}/up")).header("location") == talk.at
    assert talk.waiting == ["one", "three", "two"]
    await talk.post(f"queue/{one}/down", HTMX)
    await talk.post(f"queue/{one}/edit", HTMX, text="uno\r\nand more")
    assert talk.waiting == ["three", "uno\nand more", "two"]
    got = await talk.post(f"queue/{one}/edit", HTMX, text="  ")
    assert (got.status, sentence(got)) == (422, "A waiting message needs a text. Delete it instead.")
    await talk.post(f"queue/{two}/delete", HTMX)
    assert talk.waiting == ["three", "uno\nand more"]
    await talk.post(f"queue/{one}/send", HTMX)
    await talk.answer()
    assert talk.said == ["Go", "uno\nand more"]


@pytest.mark.parametrize("act", ["send", "edit", "delete", "up", "down"])
async def test_a_message_that_does_not_wait_any_more_is_said_in_words(talk: Talk, act: str) -> None:
    await talk.post("messages", text="Go")
    for item in ("nobody", talk.rows[0].id):
        got = await talk.post(f"queue/{item}/{act}", HTMX, text="new words")
        assert got.status == 404, (item, act)
        assert sentence(got) == "That message does not wait any more: it was sent or removed."


async def test_an_act_that_nobody_knows_is_said_in_words(talk: Talk) -> None:
    got = await talk.post("queue/nobody/explode", HTMX)
    assert (got.status, sentence(got)) == (404, "It may have been deleted, or the address is mistyped.")
    assert "To the conversations" in (await talk.post("queue/nobody/explode")).text


async def test_a_title_is_given_cut_and_taken_back(talk: Talk) -> None:
    await talk.post("messages", text="First words\nof many")
    await talk.post("title", title=f"  My\n title {'x' * 300}")
    title = (await talk.page()).element("title").text
    assert title.startswith("My title xxx")
    assert len(title) <= 200
    await talk.post("title", title="")
    assert (await talk.page()).element("title").text == "First words"


async def test_a_model_is_chosen_for_the_turns_to_come(talk: Talk) -> None:
    await talk.post("model", model="house/large")
    picker = (await talk.page()).element("model-picker")
    chosen = [option.text for option in picker.all("option") if "selected" in option.attributes]
    assert chosen == ["house/large"]
    await talk.post("messages", text="Go")
    assert talk.opened.model.requests[-1].model == "house/large"
    await talk.post("model", model="")
    picker = (await talk.page()).element("model-picker")
    assert [o.attributes["value"] for o in picker.all("option") if "selected" in o.attributes] == [""]


async def test_where_nobody_waits_try_now_does_nothing(talk: Talk) -> None:
    got = await talk.post("hurry")
    assert (got.status, got.header("location")) == (303, talk.at)
    assert talk.rows == []


async def test_the_tab_of_the_address_is_open_and_a_made_up_one_is_tasks(talk: Talk) -> None:
    for query, tab in (
        ("?tab=usage", "usage"),
        ("?tab=files", "files"),
        ("?tab=x", "tasks"),
        ("?tab=%00", "tasks"),
    ):
        page = await talk.page(query)
        open_tabs = [
            each.id for each in page.document.walk() if each.attributes.get("aria-selected") == "true"
        ]
        assert open_tabs == [f"tab-{tab}"]
        assert "hidden" not in page.element(f"panel-{tab}").attributes


async def test_a_draft_of_the_address_is_only_a_text(talk: Talk) -> None:
    page = await talk.page("?draft=%3C/textarea%3E%3Cb%3Ehi")
    assert page.element("message").text == "</textarea><b>hi"
    assert talk.rows == []


async def test_earlier_messages_come_in_pages_until_the_first(talk: Talk) -> None:
    for number in range(1, 2 * ENTRIES_SHOWN + 31):
        talk.room.board.add("notice", member="commander", turn=None, text=f"Notice {number}.")
    page = await talk.page()
    assert len(page.articles) == ENTRIES_SHOWN
    assert "Show 130 earlier entries" in page.element("earlier").text
    reader = Reader(talk.opened, talk.room, page)
    for left in (30, 0):
        got = await talk.opened.browser.get(page.element("earlier").attributes["href"], HTMX)
        page.swap(got.text)
        assert (page.document.find("earlier") is not None) == (left > 0)
    notices = [article.text.split("Notice ")[1].split(".")[0] for article in page.articles]
    assert notices == [str(number) for number in range(1, 2 * ENTRIES_SHOWN + 31)]
    talk.room.board.add("notice", member="commander", turn=None, text="One more.")
    await reader.catch_up()
    fresh = await talk.page()
    shown = [article.id for article in page.articles]
    assert shown[-ENTRIES_SHOWN:] == [article.id for article in fresh.articles]
    reader.lose_place()
    await expect_same(talk.opened, talk.room, reader)


async def test_without_script_earlier_messages_are_pages_of_their_own(talk: Talk) -> None:
    for number in range(1, 2 * ENTRIES_SHOWN + 31):
        talk.room.board.add("notice", member="commander", turn=None, text=f"Notice {number}.")
    link: Element | None = (await talk.page()).element("earlier")
    for first in (31, 1):
        assert link is not None
        got = await talk.opened.browser.get(link.attributes["href"])
        page = LivePage.parsed(got.text)
        assert f"Notice {first}." in page.all("article")[0].text
        assert page.all("h1")[0].text == "New conversation"
        assert talk.at in [each.attributes["href"] for each in page.all("a")]
        link = page.find("earlier")
    assert link is None


async def test_days_have_one_line_each_wherever_pages_of_the_log_meet(talk: Talk) -> None:
    for number in range(ENTRIES_SHOWN + 20):
        if number in (10, 15, 60):
            await talk.opened.clock.sleep(24 * 3600)
        talk.room.board.add("notice", member="commander", turn=None, text=f"Notice {number}.")
    page = await talk.page()
    got = await talk.opened.browser.get(page.element("earlier").attributes["href"], HTMX)
    page.swap(got.text)
    days = [each for each in page.element("log").elements if each.id.startswith("day-")]
    assert len(days) == 4
    after = [
        page.element("log").elements[each_at + 1].text
        for each_at in map(page.element("log").elements.index, days)
    ]
    assert [text.split("Notice ")[1].split(".")[0] for text in after] == ["0", "10", "15", "60"]


async def test_earlier_of_an_article_that_grows_doubles_nothing(talk: Talk) -> None:
    await talk.post("messages", text="Go")
    reader = await Reader.loads(talk.opened, talk.room)
    talk.opened.hand.give("model", TextChunk("Some "))
    await talk.opened.hand.settle(talk.room)
    await talk.opened.browser.get(f"{talk.at}/earlier?before=99")
    talk.opened.hand.give("model", TextChunk("words"))
    await talk.opened.hand.settle(talk.room)
    fresh = await expect_same(talk.opened, talk.room, reader)
    (part,) = [each for each in fresh.articles[-1].walk() if each.attributes.get("data-part") == "text"]
    assert part.text.strip() == "Some words"


@pytest.mark.parametrize(
    ("before", "status"),
    [
        ("1", 404),
        ("0", 404),
        ("", 400),
        ("x", 400),
        ("-3", 400),
        ("1.5", 400),
        ("9" * 30, 400),
        ("٣", 400),
        ("1_0", 400),
    ],
)
async def test_a_place_that_is_none_is_said_in_words(talk: Talk, before: str, status: int) -> None:
    await talk.post("messages", text="Go")
    got = await talk.opened.browser.get(f"{talk.at}/earlier?before={before}", HTMX)
    assert got.status == status
    assert sentence(got)
    assert (await talk.opened.browser.get(f"{talk.at}/earlier?before=999999999999999")).status == 200


async def test_home_is_the_conversation_of_the_newest_message(opened: OpenByHand, talk: Talk) -> None:
    opened.conversation()
    await talk.post("messages", text="Newest")
    got = await opened.browser.get("/")
    assert (got.status, got.header("location")) == (303, talk.at)


async def test_a_new_conversation_begins_at_once_where_something_is_said(opened: OpenByHand) -> None:
    got = await opened.browser.post("/conversations", {"text": " Hello\r\nthere ", "client_id": "c1"})
    assert got.status == 303
    room = opened.bench.bus.room((got.header("location") or "").rpartition("/")[2])
    await opened.hand.settle(room)
    (row,) = messages.list_messages(opened.bench.store, room.id)
    assert (row.text, row.client_id) == ("Hello\nthere", "c1")
    assert room.floor.is_live
    await room.stop()


async def test_a_new_conversation_works_in_the_usual_folder_or_in_the_one_that_was_typed(
    opened: OpenByHand,
) -> None:
    other = opened.workspace / "other"
    other.mkdir()
    for fields, folder in (
        ({}, opened.workspace),
        ({"workspace": ""}, opened.workspace),
        ({"workspace": str(other)}, other),
    ):
        got = await opened.browser.post("/conversations", fields)
        row = conversations.load_conversation(
            opened.bench.store, (got.header("location") or "").rpartition("/")[2]
        )
        assert row.workspace == str(folder)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            "{root}/none/at all",
            "The folder {root}/none/at all is not there. Make it first, or choose another one.",
        ),
        ("{root}/a-file", "{root}/a-file is a file. Choose the folder it lies in, or another one."),
        (
            "{root}/a-file/inside",
            "The folder {root}/a-file/inside is not there. Make it first, or choose another one.",
        ),
        ("relative/folder", "“relative/folder” is no whole path. Begin it with / or ~."),
        (
            "~nobody-of-this-name/x",
            "“~nobody-of-this-name/x” cannot be a folder on this computer. Choose another one.",
        ),
        ("/" + "x" * 5000, "“/" + "x" * 5000 + "” cannot be a folder on this computer. Choose another one."),
    ],
)
async def test_a_folder_that_cannot_be_used_is_asked_for_again(
    opened: OpenByHand, typed: str, said: str
) -> None:
    (opened.workspace / "a-file").write_text("words")
    before = len(conversations.list_recent(opened.bench.store))
    root = str(opened.workspace)
    fields = {"workspace": typed.format(root=root), "text": "Explain what is in this folder"}
    got = await opened.browser.post("/conversations", fields)
    assert got.status == 422
    page = LivePage.parsed(got.text)
    field = next(each for each in page.all("input") if each.id == "workspace")
    assert field.attributes["value"] == fields["workspace"]
    assert field.attributes["aria-invalid"] == "true"
    note = page.find(field.attributes["aria-describedby"])
    assert note is not None
    assert note.text.strip() == said.format(root=root)
    chosen = [each.attributes["value"] for each in page.all("input") if "checked" in each.attributes]
    assert chosen == [fields["text"]]
    assert len(conversations.list_recent(opened.bench.store)) == before
    assert not (opened.workspace / "none").exists()


async def test_the_usual_folder_is_made_for_the_first_conversation_and_not_by_looking(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    async with open_page(tmp_path, PLANCIA_WORKSPACE=str(usual), OLLAMA_HOST="127.0.0.1:9") as opened:
        assert str(usual) in (await opened.browser.get("/welcome")).text
        assert not usual.exists()
        made = await opened.browser.post("/conversations", {"workspace": str(usual)})
        assert made.status == 303
        assert usual.is_dir()
