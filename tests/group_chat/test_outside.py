"""A member has a picture drawn: offered where somebody draws, asked about, within the budget, shown and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from app.engine.events import Usage
from app.engine.scripted import ScriptedModel, call, say
from app.engine.tools import ToolContext
from app.group_chat.members import Members
from app.group_chat.outside import Outside, goes_to
from app.hands.permissions.access import AccessMode
from app.hands.permissions.rules import WEB, Rule
from app.hands.search_engines import SearXNG
from app.providers.catalogue import Catalogue
from app.providers.cooldown import Cooldowns
from app.providers.drawing import Destination
from app.providers.routing import Sources
from app.providers.sources import SourceConfig
from app.providers.wires import Wiring
from app.workspace import conversations, rules, usage
from app.workspace.rows import MessageRow
from app.workspace.settings import set_setting
from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM
from tests.fakes.openai_images import draw
from tests.group_chat.rooms import House, house
from tests.hands.places import picture

pytestmark = pytest.mark.anyio

CAT = {"prompt": "A cat on a roof", "path": "art/cat.png"}


class Gallery:
    """Rooms whose members can have pictures drawn by the fake server."""

    def __init__(self, tmp_path: Path, llm: FakeLLM, client: httpx.AsyncClient) -> None:
        self.tmp_path = tmp_path
        self.llm = llm
        self.address = llm.base_url
        clock = FakeClock()
        self.sources = Sources(
            configured=lambda: [SourceConfig("lab", "openai", self.address, ("small",))],
            default=lambda: None,
            stored_key=lambda _: None,
            environment={},
            connect=Wiring(client=lambda: client, clock=clock).connect,
            catalogue=Catalogue(None),
            cooldowns=Cooldowns(clock),
        )

    @asynccontextmanager
    async def room(self, *calls: dict[str, Any], access: AccessMode = "standard") -> AsyncIterator[House]:
        replies = [call("generate_image", f"c{place}", **arguments) for place, arguments in enumerate(calls)]
        model = ScriptedModel(*([reply] for reply in replies), say("Done."))
        outside = Outside(self.sources.for_pictures(), lambda: SearXNG("http://search.example"))
        make = partial(Members, outside=outside)
        async with house(self.tmp_path, model, make_members=make) as at:
            set_setting(at.store, "image.model", "lab/gpt-image-1")
            conversations.choose_access(at.store, at.room.id, access)
            yield at

    async def tools(self, at: House) -> set[str]:
        row = conversations.load_conversation(at.store, at.room.id)
        return set((await at.members.prepare("commander", row)).equipment.tools)


@pytest.fixture
def gallery(tmp_path: Path, llm: FakeLLM, http_client: httpx.AsyncClient) -> Gallery:
    return Gallery(tmp_path, llm, http_client)


async def question(at: House) -> MessageRow:
    with anyio.fail_after(20):
        async for _ in at.room.feed.follow(0):
            if found := [row for row in at.rows() if row.kind == "approval"]:
                return found[0]
    raise AssertionError


def results(at: House) -> list[str]:
    return [str(row.data.get("result")) for row in at.rows() if row.kind == "tool_call"]


async def test_it_is_offered_only_where_a_model_is_chosen_for_it(gallery: Gallery) -> None:
    async with gallery.room() as at:
        assert "generate_image" in await gallery.tools(at)
        set_setting(at.store, "image.model", "")
        assert "generate_image" not in await gallery.tools(at)


async def test_a_picture_of_a_server_here_is_drawn_shown_and_counted(gallery: Gallery) -> None:
    gallery.llm.script(draw(picture(30, 20), usage=(10, 4_000)))
    async with gallery.room(CAT) as at:
        await at.say("Draw it.")
        assert results(at)[0].startswith("[art/cat.png: PNG image, 30 × 20 pixels")
        assert (at.workspace / "art/cat.png").read_bytes() == picture(30, 20)
        (card,) = [row for row in at.rows() if row.kind == "tool_call"]
        assert len(card.data["pictures"]) == 1
        purposes = {row.key: row for row in usage.totals(at.store, "purpose", conversation=at.room.id)}
        assert (purposes["image"].calls, purposes["image"].output_tokens) == (1, 4_000)
        told = [event.event for event in at.happened() if isinstance(event.event, Usage)]
        assert [event.purpose for event in told].count("image") == 1


@pytest.mark.parametrize(("access", "asks"), [("cautious", True), ("standard", True), ("trusted", False)])
async def test_another_machine_is_asked_about_with_all_that_it_is_sent(
    access: AccessMode, asks: bool, gallery: Gallery
) -> None:
    gallery.address = "http://pictures.invalid/v1"
    async with gallery.room({**CAT, "references": ["a.png"]}, access=access) as at:
        (at.workspace / "a.png").write_bytes(picture(3, 3))
        await at.room.post("Draw it.", client_id="1")
        if asks:
            row = await question(at)
            assert (row.data["approval"], row.data["payload"]) == ("picture", "A cat on a roof")
            assert row.data["facts"] == [
                ["Model", "lab/gpt-image-1"],
                ["Host", "pictures.invalid"],
                ["File", "art/cat.png"],
                ["References", "a.png"],
            ]
            assert row.data["reasons"][0] == (
                "pictures.invalid is another machine, is sent the description and the references, and may charge for "
                "the picture."
            )
            assert row.data["rules"] == ["generate_image: pictures.invalid"]
            await at.room.decide(row.id, "deny")
        await at.quiet()
        assert results(at)[0].startswith("E_DENIED: The user denied" if asks else "E_FAILED: ")
        assert not (at.workspace / "art").exists()


async def test_what_is_always_allowed_does_not_ask_again(gallery: Gallery) -> None:
    gallery.address = "http://pictures.invalid/v1"
    async with gallery.room(CAT, {**CAT, "path": "art/dog.png"}) as at:
        await at.room.post("Draw them.", client_id="1")
        await at.room.decide((await question(at)).id, "allow_always")
        await at.quiet()
        assert [text.partition(":")[0] for text in results(at)] == ["E_FAILED", "E_FAILED"]
        assert sum(row.kind == "approval" for row in at.rows()) == 1


async def test_a_host_that_is_forbidden_draws_nothing(gallery: Gallery) -> None:
    async with gallery.room(CAT) as at:
        never = Rule("deny", ("127.0.0.1",), exact=True, tool=WEB)
        rules.add_rule(at.store, never, rules.EVERYWHERE)
        await at.say("Draw it.")
        assert results(at)[0].startswith("E_DENIED: There is a rule about web: 127.0.0.1.")
        assert gallery.llm.requests() == []


async def test_a_server_here_asks_in_cautious_access_because_it_makes_a_file(gallery: Gallery) -> None:
    async with gallery.room(CAT, access="cautious") as at:
        await at.room.post("Draw it.", client_id="1")
        row = await question(at)
        assert row.data["reasons"] == ["It makes a file, and access is cautious."]
        await at.room.decide(row.id, "allow_once")
        await at.quiet()
        assert (at.workspace / "art/cat.png").exists()


async def test_the_budget_of_a_conversation_holds_for_pictures(gallery: Gallery) -> None:
    async with gallery.room(CAT) as at:
        set_setting(at.store, "budget.conversation", "0.01")
        usage.record(at.store, Usage("lab", "m", cost=0.02), member="commander", conversation=at.room.id)
        row = conversations.load_conversation(at.store, at.room.id)
        drawn = (await at.members.prepare("commander", row)).equipment.tools["generate_image"]
        output = await drawn.execute(CAT, ToolContext("c", lambda text, done, total: None))
        assert "The budget of this conversation is spent" in output.text
        assert gallery.llm.requests() == []


async def test_the_engine_that_was_chosen_searches(gallery: Gallery) -> None:
    async with gallery.room() as at:
        row = conversations.load_conversation(at.store, at.room.id)
        tools = (await at.members.prepare("commander", row)).equipment.tools
        assert "SearXNG" in tools["web_search"].description


async def test_a_model_that_is_gone_is_named_all_the_same(gallery: Gallery) -> None:
    images = gallery.sources.for_pictures()
    assert goes_to(images, "gone/x") == Destination("gone/x", "gone", is_here=False)
    assert goes_to(images, "lab/x") == Destination("lab/x", "127.0.0.1", is_here=True)
