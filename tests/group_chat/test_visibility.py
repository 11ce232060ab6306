"""Who sees what of a conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.visibility import Request, Said, carry, slice_of, to_replay
from tests.case_tables import load_jsonl

ROWS = load_jsonl("visibility_cases.jsonl")


def said(row: dict[str, Any]) -> Said:
    return Said(
        row["id"],
        row["from"],
        tuple(row.get("to_after", row["to"])),
        row.get("edited_to", row["text"]),
        tuple(row.get("attachments", ())),
        row.get("hidden", False),
        row.get("deleted", False),
    )


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_slices_are_as_the_table_says(row: dict[str, Any]) -> None:
    messages = [said(message) for message in row["messages"]]
    seen = {who: [message.id for message in slice_of(messages, who)] for who in row["slices"]}
    assert seen == row["slices"]


def test_the_work_of_a_worker_without_a_name_is_between_it_and_commander() -> None:
    job = Said("m1", "commander", ("worker",), "count", hidden=True)
    answer = Said("m2", "worker", ("commander",), "12", hidden=True)
    aside = Said("m3", "worker", ("worker",), "10, 11, 12", hidden=True)
    told = {"user": [], "coder": [], "commander": [job, answer], "worker": [job, answer, aside]}
    for who, seen in told.items():
        assert slice_of([job, answer, aside], who) == seen


def test_a_starting_member_is_told_what_it_has_neither_said_nor_heard() -> None:
    order = Said("m1", "commander", ("coder",))
    own = Said("m2", "coder", ("user",))
    aside = Said("m3", "user", ("writer",))
    question = Said("m4", "user", ("coder",))
    room = [order, own, aside, question]
    assert to_replay(room, "coder", ()) == [order, question]
    assert to_replay(room, "coder", {"m1"}) == [question]
    assert to_replay(room, "commander", {"m3"}) == [own, question]


@given(
    st.lists(
        st.builds(
            Said,
            st.uuids().map(str),
            st.sampled_from(["user", "commander", "coder"]),
            st.lists(st.sampled_from(["user", "commander", "coder", "writer"]), min_size=1).map(tuple),
            hidden=st.booleans(),
            deleted=st.booleans(),
        )
    )
)
def test_commander_sees_what_anybody_else_sees_of_the_chat_and_order_stays(room: list[Said]) -> None:
    chat = slice_of(room, "user")
    for who in ("commander", "coder", "writer"):
        seen = slice_of(room, who)
        assert seen == [message for message in room if message in seen]
        assert all(message in slice_of(room, "commander") for message in seen if not message.hidden)
    assert all(message in slice_of(room, "commander") for message in chat)


def test_a_job_carries_the_request_first_and_itself_last_with_the_files_of_both() -> None:
    asked = Request("Prepare the report on berth 14", ("berths.csv",))
    job = Request("Check the figures", ("figures.csv", "berths.csv"))
    carried = carry([asked, Request("by Friday")], job)
    assert carried.text.index(asked.text) < carried.text.index("by Friday") < carried.text.index(job.text)
    assert carried.text.endswith(job.text)
    assert carried.attachments == ("berths.csv", "figures.csv")


def test_a_job_that_nobody_asked_for_is_only_itself() -> None:
    assert carry([], Request("Check it")) == Request("Check it")
    assert carry([Request("", ("knot.png",))], Request("Look")) == Request("Look", ("knot.png",))


def test_what_is_carried_is_no_template() -> None:
    assert carry([Request("{{ job }}")], Request("{% if x %}")).text.count("{{ job }}") == 1
