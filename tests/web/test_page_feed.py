"""Live equals reload: after every frame the open page shows what a page shows that is loaded right then."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.errors import ProviderError
from app.engine.provider import CallFragment, ReasoningChunk, Stop, StreamEvent, TextChunk
from app.engine.tools import ToolOutput
from app.group_chat.events import LogReordered
from app.group_chat.room import Room
from app.models.errors import StorageError
from app.models.tables import Message
from app.web.drawing import Drawing
from app.web.entries import ToolView
from app.web.page_feed import PageFeed
from app.workspace.queue import list_queued
from tests.web.by_hand import Who
from tests.web.pages import HTMX, OpenByHand, open_by_hand
from tests.web.readers import Reader, address_of, assert_same, expect_same

pytestmark = pytest.mark.anyio

MARKDOWN = """\
Here is what I found, with a [reference][1], a <b>tag</b> & **strong** words.

# A heading

1. First, with `code` in it
2. Second
   - nested *one*
   - nested two

     a second paragraph of it
3. Third

| Name | Size | Note |
|:-----|-----:|------|
| a.py | 120 | small & `x < y` |
| b.py | 9 000 | <b>not bold</b> |

> Quoted, and
> quoted on.
>
> ```
> code in it
> ```

```python
def greet(name: str) -> str:
    # a comment <script>alert(1)</script>
    return f"Hello {name}"
```

    indented code

Setext
======

- [ ] a task
- [x] a done one

Words in 日本語, عربي and 👩‍👩‍👧‍👦.\r\n\r\n~~~

an unnamed block
  with   blanks

~~~

***

The last paragraph ends with a line break\\
and a hard one.

[1]: https://example.org/reference
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenByHand]:
    async with open_by_hand(tmp_path_factory.mktemp("page")) as opened:
        yield opened


BUSY = ProviderError("overloaded", "The server is too busy.")


class Scene:
    """A conversation with two open pages; after each step they equal a page that is loaded."""

    def __init__(self, opened: OpenByHand, room: Room, readers: Sequence[Reader]) -> None:
        self.opened = opened
        self.room = room
        self.readers = readers

    async def post(self, act: str, **fields: str) -> None:
        got = await self.opened.browser.post(f"{address_of(self.room)}/{act}", fields, HTMX)
        assert got.status == 204, got.text
        await self.look()

    async def model(self, *items: StreamEvent | ProviderError | None, look_every: int = 1) -> None:
        """Frames are made and read after each of them."""
        for number, item in enumerate(items):
            self.opened.hand.give("model", item)
            await self.opened.hand.settle(self.room)
            for reader in self.readers:
                await reader.catch_up()
            if number % look_every == 0 or number == len(items) - 1:
                await self.look()

    async def together(self, *items: StreamEvent) -> None:
        """All of them between two frames."""
        self.opened.hand.give("model", *items)
        await self.look()

    async def tool(self, *items: str | ToolOutput) -> None:
        for item in items:
            self.opened.hand.give("tool", item)
            await self.look()

    async def look(self) -> None:
        await self.opened.hand.settle(self.room)
        self.page = await expect_same(self.opened, self.room, *self.readers)

    @property
    def states(self) -> list[tuple[str, str]]:
        return [
            (article.attributes["data-kind"], article.attributes["data-state"])
            for article in self.page.articles
        ]


@pytest.fixture
async def scene(opened: OpenByHand) -> AsyncIterator[Scene]:
    room = opened.conversation()
    yield Scene(opened, room, [await Reader.loads(opened, room), await Reader.loads(opened, room)])
    await leave(opened, room)


async def leave(opened: OpenByHand, room: Room) -> None:
    await room.stop()
    opened.hand.forget()
    await opened.browser.post(f"{address_of(room)}/delete")


def in_pieces(text: str, seed: int, longest: int) -> list[TextChunk]:
    chance, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = chance.randint(1, longest)
        pieces.append(TextChunk(text[at : at + size]))
        at += size
    return pieces


@pytest.mark.parametrize(("seed", "longest", "look_every"), [(1, 40, 1), (2, 90, 1), (3, 20, 3), (4, 9, 8)])
async def test_markdown_of_every_kind_wherever_it_is_chopped(
    scene: Scene, seed: int, longest: int, look_every: int
) -> None:
    await scene.post("messages", text="Tell me everything.")
    await scene.model(*in_pieces(MARKDOWN, seed, longest), Stop("end"), look_every=look_every)
    assert scene.states == [("user", "done"), ("assistant", "done")]


async def test_thinking_before_and_between_and_for_longer_than_a_save_takes(scene: Scene) -> None:
    await scene.post("messages", text="Think.")
    await scene.model(
        ReasoningChunk("First "), ReasoningChunk("<b>this</b>\r"), ReasoningChunk("\nand\x00 that\x1b.")
    )
    await scene.opened.clock.sleep(1.5)
    await scene.model(ReasoningChunk(" Long."), TextChunk("Well, "), ReasoningChunk("no"), TextChunk("yes"))
    await scene.opened.clock.sleep(1.5)
    await scene.model(TextChunk(" and"), Stop("end"))
    assert scene.states[-1] == ("assistant", "done")


async def test_an_answer_that_grows_beyond_what_is_drawn(scene: Scene) -> None:
    block = "Words without end.\n\n" * 4_500
    await scene.post("messages", text="Run away.")
    await scene.model(*[TextChunk(block)] * 4)
    assert "longer than what is shown" in " ".join(scene.page.shown())
    await scene.model(Stop("end"))
    assert scene.states == [("user", "done"), ("assistant", "done")]
    assert "characters left out" in " ".join(scene.page.shown())


async def test_a_tool_with_progress_and_words_on_both_sides(scene: Scene) -> None:
    await scene.post("messages", text="Count.")
    await scene.model(
        TextChunk("Let me "), CallFragment(0, "c1", "count", '{"to":'), CallFragment(0, None, None, " 3}")
    )
    await scene.model(Stop("tool_calls"))
    await scene.tool("\none\n", "two <b>\x1b[31mred\x1b[0m\n", "10 %\r20 %", "\r30 %\n", "x\ny\n" * 300)
    await scene.opened.clock.sleep(2.0)
    await scene.tool(ToolOutput("1 2 3"))
    await scene.model(TextChunk("Counted."), Stop("end"))
    assert scene.states[1:] == [("assistant", "done"), ("tool_call", "done"), ("assistant", "done")]


async def test_a_page_that_is_opened_first_while_a_tool_runs_has_what_it_said(scene: Scene) -> None:
    await scene.post("messages", text="Count.")
    await scene.model(CallFragment(0, "c1", "count", "{}"), Stop("tool_calls"))
    await scene.tool("one\n", "\x1b[31mtwo")
    site, room = scene.opened.site, scene.room
    feed = PageFeed(room, scene.opened.bench.bus, site.drawing, "another")
    (running,) = [row for row in room.list_messages() if row.kind == "tool_call"]
    view = feed.view(running)
    assert isinstance(view, ToolView)
    assert view.screen is not None
    assert (view.screen.closed, view.screen.open) == ("one\n", '<span class="out-red">two</span>')
    await scene.tool(ToolOutput("2"))
    await scene.model(TextChunk("Counted."), Stop("end"))


async def test_calls_that_fail_are_unknown_or_many(scene: Scene) -> None:
    await scene.post("messages", text="Do.")
    calls = [
        CallFragment(n, f"c{n}", name, "{}") for n, name in enumerate(("count", "no_such", "list_files"))
    ]
    await scene.model(*calls, CallFragment(3, "c3", "read_file", '{"path": "none.txt"'), Stop("tool_calls"))
    await scene.tool(ToolOutput.failed("E_TIMEOUT", "It took too long."))
    await scene.model(TextChunk("So be it."), Stop("end"))
    assert [state for kind, state in scene.states if kind == "tool_call"] == [
        "failed",
        "failed",
        "failed",
        "failed",
    ]


async def test_words_go_on_after_a_call_was_named(scene: Scene) -> None:
    await scene.post("messages", text="Do.")
    await scene.model(
        TextChunk("One **two"), CallFragment(0, "c1", "count", "{}"), TextChunk(" three** four")
    )
    await scene.model(Stop("tool_calls"))
    await scene.tool(ToolOutput("done"))
    await scene.model(TextChunk("End."), Stop("end"))


async def test_many_things_happen_between_two_frames(scene: Scene) -> None:
    await scene.post("messages", text="Do.")
    await scene.model(TextChunk("One "))
    await scene.together(ReasoningChunk("Hm, "), TextChunk("two "), ReasoningChunk("well.\r"))
    await scene.together(ReasoningChunk("\nSo."), TextChunk("three "), CallFragment(0, "c1", "count", "{}"))
    await scene.together(TextChunk("four "))
    await scene.together(
        CallFragment(1, "c2", "count", "{}"), TextChunk("five "), ReasoningChunk("x"), TextChunk("six")
    )
    await scene.together(Stop("tool_calls"))
    await scene.tool(ToolOutput("1"), ToolOutput("2"))
    await scene.together(TextChunk("Seven"), Stop("end"))


async def test_a_thought_that_comes_after_words_is_unfolded_at_once(scene: Scene) -> None:
    await scene.post("messages", text="Do.")
    await scene.model(TextChunk("One "), ReasoningChunk("Hm"), TextChunk("two"), Stop("end"))


async def test_a_page_that_is_opened_in_the_middle_sees_the_turn_end(opened: OpenByHand) -> None:
    room = opened.conversation()
    await room.post("Begin.", client_id="c1")
    await opened.hand.settle(room)
    opened.hand.give("model", TextChunk("Half"))
    await opened.hand.settle(room)
    reader = await Reader.loads(opened, room)
    opened.hand.give("model", Stop("end"))
    await opened.hand.settle(room)
    await expect_same(opened, room, reader)
    await leave(opened, room)


async def test_retries_then_an_error_then_retry(scene: Scene) -> None:
    await scene.post("messages", text="Try.")
    await scene.model(*[ProviderError("overloaded", f"Too busy, {n}.") for n in range(6)])
    assert scene.states == [("user", "done"), ("notice", "done"), ("error", "failed")]
    await scene.post("resume")
    await scene.model(ProviderError("auth", "The key was refused. Enter it again in Settings."))
    await scene.post("resume")
    await scene.model(TextChunk("Now."), Stop("end"))


async def test_an_answer_that_is_cut_and_continued(scene: Scene) -> None:
    await scene.post("messages", text="Write.")
    await scene.model(TextChunk("Half of *it"), ProviderError("dropped", "The connection broke."))
    assert scene.states[1:] == [("assistant", "interrupted"), ("notice", "done")]
    await scene.post("resume")
    await scene.model(TextChunk("the other half"), None)
    await scene.post("resume")
    await scene.model(TextChunk("end"), Stop("output_limit"))


async def test_stop_in_words_in_a_tool_and_in_thought(scene: Scene) -> None:
    await scene.post("messages", text="Write.")
    await scene.model(TextChunk("- one\n- tw"))
    await scene.post("stop")
    await scene.post("messages", text="Again.")
    await scene.model(ReasoningChunk("hm"))
    await scene.post("stop")
    await scene.post("resume")
    await scene.model(CallFragment(0, "c1", "count", "{}"), Stop("tool_calls"))
    await scene.tool("half")
    await scene.post("stop")
    assert ("tool_call", "interrupted") in scene.states


async def test_steering_is_read_at_the_next_boundary(scene: Scene) -> None:
    await scene.post("messages", text="Write.")
    await scene.model(TextChunk("Once"))
    await scene.post("steer", text="shorter", client_id="s1")
    await scene.post("steer", text="in Italian", client_id="s2")
    await scene.model(CallFragment(0, "c1", "count", "{}"), Stop("tool_calls"))
    await scene.tool(ToolOutput("1"))
    assert [kind for kind, _ in scene.states] == ["user", "assistant", "tool_call", "user", "user"]
    await scene.model(TextChunk("Ecco."))
    await scene.post("steer", text="grazie", client_id="s3")
    await scene.model(Stop("end"), TextChunk("Prego."), Stop("end"))


async def test_what_is_said_while_a_tool_takes_its_time_waits_in_sight_and_then_stands_in_its_place(
    scene: Scene,
) -> None:
    await scene.post("messages", text="Write.")
    await scene.model(CallFragment(0, "c1", "count", "{}"), Stop("tool_calls"))
    await scene.tool("one")
    await scene.post("steer", text="not so far", client_id="s1")
    (waiting,) = scene.page.element("queue").all("li")
    assert "not so far" in waiting.text
    assert scene.states[-1] == ("tool_call", "streaming")
    await scene.tool("two", ToolOutput("2"))
    assert scene.page.element("queue").all("li") == []
    assert scene.states[-2:] == [("tool_call", "done"), ("user", "done")]
    await scene.model(TextChunk("Stopped at two."), Stop("end"))


async def test_the_queue_in_all_its_acts(scene: Scene) -> None:
    await scene.post("messages", text="Begin.")
    for number, text in enumerate(("one\nline", "<b>two</b>", "three", "four")):
        await scene.post("messages", text=text, client_id=f"q{number}")
    ids = [each.id.removeprefix("queued-") for each in scene.page.element("queue").all("li")]
    assert len(ids) == 4
    await scene.post(f"queue/{ids[0]}/down")
    await scene.post(f"queue/{ids[3]}/up")
    await scene.post(f"queue/{ids[1]}/edit", text="\nzwei &amp;")
    await scene.post(f"queue/{ids[2]}/send")
    await scene.post(f"queue/{ids[3]}/delete")
    await scene.model(TextChunk("Done."), Stop("end"), TextChunk("Steered."), Stop("end"))
    await scene.model(TextChunk("And the rest."), Stop("end"))
    assert scene.page.element("queue").all("li") == []


async def test_a_stop_holds_the_queue_until_it_is_sent(scene: Scene) -> None:
    await scene.post("messages", text="Begin.")
    await scene.post("messages", text="later", client_id="q1")
    await scene.post("steer", text="soon", client_id="q2")
    await scene.post("stop")
    first, second = scene.page.element("queue").all("li")
    await scene.post(f"queue/{second.id.removeprefix('queued-')}/send")
    await scene.model(TextChunk("Yes."), Stop("end"))
    await scene.post("messages", text="later", client_id="q1")
    await scene.post(f"queue/{first.id.removeprefix('queued-')}/send")
    await scene.model(TextChunk("Now."), Stop("end"))
    assert scene.page.element("queue").all("li") == []


async def test_names_and_models_change_at_rest_and_in_the_middle(scene: Scene) -> None:
    await scene.post("title", title="A <b>name</b> & more")
    await scene.post("model", model="other/one")
    await scene.post("messages", text="First words\nand more")
    await scene.post("title", title="")
    await scene.model(TextChunk("Hel"))
    await scene.post("title", title="In the middle")
    await scene.post("model", model="")
    await scene.model(TextChunk("lo"), Stop("end"))
    assert scene.page.shown()[0] == "In the middle · Plancia"


async def test_what_a_turn_took_stands_on_an_open_page_once_a_full_disk_has_taken_it(scene: Scene) -> None:
    await scene.post("messages", text="Begin.")
    await scene.model(TextChunk("Half of it."))
    database = scene.opened.bench.store.database
    database._sqlite.sql("PRAGMA query_only = 1")
    await scene.model(TextChunk(" All of it."), Stop("end"))
    assert "tokens" not in scene.page.element("panel-tasks").text
    stored = anyio.Event()
    unwatch = scene.room.feed.watch(stored.set)
    database._sqlite.sql("PRAGMA query_only = 0")
    with anyio.fail_after(20):
        await stored.wait()
    unwatch()
    await scene.look()
    assert "tokens" in scene.page.element("panel-tasks").text


async def test_articles_that_have_found_other_places_stand_there_on_an_open_page(scene: Scene) -> None:
    await scene.post("messages", text="Begin.")
    await scene.model(TextChunk("One."), Stop("end"))
    before = [article.id for article in scene.page.articles]
    with scene.opened.bench.store.database.transaction():
        for row, place in zip(scene.room.list_messages(), (9, 8), strict=True):
            scene.opened.bench.store.database.update(Message, row.id, {"position": place})
    scene.room.board.publish(LogReordered(), member="commander")
    await scene.look()
    assert [article.id for article in scene.page.articles] == before[::-1]


class BreaksOnce(Drawing):
    """The disk gives way in the middle of a frame, once."""

    broken = False

    def floor_changed(self, room: Room) -> str:
        if not self.broken:
            self.broken = True
            raise StorageError("The disk did not answer.")
        return super().floor_changed(room)


async def test_what_could_not_be_drawn_is_made_good_by_the_next_frame(opened: OpenByHand) -> None:
    room, site = opened.conversation(), opened.site
    reader = await Reader.loads(opened, room)
    feed = PageFeed(room, opened.bench.bus, BreaksOnce(site.templates, site.scenes), "boot")
    await opened.browser.post(f"{address_of(room)}/messages", {"text": "Begin."}, HTMX)
    with pytest.raises(StorageError):
        feed.draw()
    assert feed.feed.number == 0
    feed.draw()
    for _, item in feed.feed.since(0) or ():
        reader.take(item)
    assert_same(reader.page.shown(), (await opened.browser.load(address_of(room))).shown())
    await leave(opened, room)


PIECES = st.sampled_from(
    [
        *(
            "word ",
            "**",
            "*",
            "`",
            "_",
            "# ",
            "> ",
            "- ",
            "1. ",
            "  ",
            "    ",
            "\t",
            "\n",
            "\n",
            "\n\n",
            "\r",
            "\r\n",
        ),
        *("```", "```py\n", "\n```\n", "~~~\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "***\n", "===\n"),
        *(
            "[x](http://e.x)",
            "[y][1]",
            "[1]: http://e.x\n",
            "<b>",
            "&amp;",
            "&",
            "- [ ] t\n",
            "\\\n",
            "![i](p.png)",
        ),
        *(
            "\x00",
            "\x1b[1m",
            "\ud83d",
            "\ude00",
            "日本",
            "<hx-partial>",
            "</div>",
            "\u2028",
            "\u202e",
            "e\u0301",
            "👩‍👩‍👧",
        ),
    ]
)
WORDS = st.lists(PIECES, min_size=1, max_size=6).map("".join)
SAID = st.sampled_from(["Hello", "two\nlines", "\n<b>tag</b> &amp;", "a" * 70, "\u202eturned \x07"])
ACTS = st.one_of(
    *[st.tuples(st.just("text"), WORDS)] * 3,
    st.tuples(st.just("think"), WORDS),
    st.tuples(st.just("progress"), WORDS),
    st.tuples(
        st.sampled_from(
            [
                "call",
                "name_call",
                "call_unknown",
                "result",
                "bad_result",
                "end",
                "end",
                "cut",
                "busy",
                "refused",
            ]
        )
    ),
    st.tuples(st.sampled_from(["say", "steer"]), SAID, st.integers(0, 9)),
    st.tuples(st.just("queue"), st.sampled_from(["send", "edit", "delete", "up", "down"]), st.integers(0, 5)),
    st.tuples(st.sampled_from(["stop", "resume", "time", "look", "look", "load"])),
    st.tuples(st.sampled_from(["title", "model"]), SAID),
    st.tuples(st.just("read"), st.integers(0, 2)),
    st.tuples(
        st.just("lose"), st.integers(0, 2), st.sampled_from(["nobody-7", "x", "{boot}-99999", "{boot}-01"])
    ),
)


class Wander:
    """Any acts in any order; what cannot be done just then is passed over."""

    def __init__(self, opened: OpenByHand, room: Room, readers: list[Reader]) -> None:
        self.opened = opened
        self.room = room
        self.readers = readers
        self.calls = 0

    async def take(self, act: str, *more: Any) -> None:
        await getattr(self, f"_{act}", self._to_model)(*(more or [act]))
        await self.opened.hand.settle(self.room)

    async def _to_model(self, act: str) -> None:
        end = {
            "end": Stop("end"),
            "cut": None,
            "busy": BUSY,
            "refused": ProviderError("auth", "The key was refused."),
        }
        self.give("model", end[act])

    async def _text(self, text: str) -> None:
        self.give("model", TextChunk(text))

    async def _think(self, text: str) -> None:
        self.give("model", ReasoningChunk(text))

    async def _progress(self, text: str) -> None:
        self.give("tool", text)

    async def _result(self, _: str) -> None:
        self.give("tool", ToolOutput("1\n2"))

    async def _bad_result(self, _: str) -> None:
        self.give("tool", ToolOutput.failed("E_TIMEOUT", "It took too long."))

    async def _call(self, _: str, name: str = "count") -> None:
        self.calls += 1
        self.give("model", CallFragment(0, f"c{self.calls}", name, '{"to": "<3>"}'), Stop("tool_calls"))

    async def _name_call(self, _: str) -> None:
        self.calls += 1
        self.give("model", CallFragment(self.calls, f"c{self.calls}", "count", "{}"))

    async def _call_unknown(self, _: str) -> None:
        await self._call(_, "no_such")

    async def _say(self, text: str, number: int) -> None:
        await self.post("messages", text=text, client_id=f"client-{number}")

    async def _steer(self, text: str, number: int) -> None:
        await self.post("steer", text=text, client_id=f"client-{number}")

    async def _queue(self, act: str, number: int) -> None:
        if waiting := list_queued(self.opened.bench.store, self.room.id):
            await self.post(f"queue/{waiting[number % len(waiting)].id}/{act}", text="other words")

    async def _stop(self, _: str) -> None:
        await self.post("stop")

    async def _resume(self, _: str) -> None:
        await self.post("resume")

    async def _title(self, text: str) -> None:
        await self.post("title", title=text)

    async def _model(self, text: str) -> None:
        await self.post("model", model=text)

    async def _time(self, _: str) -> None:
        await self.opened.clock.sleep(1.3)

    async def _load(self, _: str) -> None:
        self.readers[0] = await Reader.loads(self.opened, self.room)

    async def _read(self, number: int) -> None:
        await self.readers[number].catch_up()

    async def _lose(self, number: int, cursor: str) -> None:
        self.readers[number].lose_place(cursor.format(boot=self.opened.feed(self.room).feed.boot))

    async def _look(self, _: str) -> None:
        await expect_same(self.opened, self.room, *self.readers)

    def give(self, who: Who, *items: object) -> None:
        if who in self.opened.hand.waits:
            self.opened.hand.give(who, *items)

    async def post(self, act: str, **fields: str) -> None:
        got = await self.opened.browser.post(f"{address_of(self.room)}/{act}", fields, HTMX)
        assert got.status in (204, 404, 409, 422), got.text


@settings(max_examples=10)
@given(acts=st.lists(ACTS, min_size=5, max_size=30))
async def test_whatever_happens_every_reader_shows_what_a_loaded_page_shows(
    opened: OpenByHand, acts: list[tuple[Any, ...]]
) -> None:
    room = opened.conversation()
    wander = Wander(opened, room, [await Reader.loads(opened, room) for _ in range(3)])
    await wander.take("say", "Begin.", 99)
    for act in acts:
        await wander.take(*act)
    await wander.take("look")
    await leave(opened, room)
