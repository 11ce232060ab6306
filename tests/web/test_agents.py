"""The pages of agents: what is listed, what a form writes, what it refuses, and what comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.prompts.team import TEAM
from app.workspace.agent_tools import ALL_TOOLS
from app.workspace.agents import list_agents, load_agent
from app.workspace.messages import add_message
from app.workspace.sessions import session_of
from app.workspace.turns import start_turn
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.model_settings import words
from tests.web.pages import Open, open_page
from tests.web.tree import Element

pytestmark = pytest.mark.anyio

CLERK = "---\nname: Harbour <b>clerk\ntools: [read_file]\ncolor: umber\nhooks: x\n---\n\nKeep the books.\n"
TYPED = {"name": "Harbour clerk", "color": "a8", "prompt": "Keep the books.", "tools": "all"}


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


def put(opened: Open, name: str, text: str) -> Path:
    path = opened.bench.folder.agents / name
    path.write_text(text)
    return path


async def rows(opened: Open) -> dict[str, Element]:
    """The lines of the list, by the id that they show."""
    page = LivePage.parsed((await opened.browser.get("/agents")).text)
    ledger = [
        each
        for each in page.all("li")
        if any("meta" in inner.attributes.get("class", "") for inner in each.all("span"))
    ]
    return {
        words(next(inner for inner in each.all("span") if inner.attributes.get("class") == "meta")): each
        for each in ledger
    }


def field(got: Got, name: str) -> Element:
    page = LivePage.parsed(got.text)
    return next(each for each in page.walk() if each.attributes.get("name") == name)


def said(got: Got, name: str) -> str:
    """What is said beside a field."""
    found = LivePage.parsed(got.text).find(f"agent-{name}-note")
    assert found is not None
    return words(found)


def alert(got: Got) -> str:
    return " ".join(
        words(each) for each in LivePage.parsed(got.text).walk() if each.attributes.get("role") == "alert"
    )


async def shown(opened: Open, id: str) -> dict[str, str]:
    """The form of an agent as a browser would send it unchanged."""
    form = next(
        each
        for each in LivePage.parsed((await opened.browser.get(f"/agents/{id}")).text).all("form")
        if each.attributes.get("action") == f"/agents/{id}"
    )
    values = {}
    for each in form.walk():
        name, kind = each.attributes.get("name"), each.attributes.get("type", "")
        if name and each.tag == "textarea":
            values[name] = each.text
        elif (
            name
            and each.tag == "input"
            and (kind not in ("radio", "checkbox") or "checked" in each.attributes)
        ):
            values[name] = each.attributes["value"]
    return values


async def test_the_team_and_own_agents_are_listed_with_what_is_wrong_with_their_files(opened: Open) -> None:
    put(opened, "harbour-clerk.md", CLERK)
    put(opened, "broken.md", "---\nname: <script>\n")
    put(opened, "My <i>.md", "Hi")
    room = opened.conversation()
    store = opened.bench.store
    session = session_of(store, room.id, "coder").id
    start_turn(store, room.id, member="coder", session=session, trigger="msg")
    listed = await rows(opened)
    assert list(listed) == ["commander", *TEAM, "broken", "harbour-clerk", "My <i>"]
    assert "1 turn" in words(listed["coder"])
    assert "Harbour <b>clerk" in words(listed["harbour-clerk"])
    assert "Kept in the file and not used here: hooks." in words(listed["harbour-clerk"])
    assert "no second line of ---" in words(listed["broken"])
    assert "is not called like an agent" in words(listed["My <i>"])
    assert [words(each) for each in listed["My <i>"].all("a")] == []


async def test_a_new_one_is_made_and_is_a_file(opened: Open) -> None:
    got = await opened.browser.post("/agents", TYPED)
    assert got.header("location") == "/agents/harbour-clerk?saved"
    agent = load_agent(opened.bench.folder, "harbour-clerk")
    assert (agent.name, agent.color, agent.tools, agent.prompt) == (
        "Harbour clerk",
        "a8",
        None,
        "Keep the books.",
    )
    assert "Saved." in (await opened.browser.follow(got)).text
    assert (await opened.browser.post("/agents", TYPED | {"name": "研究员"})).header(
        "location"
    ) == "/agents/agent?saved"


async def test_a_form_that_is_sent_as_it_was_shown_changes_no_byte(opened: Open) -> None:
    path = put(opened, "harbour-clerk.md", CLERK.replace("<b>", ""))
    assert (
        await opened.browser.post("/agents/harbour-clerk", await shown(opened, "harbour-clerk"))
    ).status == 303
    assert path.read_text() == CLERK.replace("<b>", "")
    for id in TEAM:
        form = await shown(opened, id)
        ticked = [("tool", name) for name in load_agent(opened.bench.folder, id).tools or ()]
        fields = [(name, value) for name, value in form.items() if name != "tool"]
        assert (await opened.browser.post(f"/agents/{id}", [*fields, *ticked])).status == 303
    assert [each.name for each in opened.bench.folder.agents.iterdir()] == ["harbour-clerk.md"]


async def test_a_change_touches_what_was_changed(opened: Open) -> None:
    path = put(opened, "harbour-clerk.md", CLERK)
    form = await shown(opened, "harbour-clerk")
    changed = {**form, "name": "Clerk", "prompt": "Keep\r\nthem.", "interactive": "yes", "model": "lab/big"}
    await opened.browser.post(
        "/agents/harbour-clerk", [*changed.items(), ("tool", "bash"), ("tool", "none such")]
    )
    assert path.read_text() == (
        "---\nname: Clerk\ntools: [read_file, bash]\ncolor: umber\nhooks: x\nmodel: lab/big\ninteractive: true\n---\n"
        "\nKeep\nthem.\n"
    )
    got = await opened.browser.get("/agents/harbour-clerk")
    assert "lab/big (not on offer now)" in got.text
    ticked = [
        each.attributes["value"]
        for each in LivePage.parsed(got.text).all("input")
        if each.attributes["name"] == "tool" and "checked" in each.attributes
    ]
    assert ticked == ["read_file", "bash"]


@pytest.mark.parametrize(
    ("typed", "name", "why"),
    [
        ({"name": ""}, "name", "It needs a name."),
        ({"name": "Commander"}, "name", "Every conversation has its own Commander"),
        ({"name": "coder"}, "name", "There is an agent called Coder already"),
        ({"description": "x" * 1001}, "description", "at most 1,000 characters"),
        ({"prompt": ""}, "prompt", "It needs instructions"),
    ],
)
async def test_what_is_wrong_stands_under_its_field_and_what_was_typed_stays(
    opened: Open, typed: dict[str, str], name: str, why: str
) -> None:
    sent = {**TYPED, "tools": "some", "tool": "bash", "interactive": "yes", **typed}
    got = await opened.browser.post("/agents", sent)
    assert (got.status, why in said(got, name)) == (422, True)
    assert field(got, name).attributes["aria-invalid"] == "true"
    assert (field(got, "name").attributes["value"], field(got, "prompt").text) == (
        sent["name"],
        sent["prompt"],
    )
    checked = [
        each.attributes["value"]
        for each in LivePage.parsed(got.text).all("input")
        if "checked" in each.attributes
    ]
    assert checked == ["a8", "some", "bash", "yes"]
    assert [agent.id for agent in list_agents(opened.bench.folder)] == list(TEAM)


async def test_a_change_over_another_one_is_told_and_made_only_when_it_is_sent_again(opened: Open) -> None:
    path = put(opened, "harbour-clerk.md", CLERK)
    form = {**await shown(opened, "harbour-clerk"), "name": "Mine"}
    path.write_text(CLERK.replace("umber", "blue"))
    got = await opened.browser.post("/agents/harbour-clerk", form)
    assert (got.status, "has been changed meanwhile" in alert(got)) == (409, True)
    assert (field(got, "name").attributes["value"], "Mine" in path.read_text()) == ("Mine", False)
    again = {**form, "seen": field(got, "seen").attributes["value"]}
    assert (await opened.browser.post("/agents/harbour-clerk", again)).status == 303
    assert "name: Mine" in path.read_text()


async def test_one_is_switched_off_and_on(opened: Open) -> None:
    assert (await opened.browser.post("/agents/tutor/off")).header("location") == "/agents?saved"
    off = (await rows(opened))["tutor"]
    assert "off" in words(off)
    assert [each.attributes.get("aria-label") for each in off.all("button")] == ["Switch on Tutor"]
    await opened.browser.post("/agents/tutor/on")
    on = (await rows(opened))["tutor"]
    assert [each.attributes.get("aria-label") for each in on.all("button")] == ["Try Tutor"]


async def test_what_was_removed_can_come_back(opened: Open) -> None:
    put(opened, "harbour-clerk.md", CLERK)
    got = await opened.browser.follow(await opened.browser.post("/agents/harbour-clerk/remove"))
    assert "Removed “harbour-clerk”." in got.text
    assert "/agents/harbour-clerk/restore" in got.text
    assert (await opened.browser.get("/agents/harbour-clerk")).status == 404
    assert (await opened.browser.post("/agents/harbour-clerk/restore")).header(
        "location"
    ) == "/agents/harbour-clerk?saved"
    again = await opened.browser.get("/agents?removed=harbour-clerk")
    assert "Removed" not in again.text
    assert (await opened.browser.get("/agents/harbour-clerk")).status == 200


@pytest.mark.parametrize("path", ["/agents/nobody", "/agents/commander", "/agents/..", "/agents/x\0"])
async def test_nobody_has_no_page(opened: Open, path: str) -> None:
    assert (await opened.browser.get(path)).status == 404
    assert (await opened.browser.post(path, TYPED)).status == 404
    for act in ("off", "remove", "restore", "fly"):
        assert (await opened.browser.post(f"{path}/{act}")).status == 404


async def test_trying_one_begins_a_message_to_it(opened: Open) -> None:
    got = await opened.browser.post("/conversations", {"draft": "@Coder"})
    assert (got.header("location") or "").endswith("?draft=%40Coder+")
    page = LivePage.parsed((await opened.browser.follow(got)).text)
    box = page.find("message")
    assert box is not None
    assert box.text == "@Coder "


async def test_what_a_member_said_stands_under_its_name_and_in_its_colour(opened: Open) -> None:
    path = put(opened, "harbour-clerk.md", CLERK.replace("<b>", ""))
    room = opened.conversation()
    add_message(opened.bench.store, room.id, kind="assistant", member="harbour-clerk", text="Three berths.")
    opened.bench.bus.changed(room.id)
    for label, hue in (("Harbour clerk", "a8"), ("Clerk", "a2")):
        page = LivePage.parsed((await opened.browser.get(f"/conversations/{room.id}")).text)
        (article,) = page.all("article")
        assert label in words(article)
        assert hue in article.attributes["class"].split()
        path.write_text("---\nname: Clerk\ncolor: blue\n---\nKeep the books.")


def test_no_tool_is_in_two_groups() -> None:
    assert len(ALL_TOOLS) == len(set(ALL_TOOLS))


async def test_tools_that_are_not_on_offer_stay_in_the_file(opened: Open) -> None:
    path = put(opened, "harbour-clerk.md", "---\ntools: [read_file, memory]\n---\nKeep the books.\n")
    page = (await opened.browser.get("/agents/harbour-clerk")).text
    assert 'value="read_file" checked' in page
    assert 'value="memory"' not in page
    seen = load_agent(opened.bench.folder, "harbour-clerk").version
    form = {
        "name": "Harbour clerk",
        "prompt": "Keep the books.",
        "seen": seen,
        "tools": "some",
        "tool": "list_files",
    }
    await opened.browser.post("/agents/harbour-clerk", form)
    assert "tools: [list_files, memory]" in path.read_text()
