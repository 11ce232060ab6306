"""What is known about models, and what is honestly not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.providers.catalogue import DEFAULT_WINDOW, Catalogue, ModelFacts
from app.providers.vendors import VENDORS, Vendor

MAP = """{
  "sample_spec": {"litellm_provider": "one of the docs", "max_input_tokens": "max input tokens"},
  "gpt-9": {"litellm_provider": "openai", "max_input_tokens": 100, "max_output_tokens": 10,
            "input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05,
            "supports_vision": true, "supports_reasoning": true, "supports_function_calling": true,
            "nested": {"gpt-9-inner": 1}},
  "gemini/comet-2": {"litellm_provider": "gemini", "max_input_tokens": 200, "input_cost_per_token": 1e-06},
  "comet-2": {"litellm_provider": "vertex_ai", "max_input_tokens": 300},
  "old": {"litellm_provider": "openai", "max_tokens": 400},
  "speech": {"litellm_provider": "openai", "mode": "audio_speech"},
  "command-z": {"litellm_provider": "cohere_chat", "max_input_tokens": 500, "input_cost_per_token": 1e-06}
}"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "map.json").write_text(MAP)
    return Catalogue(tmp_path / "map.json")


def test_a_listed_model_has_its_facts_with_prices_per_million(catalogue: Catalogue) -> None:
    assert catalogue.facts("openai", "gpt-9") == ModelFacts(
        100, 10, 2.5, 10.0, images=True, reasoning=True, tools=True, known=True
    )


def test_the_entry_of_the_host_itself_is_preferred(catalogue: Catalogue) -> None:
    assert catalogue.facts("gemini", "comet-2").context_window == 200
    assert catalogue.facts("", "comet-2").context_window == 300


@pytest.mark.parametrize("model", ["openai/gpt-9", "gpt-9", "gpt-9-2026-04-23", "gpt-9:latest", "x/y/gpt-9"])
def test_another_host_lends_sizes_and_abilities_but_no_prices(catalogue: Catalogue, model: str) -> None:
    facts = catalogue.facts("", model)
    assert (facts.context_window, facts.images, facts.known) == (100, True, True)
    assert (facts.price_in, facts.price_out) == (None, None)


def test_a_host_of_two_names_keeps_its_prices(catalogue: Catalogue) -> None:
    assert catalogue.facts("cohere", "command-z").price_in == 1.0


def test_the_older_field_for_the_window_counts_too(catalogue: Catalogue) -> None:
    assert catalogue.facts("openai", "old").context_window == 400


@pytest.mark.parametrize(
    "model", ["homemade", "speech", "gpt-9-inner", "sample_spec", "", 'quo"te', "gpt-9x", "pt-9", ".*"]
)
def test_what_nobody_knows_says_so(catalogue: Catalogue, model: str) -> None:
    assert catalogue.facts("openai", model) == ModelFacts(DEFAULT_WINDOW, known=False)


@pytest.mark.parametrize("path", [None, "absent.json", "broken.json", "binary.json"])
def test_without_a_map_a_few_families_are_known_by_name(tmp_path: Path, path: str | None) -> None:
    (tmp_path / "broken.json").write_text('{"claude-9": {"max_input_tokens": 5')
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    catalogue = Catalogue(tmp_path / path if path else None)
    assert catalogue.facts("anthropic", "claude-9").context_window == 200_000
    assert catalogue.facts("", "Anthropic/Claude-9").known
    assert not catalogue.facts("", "claudette").known
    assert catalogue.facts("anthropic", "claude-9").price_in is None


def test_the_hosts_are_those_of_the_map(catalogue: Catalogue) -> None:
    assert catalogue.vendors == {"openai", "gemini", "vertex_ai", "cohere_chat"}
    assert Catalogue(None).vendors == frozenset()


CHOOSES_ITSELF = {"openrouter"}
NAMED = [vendor for vendor in VENDORS if vendor.default_model and vendor.name not in CHOOSES_ITSELF]


@pytest.mark.parametrize("vendor", NAMED, ids=lambda vendor: vendor.name)
def test_the_model_each_host_is_known_for_has_a_known_window(vendor: Vendor) -> None:
    assert Catalogue.installed().facts(vendor.litellm_name, vendor.default_model or "").known


def test_the_installed_map_is_read_without_importing_litellm() -> None:
    code = (
        "import sys; from app.providers.catalogue import Catalogue; c = Catalogue.installed();"
        "f = c.facts('anthropic', 'claude-sonnet-4-5'); assert f.known and f.price_in, f;"
        "assert 'openai' in c.vendors and 'bedrock' in c.vendors;"
        "assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
