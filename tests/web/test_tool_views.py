"""The row of a command: its line, its colours, what is missing of its output, and the job that it became."""

from __future__ import annotations

from typing import Any

from app.hands.command_result import in_background, in_words
from app.hands.executor import Ended
from app.web.entries import ToolView
from app.web.views import message_view
from app.workspace.rows import MessageState
from tests.web.samples import row


def command(state: MessageState = "done", **data: Any) -> ToolView:
    given: dict[str, Any] = {"call_id": "c", "name": "bash", "arguments": {"command": "make test"}}
    view = message_view(row("tool_call", state, **(given | data)))
    assert isinstance(view, ToolView)
    return view


def ended(code: int = 0, output: str = "(no output)", **more: Any) -> dict[str, Any]:
    result = f"{in_words(Ended('exit', code, None, 1.2), '/home/me/work')}\n{output}"
    return {"result": result, "duration_ms": 1200, **more}


def facts(view: ToolView) -> dict[str, str]:
    return {name: shown.text for name, shown in view.arguments}


def test_the_line_of_a_command_says_what_it_was_and_the_rest_where_it_ran() -> None:
    view = command(**ended(output="out\n", progress="out\n"))
    assert (view.icon, view.verb, view.target, view.stat) == ("terminal", "run", "make test", "")
    assert facts(view) == {"command": "make test", "folder": "/home/me/work"}
    assert view.screen is not None
    assert (view.screen.closed, view.screen.note, view.whole) == ("out\n", "", "")


def test_a_code_other_than_0_is_seen_at_once_and_is_no_failure_of_the_call() -> None:
    view = command(**ended(2))
    assert (view.state, view.stat, view.is_bad) == ("done", "exit 2", True)
    killed = command(result=f"{in_words(Ended('exit', None, 9, 0.1), '/w')}\n(no output)")
    assert (killed.stat, killed.is_bad) == ("killed by SIGKILL", True)


def test_a_command_without_output_says_so() -> None:
    view = command(**ended())
    assert (view.screen, view.output.shown.text) == (None, "(no output)")


def test_colours_stay_when_it_has_ended() -> None:
    view = command(**ended(output="ok\n", progress="\x1b[32mok\x1b[0m\n"))
    assert view.screen is not None
    assert view.screen.closed == '<span class="out-green">ok</span>\n'
    assert view.screen.note == ""


def test_of_a_long_output_the_end_is_shown_and_the_way_to_all_of_it() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000))
    view = command(**ended(output=text, progress=text))
    assert view.screen is not None
    assert view.screen.note == "last 200 lines shown"
    assert view.screen.closed.endswith("line 999\n")
    assert view.whole == f"/conversations/conv_1/texts/{view.id}"


def test_what_was_cut_off_keeps_what_it_had_said() -> None:
    view = command("interrupted", progress="half\n")
    assert view.screen is not None
    assert (view.screen.closed, view.stat) == ("half\n", "cut off")


def test_a_command_that_took_too_long_says_what_to_do() -> None:
    told = in_words(Ended("timeout", None, 15, 120.0), "/w")
    view = command(
        "failed",
        result=f"E_TIMEOUT: The command was ended. Give it a longer timeout_ms.\n{told}\nbegun\n",
        error_code="E_TIMEOUT",
        progress="begun\n",
    )
    assert (view.stat, view.is_bad) == ("took too long", True)
    assert view.said == "The command was ended. Give it a longer timeout_ms."


def test_a_refusal_is_its_output() -> None:
    view = command("failed", result="E_DENIED: The user said no.", error_code="E_DENIED")
    assert (view.screen, view.output.shown.text) == (None, "E_DENIED: The user said no.")


def test_one_in_the_background_leads_to_its_job() -> None:
    view = command(result=in_background("job_1", "/w"))
    assert (view.stat, view.is_bad, view.job) == ("as a job", False, "/jobs/job_1")
    asked = message_view(
        row("tool_call", call_id="c", name="job_read", arguments={"job_id": "job_1"}, result="[job_1 runs]")
    )
    assert isinstance(asked, ToolView)
    assert (asked.verb, asked.target, asked.job) == ("look at job", "job_1", "/jobs/job_1")


def test_an_id_that_is_none_leads_nowhere() -> None:
    for id in ("../settings", "job_<b>", ""):
        view = message_view(row("tool_call", call_id="c", name="job_stop", arguments={"job_id": id}))
        assert isinstance(view, ToolView)
        assert view.job == ""


def test_another_tool_that_says_the_same_is_no_command() -> None:
    view = message_view(
        row("tool_call", call_id="c", name="read_file", arguments={"path": "log"}, **ended(3))
    )
    assert isinstance(view, ToolView)
    assert (view.stat, view.screen) == ("", None)


def test_a_call_that_waits_for_the_user_does_not_say_that_it_runs() -> None:
    assert command("streaming").stat == "running"
    assert command("streaming", asks=True).stat == "waits for you"
    assert command("interrupted", asks=True).stat == "cut off"
