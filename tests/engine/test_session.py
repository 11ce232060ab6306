"""A session keeps what it was given, whatever happens to its file."""

from __future__ import annotations

import asyncio
import itertools
import json
import stat
from errno import EACCES, EIO, ENOSPC
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine import pairing
from app.engine.errors import SessionError
from app.engine.messages import Message, Text, ToolCall, ToolResult
from app.engine.session import JsonlSession, MemorySession, Session
from app.engine.transcript import encode
from app.infra.crew import Crew
from app.infra.files import Disk
from tests.case_tables import load_jsonl
from tests.engine.damage import damaged
from tests.engine.histories import (
    NOON,
    assert_history,
    call_ids,
    counting_ids,
    generated,
    hurt_histories,
    read_history,
    read_message,
    read_outcome,
    wild_histories,
)
from tests.fakes.disk import CountingDisk, CuttableDisk, Fate, FaultyDisk, HeldDisk, PowerCut

pytestmark = pytest.mark.anyio

ROWS = load_jsonl("repair_cases.jsonl")


def rows_of(*stages: str) -> pytest.MarkDecorator:
    rows = [row for row in ROWS if row["stage"] in stages]
    return pytest.mark.parametrize("row", rows, ids=[row["id"] for row in rows])


def lines_of(messages: tuple[Message, ...]) -> bytes:
    return b"".join(encode(message, seq) for seq, message in enumerate(messages, 1))


def said(text: str, message_id: str) -> Message:
    return Message("user", (Text(text),), message_id, NOON)


def asked(message_id: str, *calls: str, name: str = "read_file") -> Message:
    return Message("assistant", tuple(ToolCall(call, name) for call in calls), message_id, NOON)


def answered(message_id: str, call: str, text: str = "done") -> Message:
    return Message("tool", (ToolResult(call, text),), message_id, NOON)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s1.jsonl"


async def both_sessions(path: Path) -> list[Session]:
    return [MemorySession("s1"), await JsonlSession.open(path)]


@rows_of("load")
async def test_a_stored_history_is_repaired_when_it_is_loaded(row: dict[str, Any], path: Path) -> None:
    stored = lines_of(read_history(row["before"]))
    path.write_bytes(stored)
    path.with_suffix(".started").write_text(
        "".join(json.dumps(["", call_id]) + "\n" for call_id in row.get("started", ()))
    )
    session = await JsonlSession.open(path)
    assert_history(session.messages, row["after"])
    assert path.read_bytes() == stored
    await session.append(said("and then?", "next"))
    again = await JsonlSession.open(path)
    assert again.messages == session.messages
    assert again.messages[-1].id == "next"
    assert path.read_bytes().startswith(stored)


@rows_of("file")
async def test_a_damaged_file_gives_what_is_left_of_it(row: dict[str, Any], path: Path) -> None:
    path.write_bytes(damaged(lines_of(read_history(row["lines"])), row["damage"]))
    before = path.read_bytes()
    session = await JsonlSession.open(path)
    assert_history(session.messages, row["after"])
    assert len(session.marks) == row["marks"]
    loose = b"".join(file.read_bytes() for file in path.parent.glob("s1.jsonl.torn-*"))
    assert bool(loose) == row["set_aside"]
    assert path.read_bytes() + loose == before
    await session.append(read_message(row["then_append"], "next"))
    assert path.read_bytes().startswith(before.removesuffix(loose))
    again = await JsonlSession.open(path)
    assert_history(again.messages, row["after_append"])
    assert again.messages == session.messages
    assert again.marks == session.marks


@rows_of("append")
async def test_outcomes_and_steering_find_their_place(row: dict[str, Any], path: Path) -> None:
    for session in await both_sessions(path):
        await session.append(*read_history(row["before"]))
        calls = pairing.open_calls(session.messages)
        for number, outcome in enumerate(row["outcomes"]):
            if "steer" in outcome:
                await session.append(said(outcome["steer"], f"steer{number}"))
        outcomes = [read_outcome(outcome) for outcome in row["outcomes"] if "steer" not in outcome]
        results = pairing.results_in_order(calls, outcomes, new_id=counting_ids(), time=NOON)
        await session.append(*results)
        assert_history(session.messages, row["after"])
    assert (await JsonlSession.open(path)).messages == session.messages


@rows_of("abort")
async def test_a_stopped_run_leaves_a_history_that_goes_on(row: dict[str, Any], path: Path) -> None:
    for session in await both_sessions(path):
        await session.append(*read_history(row["before"]))
        closing = pairing.close_step(
            session.messages,
            [read_outcome(outcome) for outcome in row["outcomes"]],
            running=row["running"],
            new_id=counting_ids(),
            time=NOON,
        )
        await session.append(*closing)
        assert_history(session.messages, row["after"])
        await session.append(read_message(row["next"], "next"))
        assert_history(session.messages, [*row["after"], row["next"]])
    assert (await JsonlSession.open(path)).messages == session.messages


@rows_of("generate")
async def test_a_long_history_keeps_its_head_in_memory_and_on_disk(row: dict[str, Any], path: Path) -> None:
    head = generated(row["turns"])
    path.write_bytes(lines_of((*head, *read_history(row["tail_before"], "t"))))
    before = path.read_bytes()
    session = await JsonlSession.open(path)
    assert session.messages[: len(head)] == head
    assert_history(session.messages[len(head) :], row["tail_after"])
    assert path.read_bytes() == before


async def test_a_line_follows_another_with_a_rising_number(path: Path) -> None:
    session = await JsonlSession.open(path)
    assert (session.id, session.messages, session.marks) == ("s1", (), ())
    assert not path.exists()
    await session.append(said("one", "m1"), said("two", "m2"))
    again = await JsonlSession.open(path)
    await again.append(said("three", "m3"))
    await again.append()
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [(row["seq"], row["id"]) for row in rows] == [(1, "m1"), (2, "m2"), (3, "m3")]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_all_messages_of_an_append_are_one_write_and_one_sync(path: Path) -> None:
    disk = CountingDisk()
    session = await JsonlSession.open(path, disk=disk)
    await session.append(said("first", "m0"))
    before = disk.calls
    await session.append(*(said("more", f"m{number}") for number in range(1, 50)))
    assert disk.calls - before == 3


@pytest.mark.parametrize(
    ("name", "status"),
    [("bash", "outcome_unknown"), ("write_file", "outcome_unknown"), ("read_file", "interrupted")],
)
async def test_a_begun_call_without_a_result_is_told_apart(path: Path, name: str, status: str) -> None:
    for session in await both_sessions(path):
        await session.append(said("go", "u1"), asked("a1", "c1", "c2", name=name))
        await session.mark_started("c1")
        assert pairing.open_calls(session.messages)
        await session.append(Message("assistant", (Text("Well."),), "a2", NOON))
        assert [result.status for message in session.messages for result in message.results] == [
            status,
            "interrupted",
        ]
    assert (await JsonlSession.open(path)).messages == session.messages


async def test_who_opens_a_session_may_say_which_tools_change_something(path: Path) -> None:
    session = await JsonlSession.open(path)
    await session.append(asked("a1", "c1", name="launch"))
    await session.mark_started("c1")
    opened = await JsonlSession.open(path, mutating=lambda name: name == "launch")
    assert opened.messages[-1].results[0].status == "outcome_unknown"


async def test_an_old_entry_of_the_journal_says_nothing_of_a_later_call_with_its_id(path: Path) -> None:
    session = await JsonlSession.open(path)
    await session.append(asked("a1", "call_0", name="bash"))
    await session.mark_started("call_0")
    await session.append(answered("t1", "call_0"), asked("a2", "call_0", name="bash"))
    assert (await JsonlSession.open(path)).messages[-1].results[0].status == "interrupted"
    await session.mark_started("call_0")
    assert (await JsonlSession.open(path)).messages[-1].results[0].status == "outcome_unknown"


async def test_a_torn_entry_of_the_journal_is_a_call_that_never_began(path: Path) -> None:
    session = await JsonlSession.open(path)
    await session.append(asked("a1", "c1", "c2", name="bash"))
    await session.mark_started("c1")
    journal = path.with_suffix(".started")
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'["a1", "c')
    opened = await JsonlSession.open(path)
    statuses = [message.results[0].status for message in opened.messages[1:]]
    assert statuses == ["outcome_unknown", "interrupted"]
    await opened.mark_started("c2")
    assert journal.read_bytes().startswith(whole)
    assert journal.read_bytes().endswith(b'\n["a1", "c2"]\n')


async def test_late_and_repeated_results_repair_to_one_history_at_every_load(path: Path) -> None:
    history = (
        said("go", "u1"),
        asked("a1", "c1", "c1", "c2"),
        said("never mind", "u2"),
        answered("t9", "c9"),
        asked("a2", "c1"),
        answered("t1", "c2", "late"),
        answered("t2", "c2", "later"),
    )
    path.write_bytes(lines_of(history))
    expected = (await JsonlSession.open(path)).messages
    for number in range(3):
        session = await JsonlSession.open(path)
        assert session.messages == expected
        await session.append(said("and", f"n{number}"))
        expected = session.messages
    assert path.read_bytes().startswith(lines_of(history))
    assert (await JsonlSession.open(path)).messages == expected


async def test_what_a_repair_made_up_is_written_once_by_the_next_append(path: Path) -> None:
    path.write_bytes(lines_of((asked("a1", "c1", "c2"),)))
    session = await JsonlSession.open(path)
    await session.append(said("so?", "u2"))
    await session.append(said("and?", "u3"))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [row["id"] for row in rows] == ["a1", "a1-s1", "a1-s2", "u2", "u3"]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5]


async def test_an_unreadable_line_is_marked_where_it_stands(path: Path) -> None:
    lines = [encode(said(text, f"m{text}"), 1) for text in ("1", "2", "3")]
    path.write_bytes(b"###\n\n" + lines[0] + b"\n \t\r\n" + lines[1] + b"{}\n" + lines[2])
    session = await JsonlSession.open(path)
    assert [message.text for message in session.messages] == ["1", "2", "3"]
    assert [(mark.line, mark.size, mark.after) for mark in session.marks] == [(1, 3, None), (7, 2, "m2")]
    assert path.read_bytes()[session.marks[1].start :].startswith(b"{}\n")
    assert "Line 7" in str(session.marks[1])


async def test_a_byte_order_mark_and_repeated_lines_are_no_loss(path: Path) -> None:
    first, second = encode(said("one", "m1"), 1), encode(said("two", "m2"), 2)
    path.write_bytes(b"\xef\xbb\xbf" + first + second + second + first[:-1])
    session = await JsonlSession.open(path)
    assert session.messages == (said("one", "m1"), said("two", "m2"))
    assert session.marks == ()


async def test_a_transcript_larger_than_a_block_is_read_whole(path: Path) -> None:
    history = tuple(said(str(number) + "x" * 400_000, f"m{number}") for number in range(8))
    long = said("y" * 3_000_000, "long")
    path.write_bytes(lines_of((*history[:4], long, *history[4:])) + b"torn")
    session = await JsonlSession.open(path)
    assert session.messages == (*history[:4], long, *history[4:])
    assert [tail.read_bytes() for tail in path.parent.glob("*.torn-*")] == [b"torn"]


async def test_a_file_cut_at_any_byte_keeps_its_whole_lines(path: Path) -> None:
    history = (said("già", "u1"), asked("a1", "c1"), answered("t1", "c1", "fatto 👍"))
    whole = lines_of(history)
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        session = await JsonlSession.open(path, disk=CountingDisk())
        kept = sum(end - 1 <= cut for end in ends)
        assert session.messages == pairing.repair(history[:kept])
        await session.append(said("on", "next"))
        again = await JsonlSession.open(path, disk=CountingDisk())
        assert again.messages == (*pairing.repair(history[:kept]), said("on", "next"))
        assert again.marks == ()


@pytest.mark.parametrize("call", range(1, 6))
@pytest.mark.parametrize(("error", "word"), [(ENOSPC, "full"), (EACCES, "right"), (EIO, "disk reports")])
async def test_an_append_that_fails_added_nothing(path: Path, call: int, error: int, word: str) -> None:
    disk = FaultyDisk(error=error)
    session = await JsonlSession.open(path, disk=disk)
    disk.failing = [call]
    with pytest.raises(SessionError, match=word) as failure:
        await session.append(said("lost", "m0"), asked("a0", "c0"))
    assert "s1.jsonl" in str(failure.value)
    assert session.messages == ()
    assert (await JsonlSession.open(path)).messages == ()
    await session.append(said("one", "m1"))
    assert session.messages == (said("one", "m1"),) == (await JsonlSession.open(path)).messages


@pytest.mark.parametrize("call", range(1, 6))
async def test_a_call_that_cannot_be_journalled_is_said_so_before_it_runs(path: Path, call: int) -> None:
    disk = FaultyDisk()
    session = await JsonlSession.open(path, disk=disk)
    await session.append(asked("a1", "c1", name="bash"))
    disk.failing = [disk.calls + call]
    with pytest.raises(SessionError, match=r"s1\.started .*full"):
        await session.mark_started("c1")
    assert (await JsonlSession.open(path)).messages[-1].results[0].status == "interrupted"
    await session.mark_started("c1")
    assert (await JsonlSession.open(path)).messages[-1].results[0].status == "outcome_unknown"


@pytest.mark.parametrize("call", range(1, 14))
async def test_a_repair_that_the_disk_refuses_at_any_call_is_done_by_the_next_append(
    path: Path, call: int
) -> None:
    path.write_bytes(lines_of((asked("a1", "c1"),)) + b"torn")
    session = await JsonlSession.open(path, disk=FaultyDisk(call))
    assert session.messages == pairing.repair([asked("a1", "c1")])
    try:
        await session.append(said("so?", "u2"))
    except SessionError:
        assert path.read_bytes().startswith(lines_of((asked("a1", "c1"),)))
        await session.append(said("so?", "u2"))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [row["id"] for row in rows] == ["a1", "a1-s1", "u2"]
    again = await JsonlSession.open(path)
    assert (again.messages, again.marks) == (session.messages, ())
    assert [tail.read_bytes() for tail in path.parent.glob("*.torn-*")] == [b"torn"]


async def test_a_torn_tail_that_cannot_be_moved_stops_writing_and_not_reading(path: Path) -> None:
    path.write_bytes(lines_of((said("one", "m1"),)) + b"torn")
    disk = FaultyDisk(1, 2)
    session = await JsonlSession.open(path, disk=disk)
    assert session.messages == (said("one", "m1"),)
    with pytest.raises(SessionError, match="full"):
        await session.append(said("two", "m2"))
    await session.append(said("two", "m2"))
    assert (await JsonlSession.open(path)).messages == (said("one", "m1"), said("two", "m2"))


async def test_a_line_that_failed_and_could_not_be_taken_back_is_no_part_of_the_history(path: Path) -> None:
    disk = FaultyDisk()
    session = await JsonlSession.open(path, disk=disk)
    await session.append(said("one", "m1"))
    disk.failing = [disk.calls + 3, disk.calls + 4]  # the sync, and what should take the line back
    with pytest.raises(SessionError, match="full"):
        await session.append(said("two", "m2"))
    assert b'"m2"' in path.read_bytes()
    await session.append(said("three", "m3"))
    assert session.messages == (said("one", "m1"), said("three", "m3"))
    assert (await JsonlSession.open(path)).messages == session.messages


async def test_a_file_that_vanished_or_shrank_is_not_written_anew(path: Path) -> None:
    session = await JsonlSession.open(path)
    await session.append(said("one", "m1"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(SessionError, match="shortened"):
        await session.append(said("two", "m2"))
    path.unlink()
    with pytest.raises(SessionError, match="gone"):
        await session.append(said("two", "m2"))
    assert not path.exists()
    path.write_bytes(whole)
    await session.append(said("two", "m2"))
    assert len(session.messages) == 2


async def test_what_cannot_be_read_is_explained(path: Path) -> None:
    path.mkdir()
    with pytest.raises(SessionError, match=r"s1\.jsonl cannot be read: there is a folder of that name"):
        await JsonlSession.open(path)
    with pytest.raises(SessionError, match="gone"):
        await (await JsonlSession.open(path / "none" / "s2.jsonl")).append(said("one", "m1"))


async def test_arguments_that_are_no_json_are_refused_and_strange_text_is_mended(path: Path) -> None:
    session = await JsonlSession.open(path)
    with pytest.raises(SessionError, match="no JSON"):
        await session.append(Message("assistant", (ToolCall("c1", "t", {"x": object()}),), "a1", NOON))
    await session.append(said("half \ud83d of it", "m1"))
    assert session.messages == (said("half � of it", "m1"),) == (await JsonlSession.open(path)).messages


async def test_the_loop_goes_on_while_an_append_reaches_the_disk(path: Path) -> None:
    disk = HeldDisk()
    session = await JsonlSession.open(path, disk=disk)
    async with anyio.create_task_group() as group:
        for number in range(3):
            group.start_soon(session.append, said(str(number), f"m{number}"))
        await asyncio.sleep(0)
        assert await anyio.to_thread.run_sync(disk.syncing.wait, 10)
        assert session.messages == ()
        disk.release.set()
    assert [message.text for message in session.messages] == ["0", "1", "2"]
    assert (await JsonlSession.open(path)).messages == session.messages


async def test_an_append_that_is_cancelled_half_way_is_still_whole(path: Path) -> None:
    disk = HeldDisk()
    session = await JsonlSession.open(path, disk=disk)
    async with Crew() as crew:
        task = crew.start(session.append(said("one", "m1"), asked("a1", "c1")))
        assert await anyio.to_thread.run_sync(disk.syncing.wait, 10)
        task.cancel()
        disk.release.set()
        await asyncio.wait([task])
    assert task.cancelled()
    assert session.messages == (said("one", "m1"), asked("a1", "c1"))
    await session.append(answered("t1", "c1"))
    assert (await JsonlSession.open(path)).messages == session.messages


TORN = b'{"id":"half'
FIRST = (said("before", "u1"), asked("a1", "c1"), answered("t1", "c1"))
STORY: tuple[tuple[Message, ...], ...] = (
    (said("go", "u2"), asked("a2", "c2", "c3", name="bash")),
    (answered("t2", "c2"), answered("t3", "c3")),
    (said("thanks", "u4"),),
)


class Life:
    """One process: a torn tail is set aside, messages are stored, a call is journalled; what was confirmed."""

    def __init__(self) -> None:
        self.appends = 0
        self.journalled = False

    async def go(self, path: Path, disk: Disk) -> None:
        session = await JsonlSession.open(path, disk=disk)
        for messages in STORY:
            await session.append(*messages)
            self.appends += 1
            if self.appends == 1:
                await session.mark_started("c2")
                self.journalled = True

    def possible(self, fate: Fate) -> list[tuple[Message, ...]]:
        """The histories that may be found afterwards: the confirmed one, or that of the call in progress."""
        told = [*FIRST, *itertools.chain(*STORY[: self.appends])]
        coming = STORY[self.appends]
        parts = range(len(coming) + 1) if fate == "torn" else (0, len(coming))
        begun: list[set[str]] = [{"c2"}] if self.journalled else [set(), {"c2"}]
        return [pairing.repair([*told, *coming[:part]], started=ids) for part in parts for ids in begun]


@pytest.mark.parametrize("fate", get_args(Fate))
async def test_the_power_may_go_before_any_call_to_the_disk(fate: Fate, tmp_path: Path) -> None:
    for cut in itertools.count(1):
        path = tmp_path / str(cut) / "s1.jsonl"
        path.parent.mkdir()
        path.write_bytes(lines_of(FIRST) + TORN)
        life = Life()
        try:
            await life.go(path, CuttableDisk(cut, fate))
        except PowerCut:
            session = await JsonlSession.open(path)
            assert session.messages in life.possible(fate)
            assert session.marks == ()
            assert TORN in [tail.read_bytes() for tail in path.parent.glob("s1.jsonl.torn-*")]
            await session.append(said("after", "u9"))
            assert (await JsonlSession.open(path)).messages == session.messages
        else:
            assert cut > 20
            return


@pytest.mark.parametrize("fate", get_args(Fate))
async def test_what_was_stored_without_a_sync_may_be_lost_alone_until_the_next_one_keeps_it(
    fate: Fate, tmp_path: Path
) -> None:
    asks, results = asked("a2", "c2"), answered("t2", "c2")
    for cut in itertools.count(1):
        path = tmp_path / str(cut) / "s1.jsonl"
        path.parent.mkdir()
        path.write_bytes(lines_of(FIRST))
        kept = 0
        try:
            session = await JsonlSession.open(path, disk=CuttableDisk(cut, fate))
            await session.append(asks, sync=False)
            assert (await JsonlSession.open(path)).messages == pairing.repair([*FIRST, asks])
            await session.append(results)
            kept = 2
        except PowerCut:
            found = (await JsonlSession.open(path)).messages
            parts = [pairing.repair([*FIRST, *(asks, results)[:part]]) for part in range(kept, 3)]
            assert found in parts
        else:
            assert cut > 5
            return


async def test_what_does_not_ask_for_a_sync_gets_one_a_second(path: Path) -> None:
    class Syncs(CountingDisk):
        synced = 0

        def sync(self, descriptor: int) -> None:
            self.synced += 1
            super().sync(descriptor)

    disk, now = Syncs(), [0.0]
    session = await JsonlSession.open(path, disk=disk, monotonic=lambda: now[0])
    await session.append(said("begin", "u0"))
    counts = []
    for number, seconds in enumerate((0.1, 0.9, 1.0, 1.5, 2.1), 1):
        before, now[0] = disk.synced, seconds
        await session.append(said("more", f"u{number}"), sync=False)
        counts.append(disk.synced - before)
    assert counts == [0, 0, 1, 0, 1]


@given(wild_histories() | hurt_histories(), st.sets(call_ids))
def test_memory_and_file_tell_the_same_whatever_is_appended(
    tmp_path_factory: pytest.TempPathFactory, history: tuple[Message, ...], started: set[str]
) -> None:
    path = tmp_path_factory.mktemp("s") / "s1.jsonl"
    asyncio.run(append_and_compare(path, history, started))


async def append_and_compare(path: Path, history: tuple[Message, ...], started: set[str]) -> None:
    memory = MemorySession("s1")
    stored = await JsonlSession.open(path, disk=CountingDisk())
    for message in history:
        for session in (memory, stored):
            await session.append(message)
            for call in pairing.open_calls(session.messages):
                if call.id in started:
                    await session.mark_started(call.id)
        assert stored.messages == memory.messages
    again = await JsonlSession.open(path, disk=CountingDisk())
    closing = Message("assistant", (Text("and on"),), "next", NOON)
    await memory.append(closing)
    await again.append(closing)
    assert memory.messages == again.messages
