"""Model strings: who answers, under which name, with which key, within which limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from app.engine.errors import ProviderError
from app.engine.provider import Provider, ResolvedModel
from app.infra.errors import SecretsUnreadable
from app.providers.catalogue import Catalogue
from app.providers.cooldown import Cooldowns
from app.providers.demo import Demo
from app.providers.model_facts import OwnFacts, Said
from app.providers.rotation import Pool, Refused
from app.providers.routing import ModelChoice, Sources
from app.providers.sources import SourceConfig
from app.providers.vendors import VENDORS, Vendor, find_vendor, vendor_of
from app.providers.wires import Wire
from tests.fakes.clock import FakeClock

MAP = """{
  "gpt-6.1-sol": {"litellm_provider": "openai", "max_input_tokens": 922000, "max_output_tokens": 128000,
    "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05, "supports_vision": true},
  "claude-sonnet-5-5": {"litellm_provider": "anthropic", "max_input_tokens": 1000000,
    "input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05},
  "nebula/star-1": {"litellm_provider": "nebula", "max_input_tokens": 5000}
}"""


class Plug(Demo):
    """A provider that only remembers how it was wired."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(FakeClock())
        self.id = wire.id  # type: ignore[misc]
        self.wire = wire


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "map.json").write_text(MAP)
    return Catalogue(tmp_path / "map.json")


class Desk:
    """Sources over plain values."""

    def __init__(
        self,
        catalogue: Catalogue,
        *configured: SourceConfig,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        stored_key: Callable[[str], str | None] | None = None,
        default: str | None = None,
        said: Said | None = None,
        order: Sequence[str] = (),
    ) -> None:
        self.configured: Sequence[SourceConfig] = configured
        self.default = default
        self.reasoning = "off"
        self.order = order
        self.cooldowns = Cooldowns(FakeClock())
        self.sources = Sources(
            configured=lambda: self.configured,
            default=lambda: self.default,
            order=lambda: self.order,
            said=lambda: said or {},
            reasoning=lambda: self.reasoning,
            stored_key=stored_key or (secrets or {}).get,
            environment=environment or {},
            connect=self._connect,
            catalogue=catalogue,
            cooldowns=self.cooldowns,
        )

    def _connect(self, wire: Wire) -> Provider:
        return Plug(wire)

    def resolve(self, name: str | None) -> ResolvedModel:
        return self.sources.resolve(name)

    def wire(self, name: str | None) -> Wire:
        provider = self.resolve(name).provider
        first = provider.first if isinstance(provider, Pool) else provider
        assert isinstance(first, Plug)
        return first.wire

    def chain(self, name: str | None = None) -> list[str]:
        """Who answers, and who takes over from whom."""
        labels: list[str] = []
        model: ResolvedModel | None = self.resolve(name)
        while model is not None:
            labels.append(model.label)
            model = model.fallback()
        return labels

    def keys(self, name: str) -> list[str | None]:
        pool = self.resolve(name).provider
        assert isinstance(pool, Pool)
        wires = [one.provider.wire for one in pool.candidates if isinstance(one.provider, Plug)]
        assert len({replace(wire, key=None) for wire in wires}) == 1
        return [wire.key for wire in wires]

    def refusal(self, name: str | None) -> ProviderError:
        with pytest.raises(ProviderError) as refused:
            self.resolve(name)
        return refused.value


LAB = SourceConfig("lab", "openai", "http://127.0.0.1:9/v1", ("fast", "meta/llama-3"), keys=("lab-key",))


def test_a_configured_source_answers_with_its_address_and_its_stored_key(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, LAB, secrets={"lab-key": "s3"})
    assert desk.wire("lab/fast") == Wire("lab", "openai", "http://127.0.0.1:9/v1", "s3")
    assert desk.resolve("lab/fast").label == "lab/fast"
    assert desk.resolve("lab/fast").endpoint == "http://127.0.0.1:9/v1"


def test_a_models_name_may_hold_slashes(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, LAB, secrets={"lab-key": "s3"})
    assert desk.resolve("lab/meta/llama-3").model == "meta/llama-3"
    assert desk.resolve("meta/llama-3").label == "lab/meta/llama-3"


def test_a_key_may_stand_in_a_variable_instead(catalogue: Catalogue) -> None:
    assert Desk(catalogue, LAB, environment={"lab-key": "from-env"}).wire("lab/fast").key == "from-env"


def test_a_stored_key_wins_over_a_variable_of_the_same_name(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, LAB, environment={"lab-key": "env"}, secrets={"lab-key": "stored"})
    assert desk.wire("lab/fast").key == "stored"


def test_a_key_never_shows_in_a_wires_description() -> None:
    assert "s3cret" not in repr(Wire("lab", "openai", "http://x", "s3cret"))


def test_a_bare_name_finds_the_first_source_that_lists_it(catalogue: Catalogue) -> None:
    other = SourceConfig("other", "ollama", models=("fast",))
    assert Desk(catalogue, other, LAB, secrets={"lab-key": "k"}).resolve("fast").label == "other/fast"


@pytest.mark.parametrize(
    ("bare", "vendor"),
    [
        ("gpt-6.1-sol", "openai"),
        ("o3", "openai"),
        ("o4-mini", "openai"),
        ("claude-sonnet-5-5", "anthropic"),
        ("Gemini-Flash-Latest", "gemini"),
        ("deepseek-flash", "deepseek"),
        ("codestral-latest", "mistral"),
        ("grok-4.7", "xai"),
        ("qwen3.7-plus", "dashscope"),
        ("command-a-03-2025", "cohere"),
        ("kimi-k3", "moonshot"),
    ],
)
def test_a_bare_name_is_known_by_how_it_begins(catalogue: Catalogue, bare: str, vendor: str) -> None:
    found = find_vendor(vendor)
    assert found is not None
    resolved = Desk(catalogue, environment={found.keys[0]: "k"}).resolve(bare)
    assert (resolved.provider.id, resolved.model) == (vendor, bare)


@pytest.mark.parametrize(
    "bare", ["gpt4all", "o365", "claudette", "grokking", "qwenta", "kimiko", "llama-3", "o3x"]
)
def test_look_alikes_belong_to_no_host(bare: str) -> None:
    assert vendor_of(bare) is None


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_every_key_of_the_environment_works_at_once(catalogue: Catalogue, vendor: Vendor) -> None:
    for variable in vendor.keys:
        wire = Desk(catalogue, environment={variable: "k"}).wire(f"{vendor.name}/some-model")
        assert (wire.id, wire.key, wire.dialect) == (vendor.name, "k", vendor.wire)
        assert wire.base_url == vendor.base_url


def test_an_everyday_name_of_a_host_is_understood(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, environment={"GOOGLE_API_KEY": "k"})
    assert desk.wire("google/gemini-x") == Wire("gemini", "litellm", None, "k", "gemini")
    assert desk.resolve("Gemini/gemini-x").provider.id == "gemini"


def test_a_moved_address_takes_the_key_along_and_has_no_known_price(catalogue: Catalogue) -> None:
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:8080/v1/"}
    desk = Desk(catalogue, environment=environment)
    assert desk.wire("openai/gpt-6.1-sol") == Wire("openai", "openai", "http://127.0.0.1:8080/v1", "k")
    resolved = desk.resolve("gpt-6.1-sol")
    assert (resolved.context_window, resolved.price_in) == (922_000, None)


def test_a_moved_address_needs_no_key(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, environment={"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"})
    assert desk.wire("openai/anything").key is None


def test_a_key_of_the_environment_never_goes_to_another_address(catalogue: Catalogue) -> None:
    elsewhere = SourceConfig("openai", "openai", "http://127.0.0.1:9/v1", ("m",))
    assert Desk(catalogue, elsewhere, environment={"OPENAI_API_KEY": "k"}).wire("openai/m").key is None


def test_a_key_of_the_environment_is_for_the_host_and_not_for_a_name(catalogue: Catalogue) -> None:
    named = SourceConfig("openai", "anthropic", models=("m",))
    desk = Desk(catalogue, named, environment={"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"})
    assert desk.wire("openai/m").key == "a"


@pytest.mark.parametrize(
    ("source", "places"),
    [
        (SourceConfig("lab", "openai", "https://One.example/v1"), {"https://one.example"}),
        (SourceConfig("lab", "openai", "http://one.example/v1"), {"http://one.example"}),
        (SourceConfig("lab", "openai", "https://one.example:8/v1"), {"https://one.example:8"}),
        (SourceConfig("openai", "openai"), {"https://api.openai.com"}),
        (SourceConfig("o", "ollama"), {"http://127.0.0.1:11434"}),
        (SourceConfig("a", "anthropic", "https://one.example"), {"https://one.example"}),
        (SourceConfig("a", "anthropic"), {"https://api.anthropic.com"}),
        (SourceConfig("together", "litellm"), {"together_ai"}),
        (SourceConfig("mine", "litellm", models=("nebula/a", "x/b", "x/c")), {"nebula", "x"}),
    ],
    ids=lambda value: (
        f"{value.name}-{value.kind}-{value.base_url}" if isinstance(value, SourceConfig) else ""
    ),
)
def test_a_key_is_sent_to_known_places_only(
    catalogue: Catalogue, source: SourceConfig, places: set[str]
) -> None:
    assert Desk(catalogue).sources.places(source) == places


def test_a_configured_source_stands_before_the_environment(catalogue: Catalogue) -> None:
    own = SourceConfig("openai", "openai", models=("gpt-6.1-sol",), keys=("mine",))
    desk = Desk(catalogue, own, environment={"OPENAI_API_KEY": "env"}, secrets={"mine": "stored"})
    assert desk.wire("gpt-6.1-sol").key == "stored"
    assert [choice.label for choice in desk.sources.choices()] == ["openai/gpt-6.1-sol"]


@pytest.mark.parametrize(
    ("source", "wire"),
    [
        (SourceConfig("o", "ollama"), Wire("o", "ollama", "http://127.0.0.1:11434", context=32_768)),
        (SourceConfig("o", "ollama", "http://box:1/"), Wire("o", "ollama", "http://box:1", context=32_768)),
        (
            SourceConfig("o", "ollama", "http://box:1/v1", context=8_192),
            Wire("o", "ollama", "http://box:1/v1", context=8_192),
        ),
        (SourceConfig("g", "gateway", "https://gate/v1"), Wire("g", "gateway", "https://gate/v1")),
        (SourceConfig("a", "anthropic", "https://ant"), Wire("a", "anthropic", "https://ant")),
        (
            SourceConfig("work", "openai", "https://api.openai.com/v1"),
            Wire("work", "openai", "https://api.openai.com/v1"),
        ),
        (
            SourceConfig("nebula", "litellm", "https://neb"),
            Wire("nebula", "litellm", "https://neb", None, "nebula"),
        ),
        (SourceConfig("mine", "litellm"), Wire("mine", "litellm", None, None, "")),
    ],
    ids=["ollama", "ollama-moved", "ollama-v1", "gateway", "anthropic", "openai", "litellm-host", "litellm"],
)
def test_each_kind_of_source_has_its_wire(catalogue: Catalogue, source: SourceConfig, wire: Wire) -> None:
    assert Desk(catalogue, source).wire(f"{source.name}/m") == wire


def test_any_host_that_litellm_knows_is_reached_through_it(catalogue: Catalogue) -> None:
    desk = Desk(catalogue, environment={"NEBULA_API_KEY": "k"})
    assert desk.wire("nebula/star-1") == Wire("nebula", "litellm", None, None, "nebula")
    assert desk.resolve("nebula/star-1").context_window == 5000


@pytest.mark.parametrize("name", ["bedrock", "vertex_ai-mistral_models"])
def test_a_host_that_knows_its_user_without_a_key_needs_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "map.json").write_text(f'{{"m": {{"litellm_provider": "{name}"}}}}')
    assert Desk(Catalogue(tmp_path / "map.json")).wire(f"{name}/m").prefix == name


def test_a_usual_server_of_this_machine_needs_no_configuration(catalogue: Catalogue) -> None:
    own = Wire("ollama", "ollama", "http://127.0.0.1:11434", context=32_768)
    assert Desk(catalogue).wire("ollama/qwen3:8b") == own
    assert Desk(catalogue).wire("LMStudio/m") == Wire("lmstudio", "openai", "http://127.0.0.1:1234/v1")
    moved = Desk(catalogue, environment={"OLLAMA_HOST": "0.0.0.0:11500"})
    assert moved.wire("ollama/m").base_url == "http://127.0.0.1:11500"
    elsewhere = Desk(catalogue, environment={"OLLAMA_HOST": "198.51.100.7"})
    assert elsewhere.refusal("ollama/m").kind == "unknown_model"


def test_limits_and_prices_come_from_the_source_before_the_catalogue(catalogue: Catalogue) -> None:
    plain = Desk(catalogue, environment={"OPENAI_API_KEY": "k"}).resolve("openai/gpt-6.1-sol")
    assert (plain.context_window, plain.max_output) == (922_000, 128_000)
    assert (plain.price_in, plain.price_out) == (2.0, 10.0)
    own = SourceConfig("openai", "openai", None, (), 1000, 100, 0.0, 5.0, ("k",))
    mine = Desk(catalogue, own, secrets={"k": "k"}).resolve("openai/gpt-6.1-sol")
    assert (mine.context_window, mine.max_output, mine.price_in, mine.price_out) == (1000, 100, 0.0, 5.0)


def test_how_long_an_answer_may_be_is_asked_for_where_the_user_said_it_alone(catalogue: Catalogue) -> None:
    keyed = {"secrets": {"k": "k"}, "said": {("openai", "gpt-6.1-sol"): OwnFacts(max_output=50)}}
    own = SourceConfig("openai", "openai", max_output=100, keys=("k",))
    of_source = Desk(catalogue, own, secrets={"k": "k"}).resolve("openai/gpt-6.1-sol")
    of_model = Desk(catalogue, own, **keyed).resolve("openai/gpt-6.1-sol")
    known = Desk(catalogue, environment={"OPENAI_API_KEY": "k"}).resolve("openai/gpt-6.1-sol")
    limits = [(model.max_output, model.allowed_output) for model in (of_source, of_model, known)]
    assert limits == [(100, 100), (50, 50), (128_000, None)]


def test_what_the_user_says_of_a_model_counts_first(catalogue: Catalogue) -> None:
    source = replace(LAB, models=(), keys=(), context=5_000)
    blind = OwnFacts(context=7_000, price_in=0.0, price_out=0.0, images=False, tools=False)
    desk = Desk(catalogue, source, said={("lab", "gpt-6.1-sol"): blind})
    model = desk.resolve("lab/gpt-6.1-sol")
    assert (model.context_window, model.price_in) == (7_000, 0.0)
    assert (model.sees_pictures, model.takes_tools) == (False, False)
    other = desk.resolve("lab/unheard-of")
    assert (other.context_window, other.sees_pictures, other.takes_tools) == (5_000, True, True)


def test_a_window_that_the_user_gave_is_the_one_that_a_server_loads_with(catalogue: Catalogue) -> None:
    source = SourceConfig("ollama", "ollama", models=("big", "small"))
    desk = Desk(catalogue, source, said={("ollama", "big"): OwnFacts(context=60_000)})
    assert (desk.wire("ollama/big").context, desk.wire("ollama/small").context) == (60_000, 32_768)


def test_an_unknown_model_gets_the_assumed_window_and_no_price(catalogue: Catalogue) -> None:
    resolved = Desk(catalogue, SourceConfig("lab", "openai", "http://x/v1")).resolve("lab/homemade")
    assert (resolved.context_window, resolved.max_output, resolved.price_in) == (32_768, None, None)


class TestDefault:
    """``resolve(None)``."""

    def test_the_default_that_was_set_comes_first(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, LAB, default="lab/meta/llama-3", secrets={"lab-key": "k"})
        assert desk.resolve(None).model == "meta/llama-3"
        assert desk.resolve("  ").model == "meta/llama-3"

    def test_then_the_first_configured_model(self, catalogue: Catalogue) -> None:
        empty = SourceConfig("empty", "openai", "http://x/v1")
        desk = Desk(catalogue, empty, LAB, environment={"OPENAI_API_KEY": "k"}, secrets={"lab-key": "k"})
        assert desk.resolve(None).label == "lab/fast"

    def test_then_a_key_of_the_environment(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, environment={"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"})
        assert desk.resolve(None).label == "openai/gpt-6.1-sol"

    def test_and_the_demo_only_when_nothing_real_is_there(self, catalogue: Catalogue) -> None:
        assert Desk(catalogue).resolve(None).label == "demo/tour"
        assert Desk(catalogue).sources.choices() == (ModelChoice("demo/tour", "demo"),)

    def test_a_demo_that_was_the_default_gives_way_to_a_real_model(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, default="demo/tour", environment={"ANTHROPIC_API_KEY": "k"})
        assert desk.resolve(None).label == "anthropic/claude-sonnet-5-5"
        assert desk.resolve("demo/tour").label == "demo/tour"
        assert "demo/tour" not in [choice.label for choice in desk.sources.choices()]

    def test_a_source_without_a_model_asks_for_one_and_is_not_passed_over_for_the_demo(
        self, catalogue: Catalogue
    ) -> None:
        refused = Desk(catalogue, SourceConfig("lab", "openai", "http://x/v1")).refusal(None)
        assert refused.kind == "unknown_model"
        assert "--model lab/MODEL" in refused.message

    def test_an_edit_counts_at_once(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, secrets={"lab-key": "k"})
        assert desk.resolve(None).label == "demo/tour"
        desk.configured = (LAB,)
        assert desk.resolve(None).label == "lab/fast"


NEAR = SourceConfig("near", "ollama", models=("small", "tiny"))


class TestOrder:
    """Who takes over from whom, where nobody chose a model."""

    def test_each_source_stands_with_the_model_it_prefers(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, LAB, NEAR, environment={"OPENAI_API_KEY": "k"}, secrets={"lab-key": "k"})
        assert desk.chain() == ["lab/fast", "near/small", "openai/gpt-6.1-sol"]

    def test_the_users_order_comes_first_and_may_go_back_and_forth(self, catalogue: Catalogue) -> None:
        order = ("lab/meta/llama-3", "near/tiny", "lab/fast", "gone/x", "near/gone", "lab/fast")
        desk = Desk(catalogue, LAB, NEAR, secrets={"lab-key": "k"}, order=order)
        assert desk.chain() == ["lab/meta/llama-3", "near/tiny", "lab/fast"]
        assert desk.sources.default_label() == "lab/meta/llama-3"

    def test_the_default_that_was_set_leads_and_comes_once(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, LAB, NEAR, secrets={"lab-key": "k"}, default="near/small")
        assert desk.chain() == ["near/small", "lab/fast"]

    def test_the_default_speaks_for_its_source_whose_usual_model_nobody_asked_for(
        self, catalogue: Catalogue
    ) -> None:
        desk = Desk(catalogue, NEAR, environment={"OPENAI_API_KEY": "k"}, default="openai/o9")
        assert desk.chain() == ["openai/o9", "near/small"]
        assert desk.sources.preferred() == "openai/o9"
        nonsense = Desk(catalogue, NEAR, default="nobody/x")
        assert (nonsense.sources.preferred(), nonsense.sources.groups()[0].label) == (None, "near/small")

    def test_a_group_whose_keys_all_rest_is_passed_over(self, catalogue: Catalogue) -> None:
        order = ("lab/fast", "lab/meta/llama-3", "near/small")
        desk = Desk(catalogue, LAB, NEAR, secrets={"lab-key": "k"}, order=order)
        first = desk.resolve(None)
        assert isinstance(first.provider, Pool)
        desk.cooldowns.cool(first.provider.candidates[0].credential, ProviderError("auth", "No."))
        following = first.fallback()
        assert following is not None
        assert following.label == "near/small"

    def test_a_model_that_was_asked_for_by_name_answers_alone(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, LAB, NEAR, secrets={"lab-key": "k"})
        assert desk.chain("lab/fast") == ["lab/fast"]
        assert desk.chain("tiny") == ["near/tiny"]

    def test_the_demo_takes_over_from_nobody_and_nobody_from_it(self, catalogue: Catalogue) -> None:
        assert Desk(catalogue).chain() == ["demo/tour"]
        assert Desk(catalogue, NEAR).chain() == ["near/small"]

    def test_a_group_that_cannot_be_asked_is_passed_over(self, catalogue: Catalogue) -> None:
        broken = SourceConfig("broken", "openai", "nowhere", ("m",))
        assert Desk(catalogue, NEAR, LAB, broken, replace(NEAR, name="last")).chain() == [
            "near/small",
            "last/small",
        ]

    def test_one_that_stands_first_says_why_before_the_next_takes_over(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, LAB, NEAR)
        assert desk.chain() == ["lab/fast", "near/small"]
        refused = desk.resolve(None).provider
        assert isinstance(refused, Refused)
        assert 'key of the model source "lab" is gone' in refused.error.message

    def test_who_comes_next_is_looked_up_when_it_is_needed(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, NEAR)
        first = desk.resolve(None)
        desk.configured = (replace(NEAR, name="new"), NEAR)
        following = first.fallback()
        assert following is not None
        assert following.label == "new/small"
        assert following.fallback() is None

    def test_no_group_comes_twice_whatever_is_edited_meanwhile(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, NEAR, replace(NEAR, name="b"), replace(NEAR, name="c"))
        seen = []
        model: ResolvedModel | None = desk.resolve(None)
        while model is not None:
            seen.append(model.label)
            desk.configured = (*desk.configured[1:], desk.configured[0])
            model = model.fallback()
        assert sorted(seen) == ["b/small", "c/small", "near/small"]


class TestKeys:
    """All keys of a source are one pool."""

    def test_each_key_of_a_source_is_a_candidate_on_the_same_wire(self, catalogue: Catalogue) -> None:
        source = replace(LAB, keys=("a", "b", "gone", "A_VARIABLE", "twice"))
        desk = Desk(
            catalogue,
            source,
            secrets={"a": "1", "b": "2", "twice": "1"},
            environment={"A_VARIABLE": "3"},
        )
        assert desk.keys("lab/fast") == ["1", "2", "3"]

    def test_every_variable_of_a_known_host_counts(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, environment={"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"})
        assert desk.keys("gemini/x") == ["b", "a"]
        configured = SourceConfig("gemini", "litellm", models=("x",))
        desk = Desk(catalogue, configured, environment={"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b"})
        assert desk.keys("gemini/x") == ["b", "a"]

    def test_a_key_is_shown_by_name_with_what_became_of_it(self, catalogue: Catalogue) -> None:
        source = replace(LAB, keys=("a", "b"))
        desk = Desk(catalogue, source, secrets={"a": "1", "b": "2"})
        one = desk.cooldowns.credential("lab", "b", "http://127.0.0.1:9/v1", "2")
        desk.cooldowns.use(one)
        desk.cooldowns.cool(one, ProviderError("auth", "lab did not accept the key."))
        first, second = desk.sources.standing(source)
        assert (first.name, first.rest, first.answered) == ("a", None, None)
        assert second.rest is not None
        assert (second.name, second.rest.sentence) == ("b", "lab did not accept the key.")
        (keyless,) = desk.sources.standing(NEAR)
        assert (keyless.name, keyless.rest) == ("", None)

    def test_a_source_is_tried_out_with_the_key_it_would_have(self, catalogue: Catalogue) -> None:
        desk = Desk(catalogue, secrets={"lab-key": "stored"})
        for given, used in (("typed", "typed"), (None, "stored")):
            plug = desk.sources.try_out(LAB, given).first
            assert isinstance(plug, Plug)
            assert plug.wire.key == used


class TestRefusals:
    """Every refusal says what is wrong and what to do."""

    def test_an_unknown_source(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, LAB).refusal("lap/fast")
        assert refused.kind == "unknown_model"
        assert 'no model source "lap". Did you mean lab?' in refused.message
        assert "Did you mean openai?" in Desk(catalogue).refusal("opnai/gpt-6.1-sol").message
        assert "plancia provider add lap" in refused.message
        assert "Settings, Models" in refused.message

    def test_an_unknown_bare_name(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, LAB).refusal("lab-fast")
        assert refused.kind == "unknown_model"
        assert "Did you mean lab/fast?" in refused.message
        assert "provider/model" in refused.message

    @pytest.mark.parametrize("name", ["/", "/model", "lab/", "   x"])
    def test_half_a_name(self, catalogue: Catalogue, name: str) -> None:
        assert Desk(catalogue, LAB).refusal(name).kind == "unknown_model"

    def test_a_model_that_a_source_does_not_list(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, LAB, secrets={"lab-key": "k"}).refusal("lab/fats")
        assert refused.kind == "unknown_model"
        assert 'does not offer "fats", only fast, meta/llama-3. Did you mean fast?' in refused.message

    def test_another_model_of_the_demo(self, catalogue: Catalogue) -> None:
        assert "only tour" in Desk(catalogue).refusal("demo/cruise").message

    @pytest.mark.parametrize("name", ["openai/gpt-6.1-sol", "gpt-6.1-sol"])
    def test_a_known_host_without_a_key(self, catalogue: Catalogue, name: str) -> None:
        refused = Desk(catalogue).refusal(name)
        assert refused.kind == "auth"
        assert "OpenAI has no key yet. Set OPENAI_API_KEY" in refused.message
        assert "plancia provider add openai --kind openai --key-env OPENAI_API_KEY" in refused.message

    def test_a_configured_host_without_a_key(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, SourceConfig("anthropic", "anthropic", models=("m",))).refusal(None)
        assert (refused.kind, "Anthropic has no key yet" in refused.message) == ("auth", True)

    @pytest.mark.parametrize("kind", ["anthropic", "litellm"])
    def test_a_key_that_litellm_would_look_for_in_vain_is_missed_before_it_is_asked(
        self, catalogue: Catalogue, kind: Literal["anthropic", "litellm"]
    ) -> None:
        name = "ant" if kind == "anthropic" else "nebula"
        desk = Desk(catalogue, SourceConfig(name, kind, models=("m",)))
        refused = desk.refusal(f"{name}/m")
        assert (refused.kind, "has no key yet" in refused.message) == ("auth", True)
        with pytest.raises(ProviderError, match="has no key yet"):
            desk.sources.try_out(SourceConfig(name, kind), None)

    def test_an_address_that_a_name_does_not_tell(self, catalogue: Catalogue) -> None:
        source = SourceConfig("work", "openai", models=("m",), keys=("k",))
        refused = Desk(catalogue, source, secrets={"k": "sk-of-another"}).refusal("work/m")
        assert (refused.kind, "has no address" in refused.message) == ("local", True)

    def test_a_key_that_is_gone(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, LAB).refusal("lab/fast")
        assert refused.kind == "auth"
        assert 'key of the model source "lab" is gone' in refused.message
        assert "lab-key" in refused.message

    def test_keys_that_cannot_be_opened(self, catalogue: Catalogue) -> None:
        def locked(name: str) -> str | None:
            raise SecretsUnreadable(f"The drawer with {name} is locked.")

        refused = Desk(catalogue, LAB, stored_key=locked).refusal("lab/fast")
        assert (refused.kind, refused.message) == ("auth", "The drawer with lab-key is locked.")

    @pytest.mark.parametrize(
        "url",
        [
            "127.0.0.1:8000",
            "ftp://x/v1",
            "http://",
            "http:///v1",
            "http://x:0",
            "http://x:99999",
            "http://[1",
            "x y",
        ],
    )
    def test_an_address_that_is_none(self, catalogue: Catalogue, url: str) -> None:
        refused = Desk(catalogue, SourceConfig("lab", "openai", url, ("m",))).refusal("lab/m")
        assert refused.kind == "local"
        assert f"cannot be used: {url!r} is not like" in refused.message

    def test_a_bad_address_in_the_environment(self, catalogue: Catalogue) -> None:
        environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "localhost"}
        assert Desk(catalogue, environment=environment).refusal("openai/x").kind == "local"

    def test_a_gateway_without_an_address(self, catalogue: Catalogue) -> None:
        refused = Desk(catalogue, SourceConfig("gate", "gateway", models=("m",))).refusal("gate/m")
        assert (refused.kind, "has no address" in refused.message) == ("local", True)

    def test_no_key_ever_stands_in_a_refusal(self, catalogue: Catalogue) -> None:
        environment = {"OPENAI_API_KEY": "sk-visible", "OPENAI_BASE_URL": "nowhere"}
        for name in ("openai/x", "x", "nowhere/x", None):
            assert "sk-visible" not in Desk(catalogue, environment=environment).refusal(name).message


@pytest.mark.parametrize(
    ("model", "said", "wanted", "asked"),
    [
        ("gpt-5-mini", None, "medium", "medium"),
        ("gpt-5-mini", None, "off", "off"),
        ("gpt-5-mini", None, "much", "off"),
        ("gpt-5-mini", OwnFacts(reasoning=False), "high", "off"),
        ("gpt-4o", None, "high", "off"),
        ("home-brew", None, "high", "off"),
        ("home-brew", OwnFacts(reasoning=True), "low", "low"),
    ],
)
def test_thinking_is_asked_of_models_that_are_known_to_reason(
    model: str, said: OwnFacts | None, wanted: str, asked: str, catalogue: Catalogue
) -> None:
    lab = SourceConfig("lab", "openai", "http://127.0.0.1:8000/v1")
    desk = Desk(catalogue, lab, said={("lab", model): said} if said else {})
    desk.reasoning = wanted
    assert desk.resolve(f"lab/{model}").reasoning == asked
