"""A picture from the model that was chosen for it: keys that take turns, budgets that hold, rows for the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import httpx
import pytest

from app.engine.errors import ProviderError
from app.engine.events import Usage
from app.engine.provider import ModelSource
from app.providers.budget import Budget, Limit
from app.providers.catalogue import Catalogue
from app.providers.cooldown import Cooldowns
from app.providers.drawing import Destination, Drawing, destination, expect_pictures
from app.providers.routing import Sources
from app.providers.sources import SourceConfig
from app.providers.wires import Wiring
from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import fail
from tests.fakes.openai_images import draw
from tests.fakes.pictures import png

pytestmark = pytest.mark.anyio

FIRST, SECOND = "sk-first-0123", "sk-second-0123"


class Studio:
    """Two keys at one server, a model that only chats listed there, and what was counted."""

    def __init__(self, llm: FakeLLM, client: httpx.AsyncClient) -> None:
        self.clock = FakeClock()
        self.rows: list[Usage] = []
        secrets = {"k1": FIRST, "k2": SECOND}
        lab = SourceConfig("lab", "openai", llm.base_url, ("small",), keys=("k1", "k2"))
        self.listed = [
            lab,
            SourceConfig("cave", "ollama", llm.url),
            replace(lab, name="hall", kind="anthropic"),
        ]
        self.sources = Sources(
            configured=lambda: self.listed,
            default=lambda: None,
            stored_key=secrets.get,
            environment={},
            connect=Wiring(client=lambda: client, clock=self.clock).connect,
            catalogue=Catalogue.installed(),
            cooldowns=Cooldowns(self.clock),
        )
        self.models = self.sources.for_pictures()

    async def draw(self, name: str = "lab/gpt-image-1", models: ModelSource | None = None) -> bytes:
        drawing = Drawing(models or self.models, name, self.clock, self.rows.append)
        return await drawing("A cat", None, ())

    async def refusal(
        self, name: str = "lab/gpt-image-1", models: ModelSource | None = None
    ) -> ProviderError:
        with pytest.raises(ProviderError) as raised:
            await self.draw(name, models)
        return raised.value

    def within(self, *limits: Limit, strict: bool = False) -> Budget:
        return Budget(self.models, lambda: limits, lambda: strict)

    def counted(self) -> Sequence[tuple[str, float | None]]:
        return [(row.outcome, row.cost) for row in self.rows]


@pytest.fixture
def studio(llm: FakeLLM, http_client: httpx.AsyncClient) -> Studio:
    return Studio(llm, http_client)


async def test_a_picture_comes_from_a_model_that_no_list_of_chatting_ones_names(
    llm: FakeLLM, studio: Studio
) -> None:
    llm.script(draw(png(3, 2), usage=(10, 4_000)))
    assert await studio.draw() == png(3, 2)
    (row,) = studio.rows
    assert (row.provider, row.model, row.purpose, row.outcome) == ("lab", "gpt-image-1", "image", "ok")
    assert (row.input_tokens, row.output_tokens) == (10, 4_000)
    assert row.cost is None, "nobody knows what this server takes for it"
    with pytest.raises(ProviderError):
        studio.sources.resolve("lab/gpt-image-1")


async def test_a_known_price_of_picture_tokens_is_what_it_costs(llm: FakeLLM, studio: Studio) -> None:
    studio.listed = [SourceConfig("openai", "openai", llm.base_url, price_in=5.0, price_out=40.0)]
    llm.script(draw(png(), usage=(1_000, 4_000)))
    await studio.draw("openai/gpt-image-1")
    assert studio.counted() == [("ok", pytest.approx(0.165))]


def test_the_price_of_a_model_that_draws_is_that_of_its_dearest_token() -> None:
    facts = Catalogue.installed().facts("openai", "gpt-image-1")
    assert (facts.price_in, facts.price_out) == (10.0, 40.0)
    elsewhere = Catalogue.installed().facts("", "gpt-image-1")
    assert (elsewhere.price_in, elsewhere.price_out) == (None, None)
    chatting = Catalogue.installed().facts("openai", "gpt-4o")
    assert (chatting.price_in, chatting.price_out) == (2.5, 10.0)


async def test_a_key_that_is_limited_rests_and_the_next_one_draws(llm: FakeLLM, studio: Studio) -> None:
    llm.knows(keys={FIRST: "limited", SECOND: "good"})
    await studio.draw()
    assert [one["key"] for one in llm.requests()] == [FIRST, SECOND]
    assert [outcome for outcome, _ in studio.counted()] == ["rate_limit", "ok"]
    await studio.draw()
    assert [one["key"] for one in llm.requests()][2:] == [SECOND], "it rests for answers and pictures alike"
    assert [bool(key.rest) for key in studio.sources.standing(studio.listed[0])] == [True, False]


async def test_where_no_key_is_taken_the_failure_is_said_and_counted(llm: FakeLLM, studio: Studio) -> None:
    llm.knows(keys={FIRST: "bad", SECOND: "bad"})
    error = await studio.refusal()
    assert (error.kind, FIRST in error.message) == ("auth", False)
    assert [outcome for outcome, _ in studio.counted()] == ["auth", "auth"]


async def test_a_refusal_of_the_content_is_not_taken_to_another_key(llm: FakeLLM, studio: Studio) -> None:
    llm.script(fail(400, "Rejected by the safety system.", code="moderation_blocked"))
    assert (await studio.refusal()).kind == "policy"
    assert len(llm.requests()) == 1


async def test_a_picture_is_not_asked_for_twice(llm: FakeLLM, studio: Studio) -> None:
    llm.script(fail(500, "oops"))
    assert (await studio.refusal()).retryable
    assert len(llm.requests()) == 1


async def test_nothing_is_sent_once_the_budget_is_spent(llm: FakeLLM, studio: Studio) -> None:
    spent = studio.within(Limit(1.0, 1.0, "The budget of this day", "Allow more."))
    error = await studio.refusal(models=spent)
    assert (error.kind, llm.requests(), studio.rows) == ("budget", [], [])
    left = studio.within(Limit(1.0, 0.5, "The budget of this day", "Allow more."))
    assert await studio.draw(models=left)


async def test_a_model_without_a_price_is_not_asked_where_a_budget_has_to_hold(
    llm: FakeLLM, studio: Studio
) -> None:
    strict = studio.within(Limit(1.0, 0.0, "The budget of this day", "Allow more."), strict=True)
    error = await studio.refusal(models=strict)
    assert "The price of lab/gpt-image-1 is not known" in error.message
    assert llm.requests() == []


@pytest.mark.parametrize("name", ["cave/llama3", "hall/claude", "demo/tour"])
async def test_a_source_that_only_answers_in_words_says_so_and_is_not_asked(
    name: str, llm: FakeLLM, studio: Studio
) -> None:
    error = await studio.refusal(name)
    assert "draws no pictures" in error.message
    assert llm.requests() == []


async def test_a_choice_that_cannot_draw_is_known_before_it_is_asked(studio: Studio) -> None:
    expect_pictures(studio.models.resolve("lab/gpt-image-1"))
    for name in ("cave/llama3", "hall/claude", "demo/tour"):
        with pytest.raises(ProviderError, match="draws no pictures"):
            expect_pictures(studio.models.resolve(name))


async def test_where_it_would_go_is_told_without_asking(llm: FakeLLM, studio: Studio) -> None:
    studio.listed = [
        SourceConfig("lab", "openai", llm.base_url),
        SourceConfig("far", "openai", "https://pictures.example:8443/v1"),
        SourceConfig("nebula", "litellm", models=("gemini/imagen",)),
    ]
    told = [destination(studio.models.resolve(name)) for name in ("lab/a", "far/b", "nebula/gemini/imagen")]
    assert told == [
        Destination("lab/a", "127.0.0.1", is_here=True),
        Destination("far/b", "pictures.example", is_here=False),
        Destination("nebula/gemini/imagen", "nebula", is_here=False),
    ]
    assert llm.requests() == []
