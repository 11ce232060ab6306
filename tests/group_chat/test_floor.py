"""Who answers, and who holds the floor afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.floor import (
    Dispatched,
    FloorEvent,
    FormAnswered,
    HandedBack,
    HandedOff,
    JobEnded,
    MemberLeft,
    Passing,
    Roster,
    TakenBack,
    UserSaid,
    addressees,
    hear,
    pass_floor,
)
from app.group_chat.mentions import read_mentions
from tests.case_tables import load_jsonl

ROWS = load_jsonl("floor_cases.jsonl")
NOTHING_HAPPENS = {"reload", "restart", "open_second_tab", "ask_user", "stop"}
ROSTER = Roster(frozenset({"commander", "coder", "tutor", "coach"}), frozenset({"tutor", "coach"}))


@dataclass
class Scene:
    """A room of the table: its steps as events."""

    members: set[str]
    interactive: set[str]
    holder: str = "commander"
    jobs: set[str] = field(default_factory=set)
    unfinished: bool = False

    def go(self, step: dict[str, Any]) -> Passing:
        event = self.event_of(step)
        if event is None:
            return Passing(self.holder)
        passing = pass_floor(self.holder, event, Roster(frozenset(self.members), frozenset(self.interactive)))
        self.holder = json.loads(json.dumps(asdict(passing)))["holder"]
        return passing

    def event_of(self, step: dict[str, Any]) -> FloorEvent | None:
        match step:
            case {"user": text}:
                to = read_mentions("user", text, {member: member.title() for member in self.members}).to
                return UserSaid(to, step.get("folded", False))
            case {"act": "says", "by": by, "text": text}:
                is_back = hear(self.holder, by, text).is_handback
                return HandedBack(by, self.unfinished) if is_back else None
            case {"act": "dispatch_to" | "run_worker", "by": by}:
                self.jobs.add(step.get("to", "worker"))
                return Dispatched(by, step.get("to", ""))
            case {"act": "result" | "run_fails", "by": by} if by in self.jobs:
                self.jobs.remove(by)
                return JobEnded()
            case {"act": "hand_off_to", "by": by, "to": to}:
                self.unfinished = "open_task" in step
                return HandedOff(by, to)
            case {"act": "hand_back", "by": by}:
                return HandedBack(by, self.unfinished)
            case {"act": "form_answer", "to_form_of": to}:
                return FormAnswered(to)
            case {"act": "take_back"}:
                return TakenBack()
            case {"act": "remove_member", "by": _}:
                member = step.get("member") or step["to"]
                self.members.remove(member)
                return MemberLeft(member)
            case {"act": act}:
                assert act in NOTHING_HAPPENS | {"run_fails"}
                return None
        raise AssertionError(step)


def row(id: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """One more row, in a room in which the tutor was handed the floor."""
    members = {"commander": {}, "coder": {}, "tutor": {"interactive": True}, "coach": {"interactive": True}}
    return {
        "id": id,
        "members": members,
        "steps": [said("teach me", "commander", floor="commander"), LESSON, *steps],
    }


def said(text: str, *answers: str, floor: str = "tutor") -> dict[str, Any]:
    return {"user": text, "answers": list(answers), "floor": floor}


def act(act: str, *answers: str, floor: str = "tutor", **more: Any) -> dict[str, Any]:
    return {"act": act, "answers": list(answers), "floor": floor, **more}


LESSON = act("hand_off_to", "tutor", by="commander", to="tutor", open_task="write it down")

OWN_ROWS = [
    row(
        "marker_wakes_commander",
        act("says", "commander", floor="commander", by="tutor", text="Over.\n<handback />"),
    ),
    row("marker_not_last", act("says", by="tutor", text="<handback />\nOver."), said("go on", "tutor")),
    row(
        "marker_of_the_member_the_user_named",
        said("@Coder run it", "coder"),
        act("says", by="coder", text="Ran.\n<handback />"),
        said("go on", "tutor"),
    ),
    row("holder_fails", act("run_fails", by="tutor"), said("again", "tutor")),
    row("stop_keeps", act("stop", by="user"), said("go on", "tutor")),
    row("second_tab_keeps", act("open_second_tab", by="page"), said("go on", "tutor")),
    row(
        "holder_leaves",
        act("remove_member", floor="commander", by="user", member="tutor"),
        said("hi", "commander", floor="commander"),
    ),
    row("another_leaves", act("remove_member", by="user", member="coder"), said("@Coder hi", "tutor")),
    row("name_nobody_has", said("@Painter hi", "tutor")),
    row("name_in_code", said("what does `@Commander` mean?", "tutor")),
    row("commander_among_others", said("@Coder @Commander look", "coder", "commander", floor="commander")),
    row("holder_named_beside_another", said("@Tutor @Coder look", "tutor", "coder")),
    row("member_hands_off", act("hand_off_to", by="coder", to="coach", refused=True), said("go on", "tutor")),
    row("member_dispatches", act("dispatch_to", by="tutor", to="coder", refused=True)),
    row(
        "taken_back_wakes_nobody",
        act("take_back", floor="commander", by="user"),
        said("hi", "commander", floor="commander"),
    ),
    row(
        "job_fails",
        said("@Commander do it", "commander", floor="commander"),
        act("dispatch_to", "coder", floor="commander", by="commander", to="coder"),
        act("run_fails", "commander", floor="commander", by="coder"),
    ),
    row(
        "holder_asks_by_form",
        act("ask_user", by="tutor"),
        act("form_answer", "tutor", by="user", to_form_of="tutor"),
    ),
]
"""More of the kinds that the table describes."""


@pytest.mark.parametrize("row", [*ROWS, *OWN_ROWS], ids=[row["id"] for row in [*ROWS, *OWN_ROWS]])
def test_the_floor_goes_round_as_the_table_says(row: dict[str, Any]) -> None:
    interactive = {member for member, traits in row["members"].items() if traits.get("interactive")}
    scene = Scene(set(row["members"]), interactive)
    for step in row["steps"]:
        passing = scene.go(step)
        assert (list(passing.answers), passing.holder) == (step["answers"], step["floor"]), step
        assert bool(passing.refusal) == step.get("refused", False)


def after(holder: str, *events: FloorEvent) -> Passing:
    passing = Passing(holder)
    for event in events:
        passing = pass_floor(passing.holder, event, ROSTER)
    return passing


def test_a_marker_of_the_holder_gives_the_floor_back() -> None:
    assert hear("tutor", "tutor", "Over.\n<handback />") == (True, "Over.")
    assert after("tutor", HandedBack("tutor")) == Passing("commander")


@pytest.mark.parametrize(
    ("holder", "by"), [("tutor", "coach"), ("commander", "commander"), ("tutor", "commander")]
)
def test_a_marker_of_anybody_else_is_text(holder: str, by: str) -> None:
    assert hear(holder, by, "Over.\n<handback />") == (False, "Over.\n<handback />")
    assert after(holder, HandedBack(by, unfinished=True)).answers == ()
    assert after(holder, HandedBack(by)).refusal


def test_commander_is_addressed_among_others_and_has_the_floor_again() -> None:
    assert after("tutor", UserSaid(("coder", "commander"))) == Passing("commander", ("coder", "commander"))


def test_an_interactive_member_that_the_user_names_does_not_keep_the_floor() -> None:
    assert after("commander", UserSaid(("tutor",))) == Passing("commander", ("tutor",))


def test_a_plain_member_that_is_handed_a_question_leaves_the_floor_where_it_is() -> None:
    assert after("tutor", HandedOff("commander", "coder")) == Passing("tutor", ("coder",))
    assert after("tutor", HandedOff("commander", "coach")) == Passing("coach", ("coach",))


def test_a_holder_that_is_gone_is_followed_by_commander() -> None:
    assert after("tutor", MemberLeft("tutor")) == Passing("commander")
    assert after("tutor", MemberLeft("coach")) == Passing("tutor")
    assert after("painter", UserSaid()) == Passing("commander", ("commander",))


def test_a_form_of_a_worker_without_a_name_is_answered_to_it_and_one_of_nobody_to_nobody() -> None:
    assert after("tutor", FormAnswered("worker")).answers == ("worker",)
    assert after("tutor", FormAnswered("painter")).answers == ()


@pytest.mark.parametrize(
    ("by", "to"),
    [("coder", "tutor"), ("commander", "painter"), ("commander", "commander"), ("commander", "user")],
)
def test_only_commander_asks_and_only_others_in_the_room(by: str, to: str) -> None:
    for event in (Dispatched(by, to), HandedOff(by, to)):
        passing = after("commander", event)
        assert passing.holder == "commander"
        assert passing.answers == ()
        assert passing.refusal


def test_nobody_is_handed_a_question_without_a_name() -> None:
    assert after("commander", HandedOff("commander", "worker")).refusal


EVENTS: st.SearchStrategy[FloorEvent] = st.one_of(
    st.builds(
        UserSaid, st.lists(st.sampled_from(sorted(ROSTER.members)), unique=True).map(tuple), st.booleans()
    ),
    *(
        st.builds(
            kind,
            st.sampled_from(["commander", "coder", "tutor", "painter"]),
            st.sampled_from(["coder", "coach", "x"]),
        )
        for kind in (Dispatched, HandedOff)
    ),
    st.builds(HandedBack, st.sampled_from(["commander", "coder", "tutor", "coach"]), st.booleans()),
    st.builds(FormAnswered, st.sampled_from(["coder", "worker", "x"])),
    st.builds(MemberLeft, st.sampled_from(["coder", "tutor"])),
    st.just(TakenBack()),
    st.just(JobEnded()),
)


@given(st.lists(EVENTS))
def test_the_floor_is_never_lost(events: Iterable[FloorEvent]) -> None:
    holder = "commander"
    for event in events:
        passing = pass_floor(holder, event, ROSTER)
        assert passing.holder in {"commander"} | ROSTER.interactive
        assert set(passing.answers) <= ROSTER.members | {"worker"}
        assert not (passing.refusal and (passing.answers or passing.holder != holder))
        if passing.holder not in (holder, "commander"):
            assert event == HandedOff("commander", passing.holder)
        holder = passing.holder


def test_a_message_without_a_name_is_for_the_holder() -> None:
    assert addressees((), "tutor") == ("tutor",)
    assert addressees(("coder",), "tutor") == ("coder",)
