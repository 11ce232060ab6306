"""Model servers of this computer, as pages offer them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.providers.detection import FoundServer
from app.providers.sources import SourceConfig
from app.web.found_servers import found_views
from app.web.settings_views import FoundView
from app.workspace.model_sources import list_sources
from tests.web.pages import open_page

pytestmark = pytest.mark.anyio

OLLAMA = SourceConfig("ollama", "ollama", "http://127.0.0.1:11434", ("llama", "embed"))
STUDIO = SourceConfig("lmstudio", "openai", "http://127.0.0.1:1234/v1", ("<one>",))
BARE = SourceConfig("vllm", "openai", "http://127.0.0.1:8000/v1")


async def test_each_says_what_it_has_and_brings_the_form_that_adds_it(tmp_path: Path) -> None:
    servers = [FoundServer("Ollama", OLLAMA), FoundServer("LM Studio", STUDIO), FoundServer("vLLM", BARE)]
    async with open_page(tmp_path) as opened:
        ollama, studio, bare = found_views(opened.site, servers)
        assert ollama == FoundView(
            "Ollama",
            "answers on http://127.0.0.1:11434, 2 models.",
            {
                "kind": "ollama",
                "name": "ollama",
                "base_url": "http://127.0.0.1:11434",
                "models": "llama,embed",
            },
        )
        assert (studio.sentence, bare.sentence) == (
            "answers on http://127.0.0.1:1234/v1, 1 model.",
            "answers on http://127.0.0.1:8000/v1, no model loaded.",
        )


async def test_one_that_is_in_use_is_not_offered_again(tmp_path: Path) -> None:
    servers = [FoundServer("Ollama", OLLAMA), FoundServer("LM Studio", STUDIO)]
    async with open_page(tmp_path) as opened:
        ollama, _ = found_views(opened.site, servers)
        assert (await opened.browser.post("/settings/models", ollama.fields)).status == 303
        assert list_sources(opened.bench.store) == (OLLAMA,)
        assert [each.title for each in found_views(opened.site, servers)] == ["LM Studio"]
