"""What counts for a model: the user's word first, the source's next, the catalogue's last."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.providers.catalogue import DEFAULT_WINDOW, Catalogue
from app.providers.model_facts import LOADED_WINDOW, OwnFacts, facts_in_force, known_facts
from app.providers.sources import SourceConfig

MAP = """{"seer": {"litellm_provider": "lab", "max_input_tokens": 100000, "max_output_tokens": 10,
    "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "supports_vision": true}}"""

LAB = SourceConfig("lab", "openai", "http://127.0.0.1:8000/v1")


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "map.json").write_text(MAP)
    return Catalogue(tmp_path / "map.json")


def test_the_word_of_the_user_goes_before_the_source_and_the_catalogue(catalogue: Catalogue) -> None:
    source = SourceConfig("lab", "litellm", context=5_000, price_in=3.0, price_out=4.0)
    said = {("lab", "seer"): OwnFacts(context=7_000, images=False, price_in=0.0, price_out=0.0)}
    known = known_facts(source, "seer", catalogue)
    assert (known.context_window, known.max_output, known.price_in, known.images) == (5_000, 10, 3.0, True)
    facts = facts_in_force(source, "seer", said, catalogue)
    assert (facts.context_window, facts.max_output, facts.price_in, facts.images) == (7_000, 10, 0.0, False)


def test_what_is_said_of_one_model_is_not_said_of_another(catalogue: Catalogue) -> None:
    said = {("lab", "seer"): OwnFacts(context=7_000), ("other", "twin"): OwnFacts(context=9_000)}
    facts = facts_in_force(LAB, "twin", said, catalogue)
    assert (facts.context_window, facts.images, facts.known) == (DEFAULT_WINDOW, None, False)


def test_a_server_that_loads_its_models_is_not_asked_for_all_that_they_could_hold(
    catalogue: Catalogue,
) -> None:
    source = SourceConfig("ollama", "ollama")
    assert known_facts(source, "seer", catalogue).context_window == LOADED_WINDOW
    said = {("ollama", "seer"): OwnFacts(context=60_000)}
    assert facts_in_force(source, "seer", said, catalogue).context_window == 60_000
