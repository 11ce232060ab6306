"""``plancia run``: one turn in the terminal, over the same bus, store and runner as the page."""

from __future__ import annotations

import signal
from contextlib import closing
from typing import Any

import pytest

from app.infra.clock import SystemClock
from app.infra.ids import new_id
from app.infra.locks import FolderLock
from app.models.database import open_database
from app.workspace.conversations import list_recent
from app.workspace.rows import ConversationRow
from app.workspace.store import Store
from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, cut, fail, hold, say
from tests.fakes.pictures import png


def conversation_rows(seat: Seat) -> list[ConversationRow]:
    with closing(open_database(seat.folder, SystemClock())) as database:
        return list_recent(Store(database, SystemClock(), new_id))


def fields(event: dict[str, Any]) -> set[str]:
    return event.keys() - {"type", "seq", "time", "conversation", "member", "turn"}


def test_the_answer_is_streamed_to_stdout(seat: Seat, llm: FakeLLM) -> None:
    llm.script(say("Hel", "lo."))
    ran = seat.with_model(llm)("run", "Say hello")
    assert (ran.code, ran.out, ran.err) == (0, "Hello.\n", "")
    assert llm.bodies()[0]["messages"][-1] == {"role": "user", "content": "Say hello"}


def test_files_go_along_with_the_prompt(seat: Seat, llm: FakeLLM) -> None:
    (seat.workspace / "berths.csv").write_text("1,2\n")
    (seat.workspace / "harbour.png").write_bytes(png(8, 6))
    llm.script(say("Two."))
    named = [
        word for name in ("berths.csv", "harbour.png") for word in ("--attach", str(seat.workspace / name))
    ]
    assert seat.with_model(llm)("run", "Count", *named).out == "Two.\n"
    text, picture = llm.bodies()[0]["messages"][-1]["content"]
    assert "/berths.csv (text/csv, 4 bytes)" in text["text"]
    assert text["text"].endswith("Count")
    assert picture["type"] == "image_url"


@pytest.mark.parametrize(
    ("name", "why"), [("gone.txt", "cannot be attached"), ("empty.txt", "empty.txt is empty")]
)
def test_a_file_that_cannot_go_along_is_said_before_anything_is_made(
    seat: Seat, llm: FakeLLM, name: str, why: str
) -> None:
    (seat.workspace / "empty.txt").touch()
    ran = seat.with_model(llm)("run", "Count", "--attach", str(seat.workspace / name))
    assert ran.code == 2
    assert why in ran.err
    assert llm.bodies() == []


def test_json_prints_one_event_per_line_and_done_last(seat: Seat, llm: FakeLLM) -> None:
    llm.script(say("Hel", "lo.", reasoning=["hm"], usage=(11, 7)))
    ran = seat.with_model(llm)("run", "Say hello", "--json")
    events = ran.events
    assert ran.code == 0
    assert "".join(e["text"] for e in events if e["type"] == "text_delta") == "Hello."
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert {e["member"] for e in events} == {"commander"}
    assert len({(e["conversation"], e["turn"]) for e in events}) == 1
    assert all(e["time"].endswith("Z") for e in events)
    done = events[-1]
    assert (done["type"], done["status"], done["text"], done["steps"]) == ("done", "completed", "Hello.", 1)
    assert fields(done) == {"status", "text", "usage", "steps", "tool_errors"}
    assert done["usage"]["input_tokens"] == 11
    assert done["tool_errors"] == {"transient": 0, "permanent": 0}


def test_json_shows_a_tool_call_from_its_arguments_to_its_end(seat: Seat, llm: FakeLLM) -> None:
    arguments = {"path": "notes.md", "content": "milk"}
    llm.script(say(calls=[call("write_file", arguments, id="c1", pieces=2)]), say("Written."))
    events = seat.with_model(llm)("run", "Note milk", "--json").events
    assert (seat.workspace / "notes.md").read_text() == "milk"
    kinds = list(dict.fromkeys(e["type"] for e in events))
    assert kinds == ["tool_delta", "usage", "tool_start", "tool_end", "text_delta", "done"]
    by_kind = {e["type"]: e for e in events}
    assert by_kind["tool_start"]["arguments"] == arguments
    assert fields(by_kind["tool_delta"]) == {"call_id", "name", "text"}
    assert fields(by_kind["tool_end"]) == {"call_id", "name", "result", "is_error", "duration_ms"}
    assert fields(by_kind["usage"]) == {
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "cost",
        "estimated",
    }


def test_somebody_who_watches_sees_the_tools_beside_the_answer(seat: Seat, llm: FakeLLM) -> None:
    llm.script(say("Looking.", calls=[call("read_file", {"path": "gone.md"})]), say("It is gone."))
    ran = seat.with_model(llm)("run", "Read it", watched=True)
    assert ran.out == "Looking.\n\nIt is gone.\n"
    assert "read_file" in ran.err
    assert "E_NOT_FOUND" in ran.err
    assert "--conversation conv_" in ran.err


def test_what_a_terminal_would_obey_is_shown_instead(seat: Seat, llm: FakeLLM) -> None:
    llm.always(say("a\x1b]0;owned\x07b"))
    seat.with_model(llm)
    assert seat("run", "Hi", watched=True).out == "a\ufffd]0;owned\ufffdb\n"
    assert seat("run", "Hi").out == "a\x1b]0;owned\x07b\n"


def test_a_conversation_goes_on(seat: Seat, llm: FakeLLM) -> None:
    llm.script(say("Blue."), say("You said blue."))
    first = seat.with_model(llm)("run", "Remember blue", "--json").events[0]["conversation"]
    again = seat("run", "What did I say?", "--conversation", first, "--json").events
    assert again[-1]["conversation"] == first
    said = [(m["role"], m["content"]) for m in llm.bodies()[1]["messages"] if m["role"] != "system"]
    assert said == [("user", "Remember blue"), ("assistant", "Blue."), ("user", "What did I say?")]


def test_an_unknown_conversation_is_an_error_and_asks_nobody(seat: Seat, llm: FakeLLM) -> None:
    ran = seat.with_model(llm)("run", "Hi", "--conversation", "conv_nope")
    assert ran.code == 2
    assert ran.err == 'There is no conversation "conv_nope". It may have been deleted.\n'
    assert llm.bodies() == []


def test_the_prompt_can_be_piped_in(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    assert seat("run", typed="one\ntwo\n").code == 0
    assert seat("run", "-", typed="three").code == 0
    asked = [body["messages"][-1]["content"] for body in llm.bodies()]
    assert asked == ["one\ntwo\n", "three"]


def test_bytes_that_are_no_text_do_not_break_the_run(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    ran = seat.wait(seat.start("run", b"caf\xe9 au lait"))
    assert (ran.code, ran.err) == (0, "")
    assert llm.bodies()[0]["messages"][-1]["content"] == "caf\ufffd au lait"


@pytest.mark.parametrize(("words", "typed"), [(("run",), ""), (("run", "  "), ""), (("run", "-"), "\n")])
def test_an_empty_prompt_is_refused(seat: Seat, words: tuple[str, ...], typed: str) -> None:
    ran = seat(*words, typed=typed)
    assert ran.code == 2
    assert "Say what to do" in ran.err
    assert not seat.folder.root.exists()


def test_without_a_prompt_a_terminal_is_not_waited_for(seat: Seat) -> None:
    assert seat("run", watched=True).code == 2


def test_an_unknown_agent_names_those_who_exist(seat: Seat) -> None:
    ran = seat("run", "Hi", "--agent", "nobody")
    assert ran.code == 2
    assert ran.err.startswith('There is no agent "nobody". There is: commander, researcher, coder, ')


def test_a_member_is_addressed_by_its_id_or_its_name(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    llm.script(say("Here."), say("Here too."), member="Coder")
    assert seat("run", "Hi", "--agent", "coder").out == "Here.\n"
    events = seat("run", "Hi", "--agent", "CODER", "--json").events
    assert {event["member"] for event in events} == {"coder"}


def test_those_who_are_sent_have_tasks_and_a_done_of_their_own_before_the_last_one(
    seat: Seat, llm: FakeLLM
) -> None:
    seat.with_model(llm)
    jobs = [call("dispatch_to", {"to": to, "message": f"For {to}."}) for to in ("coder", "writer")]
    llm.script(say("Two parts.", calls=jobs), say("Both done."), member="Commander")
    llm.script(say("Patched."), member="Coder")
    llm.script(say("Told."), member="Writer")
    events = seat("run", "Do both", "--json").events
    tasks = [(e["member"], e["state"], e["job"]) for e in events if e["type"] == "task"]
    assert sorted(tasks) == sorted(
        (member, state, f"For {member}.")
        for member in ("coder", "writer")
        for state in ("queued", "running", "done")
    )
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    done = [(e["member"], e["text"]) for e in events if e["type"] == "done"]
    assert sorted(done[:2]) == [("coder", "Patched."), ("writer", "Told.")]
    assert done[2:] == [("commander", "Both done.")]
    assert events[-1]["type"] == "done"


def test_in_a_terminal_those_who_are_sent_are_told_of_beside_the_answer(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    job = [call("dispatch_to", {"to": "coder", "message": "Patch it."})]
    llm.script(say("I ask Coder.", calls=job), say("Done."), member="Commander")
    llm.script(say("Patched.\nAnd tested."), member="Coder")
    ran = seat("run", "Do it", watched=True)
    assert "Patched" not in ran.out
    assert "· coder: Patch it." in ran.err
    assert "  coder: Patched. And tested." in ran.err
    assert ran.out.endswith("Done.\n")


def test_who_is_handed_the_floor_is_heard_and_the_last_line_is_that_of_the_turn_asked_for(
    seat: Seat, llm: FakeLLM
) -> None:
    seat.with_model(llm)
    hand_off = [call("hand_off_to", {"to": "tutor", "message": "A lesson."})]
    llm.script(say("Tutor does that.", calls=hand_off), member="Commander")
    llm.script(say("First lesson."), say("Second."), member="Tutor")
    events = seat("run", "Teach me", "--json").events
    assert [(e["member"], e["type"]) for e in events if e["type"] == "done"] == [
        ("tutor", "done"),
        ("commander", "done"),
    ]
    again = seat("run", "Go on", "--conversation", events[0]["conversation"])
    assert again.out == "Second.\n"


def sets_plan(llm: FakeLLM, *steps: dict[str, Any]) -> None:
    given = [{"index": index, "title": f"Part {index}", **step} for index, step in enumerate(steps, 1)]
    llm.script(say("", calls=[call("set_plan", {"steps": given})]), member="Commander")


def test_a_step_of_the_user_is_asked_at_the_terminal_and_the_plan_goes_on(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    sets_plan(llm, {"assignee": "user", "input": "Which colour?"}, {"assignee": "writer"})
    llm.script(say("It is red."), member="Writer")
    ran = seat("run", "Paint it.", typed="Red.\n", watched=True)
    assert ran.code == 0
    assert "writer: It is red." in ran.err


def test_a_step_of_the_user_whom_nobody_could_ask_is_skipped_and_the_run_says_so(
    seat: Seat, llm: FakeLLM
) -> None:
    seat.with_model(llm)
    sets_plan(llm, {"assignee": "user", "input": "Which colour?"}, {"assignee": "writer"})
    llm.script(say("It is any."), member="Writer")
    ran = seat("run", "Paint it.")
    assert (ran.code, "One call or form needed somebody to ask" in ran.err) == (3, True)
    assert len(llm.bodies()) == 2


@pytest.mark.parametrize(
    ("on_failure", "words"),
    [
        ("ask_commander", "Step 1 of the plan failed: "),
        ("abort_plan", "Step 1 failed, and the plan with it: "),
    ],
)
def test_a_plan_that_did_not_come_to_its_end_is_no_success(
    seat: Seat, llm: FakeLLM, on_failure: str, words: str
) -> None:
    seat.with_model(llm)
    sets_plan(llm, {"assignee": "coder", "on_failure": on_failure})
    llm.script(fail(400, "This request is not valid."), member="Coder")
    llm.script(say("The user has to decide."), member="Commander")
    ran = seat("run", "Go.")
    assert (ran.code, words in ran.err) == (1, True), ran.err
    llm.script(say("It is noon."), member="Commander")
    (row,) = conversation_rows(seat)
    assert seat("run", "What time is it?", "--conversation", row.id).code == 0, "it is not of this run"


def test_a_model_is_pinned_to_the_conversation(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    other = ("--kind", "openai", "--base-url", llm.base_url, "--model", "other-model")
    assert seat("provider", "add", "other", *other).code == 0
    first = seat("run", "Hi", "--model", "other/other-model", "--json").events[0]["conversation"]
    seat("run", "Hi again", "--conversation", first)
    assert [body["model"] for body in llm.bodies()] == ["other-model", "other-model"]


def test_a_failed_turn_says_why_and_its_done_says_it_too(seat: Seat, llm: FakeLLM) -> None:
    llm.always(fail(401, "Incorrect API key provided.", code="invalid_api_key"))
    seat.with_model(llm)
    ran = seat("run", "Hi")
    assert (ran.code, ran.out) == (1, "")
    assert len(ran.err.splitlines()) == 1
    done = seat("run", "Hi", "--json").events[-1]
    assert (done["status"], done["error"]["kind"]) == ("failed", "auth")
    assert done["error"]["message"] == ran.err.strip()


def test_an_answer_that_was_cut_off_is_no_success(seat: Seat, llm: FakeLLM) -> None:
    llm.always(cut(say("Half of", " it"), after=1))
    ran = seat.with_model(llm)("run", "Hi")
    assert (ran.code, ran.out) == (1, "Half of\n")
    assert "What was written so far is kept." in ran.err


def test_an_unknown_model_cannot_be_and_nothing_is_made_of_it(seat: Seat, llm: FakeLLM) -> None:
    ran = seat.with_model(llm)("run", "Hi", "--model", "nowhere/x", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere" in ran.err
    assert conversation_rows(seat) == []


def test_a_model_that_its_server_does_not_know_is_no_model_either(seat: Seat, llm: FakeLLM) -> None:
    llm.always(fail(404, "The model `fake-model` does not exist", code="model_not_found"))
    ran = seat.with_model(llm)("run", "Hi", "--model", "fake/fake-model", "--json")
    assert ran.code == 2
    assert ran.events[-1]["error"]["kind"] == "unknown_model"
    assert seat("run", "Hi").code == 1, "Where none was typed, nothing was typed wrong."


@pytest.mark.parametrize("failing", ["unknown", "refused"])
def test_a_conversation_keeps_the_model_it_had_where_the_one_that_was_typed_fails(
    seat: Seat, llm: FakeLLM, failing: str
) -> None:
    llm.script(say("Here."))
    first = seat.with_model(llm)("run", "Hi", "--model", "fake/fake-model", "--json").events[0][
        "conversation"
    ]
    if failing == "refused":
        llm.always(fail(401, "Incorrect API key provided.", code="invalid_api_key"))
        other = ("--kind", "openai", "--base-url", llm.base_url, "--model", "other-model")
        assert seat("provider", "add", "other", *other).code == 0
    model = {"unknown": "bogus", "refused": "other/other-model"}[failing]
    assert seat("run", "And now?", "--conversation", first, "--model", model).code != 0
    assert [row.model for row in conversation_rows(seat)] == ["fake/fake-model"]


def test_a_model_without_a_price_changes_nothing_where_a_budget_is_set(seat: Seat, llm: FakeLLM) -> None:
    llm.script(say("Here."))
    first = seat.with_model(llm)("run", "Hi", "--json").events[0]["conversation"]
    words = ("--conversation", first, "--model", "fake/fake-model", "--max-cost", "1")
    assert seat("run", "And now?", *words).code == 2
    assert [row.model for row in conversation_rows(seat)] == [None]


def test_a_budget_needs_a_known_price(seat: Seat, llm: FakeLLM) -> None:
    ran = seat.with_model(llm)("run", "Hi", "--max-cost", "0.5")
    assert ran.code == 2
    assert "fake/fake-model" in ran.err
    assert llm.bodies() == []


def test_a_spent_budget_ends_the_run_before_the_next_call(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm, "--price-in", "1000", "--price-out", "1000")
    llm.script(say(calls=[call("write_file", {"path": "a.txt", "content": "a"})], usage=(500, 500)))
    ran = seat("run", "Write", "--max-cost", "0.9", "--json")
    done = ran.events[-1]
    assert ran.code == 1
    assert (done["status"], done["reason"], done["error"]["kind"]) == ("failed", "budget", "budget")
    assert done["usage"]["cost"] == pytest.approx(1.0)
    assert (seat.workspace / "a.txt").read_text() == "a", "What was paid for is done."
    assert len(llm.bodies()) == 1


def test_a_last_call_may_cost_more_than_the_budget(seat: Seat, llm: FakeLLM) -> None:
    """Nothing was left to be called: the answer is whole."""
    seat.with_model(llm, "--price-in", "1000", "--price-out", "1000")
    llm.script(say("Done.", usage=(500, 500)))
    assert seat("run", "Say it", "--max-cost", "0.1").code == 0


def test_a_budget_counts_this_run_only(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm, "--price-in", "1000", "--price-out", "1000")
    llm.always(say("Done.", usage=(500, 500)))
    assert [seat("run", "Say it", "--max-cost", "0.9").code for _ in range(3)] == [0, 0, 0]


def test_with_nothing_configured_the_demo_model_says_what_it_is(seat: Seat) -> None:
    ran = seat("run", "Hello")
    assert ran.code == 0
    assert ran.out
    assert "Demo model: scripted, not an AI" in ran.err


def test_a_folder_in_use_is_refused_in_words(seat: Seat) -> None:
    seat.folder.create()
    with FolderLock(seat.folder):
        ran = seat("run", "Hi")
    assert ran.code == 1
    assert "already running" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_missing_workspace_is_refused(seat: Seat) -> None:
    ran = seat("run", "Hi", "--workspace", str(seat.home / "gone"))
    assert ran.code == 2
    assert "there is no such folder" in ran.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_keeps_the_history(seat: Seat, llm: FakeLLM, how: signal.Signals) -> None:
    seat.with_model(llm)
    llm.script(hold(say("Half of", " it"), after=1))
    process = seat.start("run", "Tell me", "--json")
    llm.wait_held()
    process.send_signal(how)
    ran = seat.wait(process)
    assert (ran.code, ran.err) == (130, "")
    assert ran.events[-1]["status"] == "aborted"
    llm.release()
    llm.script(say("And on."))
    assert seat("run", "Go on", "--conversation", ran.events[0]["conversation"]).code == 0
    said = [m["content"] for m in llm.bodies()[-1]["messages"] if m["role"] != "system"]
    assert said[0] == "Tell me"
    assert said[1].startswith("Half of")
    assert said[-1] == "Go on"


def test_a_reader_that_leaves_ends_the_run(seat: Seat, llm: FakeLLM) -> None:
    seat.with_model(llm)
    llm.script(hold(say("Half of", " it"), after=1))
    process = seat.start("run", "Tell me")
    llm.wait_held()
    assert process.stdout is not None
    process.stdout.close()
    llm.release()
    assert process.wait(timeout=30) == 1
    assert process.stderr is not None
    with process.stderr as errors:
        assert errors.read() == b""
