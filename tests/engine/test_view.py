"""What a model sees of a history: whole, and with a summary in the place of its older part."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.compaction import Compact
from app.engine.messages import Message, Summary, Text
from app.engine.pairing import is_paired, repair
from app.engine.session import JsonlSession
from app.engine.view import GrowingView, View, before_tail, replaced_by, summary_message, view
from tests.engine.histories import NOON, generated, hurt_histories, wild_histories

HISTORY = generated(3)
"""q1 a1 r1 e1, q2 a2 r2 e2, q3 a3 r3 e3"""


def summary(kept_from: str | None, *resend: str, id: str = "s1") -> Message:
    return Message("user", (Text("so far"),), id, NOON, summary=Summary(kept_from, resend, 900, 90))


def ids(seen: View) -> list[str]:
    return [message.id for message in seen.messages]


def test_a_history_without_a_summary_is_seen_whole() -> None:
    assert view(HISTORY) == View(HISTORY)


def test_a_summary_stands_in_the_place_of_what_it_replaces() -> None:
    seen = view((*HISTORY, summary("a3", "q3"), Message("user", (Text("on"),), "q4", NOON)))
    assert (ids(seen), seen.head) == (["s1", "q3", "a3", "r3", "e3", "q4"], 2)


def test_the_last_summary_counts() -> None:
    history = (*HISTORY[:8], summary("q2"), *HISTORY[8:], summary("e3", id="s2"))
    assert ids(view(history)) == ["s2", "e3"]


def test_what_left_the_view_when_a_summary_came() -> None:
    history = (*HISTORY[:8], summary("q2", "q1"), *HISTORY[8:], summary("e3", "q3", id="s2"))
    for id, gone in (("s1", ["a1", "r1", "e1"]), ("s2", ["s1", "q1", "q2", "a2", "r2", "e2", "a3", "r3"])):
        found = replaced_by(id, history)
        assert found is not None
        assert (found[0].id, [message.id for message in found[1]]) == (id, gone)
    assert replaced_by("s3", history) is None
    assert replaced_by("q1", history) is None


@pytest.mark.parametrize(
    ("kept_from", "resend", "expected"),
    [
        (None, (), ["s1"]),
        ("lost", ("lost", "a3"), ["s1"]),
        ("r2", (), ["s1", "a2", "r2", "e2", "q3", "a3", "r3", "e3"]),
        ("q1", ("q1",), ["s1", *(message.id for message in HISTORY)]),
    ],
    ids=["nothing kept", "line lost", "inside a step", "kept anyway"],
)
def test_a_summary_that_does_not_fit_its_history_still_gives_a_paired_view(
    kept_from: str | None, resend: tuple[str, ...], expected: list[str]
) -> None:
    seen = view((*HISTORY, summary(kept_from, *resend)))
    assert ids(seen) == expected
    assert is_paired(seen.messages)


def test_what_is_sent_again_is_sent_again_by_the_next_summary_too() -> None:
    history = (*HISTORY, summary("a3", "q3"))
    seen = view(history)
    second = summary_message(seen, Compact(4, (1,), 900, 90), (Text("so far"),), id="s2", time=NOON)
    assert ids(view((*history, second))) == ["s2", "q3", "e3"]
    early = summary_message(seen, Compact(1, (), 900, 90), (Text("so far"),), id="s2", time=NOON)
    assert ids(view((*history, early))) == ["s2", "q3", "a3", "r3", "e3"]
    assert before_tail(history, seen, 4) == history[:11]
    assert before_tail(HISTORY, view(HISTORY), 12) == HISTORY


@pytest.mark.anyio
async def test_a_compacted_session_is_seen_the_same_after_a_restart(tmp_path: Path) -> None:
    session = await JsonlSession.open(tmp_path / "s.jsonl")
    await session.append(*HISTORY)
    whole = (tmp_path / "s.jsonl").read_bytes()
    await session.append(summary("a3", "q3"))
    again = await JsonlSession.open(tmp_path / "s.jsonl")
    assert view(again.messages) == view(session.messages)
    assert (tmp_path / "s.jsonl").read_bytes().startswith(whole)


def test_between_two_summaries_a_view_only_grows() -> None:
    growing = GrowingView()
    history = (*HISTORY[:4], summary("q1"), *HISTORY[4:])
    seen = View(())
    for end in range(5, len(history) + 1):
        longer = growing.of(history[:end])
        assert all(one is other for one, other in zip(seen.messages, longer.messages, strict=False))
        seen = longer


@given(st.lists(st.one_of(hurt_histories(), wild_histories()), min_size=1, max_size=3), st.data())
def test_a_view_of_a_repaired_history_is_paired_however_it_came_about(
    histories: list[tuple[Message, ...]], data: st.DataObject
) -> None:
    growing = GrowingView()
    for number, history in enumerate(histories):
        messages = list(history)
        for place in data.draw(st.lists(st.integers(0, len(messages)), max_size=2)):
            known = [message.id for message in messages] or [""]
            kept = data.draw(st.sampled_from([*known, "lost"]))
            messages.insert(place, summary(kept, data.draw(st.sampled_from(known)), id=f"s{number}{place}"))
        whole = repair(messages)
        for end in (len(whole), len(whole) // 2, len(whole)):
            assert growing.of(whole[:end]) == view(whole[:end])
        assert is_paired(view(whole).messages)
