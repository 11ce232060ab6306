"""The rows of the settings of models, from the store, the environment and what is remembered of keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.providers.model_facts import OwnFacts
from app.providers.sources import SourceConfig
from app.web.model_rows import all_sources, place_views, read_endings, source_views
from app.workspace.model_facts import say_of_model
from app.workspace.source_keys import add_source_with_keys
from tests.web.pages import Open, open_page

pytestmark = pytest.mark.anyio

KEYS = ("sk-one-0123456789-abcd", "sk-two-0123456789-wxyz")


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path, OPENAI_API_KEY="k", ANTHROPIC_API_KEY="k") as opened:
        bench = opened.bench
        lab = SourceConfig("lab", "openai", "http://lab.local/v1", ("big", "small"))
        own = SourceConfig("openai", "openai", models=("gpt-9",))
        for source, keys in ((lab, KEYS), (own, KEYS[:1])):
            add_source_with_keys(bench.store, bench.secrets, source, keys, plain_http_confirmed=True)
        yield opened


async def test_the_users_sources_stand_before_those_of_the_environment(opened: Open) -> None:
    assert [(source.name, source.origin) for source in all_sources(opened.site)] == [
        ("lab", "configured"),
        ("openai", "configured"),
        ("anthropic", "environment"),
    ]


async def test_keys_are_numbered_and_known_by_their_ends(opened: Open) -> None:
    lab, own, anthropic = source_views(opened.site, read_endings(opened.site))
    assert [(key.title, key.ending) for key in lab.keys] == [("key 1", "abcd"), ("key 2", "wxyz")]
    assert [(key.title, key.ending) for key in anthropic.keys] == [("ANTHROPIC_API_KEY", "")]
    assert (lab.margin, own.margin, anthropic.margin) == ("2 keys", "1 key", "env")
    assert (lab.own, anthropic.own) == (True, False)


async def test_keys_that_cannot_be_read_have_no_ends(opened: Open) -> None:
    opened.bench.folder.secrets.write_text("rubbish")
    lab, *_ = source_views(opened.site, read_endings(opened.site))
    assert [(key.title, key.ending) for key in lab.keys] == [("key 1", ""), ("key 2", "")]


async def test_a_place_says_what_is_known_what_is_assumed_and_what_is_said(opened: Open) -> None:
    say_of_model(opened.bench.store, "lab", "big", OwnFacts(context=100_000, tools=True))
    big, small, *_ = place_views(opened.site)
    assert (big.label, big.known, big.key) == ("lab/big", "Tools, 100k tokens.", "2 keys take turns")
    assert (small.known, small.spare) == ("33k tokens assumed.", True)


async def test_the_only_place_of_a_source_is_not_left_out(opened: Open) -> None:
    spare = {place.label: place.spare for place in place_views(opened.site)}
    assert spare["openai/gpt-9"] is False
