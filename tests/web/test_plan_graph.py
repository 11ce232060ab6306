"""The picture of a plan."""

from __future__ import annotations

from app.group_chat.plan_values import Step
from app.web.plan_graph import TALLEST, WIDEST, plan_graph


def step(index: int, *after: int, status: str = "pending") -> Step:
    return Step(index, f"Part {index}", "coder", "", after, status=status)  # type: ignore[arg-type]


DIAMOND = (step(1, status="done"), step(2, 1, status="in_progress"), step(3, 1), step(4, 2, 3))


def test_steps_stand_behind_those_they_wait_for_and_beside_those_of_their_time() -> None:
    graph = plan_graph(DIAMOND)
    assert graph is not None
    first, second, third, last = graph.nodes
    assert first.x < second.x == third.x < last.x
    assert second.y < first.y == last.y < third.y
    assert [node.shape for node in graph.nodes] == ["done", "live", "", ""]
    assert [edge.is_done for edge in graph.edges] == [True, True, False, False]


def test_nothing_lies_outside_of_the_picture() -> None:
    graph = plan_graph(DIAMOND)
    assert graph is not None
    assert all(11 < node.x < graph.width - 11 and 11 < node.y < graph.height - 11 for node in graph.nodes)


def test_a_line_that_others_say_already_is_not_drawn() -> None:
    graph = plan_graph((*DIAMOND, step(5, 1, 4)))
    assert graph is not None
    assert len(graph.edges) == 5


def test_a_line_passes_beside_the_steps_of_the_columns_between() -> None:
    graph = plan_graph((step(1), step(2, 1), step(3, 1), step(4, 2), step(5, 3, 4)))
    assert graph is not None
    fourth, edge = graph.nodes[3], graph.edges[3]
    assert edge.path.count("C") == 2
    assert f" {fourth.x} {fourth.y}" not in edge.path


def test_a_listener_hears_who_waits_for_whom() -> None:
    graph = plan_graph(DIAMOND)
    assert graph is not None
    assert graph.label == (
        "Plan graph: 1, done; 2 after 1, in progress; 3 after 1, pending; 4 after 2, 3, pending."
    )


def test_a_plan_that_goes_straight_on_or_is_too_big_is_its_list() -> None:
    assert plan_graph([step(1), step(2, 1), step(3, 1, 2)]) is None
    assert plan_graph([step(index) for index in range(1, TALLEST + 1)]) is not None
    assert plan_graph([step(index) for index in range(1, TALLEST + 2)]) is None
    long = [step(1), step(2), *(step(index, index - 1) for index in range(3, WIDEST + 3))]
    assert plan_graph(long) is None
    assert plan_graph(long[:-1]) is not None
