"""The screens of Plancia in their states, each brought about as a user would, to be looked at and measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Page, ViewportSize, expect

from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, fail, hold, say
from tests.fakes.pictures import png

PHONE: ViewportSize = {"width": 390, "height": 844}

ANSWER = """\
Here is the plan, in **three** parts:

1. Read the notes
2. Compare them with `importer.py`
3. Write what is missing

| File | Lines | State |
|:-----|------:|-------|
| notes.md | 42 | read |
| importer.py | 380 | open |

```python
def wait(seconds: float) -> None:
    \"\"\"Sleep, but not longer than the server asked for.\"\"\"
    sleep(min(seconds, LIMIT))
```

> What cannot be repeated is not retried.

That is all there is to it.
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a state is brought about with. ``made`` remembers the finished conversation, so that it is made once."""

    server: Server
    llm: FakeLLM
    page: Page
    made: dict[str, str]

    def talk(self) -> Talk:
        return Talk(self.page, self.server.new_conversation()).opened()


def empty(stage: Stage) -> None:
    stage.talk()


def streaming(stage: Stage) -> None:
    talk = stage.talk()
    (stage.server.workspace / "notes.md").write_text(
        "# Notes\n\nRetry after the time that the server names.\n"
    )
    stage.llm.script(
        say(
            "I read the notes first.",
            reasoning=["The notes come first."],
            calls=[call("read_file", {"path": "notes.md"})],
        ),
        hold(say(*ANSWER.splitlines(keepends=True)), 11),
    )
    talk.say("Our importer dies when the server limits it. What shall we do?")
    stage.llm.wait_held()
    expect(talk.answer.get_by_role("table")).to_be_visible()


def queue(stage: Stage) -> None:
    streaming(stage)
    talk = Talk(stage.page, stage.page.url)
    for text in ("Then write a test for it.", "And tell me what it cost."):
        talk.say(text, key="Control+Enter")
        expect(talk.queue.filter(has_text=text)).to_be_visible()
    talk.say("Mind the limits.", key="Enter")
    expect(talk.queue).to_have_count(3)


def attached(stage: Stage) -> None:
    """Files in a message, in one that waits, and in the box; one of them refused."""
    talk, chips = stage.talk(), stage.page.locator("#chips .chip")
    stage.llm.script(hold(say("Looking ", "at them."), 1))
    talk.attach(("importer.log", b"x" * 18_000), ("dashboard.png", png(900, 500)))
    talk.say("The log of the last night is attached, and a picture of the dashboard.")
    stage.llm.wait_held()
    talk.attach(("outline.md", b"# One"))
    talk.say("Turn it into a page.", key="Control+Enter")
    expect(talk.queue).to_have_count(1)
    talk.attach(
        (f"{'a very long name ' * 6}.md", b"x" * 1_200_000), ("nightly.log", b"x"), ("empty.txt", b"")
    )
    expect(chips).to_have_count(3)
    expect(talk.page.locator(".files img")).to_be_visible()


def done(stage: Stage) -> None:
    if path := stage.made.get("done"):
        Talk(stage.page, stage.server.at(path)).opened()
        return
    streaming(stage)
    stage.llm.release()
    talk = Talk(stage.page, stage.page.url)
    expect(talk.button("Send")).to_be_visible()
    stage.made["done"] = talk.path


def wide(stage: Stage) -> None:
    """What does not fit: one word, one line of code, one table, one path, one name."""
    talk = stage.talk()
    word, columns = "Donaudampfschifffahrt" * 20, 14
    rows = ["| " + " | ".join(f"column {number}" for number in range(columns)) + " |", "|---" * columns + "|"]
    table = "\n".join([*rows, *[rows[0]] * 3])
    text = f"# {word}\n\n{word} `{word}` https://example.org/{word}\n\n- - - {word}\n\n{table}\n\n```\n{word}\n```\n"
    path = f"{'folder/' * 30}{word}.txt"
    stage.llm.script(say("I look.", calls=[call("read_file", {"path": path})]), say(text))
    talk.say(word)
    talk.expect_state("done")
    expect(talk.button("Send")).to_be_visible()
    talk.articles("tool_call").locator("summary").click()


def organised(stage: Stage) -> None:
    """A conversation that became too long; what was left out is open."""
    talk = stage.talk()
    paths = [f"page-{number}.txt" for number in range(4)]
    for path in paths:
        (stage.server.workspace / path).write_text(f"{path}\n{ANSWER}" * 28)
    stage.llm.script(
        *(say("", calls=[call("read_file", {"path": path})]) for path in paths),
        fail(400, "This model's maximum context length is 32768 tokens.", code="context_length_exceeded"),
        say("I cannot sum that up."),
        say("All of them say the same."),
    )
    talk.say("Read all pages.")
    talk.expect_answer("All of them say the same.")
    line = talk.articles("notice")
    line.locator("summary").click()
    expect(line.get_by_role("listitem").filter(has_text="page-0.txt").first).to_be_visible()


def asking(stage: Stage) -> None:
    """A change waits for the user, in the log and in the dialog."""
    talk = stage.talk()
    stage.server.post(f"{talk.path}/access", access="cautious")
    change = {"path": "plan.md", "content": ANSWER}
    stage.llm.script(say("I write it down.", calls=[call("write_file", change)]), say("Written."))
    talk.say("Write the plan down.")
    expect(talk.page.get_by_role("dialog", name="Commander wants to change a file")).to_be_visible()


def asked(stage: Stage) -> None:
    """The same question in the log alone."""
    asking(stage)
    stage.page.keyboard.press("Escape")
    expect(stage.page.locator("#asks")).to_be_hidden()


FORM = {
    "title": "Choices for the November report",
    "fields": [
        {"id": "title", "type": "text", "label": "Title", "required": True, "default": "Harbour traffic"},
        {"id": "reader", "type": "select", "label": "Written for", "options": ["Harbour office", "Press"]},
        {
            "id": "berths",
            "type": "multiselect",
            "label": "Berths to include",
            "required": True,
            "options": ["Molo Vecchio", "Darsena Sud", "Calata Nuova", "Fuel pier"],
            "default": ["Molo Vecchio"],
        },
        {
            "id": "step",
            "type": "number",
            "label": "Round tonnage to",
            "required": True,
            "help": "Tonnes. Last month: 10.",
        },
        {"id": "before", "type": "file", "label": "The report of last month"},
        {"id": "note", "type": "textarea", "label": "Anything that must be mentioned"},
        {"id": "charts", "type": "boolean", "label": "A chart for each berth", "default": True},
    ],
}
"""With a field of every type."""


def form(stage: Stage) -> None:
    """A form, filled in wrong and sent: each mistake is named beside its field."""
    talk = stage.talk()
    stage.llm.script(say("Some choices are yours.", calls=[call("ask_user", FORM)]), say("Thank you."))
    talk.say("Write the report.")
    asked = stage.page.get_by_role("form", name="Choices for the November report")
    asked.get_by_label("Round tonnage to").fill("many")
    asked.get_by_label("The report of last month").fill("no/such.pdf")
    asked.get_by_role("button", name="Send answers").click()
    expect(asked.get_by_role("alert")).to_contain_text("Nothing was sent.")


def answered(stage: Stage) -> None:
    form(stage)
    asked = stage.page.get_by_role("form", name="Choices for the November report")
    asked.get_by_label("Round tonnage to").fill("10")
    asked.get_by_label("The report of last month").fill("")
    asked.get_by_role("button", name="Send answers").click()
    expect(asked).to_be_hidden()
    expect(Talk(stage.page, stage.page.url).button("Send")).to_be_visible()


def circles(stage: Stage) -> None:
    """A picture is shown to the model, which then asks for it again and again."""
    talk = stage.talk()
    (stage.server.workspace / "chart.png").write_bytes(png(640, 320))
    stage.llm.script(*(say("", calls=[call("read_file", {"path": "chart.png"})]) for _ in range(5)))
    talk.say("What is in the chart?")
    expect(talk.button("Continue")).to_be_visible()
    expect(talk.articles("tool_call").get_by_role("img").first).to_be_visible()


def stopped(stage: Stage) -> None:
    streaming(stage)
    talk = Talk(stage.page, stage.page.url)
    talk.button("Stop").click()
    expect(talk.button("Send")).to_be_visible()


def error(stage: Stage) -> None:
    talk = stage.talk()
    stage.llm.script(fail(401, "Incorrect API key provided: sk-****. You can find it in your account."))
    talk.say("Our importer dies when the server limits it. What shall we do?")
    expect(talk.button("Retry")).to_be_visible()


def delete_dialog(stage: Stage) -> None:
    done(stage)
    talk = Talk(stage.page, stage.page.url)
    talk.button("Conversation menu").click()
    stage.page.locator("#conversation-menu").get_by_role("button", name="Delete").click()
    expect(stage.page.get_by_role("dialog")).to_be_visible()


def menu(stage: Stage) -> None:
    done(stage)
    Talk(stage.page, stage.page.url).button("Conversation menu").click()
    expect(stage.page.locator("#conversation-menu")).to_be_visible()


def keys(stage: Stage) -> None:
    talk = stage.talk()
    talk.log.focus()
    stage.page.keyboard.press("?")
    expect(stage.page.get_by_role("dialog", name="Keys")).to_be_visible()


def open_tool(stage: Stage) -> None:
    done(stage)
    talk = Talk(stage.page, stage.page.url)
    talk.articles("tool_call").locator("summary").click()
    expect(talk.articles("tool_call").locator("[data-part=output]")).to_be_visible()


def interrupted(stage: Stage) -> None:
    streaming(stage)
    stage.server.kill()
    stage.server.start_again()
    expect(Talk(stage.page, stage.page.url).button("Continue")).to_be_visible()


def reconnecting(stage: Stage) -> None:
    talk = stage.talk()
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    talk.box.fill("What I write meanwhile")
    stage.server.kill()
    expect(talk.reconnecting).to_be_visible()
    # The next state finds a server; this page does not look for it as long as it is offline.
    stage.page.context.set_offline(True)
    stage.server.start_again()


def team(stage: Stage) -> None:
    """Three members at work at the same time, one of whom asks."""
    talk = stage.talk()
    sends(stage.llm)
    stage.llm.script(hold(say("Sixty calls a minute, ", "says the page."), 1), member="Researcher")
    command = {"command": "git push origin main"}
    stage.llm.script(say("I push it.", calls=[call("bash", command)]), member="Coder")
    stage.llm.script(hold(say("The notes ", "are written."), 1), member="Writer")
    talk.say("Find the limits, patch the client, write the notes.")
    expect(talk.page.get_by_role("dialog", name="Coder wants to run a command")).to_be_visible()
    stage.page.keyboard.press("Escape")
    expect(talk.page.locator("#floor")).to_contain_text("Writer is writing")


def sends(llm: FakeLLM, *after: Answer) -> None:
    """Commander sends three members at once."""
    jobs = {
        "researcher": "Find out what the harbour API promises about limits.",
        "coder": "Patch the client so that it keeps to them.\n\nAdd a test, and push when it passes.",
        "writer": "Write the notes of the release.",
    }
    calls = [call("dispatch_to", {"to": to, "message": job}) for to, job in jobs.items()]
    llm.script(say("Three parts, side by side.", calls=calls), *after, member="Commander")


def team_done(stage: Stage) -> None:
    """One did it, one failed, one was stopped; the list of tasks says so."""
    talk = stage.talk()
    sends(stage.llm, say("Two parts are missing."))
    stage.llm.script(say("Sixty calls a minute."), member="Researcher")
    stage.llm.script(fail(400, "This request is not valid."), member="Coder")
    stage.llm.script(hold(say("The notes ", "are written."), 1), member="Writer")
    talk.say("Find the limits, patch the client, write the notes.")
    talk.button("Stop Writer").click()
    expect(talk.button("Send")).to_be_visible()


def task(stage: Stage) -> None:
    team_done(stage)
    stage.page.get_by_role("complementary", name="Details").get_by_role(
        "link", name="Patch the client"
    ).click()
    expect(stage.page.get_by_role("heading", name="What came of it")).to_be_visible()


HARBOUR: list[dict[str, object]] = [
    {
        "index": 1,
        "title": "Collect the November readings",
        "assignee": "researcher",
        "input": "Of all berths.",
    },
    {
        "index": 2,
        "title": "Clean and join with the berth table",
        "assignee": "analyst",
        "input": "Take {{step_1.output_summary}}",
        "wait_for": [1],
    },
    {"index": 3, "title": "Fetch the tide table", "assignee": "researcher", "wait_for": [1]},
    {"index": 4, "title": "Confirm the thresholds", "assignee": "user", "input": "Which?", "wait_for": [2]},
    {"index": 5, "title": "Draw a chart", "assignee": "analyst", "wait_for": [2], "on_failure": "continue"},
    {"index": 6, "title": "Write the summary", "assignee": "writer", "wait_for": [3, 4, 5]},
]
"""A plan whose steps stand in different ways after a while."""


def plan(stage: Stage) -> None:
    """A board with steps that are done, failed, skipped, wait for the user and have not begun; one is being edited."""
    talk = stage.talk()
    llm = stage.llm
    llm.script(
        say("The steps are known from October.", calls=[call("set_plan", {"steps": HARBOUR})]),
        say("The tide table cannot be had. You can skip it."),
        member="Commander",
    )
    llm.script(
        say("720 readings for each of four berths. Calata Nuova starts on 9 November, so it has 528."),
        fail(400, "This request is not valid."),
        member="Researcher",
    )
    llm.script(say("Joined: 11 doubled readings dropped."), member="Analyst")
    talk.say("Prepare the November harbour report.")
    panel = stage.page.get_by_role("complementary", name="Details")
    panel.get_by_role("tab", name="Plan").click()
    expect(panel.locator("#step-4")).to_have_attribute("data-status", "blocked")
    panel.locator("#step-6").get_by_text("Edit").click()
    expect(panel.get_by_role("form", name="Edit step 6")).to_be_visible()


def proposed_plan(stage: Stage) -> None:
    """It is shown as the board that it will be, before it begins."""
    talk = stage.talk()
    stage.server.post(f"{talk.path}/access", access="cautious")
    stage.llm.script(
        say("It is a plan.", calls=[call("set_plan", {"steps": HARBOUR})]),
        say("Then not."),
        member="Commander",
    )
    talk.say("Prepare the November harbour report.")
    expect(stage.page.get_by_role("dialog").get_by_role("list", name="Steps")).to_contain_text("Draw a chart")


def playbooks(stage: Stage) -> None:
    """A list with one that asks for something, and a file that was none."""
    keep_playbook(stage.server)
    stage.page.goto(stage.server.at("/playbooks"))
    expect(stage.page.get_by_role("link", name="Harbour report", exact=True)).to_be_visible()


def playbook(stage: Stage) -> None:
    """One that was to be saved with a mistake in it."""
    playbooks(stage)
    stage.page.get_by_role("link", name="Harbour report", exact=True).click()
    third = stage.page.get_by_role("group", name="Step 3")
    third.get_by_label("After the steps").fill("2, 9")
    stage.page.get_by_role("button", name="Save").click()
    expect(third).to_contain_text("step 9, which does not exist")


def keep_playbook(server: Server) -> None:
    steps = [{**step, "title": f"{step['title']} of {{{{month}}}}"} for step in HARBOUR]
    file = server.data / "playbooks" / "harbour-report.json"
    file.write_text(json.dumps({"name": "Harbour report", "steps": steps}), encoding="utf-8")


def handed_off(stage: Stage) -> None:
    """Tutor holds the floor."""
    talk = stage.talk()
    given = {"to": "tutor", "message": "A lesson with exercises."}
    stage.llm.script(say("Tutor teaches that.", calls=[call("hand_off_to", given)]), member="Commander")
    stage.llm.script(say("Write the loop as a comprehension."), member="Tutor")
    talk.say("Teach me comprehensions.")
    expect(talk.button("Take back the floor")).to_be_visible()
    expect(talk.button("Send")).to_be_visible()
    talk.say("@Bob [tide for tide in tides]")
    expect(talk.answer).to_contain_text("You said")


def mention(stage: Stage) -> None:
    """A name is begun."""
    talk = stage.talk()
    talk.box.press_sequentially("Ask @")
    expect(stage.page.get_by_role("option", name="Researcher")).to_be_visible()


def rail_drawer(stage: Stage) -> None:
    stage.page.set_viewport_size(PHONE)
    done(stage)
    Talk(stage.page, stage.page.url).button("Open conversations").click()
    expect(stage.page.get_by_role("navigation", name="Conversations")).to_be_visible()


def details_drawer(stage: Stage) -> None:
    stage.page.set_viewport_size(PHONE)
    done(stage)
    Talk(stage.page, stage.page.url).button("Open details").click()
    stage.page.get_by_role("tab", name="Usage").click()
    expect(stage.page.get_by_role("tabpanel", name="Usage")).to_be_visible()


def agents(stage: Stage) -> None:
    """The team, an own one, one whose file is broken, and what came of taking over others."""
    folder = stage.server.data / "agents"
    (folder / "night-watch.md").write_text("---\nname: Night watch\nmodel: none\ndisabled: true\n---\nWatch.")
    (folder / "broken.md").write_text("---\nname: Broken\n")
    stage.page.goto(stage.server.at("/agents"))
    stage.page.get_by_text("1 remark on its file").click()
    stage.page.get_by_label("A folder or file").fill(str(folder))
    stage.page.get_by_role("button", name="Take over").click()
    expect(stage.page.get_by_role("region", name="Taken over")).to_be_visible()


def agent_edit(stage: Stage) -> None:
    """An agent with a name that somebody else has, its tools chosen one by one."""
    stage.page.goto(stage.server.at("/agents/analyst"))
    stage.page.get_by_label("Name", exact=True).fill("Coder")
    stage.page.get_by_role("button", name="Save").click()
    expect(stage.page.get_by_text("There is an agent called Coder already")).to_be_visible()


def settings_general(stage: Stage) -> None:
    stage.page.goto(stage.server.at("/settings"))


def background(stage: Stage) -> None:
    """A conversation with a command that failed, in its colours, and a job that runs; both cards are open."""
    if "background" not in stage.made:
        stage.made["background"] = stage.server.new_conversation()
        talk = Talk(stage.page, stage.made["background"])
        stage.server.post(f"{talk.path}/access", access="trusted")
        colours = "".join(f"\\033[{code}m{code}\\033[0m " for code in (*range(30, 38), *range(90, 98), 42))
        talk.opened()
        for answer, arguments in (
            ("It failed.", {"command": f"printf '{colours}\\n'; exit 3"}),
            ("It runs on.", {"command": "echo serving; read stay", "run_in_background": True}),
        ):
            stage.llm.script(say("I run it.", calls=[call("bash", arguments)]), say(answer))
            talk.say("Run it.")
            talk.expect_answer(answer)
    talk = Talk(stage.page, stage.made["background"]).opened()
    for card in talk.articles("tool_call").all():
        card.locator("summary").click()
    expect(stage.page.get_by_role("heading", name="Background jobs")).to_be_visible()


def jobs(stage: Stage) -> None:
    background(stage)
    stage.page.goto(stage.server.at("/jobs"))
    expect(stage.page.get_by_role("list", name="Background jobs").get_by_role("listitem")).to_contain_text(
        "serving"
    )


def job(stage: Stage) -> None:
    jobs(stage)
    stage.page.get_by_role("link", name="echo serving; read stay").click()
    expect(stage.page.get_by_role("log", name="Output")).to_contain_text("serving")


def settings_permissions(stage: Stage) -> None:
    """A rule was made."""
    asking(stage)
    dialog = stage.page.locator("#asks")
    expect(dialog).to_have_attribute("data-armed", "")
    dialog.get_by_role("button", name="Always allow").click()
    expect(dialog).to_be_hidden()
    stage.page.goto(stage.server.at("/settings/permissions"))
    expect(stage.page.get_by_role("button", name="Revoke rule write_file: plan.md")).to_be_visible()
    expect(stage.page.locator(".main")).to_contain_text("allowed, for every member in")


def settings_web(stage: Stage) -> None:
    """A test of a server that does not run."""
    stage.server.post("/settings/web", **{"web.search": "searxng", "web.searxng_url": "http://127.0.0.1:9"})
    stage.page.goto(stage.server.at("/settings/web"))
    stage.page.get_by_role("button", name="Test the search").click()
    expect(stage.page.locator("#test")).to_contain_text("Check its address, and that the server runs.")
    stage.server.post("/settings/web", **{"web.search": "duckduckgo"})


def settings_models(stage: Stage) -> None:
    stage.page.goto(stage.server.at("/settings/models"))


def source_tested(stage: Stage) -> None:
    settings_models(stage)
    form = stage.page.get_by_role("form", name="Add a source")
    form.get_by_label("Name").fill("workshop")
    form.get_by_label("Address").fill(stage.llm.base_url)
    form.get_by_role("button", name="Test").click()
    expect(form.get_by_role("status")).to_contain_text("workshop answers")


def source_edit(stage: Stage) -> None:
    """A source that shall move to another host: its key is asked for again."""
    add = {"kind": "openai", "name": "workshop", "base_url": stage.llm.base_url, "models": "big", "key": "k"}
    stage.server.post("/settings/models", **add)
    stage.page.goto(stage.server.at("/settings/models/workshop/edit"))
    form = stage.page.get_by_role("form", name="Edit workshop")
    form.get_by_label("Address").fill("https://models.example/v1")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_label("Key", exact=False).first).to_have_attribute("aria-invalid", "true")
    stage.server.post("/settings/models/workshop/remove")


@contextmanager
def workshop(stage: Stage, models: str) -> Iterator[None]:
    """A source with two keys, of which one rests, as long as the state is brought about."""
    limited, good = "sk-limited-0123456789abcd", "sk-good-0123456789abcdefg"
    stage.llm.knows(keys={limited: "limited:700", good: "good", "k": "good"})
    add = {
        "kind": "openai",
        "name": "workshop",
        "base_url": stage.llm.base_url,
        "models": models,
        "key": limited,
    }
    stage.server.post("/settings/models", **add)
    stage.server.post("/settings/models/workshop/key", key=good)
    try:
        yield
    finally:
        stage.server.post("/settings/models/workshop/remove")


def settings_order(stage: Stage) -> None:
    """Lines that can be moved, one that was tested, a key that rests, and a key that was not taken."""
    with workshop(
        stage, "large, small, a-name-that-is-so-long-that-it-does-not-fit-on-a-phone:70b-instruct-q4"
    ):
        talk = stage.talk()
        talk.page.get_by_role("combobox", name="Model").select_option(value="workshop/large")
        talk.say("Hello")
        talk.expect_answer("You said: Hello.")
        settings_models(stage)
        stage.page.get_by_role("button", name="Test workshop/small").click()
        expect(stage.page.get_by_text("It took")).to_be_visible()
        stage.page.get_by_text("Add another key").click()
        stage.page.get_by_label("Key for workshop").fill("sk-good-0123456789abcdefg")
        stage.page.keyboard.press("Enter")
        expect(stage.page.get_by_text("workshop has this key already.")).to_be_visible()


def settings_model(stage: Stage) -> None:
    """What is said of one model, with a mistake in it."""
    stage.page.goto(f"{stage.server.at('/settings/models/about')}&model=openai/gpt-4o")
    stage.page.get_by_label("Price of input").fill("cheap")
    stage.page.get_by_role("button", name="Save").click()
    expect(stage.page.get_by_text('"cheap" is not a number.')).to_be_visible()


def model_finder(stage: Stage) -> None:
    with workshop(stage, ", ".join(f"model-{number}" for number in range(12))):
        stage.talk()
        stage.page.get_by_role("button", name="Find a model").click()
        expect(stage.page.get_by_role("group", name="Models").get_by_role("button").first).to_be_visible()
        # It is looked at after the source is gone: nothing of it is drawn anew meanwhile.
        stage.page.context.set_offline(True)


def waiting(stage: Stage) -> None:
    """A model that is busy, and the way to try it now."""
    talk = stage.talk()
    talk.page.get_by_role("combobox", name="Model").select_option(index=1)
    talk.again()
    stage.llm.script(fail(429, "Rate limit reached.", retry_after=100))
    talk.say("Our importer dies when the server limits it. What shall we do?")
    expect(talk.button("Try now")).to_be_visible()


def welcome(stage: Stage) -> None:
    stage.page.goto(stage.server.at("/welcome"))


def not_found(stage: Stage) -> None:
    stage.page.goto(stage.server.at("/conversations/none"))


def refused(stage: Stage) -> None:
    stage.page.goto(stage.server.url)


STATES: Mapping[str, Callable[[Stage], None]] = {
    "empty": empty,
    "streaming": streaming,
    "queue": queue,
    "attached": attached,
    "done": done,
    "wide": wide,
    "organised": organised,
    "asking": asking,
    "asked": asked,
    "form": form,
    "answered": answered,
    "team": team,
    "team-done": team_done,
    "task": task,
    "plan": plan,
    "proposed-plan": proposed_plan,
    "playbooks": playbooks,
    "playbook": playbook,
    "handed-off": handed_off,
    "mention": mention,
    "circles": circles,
    "stopped": stopped,
    "interrupted": interrupted,
    "reconnecting": reconnecting,
    "error": error,
    "open-tool": open_tool,
    "menu": menu,
    "delete-dialog": delete_dialog,
    "keys": keys,
    "rail-drawer": rail_drawer,
    "details-drawer": details_drawer,
    "waiting": waiting,
    "model-finder": model_finder,
    "agents": agents,
    "agent-edit": agent_edit,
    "settings-general": settings_general,
    "settings-order": settings_order,
    "background": background,
    "jobs": jobs,
    "job": job,
    "settings-permissions": settings_permissions,
    "settings-web": settings_web,
    "settings-model": settings_model,
    "settings-models": settings_models,
    "source-tested": source_tested,
    "source-edit": source_edit,
    "welcome": welcome,
    "not-found": not_found,
    "refused": refused,
}
