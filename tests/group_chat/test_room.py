"""One room: what is said, what is answered, what waits, what a stop leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine import events as engine
from app.engine.errors import ProviderError
from app.engine.messages import Marker, Text
from app.engine.provider import ReasoningChunk, Stop, TextChunk
from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.errors import EmptyMessage, NothingToResume
from app.group_chat.events import FloorChanged, RowAdded
from app.workspace import agents, conversations, queue, turns, usage
from tests.fakes.clock import FakeClock
from tests.group_chat.rooms import House, house

pytestmark = pytest.mark.anyio


class Held(ScriptedModel):
    """Says the first piece, then waits to be let go before the rest of each reply."""

    def __init__(self, *replies: Any) -> None:
        super().__init__(*replies)
        self.speaking = anyio.Event()
        self.go = anyio.Event()

    async def stream(self, request: Any) -> Any:
        first = True
        async for batch in super().stream(request):
            yield batch
            if first:
                first = False
                self.speaking.set()
                await self.go.wait()


async def until_speaking(at: House, model: Held, text: str = "hello") -> None:
    await at.room.post(text, client_id="first")
    with anyio.fail_after(5):
        await model.speaking.wait()


async def test_a_message_is_answered_and_both_are_stored(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Good ", "day."))) as at:
        await at.say("hello")
        assert at.shape() == [("user", "done", "hello"), ("assistant", "done", "Good day.")]
        assert [turn.state for turn in turns.list_turns(at.store, at.room.id)] == ["completed"]


async def test_rows_are_announced_before_the_events_that_fill_them(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        await at.say("hello")
        known: set[str | None] = set()
        for event in at.happened():
            if isinstance(event.event, RowAdded):
                known.add(event.message_id)
            if isinstance(event.event, engine.TextDelta):
                assert event.message_id in known


async def test_the_first_message_names_the_conversation(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Hi."))) as at:
        await at.say("Fix the tide table\nand more")
        assert conversations.load_conversation(at.store, at.room.id).title == "Fix the tide table"


async def test_commander_writes_and_reads_a_real_file(tmp_path: Path) -> None:
    model = ScriptedModel(
        [call("write_file", path="note.txt", content="ahoy\n")],
        [call("read_file", path="note.txt")],
        say("Done."),
    )
    async with house(tmp_path, model) as at:
        await at.say("write a note")
        assert (at.workspace / "note.txt").read_text() == "ahoy\n"
        assert [row.kind for row in at.rows()] == ["user", "tool_call", "tool_call", "assistant"]
        read = at.rows()[2]
        assert read.state == "done"
        assert "ahoy" in read.data["result"]


async def test_text_before_and_after_a_call_are_two_articles_around_it(tmp_path: Path) -> None:
    model = ScriptedModel([TextChunk("I look."), call("list_files", path=".")], say("Empty."))
    async with house(tmp_path, model) as at:
        await at.say("what is here?")
        assert [(row.kind, row.text) for row in at.rows()[1:]] == [
            ("assistant", "I look."),
            ("tool_call", ""),
            ("assistant", "Empty."),
        ]


async def test_text_after_a_call_in_the_same_answer_joins_its_article(tmp_path: Path) -> None:
    model = ScriptedModel(
        [TextChunk("One."), call("list_files", path="."), TextChunk(" Two.")], say("Three.")
    )
    async with house(tmp_path, model) as at:
        await at.say("go")
        assert [row.text for row in at.rows() if row.kind == "assistant"] == ["One. Two.", "Three."]


async def test_thinking_is_kept_beside_its_answer(tmp_path: Path) -> None:
    model = ScriptedModel([ReasoningChunk("Let me see."), *say("Yes.")])
    async with house(tmp_path, model) as at:
        await at.say("well?")
        assert at.rows()[-1].data["reasoning"] == "Let me see."


async def test_the_same_client_id_twice_counts_once(tmp_path: Path) -> None:
    model = ScriptedModel(say("Once."))
    async with house(tmp_path, model) as at:
        await at.say("hello", client_id="c1")
        await at.say("hello", client_id="c1")
        assert [row.kind for row in at.rows()] == ["user", "assistant"]
        assert len(model.requests) == 1


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
async def test_an_empty_message_is_refused_and_changes_nothing(tmp_path: Path, text: str) -> None:
    async with house(tmp_path, ScriptedModel()) as at:
        with pytest.raises(EmptyMessage):
            await at.room.post(text, client_id="c")
        assert at.rows() == []


async def test_every_model_call_is_a_row_of_the_ledger(tmp_path: Path) -> None:
    model = ScriptedModel([call("list_files", path=".")], say("ok"))
    async with house(tmp_path, model) as at:
        await at.say("go")
        whole = usage.total(at.store, conversation=at.room.id)
        assert whole.calls == 2


async def test_what_is_said_during_a_turn_waits_and_becomes_one_next_turn(tmp_path: Path) -> None:
    model = Held(say("One", "."), say("Two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("second", client_id="c2")
        await at.room.post("third", client_id="c3")
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["second", "third"]
        model.go.set()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert [row.text for row in at.rows()] == ["hello", "One.", "second", "third", "Two."]
        assert queue.list_queued(at.store, at.room.id) == []
        assert [message.text for message in model.requests[1].messages[-2:]] == ["second", "third"]


async def test_a_steered_message_is_folded_into_the_running_turn(tmp_path: Path) -> None:
    model = Held(say("One", "."), say("In metres."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("use metres", client_id="c2", kind="steer")
        model.go.set()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert [row.text for row in at.rows()] == ["hello", "One.", "use metres", "In metres."]
        assert at.rows()[2].data["sent"] == "steer"
        assert len(turns.list_turns(at.store, at.room.id)) == 1


async def test_waiting_messages_can_be_edited_moved_and_deleted(tmp_path: Path) -> None:
    model = Held(say("One", "."), say("Two."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        for text in ("a", "b", "c"):
            await at.room.post(text, client_id=text)
        first, second, third = queue.list_queued(at.store, at.room.id)
        await at.room.waiting.move(third.id, -1)
        await at.room.waiting.edit(first.id, "A")
        await at.room.waiting.delete(second.id)
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["A", "c"]
        model.go.set()


async def test_a_stop_ends_the_turn_keeps_the_text_and_holds_what_waits(tmp_path: Path) -> None:
    model = Held(say("Half", " an answer"), say("Fresh."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        with anyio.fail_after(2):
            await at.room.stop()
        assert at.shape() == [
            ("user", "done", "hello"),
            ("assistant", "interrupted", "Half"),
            ("notice", "done", "stopped"),
        ]
        assert [row.kind for row in queue.list_queued(at.store, at.room.id)] == ["held"]
        assert not at.room.floor.is_live
        model.go.set()
        await at.say("and now?")
        assert at.rows()[-1].text == "Fresh."
        assert [row.text for row in queue.list_queued(at.store, at.room.id)] == ["later"]


async def test_what_waited_for_a_turn_that_failed_is_held_and_not_lost(tmp_path: Path) -> None:
    model = Held([TextChunk("Half"), ProviderError("dropped", "The line broke.")])
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        model.go.set()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert [(row.text, row.kind) for row in queue.list_queued(at.store, at.room.id)] == [
            ("later", "held")
        ]


async def test_a_held_message_goes_when_the_user_says_so(tmp_path: Path) -> None:
    model = Held(say("Half", "."), say("Fresh."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        await at.room.post("later", client_id="c2")
        await at.room.stop()
        model.go.set()
        await at.room.send_now(queue.list_queued(at.store, at.room.id)[0].id)
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert [row.text for row in at.rows()][-2:] == ["later", "Fresh."]


async def test_a_failed_turn_says_why_and_retry_asks_again_without_a_second_message(tmp_path: Path) -> None:
    model = ScriptedModel([ProviderError("auth", "The key was refused.")], say("Now it works."))
    async with house(tmp_path, model) as at:
        await at.say("hello")
        assert at.rows()[-1].kind == "error"
        assert at.rows()[-1].text == "The key was refused."
        await at.room.resume()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert [row.text for row in at.rows() if row.kind != "error"] == ["hello", "Now it works."]
        assert at.rows()[1].data["settled"]
        assert [message.role for message in model.requests[1].messages] == ["user"]


async def test_a_cut_answer_can_be_continued(tmp_path: Path) -> None:
    model = ScriptedModel(say("The first half", stop=None), say(" and the second."))
    async with house(tmp_path, model) as at:
        await at.say("tell me")
        assert at.shape()[-2:] == [
            ("assistant", "interrupted", "The first half"),
            ("notice", "done", at.rows()[-1].text),
        ]
        await at.room.resume()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert at.rows()[-1].text == " and the second."
        told = [(message.role, *map(type, message.blocks)) for message in model.requests[1].messages]
        assert told == [("user", Text), ("assistant", Text), ("assistant", Marker), ("user", Text)]


async def test_there_is_nothing_to_continue_after_a_whole_answer(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Done."))) as at:
        await at.say("hello")
        with pytest.raises(NothingToResume):
            await at.room.resume()


async def test_retries_are_one_line_that_counts_up(tmp_path: Path) -> None:
    down = [ProviderError("server", "The server is down.")]
    model = ScriptedModel(down, down, say("Up."))
    async with house(tmp_path, model, FakeClock()) as at:
        await at.say("hello")
        notices = [row for row in at.rows() if row.kind == "notice"]
        assert [(row.state, row.data["attempt"]) for row in notices] == [("done", 2)]


async def test_the_floor_says_who_is_at_work_and_is_free_afterwards(tmp_path: Path) -> None:
    model = Held(say("One", "."))
    async with house(tmp_path, model) as at:
        await until_speaking(at, model)
        assert (at.room.floor.state, at.room.floor.member) == ("writing", "commander")
        model.go.set()
        with anyio.fail_after(5):
            await at.room.wait_quiet()
        assert at.room.floor.state == "idle"
        assert any(isinstance(event.event, FloorChanged) for event in at.happened())


async def test_while_the_conversation_is_organised_the_floor_says_so(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(reply: list[Any]) -> Any:
        def answer(_: Any) -> list[Any]:
            seen.append(at.room.floor.state)
            return reply

        return answer

    reads = [[call("read_file", f"c{number}", path=f"{number}.txt")] for number in range(5)]
    too_long = [ProviderError("overflow", "Too long.")]
    model = ScriptedModel(
        *reads, too_long, look(say("No summary.")), look(say("Answered.")), window=1_000_000
    )
    async with house(tmp_path, model) as at:
        for number in range(5):
            (at.workspace / f"{number}.txt").write_text("The tide tables of this harbour. \n" * 500)
        await at.say("hello")
        assert seen == ["organising", "thinking"]
        assert [row.data.get("notice") for row in at.rows() if row.kind == "notice"] == ["compaction"]


async def test_a_folder_that_is_gone_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("never"))) as at:
        at.workspace.rmdir()
        await at.say("hello")
        assert at.rows()[-1].kind == "error"
        assert str(at.workspace) in at.rows()[-1].text


async def test_a_defect_of_ours_ends_the_turn_in_words_with_the_chat_intact(tmp_path: Path) -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            yield (TextChunk("Some"),)
            raise ZeroDivisionError

    async with house(tmp_path, Broken()) as at:
        await at.say("hello")
        assert [row.kind for row in at.rows()] == ["user", "assistant", "error"]
        assert at.rows()[1].text == "Some"
        assert not at.room.floor.is_live


async def test_an_answer_of_nothing_but_thinking_is_no_success(tmp_path: Path) -> None:
    thinking = [ReasoningChunk("hm"), Stop("end")]
    async with house(tmp_path, ScriptedModel(thinking, thinking, thinking), FakeClock()) as at:
        await at.say("hello")
        assert at.rows()[-1].data["kind"] == "empty"


async def test_who_calls_one_that_is_switched_off_is_told_so_and_commander_answers(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(say("Tutor is away."))) as at:
        agents.set_disabled(at.room._members._folder, "tutor", disabled=True)
        await at.say("@Tutor and @Nemo, explain it.")
        said, answer = at.rows()
        assert (said.data["absent"], said.data["unknown"]) == (["tutor"], ["Nemo"])
        assert answer.member == "commander"
