"""Forms: shown in the chat from any depth, waited for, answered also after a restart, and never answered twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.errors import ProviderError
from app.engine.scripted import call, say
from app.group_chat.errors import NothingToDecide
from app.group_chat.events import FormShown
from app.models.errors import StorageError
from app.workspace import agents, tasks
from app.workspace.agent_files import AgentFile
from app.workspace.rows import MessageRow
from tests.group_chat.rooms import House, house
from tests.group_chat.teams import TeamModel, dispatch, heard, results

pytestmark = pytest.mark.anyio

SIZE = {"id": "size", "type": "number", "label": "How many?", "required": True}
COLOUR = {"id": "colour", "type": "select", "label": "Which colour?", "options": ["red", "blue"]}


def ask(*fields: dict[str, Any], id: str = "q1", index: int = 0, title: str = "Before I begin") -> Any:
    return call("ask_user", id, index, title=title, fields=list(fields))


def forms(at: House) -> list[MessageRow]:
    return [row for row in at.rows() if row.kind == "form"]


async def until(at: House, holds: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        async for _ in at.room.feed.follow(0):
            if holds():
                return


async def asked(at: House, number: int = 1) -> list[MessageRow]:
    """The forms of the chat, once so many are shown and waited for."""

    def shown() -> set[str]:
        return {event.event.id for event in at.happened() if isinstance(event.event, FormShown)}

    await until(at, lambda: len(shown()) >= number)
    return forms(at)


def state_of(at: House) -> list[str]:
    return [row.state for row in tasks.list_tasks(at.store, at.room.id)]


def ends(at: House) -> list[tuple[str, str | None]]:
    return [(row.state, row.data.get("answer")) for row in forms(at)]


async def test_commander_asks_and_goes_on_with_the_answers(tmp_path: Path) -> None:
    model = TeamModel(commander=[[*say("One thing first."), ask(SIZE, COLOUR)], say("Seven blue ones.")])
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        assert (form.state, form.member, form.data["title"]) == ("streaming", "commander", "Before I begin")
        assert (at.room.floor.state, at.room.floor.detail) == ("asking", "ask_user")
        assert await at.room.forms.answer(form.id, {"size": ["7"], "colour": ["blue"]}) == {}
        await at.quiet()
        assert ends(at) == [("done", "sent")]
        assert forms(at)[0].data["answers"] == {"size": 7, "colour": "blue"}
        (told,) = results(model.asked["commander"][1])
        assert '"size": 7' in told
        assert '"colour": "blue"' in told
        assert [(row.kind, row.text) for row in at.rows()][-1] == ("assistant", "Seven blue ones.")


async def test_answers_that_do_not_fit_are_named_and_nothing_is_sent(tmp_path: Path) -> None:
    model = TeamModel(commander=[[ask(SIZE, COLOUR)], say("Done.")])
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        wrong = await at.room.forms.answer(form.id, {"size": ["many"], "colour": ["green"]})
        assert set(wrong) == {"size", "colour"}
        assert ends(at) == [("streaming", None)]
        await at.room.forms.answer(form.id, {"size": ["1"]})
        await at.quiet()


async def test_a_form_is_answered_once(tmp_path: Path) -> None:
    async with house(tmp_path, TeamModel(commander=[[ask(SIZE)], say("Done.")])) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        await at.room.forms.answer(form.id, {"size": ["1"]})
        with pytest.raises(NothingToDecide, match="already ended"):
            await at.room.forms.answer(form.id, {"size": ["2"]})
        with pytest.raises(NothingToDecide):
            await at.room.forms.decline(form.id)
        with pytest.raises(NothingToDecide):
            await at.room.forms.decline(at.rows()[0].id)
        await at.quiet()
        assert forms(at)[0].data["answers"] == {"size": 1}


async def test_a_form_that_is_declined_says_so_to_the_model(tmp_path: Path) -> None:
    model = TeamModel(commander=[[ask(SIZE)], say("Then I take one.")])
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        await at.room.forms.decline(form.id, "Ask the harbour master.")
        await at.quiet()
        assert ends(at) == [("done", "declined")]
        (told,) = results(model.asked["commander"][1])
        assert "declined to answer: Ask the harbour master." in told


async def test_a_form_that_makes_no_sense_is_refused_and_not_shown(tmp_path: Path) -> None:
    model = TeamModel(commander=[[ask({**COLOUR, "options": []})], say("Then not.")])
    async with house(tmp_path, model) as at:
        await at.say("Paint boats.")
        assert forms(at) == []
        assert results(model.asked["commander"][1])[0].startswith(
            "E_ARGUMENTS: The field 'colour' has no options"
        )


async def test_stop_ends_the_form_and_what_waits_for_it(tmp_path: Path) -> None:
    model = TeamModel(commander=[dispatch(("coder", "Paint."))], coder=[[ask(SIZE)]])
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        await at.room.stop()
        assert ends(at) == [("interrupted", None)]
        assert state_of(at) == ["cancelled"]
        with pytest.raises(NothingToDecide):
            await at.room.forms.answer(form.id, {"size": ["1"]})


async def test_a_member_that_was_sent_waits_for_its_form_and_its_task_says_so(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[dispatch(("coder", "Paint.")), say("Painted.")], coder=[[ask(SIZE)], say("Seven.")]
    )
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        await until(at, lambda: state_of(at) == ["waiting_for_form"])
        assert form.member == "coder"
        await at.room.forms.answer(form.id, {"size": ["7"]})
        await at.quiet()
        assert state_of(at) == ["done"]
        assert '"size": 7' in results(model.asked["coder"][1])[0]


async def test_a_worker_without_a_name_asks_in_the_chat_as_well(tmp_path: Path) -> None:
    model = TeamModel(
        commander=[[call("run_worker", "w1", task="Paint.")], say("Painted.")],
        worker=[[*say("Unseen."), ask(SIZE)], say("Seven.")],
    )
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        assert [row.kind for row in at.rows()] == ["user", "form"]
        await at.room.forms.answer(form.id, {"size": ["7"]})
        await at.quiet()
        assert '"size": 7' in results(model.asked["worker"][1])[0]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_two_members_ask_at_once_and_are_answered_in_either_order(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    model = TeamModel(
        commander=[dispatch(("coder", "One."), ("writer", "Two.")), say("Both.")],
        coder=[[ask(SIZE, title="coder")], say("Coded.")],
        writer=[[ask(SIZE, title="writer")], say("Written.")],
    )
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        both = sorted(await asked(at, 2), key=lambda row: row.member)
        for number in order:
            assert await at.room.forms.answer(both[number].id, {"size": [str(number)]}) == {}
        await at.quiet()
        assert '"size": 0' in results(model.asked["coder"][1])[0]
        assert '"size": 1' in results(model.asked["writer"][1])[0]
        assert state_of(at) == ["done", "done"]


async def test_where_nothing_can_be_stored_no_form_is_waited_for(tmp_path: Path) -> None:
    model = TeamModel(commander=[[ask(SIZE)]])
    model.gates = {"commander": anyio.Event()}
    async with house(tmp_path, model) as at:
        await at.room.post("Paint boats.", client_id="c1")
        await model.asks("commander")
        at.freeze()
        model.gates["commander"].set()
        await until(at, lambda: at.room.list_turns()[-1].state == "failed")
        at.freeze(False)
        await at.quiet()


async def test_an_answer_that_cannot_be_stored_is_not_sent_and_can_be_sent_again(tmp_path: Path) -> None:
    async with house(tmp_path, TeamModel(commander=[[ask(SIZE)], say("Done.")])) as at:
        await at.room.post("Paint boats.", client_id="c1")
        (form,) = await asked(at)
        at.freeze()
        with pytest.raises(StorageError):
            await at.room.forms.answer(form.id, {"size": ["7"]})
        at.freeze(False)
        assert ends(at) == [("streaming", None)]
        await at.room.forms.answer(form.id, {"size": ["7"]})
        await at.quiet()
        assert ends(at) == [("done", "sent")]


async def test_who_may_only_have_certain_tools_has_it_where_it_is_among_them(tmp_path: Path) -> None:
    model = TeamModel(painter=[say("Here.")], asker=[say("Here.")])
    async with house(tmp_path, model) as at:
        for id, given in (("painter", ("read_file",)), ("asker", ("read_file", "ask_user"))):
            file = AgentFile(id, id.capitalize(), prompt="Work.", tools=given)
            agents.save_agent(at.folder, file, seen="")
        await at.say("@Painter are you there?")
        await at.say("@Asker are you there?")
        assert "ask_user" not in {tool.name for tool in model.asked["painter"][0].tools}
        assert "ask_user" in {tool.name for tool in model.asked["asker"][0].tools}


class TestAfterARestart:
    """The process dies, or ends in good order, with a form open."""

    @pytest.fixture(params=["killed", "ended"])
    def die(self, request: pytest.FixtureRequest) -> Callable[[House], None]:
        return House.freeze if request.param == "killed" else lambda at: None

    async def test_the_answer_makes_commander_go_on(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        async with house(tmp_path, TeamModel(commander=[[ask(SIZE)]])) as at:
            await at.room.post("Paint boats.", client_id="c1")
            (form,) = await asked(at)
            die(at)
        model = TeamModel(commander=[say("Seven.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            assert ends(after) == [("streaming", None)]
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            told = heard(model.asked["commander"][0])
            assert '"size": 7' in told.split("Paint boats.")[1]
            assert after.rows()[-1].text == "Seven."
            assert not [row for row in after.rows() if row.data.get("notice") and not row.data.get("settled")]

    async def test_the_answer_makes_a_member_go_on_and_what_else_was_cut_off_is_taken_up(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        first = TeamModel(
            commander=[dispatch(("coder", "One."), ("writer", "Two."))],
            coder=[[ask(SIZE)]],
            writer=[say("two")],
        )
        first.gates = {"writer": anyio.Event()}
        async with house(tmp_path, first) as at:
            await at.room.post("Paint boats.", client_id="c1")
            (form,) = await asked(at)
            await first.asks("writer")
            await until(at, lambda: "waiting_for_form" in state_of(at))
            die(at)
        model = TeamModel(commander=[say("All.")], coder=[say("Seven.")], writer=[say("two again")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            assert sorted(state_of(after)) == ["interrupted", "waiting_for_form"]
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            assert state_of(after) == ["done", "done"]
            assert '"size": 7' in heard(model.asked["coder"][0])
            told = heard(model.asked["commander"][0])
            assert "Seven." in told
            assert "two again" in told

    async def test_continue_waits_for_the_form_again_and_asks_no_model_before(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        first = TeamModel(commander=[dispatch(("coder", "One."))], coder=[[ask(SIZE)]])
        async with house(tmp_path, first) as at:
            await at.room.post("Paint boats.", client_id="c1")
            await asked(at)
            await until(at, lambda: state_of(at) == ["waiting_for_form"])
            die(at)
        model = TeamModel(commander=[say("All.")], coder=[say("Seven.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            await after.room.resume()
            (form,) = await asked(after)
            await until(after, lambda: state_of(after) == ["waiting_for_form"])
            assert form.state == "streaming"
            assert model.requests == []
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            assert state_of(after) == ["done"]
            assert '"size": 7' in heard(model.asked["coder"][0])

    async def test_a_job_that_the_user_began_anew_goes_on_with_its_answer_and_nobody_else_does(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        refused = ProviderError("auth", "The key was refused.")
        first = TeamModel(
            commander=[dispatch(("coder", "One.")), say("It failed.")], coder=[[refused], [ask(SIZE)]]
        )
        async with house(tmp_path, first) as at:
            await at.say("Paint boats.")
            (job,) = tasks.list_tasks(at.store, at.room.id)
            await at.room.retry_task(job.id)
            (form,) = await asked(at)
            await until(at, lambda: "waiting_for_form" in state_of(at))
            die(at)
        model = TeamModel(coder=[say("Seven.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            assert state_of(after)[-1] == "done"
            assert '"size": 7' in heard(model.asked["coder"][0])
            assert after.rows()[-1].text == "Seven."

    async def test_stop_ends_a_form_that_is_waited_for_again(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        async with house(tmp_path, TeamModel(commander=[[ask(SIZE)]])) as at:
            await at.room.post("Paint boats.", client_id="c1")
            await asked(at)
            die(at)
        model = TeamModel()
        async with house(tmp_path, model, conversation=at.room.id) as after:
            await after.room.resume()
            await asked(after)
            await after.room.stop()
            assert ends(after) == [("interrupted", None)]
            assert model.requests == []

    async def test_it_survives_a_second_one(self, tmp_path: Path, die: Callable[[House], None]) -> None:
        async with house(tmp_path, TeamModel(commander=[[ask(SIZE)]])) as at:
            await at.room.post("Paint boats.", client_id="c1")
            (form,) = await asked(at)
            die(at)
        async with house(tmp_path, TeamModel(), conversation=at.room.id) as between:
            await between.room.resume()
            await asked(between)
            die(between)
        model = TeamModel(commander=[say("Seven.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            assert '"size": 7' in heard(model.asked["commander"][0])
            assert ends(after) == [("done", "sent")]

    async def test_a_member_that_was_sent_survives_a_second_one(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        first = TeamModel(commander=[dispatch(("coder", "One."))], coder=[[ask(SIZE)]])
        async with house(tmp_path, first) as at:
            await at.room.post("Paint boats.", client_id="c1")
            (form,) = await asked(at)
            await until(at, lambda: state_of(at) == ["waiting_for_form"])
            die(at)
        async with house(tmp_path, TeamModel(), conversation=at.room.id) as between:
            await between.room.resume()
            await asked(between)
            die(between)
        model = TeamModel(commander=[say("All.")], coder=[say("Seven.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            assert ends(after) == [("streaming", None)]
            await after.room.forms.answer(form.id, {"size": ["7"]})
            await after.quiet()
            assert state_of(after) == ["done"]
            assert heard(model.asked["coder"][0]).count('"size": 7') == 1
            assert "Seven." in heard(model.asked["commander"][0])

    async def test_an_answer_that_the_model_never_got_is_told_and_the_open_form_is_waited_for(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        both = [ask(SIZE, id="q1"), ask(COLOUR, id="q2", index=1, title="And")]
        async with house(tmp_path, TeamModel(commander=[both])) as at:
            await at.room.post("Paint boats.", client_id="c1")
            size, colour = await asked(at, 2)
            await at.room.forms.answer(size.id, {"size": ["7"]})
            at.freeze()
        model = TeamModel(commander=[say("Seven blue ones.")])
        async with house(tmp_path, model, conversation=at.room.id) as after:
            await after.room.resume()
            await asked(after)
            await after.room.forms.answer(colour.id, {"colour": ["blue"]})
            await after.quiet()
            told = str(model.asked["commander"][0].messages)
            assert told.count('"size": 7') == 1
            assert told.count('"colour": "blue"') == 1

    async def test_what_the_store_says_when_it_takes_nothing_is_said_to_the_user(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        async with house(tmp_path, TeamModel(commander=[[ask(SIZE)]])) as at:
            await at.room.post("Paint boats.", client_id="c1")
            await asked(at)
            die(at)
        async with house(tmp_path, TeamModel(), conversation=at.room.id) as after:
            await after.room.resume()
            after.freeze()
            await until(after, lambda: after.room.list_messages()[-1].kind == "error")
            assert after.room.list_messages()[-1].data["kind"] == "storage"
            after.freeze(False)
            await after.quiet()

    async def test_a_message_instead_of_an_answer_ends_the_form(
        self, tmp_path: Path, die: Callable[[House], None]
    ) -> None:
        first = TeamModel(commander=[dispatch(("coder", "One."))], coder=[[ask(SIZE)]])
        async with house(tmp_path, first) as at:
            await at.room.post("Paint boats.", client_id="c1")
            await asked(at)
            await until(at, lambda: state_of(at) == ["waiting_for_form"])
            die(at)
        async with house(tmp_path, TeamModel(commander=[say("Fine.")]), conversation=at.room.id) as after:
            await after.say("Leave it.")
            assert ends(after) == [("interrupted", None)]
            assert state_of(after) == ["interrupted"]
            assert after.rows()[-1].text == "Fine."
