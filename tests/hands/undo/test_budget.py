"""What a snapshot leaves out of a workspace that is too large."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from app.hands.undo.budget import too_heavy


@pytest.mark.parametrize(
    ("weights", "most", "out"),
    [
        ({"src/a": 5, "cache/x": 60, "cache/y": 60}, 30, {"cache"}),
        (
            {"src/a": 5, "web/node_modules/x": 60, "web/node_modules/y": 60, "web/app": 5},
            30,
            {"web/node_modules"},
        ),
        ({"src/a": 5, "data/x": 60, "data/y": 60}, 70, {"data/x"}),
        ({"a/x": 50, "b/x": 40, "c/x": 9}, 10, {"a", "b/x"}),
        ({"one": 50, "two": 20, "three": 5}, 26, {"one"}),
        ({"src/a": 5}, 5, set()),
        ({}, 0, set()),
    ],
)
def test_the_heaviest_part_goes_as_deep_down_as_suffices(
    weights: dict[str, int], most: int, out: set[str]
) -> None:
    assert too_heavy(weights, most) == out


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(PATHS, st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_the_rest_always_fits(weights: dict[str, int], most: int) -> None:
    out = too_heavy(weights, most)
    rest = (
        weight
        for path, weight in weights.items()
        if path not in out and not any(path.startswith(f"{gone}/") for gone in out)
    )
    assert sum(rest) <= most
