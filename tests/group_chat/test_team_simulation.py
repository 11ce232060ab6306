"""Rooms full of members under everything that can happen to them: nothing is done twice, nothing spins, nothing leaks.

Each seed is one life: models answer, send each other to work, hang and fail at random, a user acts, the process dies.
``--rooms`` says how many lives are lived; ``--room 17`` lives the one of that seed.
"""

from __future__ import annotations

from collections import Counter

import pytest

from app.engine.pairing import is_paired
from app.engine.provider import ModelRequest
from app.engine.view import view
from app.group_chat.roles import COMMANDER, USER, WORKER
from tests.engine.wires import WIRES
from tests.group_chat.team_minds import MARKS, Mark
from tests.group_chat.team_world import TeamWorld, live


def test_a_team_keeps_its_promises_through_any_life(request: pytest.FixtureRequest) -> None:
    live(request, TeamWorld, look, look_back)


def look(world: TeamWorld) -> None:
    """What is true at any moment."""
    _nobody_works_twice(world)
    _nothing_spins_without_a_turn(world)
    _the_page_shows_what_a_new_one_would(world)
    _places_and_times_rise(world)
    _who_says_it_said_it(world)
    assert world.at.room.holder in world.team()


def look_back(world: TeamWorld) -> None:
    """What is true at the end."""
    look(world)
    assert not world.at.room.at_work
    _every_task_has_ended(world)
    _every_message_is_there_once(world)
    _every_history_is_sound(world)
    _every_job_was_heard_once(world)
    _no_word_goes_where_it_is_not_for(world)


def _nobody_works_twice(world: TeamWorld) -> None:
    running = [turn for turn in world.seen.turns if turn.state == "running"]
    assert {turn.id for turn in running} == {floor.turn for floor in world.at.room.at_work}
    assert _at_most_once(turn.session for turn in running)
    assert _at_most_once(turn.task for turn in running if turn.task)
    assert len([turn for turn in running if turn.task is None]) <= 1
    assert _at_most_once(task.call_id for task in world.seen.tasks if task.asker != USER)


def _nothing_spins_without_a_turn(world: TeamWorld) -> None:
    running = {turn.id for turn in world.seen.turns if turn.state == "running"}
    for row in world.seen.rows:
        assert row.state != "streaming" or row.turn in running or row.kind == "form"
    for task in world.seen.tasks:
        is_left = task.asker == USER or task.state == "waiting_for_form"
        assert not task.is_open or task.given in running or is_left
        assert task.state not in ("running", "waiting_for_approval") or task.turn in running


def _the_page_shows_what_a_new_one_would(world: TeamWorld) -> None:
    world.page.follow()
    there = world.seen.rows
    assert [row.id for row in there] == list(world.page.rows)
    for row in there:
        assert row.state == "streaming" or world.page.rows[row.id] == row


def _places_and_times_rise(world: TeamWorld) -> None:
    rows = world.seen.rows
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    times = [row.created for row in rows]
    assert times == sorted(set(times))


def _who_says_it_said_it(world: TeamWorld) -> None:
    """No article has the words of somebody else, and none those of a worker without a name, unless the user asked."""
    given_back = {row.turn for row in world.seen.rows if row.data.get("how") == "handback"}
    asked = {task.turn for task in world.seen.tasks if task.asker == USER}
    for row in world.seen.rows:
        assert row.member != WORKER or row.kind in ("approval", "form", "notice") or row.turn in asked
        for word in MARKS.findall(row.text):
            assert world.minds.marks[word].owner == row.member or row.data.get("how") == "again"
        assert "<handback" not in row.text or row.turn not in given_back


def _every_task_has_ended(world: TeamWorld) -> None:
    assert not [task for task in world.seen.tasks if task.is_open]


def _every_message_is_there_once(world: TeamWorld) -> None:
    rows = world.seen.rows
    waiting = world.queued()
    count = Counter(row.client_id for row in (*rows, *waiting) if row.client_id)
    assert set(count) <= set(world.posted)
    for word, is_sure in world.posted.items():
        assert count[word] == 1 if is_sure else count[word] <= 1, f"{word} is there {count[word]} times"


def _every_history_is_sound(world: TeamWorld) -> None:
    for name, history in world.histories.items():
        assert is_paired(history), name
        assert _at_most_once(message.id for message in history), name
        asked = ModelRequest("m", "You test.", view(history).messages)
        for wire in WIRES if history else ():
            wire.compiled(asked)


def _every_job_was_heard_once(world: TeamWorld) -> None:
    """By who worked on it; and what came of it by Commander, unless the user had it begun anew."""
    given = Counter(task.job for task in world.seen.tasks)
    for task in world.seen.tasks:
        (word,) = MARKS.findall(task.job)
        told = [
            message
            for name, history in world.histories.items()
            for message in history
            if name.startswith(task.member) and message.role == "user" and word in message.text
        ]
        assert len(told) <= given[task.job], f"the job {word} was given {len(told)} times"
        assert told or task.state != "done", f"the job {word} was done by who never heard of it"
        if task.state == "done" and task.asker != USER:
            words = (task.outcome or "").strip()
            assert _is_heard_by_commander(world, words), f"Commander never heard what came of {word}"


def _is_heard_by_commander(world: TeamWorld, words: str) -> bool:
    (history,) = (history for name, history in world.histories.items() if name.startswith(COMMANDER))
    return any(
        words in message.text or any(words in result.text for result in message.results)
        for message in history
    )


def _no_word_goes_where_it_is_not_for(world: TeamWorld) -> None:
    of_commander = {turn.trigger for turn in world.seen.turns if turn.member == COMMANDER}
    led_to_jobs = {row.client_id for row in world.seen.rows if row.id in of_commander}
    for who, request in world.minds.asked:
        for word in MARKS.findall(str(request.messages)):
            mark = world.minds.marks[word]
            if mark.owner == USER:
                called = world.called.get(word)
                may_know = not called or who in called or who == COMMANDER or word in led_to_jobs
            else:
                may_know = _may_know(who, mark)
            assert may_know, f"{who} was told {word}: {mark}"


def _may_know(who: str, mark: Mark) -> bool:
    """Commander hears what members say in the chat and as their results, and never what they read and wrote."""
    return who == mark.owner or mark.kind == f"to {who}" or (who == COMMANDER and mark.kind != "file")


def _at_most_once(values: object) -> bool:
    return all(count == 1 for count in Counter(values).values())  # type: ignore[call-overload]
