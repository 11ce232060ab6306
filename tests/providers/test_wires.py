"""From a source to the object that talks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.engine.errors import ProviderError
from app.engine.messages import Image, Message, Text
from app.engine.provider import ModelRequest, TextChunk
from app.providers.anthropic_compatible import AnthropicCompatible
from app.providers.demo import Demo
from app.providers.litellm import LiteLLM
from app.providers.ollama import Ollama
from app.providers.openai_compatible import OpenAICompatible
from app.providers.wires import DEMO, Wire, Wiring
from tests.fakes.clock import FakeClock
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import say
from tests.fakes.pictures import PIXEL, png

pytestmark = pytest.mark.anyio

DIRECT = Wire("lab", "openai", "http://127.0.0.1:9/v1", "k")
THROUGH = Wire("nebula", "litellm", None, "k", "nebula")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient() as client:
        yield client


def wiring(client: httpx.AsyncClient, *, installed: bool = True) -> Wiring:
    return Wiring(client=lambda: client, clock=FakeClock(), litellm_installed=lambda: installed)


async def test_each_dialect_has_its_own_class(client: httpx.AsyncClient) -> None:
    wires = wiring(client)
    assert isinstance(wires.connect(DEMO), Demo)
    assert isinstance(wires.connect(DIRECT), OpenAICompatible)
    assert isinstance(wires.connect(THROUGH), LiteLLM)
    assert isinstance(wires.connect(Wire("a", "anthropic", "https://ant.example")), AnthropicCompatible)
    assert isinstance(wires.connect(Wire("o", "ollama", "http://127.0.0.1:9", context=4_096)), Ollama)
    assert [wires.connect(wire).id for wire in (DEMO, DIRECT, THROUGH)] == ["demo", "lab", "nebula"]


async def test_the_same_wire_is_the_same_object_and_a_new_key_another(client: httpx.AsyncClient) -> None:
    wires = wiring(client)
    assert wires.connect(DIRECT) is wires.connect(Wire("lab", "openai", "http://127.0.0.1:9/v1", "k"))
    assert wires.connect(DIRECT) is not wires.connect(Wire("lab", "openai", "http://127.0.0.1:9/v1", "k2"))


async def test_it_does_not_keep_wires_without_end(client: httpx.AsyncClient) -> None:
    wires = wiring(client)
    first = wires.connect(DIRECT)
    for number in range(100):
        wires.connect(Wire("lab", "openai", "http://127.0.0.1:9/v1", f"k{number}"))
    assert wires.connect(DIRECT) is not first


async def test_without_the_extra_the_one_command_that_adds_it_is_named(client: httpx.AsyncClient) -> None:
    wires = wiring(client, installed=False)
    with pytest.raises(ProviderError) as refused:
        wires.connect(THROUGH)
    assert refused.value.kind == "local"
    assert refused.value.message.endswith('Add it with: pip install "plancia[providers]"')
    assert isinstance(wires.connect(DIRECT), OpenAICompatible)


async def test_a_direct_wire_talks_to_its_address_with_its_key(
    client: httpx.AsyncClient, llm: FakeLLM
) -> None:
    llm.script(say("Hello"))
    provider = wiring(client).connect(Wire("lab", "openai", llm.base_url, "k-123456"))
    request = ModelRequest("star-1", "", (Message("user", (Text("Hi"),), "m1", ""),))
    events = await provider.complete(request)
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello"
    assert llm.requests()[0]["headers"]["authorization"] == "Bearer k-123456"


async def test_a_picture_by_reference_is_found_by_each_wire(client: httpx.AsyncClient, llm: FakeLLM) -> None:
    wires = Wiring(client=lambda: client, clock=FakeClock(), load_image=lambda ref: ("image/png", png()))
    said = Message("user", (Image("results/a.png"),), "m1", "")
    for dialect in ("openai", "anthropic", "ollama"):
        await wires.connect(Wire("lab", dialect, llm.base_url)).complete(ModelRequest("m", "", (said,)))
    assert [PIXEL in json.dumps(body) for body in llm.bodies()] == [True] * 3


async def test_ollama_is_asked_for_the_window_of_its_wire(client: httpx.AsyncClient, llm: FakeLLM) -> None:
    provider = wiring(client).connect(Wire("o", "ollama", llm.url, context=4_096))
    await provider.complete(ModelRequest("m", "", (Message("user", (Text("Hi"),), "m1", ""),)))
    assert llm.bodies()[0]["options"] == {"num_ctx": 4_096}


def test_resolving_the_demo_touches_neither_the_network_nor_litellm() -> None:
    code = """
import sys
from app.infra.clock import SystemClock
from app.providers.catalogue import Catalogue
from app.providers.cooldown import Cooldowns
from app.providers.routing import Sources
from app.providers.wires import Wiring
wiring = Wiring(client=lambda: 1 / 0, clock=SystemClock())
sources = Sources(configured=tuple, default=lambda: None, stored_key=lambda name: None,
                  environment={}, connect=wiring.connect, catalogue=Catalogue.installed(),
                  cooldowns=Cooldowns(SystemClock()))
assert sources.resolve(None).label == "demo/tour"
assert not {"litellm", "httpx", "cryptography", "keyring"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
