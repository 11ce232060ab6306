"""Turns and a store that takes nothing: the room becomes quiet, says so, and loses no word."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from app.engine import events as engine
from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.events import RowChanged
from app.infra.ids import new_id
from app.models.errors import StorageError, StorageReadOnly
from app.workspace import conversations, queue, turns
from app.workspace.errors import NotFound
from app.workspace.usage import total
from tests.group_chat.rooms import House, OnWrite, house, members_on
from tests.group_chat.test_room import Held, until_speaking

pytestmark = pytest.mark.anyio


def done_of(at: House) -> list[engine.Done]:
    return [place.event for place in at.happened() if isinstance(place.event, engine.Done)]


def user_texts(at: House) -> list[str]:
    return [row.text for row in at.rows() if row.kind == "user"]


# A store that takes nothing any more


async def test_a_turn_whose_words_cannot_be_stored_ends_and_says_why(tmp_path: Path) -> None:
    model = Held(say("One", " two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        assert not at.room.floor.is_live
        (done,) = done_of(at)
        assert done.status == "failed"
        assert done.error is not None
        assert "read-only" in done.error.message
        at.freeze(False)


async def test_after_such_a_turn_the_room_works_again_and_that_turn_is_closed(tmp_path: Path) -> None:
    model = Held(say("One", " two."), say("Again."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        at.freeze(False)
        await at.say("are you there?")
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["failed", "completed"]
        assert [(row.kind, row.state) for row in at.rows()] == [
            ("user", "done"),
            ("assistant", "done"),
            ("error", "failed"),
            ("user", "done"),
            ("assistant", "done"),
        ]
        assert at.rows()[1].text == "One two."
        assert at.rows()[2].data["settled"]


async def test_pages_see_how_such_a_turn_ended_before_that_can_be_stored(tmp_path: Path) -> None:
    model = Held(say("One", " two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        shown = at.room.list_messages()
        assert [(row.kind, row.state) for row in shown] == [
            ("user", "done"),
            ("assistant", "done"),
            ("error", "failed"),
        ]
        assert shown[1].text == "One two."
        assert "read-only" in shown[2].text
        assert [at.room.find_message(row.id) for row in shown] == shown
        assert at.room.list_messages(before=3) == shown[:2]
        assert [turn.state for turn in at.room.list_turns()] == ["failed"]
        at.freeze(False)


async def test_its_end_is_stored_by_itself_once_the_store_takes_it(tmp_path: Path) -> None:
    model = Held(say("One", " two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        ended = at.room.list_turns()[0].ended
        shown = [(row.id, row.text, row.state) for row in at.room.list_messages()]
        stored = anyio.Event()
        number = at.room.feed.number
        at.room.feed.watch(stored.set)
        at.freeze(False)
        with anyio.fail_after(10):
            await stored.wait()
        assert [(row.id, row.text, row.state) for row in at.rows()] == shown
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["failed"]
        assert turns.list_turns(at.store, at.room.id)[0].ended == ended
        told = at.room.feed.since(number) or []
        assert {place.message_id for _, place in told if isinstance(place.event, RowChanged)} == {
            id for id, _, _ in shown[1:]
        }


async def test_an_end_that_is_never_stored_does_not_hold_up_the_end_of_the_process(tmp_path: Path) -> None:
    model = Held(say("One", " two."), say("Again."))
    with anyio.fail_after(5):
        async with house(tmp_path, model) as at:
            await until_speaking(at, model)
            at.freeze()
            model.go.set()
            await at.quiet()
    async with house(tmp_path, model, conversation=at.room.id) as at:
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["interrupted"]


async def test_what_its_calls_cost_is_counted_later(tmp_path: Path) -> None:
    model = Held(say("One", " two."), say("Again."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        assert total(at.store).calls == 0
        at.freeze(False)
        await at.room.resume()
        await at.quiet()
        assert total(at.store).calls == 2


async def test_an_answer_that_never_got_its_article_stands_in_the_chat_afterwards(tmp_path: Path) -> None:
    """The session lies in a file of its own and takes it, while the store takes nothing."""
    model = Held([call("list_files", path=".")], say("One two."), say("Again."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        disk = at.room.feed.watch(lambda: at.freeze() if at.rows()[-1].state == "done" else None)
        model.go.set()
        await at.quiet()
        disk()
        at.freeze(False)
        await at.say("are you there?")
        assert [row.text for row in at.rows() if row.kind in ("user", "assistant")] == [
            "hello",
            "One two.",
            "are you there?",
            "Again.",
        ]


async def test_such_a_turn_can_be_continued(tmp_path: Path) -> None:
    model = Held(say("One", " two."), say("Again."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        at.freeze()
        model.go.set()
        await at.quiet()
        at.freeze(False)
        await at.room.resume()
        await at.quiet()
        assert at.rows()[-1].text == "Again."


async def test_a_stop_works_although_nothing_can_be_stored(tmp_path: Path) -> None:
    model = Held(say("One", " two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        at.freeze()
        with anyio.fail_after(2):
            await at.room.stop()
        assert not at.room.floor.is_live
        at.freeze(False)
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["later"]


async def test_a_message_that_cannot_be_stored_is_refused_and_can_be_sent_again(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Here."))) as at:
        at.freeze()
        with pytest.raises(StorageReadOnly):
            await at.room.post("hello", client_id="c1")
        assert not at.room.floor.is_live
        at.freeze(False)
        await at.say("hello", client_id="c1")
        assert [row.text for row in at.rows()] == ["hello", "Here."]


# A crash between two writes


class Failing:
    """Ids, until the time comes when there is none of one kind: the moment of a crash between two writes."""

    def __init__(self) -> None:
        self.prefix = ""

    def __call__(self, prefix: str) -> str:
        if prefix == self.prefix:
            raise StorageError("The disk is gone.")
        return new_id(prefix)


async def test_a_message_is_stored_with_the_turn_that_answers_it_or_not_at_all(tmp_path: Path) -> None:
    ids = Failing()
    async with house(tmp_path, ScriptedModel(say("Here.")), new_id=ids) as at:
        ids.prefix = "turn"
        with pytest.raises(StorageError):
            await at.room.post("hello", client_id="c1")
        assert at.rows() == []
        assert at.happened() == []
        ids.prefix = ""
        await at.say("hello", client_id="c1")
        assert [row.text for row in at.rows()] == ["hello", "Here."]


async def test_what_waited_stays_in_the_queue_where_its_turn_cannot_begin(tmp_path: Path) -> None:
    ids = Failing()
    model = Held(say("One", "."), say("Two."))
    async with house(tmp_path, model, new_id=ids) as at:
        await until_speaking(at, model)
        await at.room.post("second", client_id="c2")
        ids.prefix = "turn"
        model.go.set()
        await at.quiet()
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["second"]
        ids.prefix = ""
        await at.say("third")
        assert user_texts(at) == ["hello", "second", "third"]
        assert not at.room.floor.is_live


# Other ways to break


async def test_a_message_sent_twice_keeps_what_was_made_of_it_while_it_waits(tmp_path: Path) -> None:
    model = Held(say("One", "."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        (waiting,) = queue.list_queued(at.store, at.room.id)
        await at.room.waiting.edit(waiting.id, "much later")
        await at.room.stop()
        await at.room.post("later", client_id="c2")
        await at.quiet()
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["much later"]
        assert user_texts(at) == ["hello"]


@pytest.mark.parametrize("live", [True, False])
async def test_a_message_of_another_conversation_does_not_wait_here(tmp_path: Path, live: bool) -> None:
    model = Held(say("One", "."))
    async with house(tmp_path, model) as at:
        other = conversations.create_conversation(at.store, workspace=str(at.workspace))
        foreign = queue.enqueue(at.store, other.id, text="not here", client_id="c9")
        if live:
            await until_speaking(at, model)
        for act in (
            lambda: at.room.send_now(foreign.id),
            lambda: at.room.waiting.edit(foreign.id, "x"),
            lambda: at.room.waiting.delete(foreign.id),
            lambda: at.room.waiting.move(foreign.id, 1),
            lambda: at.room.send_now("msg_nowhere"),
        ):
            with pytest.raises(NotFound):
                await act()
        assert [row.text for row in queue.list_queued(at.store, other.id)] == ["not here"]
        model.go.set()


@pytest.mark.parametrize("act", ["edit", "delete"])
async def test_a_message_that_is_being_heard_can_neither_be_taken_back_nor_changed(
    tmp_path: Path, act: str
) -> None:
    holding, release = threading.Event(), threading.Event()

    def hold() -> None:
        holding.set()
        release.wait(5)

    model = Held([call("list_files", path=".")], say("In metres."))
    async with house(tmp_path, model, make_members=members_on(OnWrite(b"use metres", hold))) as at:
        await until_speaking(at, model)
        await at.room.post("use metres", client_id="c2", kind="steer")
        (waiting,) = queue.list_queued(at.store, at.room.id)

        acts: dict[str, Callable[[], Awaitable[object]]] = {
            "edit": lambda: at.room.waiting.edit(waiting.id, "use feet"),
            "delete": lambda: at.room.waiting.delete(waiting.id),
        }

        async def too_late() -> None:
            with pytest.raises(NotFound):
                await acts[act]()

        async with anyio.create_task_group() as tasks:
            model.go.set()
            assert await anyio.to_thread.run_sync(holding.wait, 5)
            tasks.start_soon(too_late)
            await anyio.wait_all_tasks_blocked()
            release.set()
        await at.quiet()
        assert user_texts(at) == ["hello", "use metres"]
        heard = [message.text for message in (await at.session()).messages if message.role == "user"]
        assert heard == ["hello", "use metres"]
