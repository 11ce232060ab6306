"""The demo model: it really acts, and it never claims what did not happen."""

from __future__ import annotations

import pytest

from app.engine.messages import Message, Text, ToolResult
from app.engine.provider import ModelRequest, TextChunk, UsageReport
from app.providers.demo import MODEL, NAME, SUGGESTIONS, Demo
from app.providers.demo_scene import scene_kind
from app.providers.demo_words import NOTE, SAMPLE
from tests.fakes.clock import FakeClock
from tests.providers.demo_stage import ALL_TOOLS, Stage

TOUR, _, LOOK, SAMPLE_PROMPT = (suggestion.prompt for suggestion in SUGGESTIONS)
NOTE_NAME = "plancia-tour.md"

pytestmark = pytest.mark.anyio


async def test_a_tour_looks_writes_reads_back_and_tells() -> None:
    stage = Stage({"cargo.txt": "tea"})
    closing = await stage.say(TOUR)
    assert stage.acts == ["list_files .", f"write_file {NOTE_NAME}", f"read_file {NOTE_NAME}"]
    assert stage.files[NOTE_NAME] == NOTE
    assert "reading it back shows" in closing
    assert "- Write `plancia-tour.md`: done" in closing


async def test_the_same_history_gets_the_same_answer() -> None:
    first, second = Stage(), Stage()
    assert await first.say(TOUR) == await second.say(TOUR)
    assert first.messages == second.messages


async def test_a_note_of_an_earlier_tour_is_read_and_written_anew() -> None:
    stage = Stage({NOTE_NAME: "# A note from the Plancia tour\n\nolder words\n"})
    await stage.say(TOUR)
    assert stage.acts == [
        "list_files .",
        f"read_file {NOTE_NAME}",
        f"write_file {NOTE_NAME}",
        f"read_file {NOTE_NAME}",
    ]
    assert stage.files == {NOTE_NAME: NOTE}


async def test_a_file_of_the_user_is_left_alone_and_another_name_taken() -> None:
    stage = Stage({NOTE_NAME: "my own notes about a tour"})
    closing = await stage.say(TOUR)
    assert stage.files == {NOTE_NAME: "my own notes about a tour", "plancia-tour-2.md": NOTE}
    assert "The note is in `plancia-tour-2.md`" in closing


async def test_without_a_look_a_refused_write_leads_to_reading_first() -> None:
    stage = Stage({NOTE_NAME: NOTE}, tools=("read_file", "write_file"))
    closing = await stage.say(TOUR)
    assert stage.acts == [
        f"write_file {NOTE_NAME}",
        f"read_file {NOTE_NAME}",
        f"write_file {NOTE_NAME}",
        f"read_file {NOTE_NAME}",
    ]
    assert "refused. `E_NOT_READ`: read plancia-tour.md first." in closing
    assert "reading it back shows" in closing


async def test_when_all_names_are_taken_nothing_is_written_and_it_says_so() -> None:
    files = dict.fromkeys((NOTE_NAME, "plancia-tour-2.md", "plancia-tour-3.md"), "mine")
    stage = Stage(dict(files))
    assert "No note was written." in await stage.say(TOUR)
    assert stage.files == files


async def test_a_denied_write_is_told_as_denied() -> None:
    stage = Stage(denied=True)
    closing = await stage.say(TOUR)
    assert stage.acts == ["list_files .", f"write_file {NOTE_NAME}"]
    assert "No note was written." in closing
    assert "done" not in closing.split("Write `plancia-tour.md`")[1].split("\n")[0]


async def test_without_tools_it_says_that_it_did_nothing() -> None:
    stage = Stage(tools=())
    assert "So I did nothing." in await stage.say(TOUR)
    assert stage.acts == []


async def test_without_a_reading_tool_it_does_not_claim_to_have_read() -> None:
    stage = Stage(tools=("write_file",))
    closing = await stage.say(TOUR)
    assert stage.files == {NOTE_NAME: NOTE}
    assert "reading it back" not in closing
    assert "I did not see it" in closing


@pytest.mark.parametrize("word", ["", "Continue", "please go on"])
async def test_a_stopped_tour_goes_on_from_what_happened(word: str) -> None:
    stage = Stage()
    stage.hear(TOUR)
    for _ in range(2):
        call = await stage.ask()
        assert call is not None
        stage.act(call)
    stage.stop()
    if word:
        stage.hear(word)
    assert "reading it back shows" in await stage.play()
    assert stage.acts == ["list_files .", f"write_file {NOTE_NAME}", f"read_file {NOTE_NAME}"]


async def test_a_write_that_never_ran_is_done_after_all() -> None:
    stage = Stage(tools=("write_file", "read_file"))
    stage.hear(TOUR)
    call = await stage.ask()
    assert call is not None
    stage.result(ToolResult(call.id, "Cut off.", "interrupted"))
    stage.stop()
    closing = await stage.play()
    assert stage.acts == [f"write_file {NOTE_NAME}", f"write_file {NOTE_NAME}", f"read_file {NOTE_NAME}"]
    assert "Write `plancia-tour.md`: cut off before it ran." in closing
    assert stage.files == {NOTE_NAME: NOTE}


@pytest.mark.parametrize("written", [True, False])
async def test_a_write_that_nobody_saw_end_is_looked_at_not_repeated(written: bool) -> None:
    stage = Stage(tools=("write_file", "read_file"))
    stage.hear(TOUR)
    call = await stage.ask()
    assert call is not None
    stage.files.update({NOTE_NAME: NOTE} if written else {})
    stage.result(ToolResult(call.id, "Unknown.", "outcome_unknown"))
    closing = await stage.play()
    assert stage.acts == [f"write_file {NOTE_NAME}", f"read_file {NOTE_NAME}"]
    assert ("reading it back shows" in closing) is written
    assert ("No note was written." in closing) is not written


async def test_after_a_stop_another_question_gets_its_own_answer() -> None:
    stage = Stage()
    stage.hear(TOUR)
    call = await stage.ask()
    assert call is not None
    stage.act(call)
    stage.stop()
    assert "You wrote: “What is the tide?”" in await stage.say("What is the tide?")
    assert stage.files == {}


async def test_what_is_put_in_on_the_way_is_acknowledged_once_and_the_tour_goes_on() -> None:
    stage = Stage()
    stage.hear(TOUR)
    call = await stage.ask()
    assert call is not None
    stage.act(call)
    stage.hear("Use *French*, please")
    closing = await stage.play()
    said = "".join(message.text for message in stage.messages if message.role == "assistant")
    assert said.count("You added: “Use French , please”") == 1
    assert "reading it back shows" in closing


async def test_two_messages_at_once_count_by_the_one_it_knows() -> None:
    stage = Stage()
    stage.hear("Good morning")
    stage.hear(TOUR)
    assert "reading it back shows" in await stage.play()


async def test_a_stopped_answer_goes_on_at_the_very_word() -> None:
    stage = Stage(tools=())
    stage.hear(SAMPLE_PROMPT)
    stage.messages.append(Message("assistant", (Text(SAMPLE[:500]),), "part", ""))
    stage.stop()
    stage.hear("Continue")
    assert SAMPLE[:500] + await stage.play() == SAMPLE


async def test_looking_opens_the_readme_first_and_quotes_what_came_back() -> None:
    stage = Stage({"a.txt": "first", "README.md": "Hello there"})
    closing = await stage.say(LOOK)
    assert stage.acts == ["list_files .", "read_file README.md"]
    assert "Hello there" in closing
    assert "- a.txt (12 bytes)" in closing
    assert stage.files == {"a.txt": "first", "README.md": "Hello there"}


async def test_looking_at_an_empty_folder_opens_nothing() -> None:
    assert "I saw no text file to open." in await Stage().say(LOOK)


async def test_a_file_cannot_break_out_of_its_quotation() -> None:
    closing = await Stage({"a.md": "```\n# not a heading\n```"}).say(LOOK)
    assert "````text\n1\t```" in closing


async def test_a_history_full_of_failures_ends() -> None:
    stage = Stage()
    stage.hear(TOUR)
    for _ in range(40):
        call = await stage.ask()
        if call is None:
            break
        stage.result(ToolResult(call.id, "Cut off.", "interrupted"))
    assert stage.messages[-1].calls == ()
    assert "No note was written." in stage.messages[-1].text


@pytest.mark.parametrize(
    "text", ["tour", "Give me the tour!", "Mi fai un giro?", "show me around", TOUR.upper()]
)
def test_a_request_for_a_tour_is_known(text: str) -> None:
    assert scene_kind(text) == "tour"


@pytest.mark.parametrize(
    "text", ["", "tourist", "the contour of the coast", "detour", "tour " * 60, "girofalco"]
)
def test_look_alikes_are_no_request_for_a_tour(text: str) -> None:
    assert scene_kind(text) == "other"


@pytest.mark.parametrize("tools", [ALL_TOOLS, ()])
async def test_anything_else_is_answered_by_what_it_is_and_how_to_add_a_model(tools: tuple[str, ...]) -> None:
    stage = Stage(tools=tools)
    answer = await stage.say("# Which\n`port` is <b>next</b>?")
    assert "You wrote: “Which port is b next /b ?”" in answer
    assert "not an AI" in answer
    assert "plancia provider add" in answer
    assert stage.acts == []


def test_each_suggestion_is_a_scene_of_its_own() -> None:
    for form in (lambda s: s.prompt, lambda s: s.title, lambda s: f" {s.title.upper()}!\n"):
        assert [scene_kind(form(suggestion)) for suggestion in SUGGESTIONS] == [
            "tour",
            "team",
            "look",
            "sample",
        ]


async def test_it_streams_small_pieces_at_a_natural_pace() -> None:
    clock = FakeClock()
    request = ModelRequest(NAME, "", (Message("user", (Text("Hello"),), "m1", ""),))
    batches = [batch async for batch in Demo(clock).stream(request)]
    pieces = [event.text for batch in batches for event in batch if isinstance(event, TextChunk)]
    assert max(len(piece) for piece in pieces) < 80
    assert len(pieces) > 50
    assert 1 < clock.monotonic() < 5


async def test_usage_is_counted_and_free() -> None:
    stage = Stage()
    stage.hear("Hello")
    (report,) = (event for event in await stage.answer() if isinstance(event, UsageReport))
    assert report.cost == 0.0
    assert report.input_tokens > 0
    assert report.output_tokens > 20


async def test_a_capped_call_gets_a_short_title_of_the_users_own_words() -> None:
    messages = (Message("user", (Text("Please plan the **harbour** festival"),), "m1", ""),)
    events = await Demo(FakeClock()).complete(ModelRequest(NAME, "", messages, max_output_tokens=30))
    text = "".join(event.text for event in events if isinstance(event, TextChunk))
    assert text == "Please plan the harbour festival"


async def test_calls_of_different_messages_have_different_ids() -> None:
    stage = Stage()
    await stage.say(TOUR)
    await stage.say(TOUR)
    ids = [call.id for message in stage.messages for call in message.calls]
    assert len(ids) == len(set(ids)) > 3


async def test_its_test_button_says_what_it_is() -> None:
    check = await Demo(FakeClock()).validate_auth()
    assert check.ok
    assert "scripted, not an AI" in check.message
    assert check.models == ("tour",)
    assert MODEL == "demo/tour"


async def test_closing_the_stream_early_is_harmless() -> None:
    request = ModelRequest(NAME, "", (Message("user", (Text("Hello"),), "m1", ""),))
    stream = Demo(FakeClock()).stream(request)
    await anext(stream)
    await stream.aclose()
