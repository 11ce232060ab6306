"""The order of models as a value: what stands in it, and that nothing stands in it twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.providers.order import groups
from app.providers.sources import SourceConfig

LAB = SourceConfig("lab", "openai", "http://x/v1", ("fast", "org/deep:7b"))
NEAR = SourceConfig("near", "ollama", models=("small",))
HOST = SourceConfig("openai", "openai")
OPEN = SourceConfig("open", "openai", "http://x/v1")


def labels(*ordered: str) -> list[str]:
    return [group.label for group in groups((LAB, NEAR, HOST, OPEN), ordered)]


def test_without_an_order_each_source_has_one_place_and_one_without_a_model_has_none() -> None:
    assert labels() == ["lab/fast", "near/small", "openai/gpt-6.1-sol"]


def test_a_source_alone_means_the_model_it_prefers() -> None:
    assert labels("near", "lab") == ["near/small", "lab/fast", "openai/gpt-6.1-sol"]


def test_two_models_of_a_source_need_not_stand_together() -> None:
    assert labels("lab/org/deep:7b", "near/small", "lab/fast")[:3] == [
        "lab/org/deep:7b",
        "near/small",
        "lab/fast",
    ]


def test_a_source_that_lists_nothing_takes_any_name() -> None:
    assert labels("openai/gpt-x", "open/homemade")[:2] == ["openai/gpt-x", "open/homemade"]


def test_what_is_gone_is_passed_over() -> None:
    assert labels("gone/x", "lab/gone", "gone", "open", "") == labels()


@given(
    st.lists(
        st.sampled_from(
            ["lab", "lab/fast", "lab/org/deep:7b", "near", "near/x", "openai/a", "open/", "/", ""]
        )
    )
)
def test_nothing_stands_there_twice_and_no_source_is_lost(ordered: list[str]) -> None:
    found = labels(*ordered)
    assert len(set(found)) == len(found)
    assert {label.partition("/")[0] for label in found} >= {"lab", "near", "openai"}
