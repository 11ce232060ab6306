"""How much work one message of the user may set off."""

from __future__ import annotations

import pytest

from app.group_chat.bounds import DEEPEST, MOST_AT_ONCE, MOST_PARALLEL, MOST_TURNS, free_places, refuse_task

CHAIN = ("commander", "a", "b", "c", "d", "e")


def refuse(asking: tuple[str, ...] = ("commander",), to: str | None = "coder", **counts: int) -> str | None:
    return refuse_task(asking, to, **{"at_once": 0, "turns": 1} | counts)


def test_an_ordinary_task_is_given() -> None:
    assert refuse() is None
    assert refuse(to=None) is None


@pytest.mark.parametrize("to", ["commander", "coder", "writer"])
def test_a_task_does_not_return_to_one_who_waits_for_it(to: str) -> None:
    reason = refuse(("commander", "coder", "writer"), to)
    assert reason is not None
    assert to in reason


def test_a_worker_without_a_name_is_a_new_one_each_time() -> None:
    assert refuse(("commander", "worker"), None) is None


@pytest.mark.parametrize(
    ("inside", "beyond"),
    [
        ({"asking": CHAIN[:DEEPEST]}, {"asking": CHAIN[: DEEPEST + 1]}),
        ({"at_once": MOST_AT_ONCE - 1}, {"at_once": MOST_AT_ONCE}),
        ({"turns": MOST_TURNS - 1}, {"turns": MOST_TURNS}),
    ],
)
def test_each_bound_holds_at_its_figure(inside: dict[str, int], beyond: dict[str, int]) -> None:
    assert refuse(**inside) is None
    assert refuse(**beyond)


def test_the_figures_are_those_of_the_promise() -> None:
    assert (DEEPEST, MOST_AT_ONCE, MOST_TURNS, MOST_PARALLEL) == (5, 20, 100, 4)


def test_tasks_run_side_by_side_up_to_the_cap() -> None:
    assert [free_places(running) for running in (0, 3, 4, 9)] == [4, 1, 0, 0]
