"""Calls that have to ask: they wait for the user, are shown in the chat, and do nothing before the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.errors import NothingToDecide, UnknownDecision
from app.hands.permissions.rules import Rule
from app.workspace import conversations, rules
from app.workspace.rows import MessageRow
from tests.group_chat.rooms import House, house

pytestmark = pytest.mark.anyio


def writes(*paths: str) -> list[Any]:
    return [
        call("write_file", f"c_{path}", number, path=path, content="new") for number, path in enumerate(paths)
    ]


def writing(path: str) -> Rule:
    return Rule("allow", (path,), exact=True, categories=frozenset({"changes"}), tool="write_file")


def looks(*paths: str) -> list[Any]:
    return [call("stat_file", f"s_{path}", number, path=path) for number, path in enumerate(paths)]


@asynccontextmanager
async def cautious(tmp_path: Path, *replies: Any) -> AsyncIterator[House]:
    """A conversation in which every change asks, and whose model has just been asked to write."""
    async with house(tmp_path, ScriptedModel(*replies)) as at:
        conversations.choose_access(at.store, at.room.id, "cautious")
        await at.room.post("Write.", client_id="c1")
        yield at


async def asked(at: House, number: int = 1) -> MessageRow:
    """The question of this number, once it stands in the chat."""
    with anyio.fail_after(10):
        async for _ in at.room.feed.follow(0):
            found = [row for row in at.rows() if row.kind == "approval"]
            if len(found) >= number:
                return found[number - 1]
    raise AssertionError


async def ended(at: House, call_id: str) -> None:
    with anyio.fail_after(20):
        async for _ in at.room.feed.follow(0):
            if any(row.data.get("call_id") == call_id and row.state == "done" for row in at.rows()):
                return


def decisions(at: House) -> list[tuple[str, str | None]]:
    return [(row.state, row.data.get("decision")) for row in at.rows() if row.kind == "approval"]


async def test_another_access_mode_holds_from_the_next_call_of_the_same_turn_on(tmp_path: Path) -> None:
    """An open question is left to the user."""
    async with cautious(tmp_path, writes("a"), writes("b"), writes("c"), say("Done.")) as at:
        first = await asked(at)
        conversations.choose_access(at.store, at.room.id, "standard")
        assert not (at.workspace / "a").exists()
        await at.room.decide(first.id, "allow_once")
        await ended(at, "c_b")
        assert (at.workspace / "b").exists()


async def test_a_stricter_mode_holds_at_once_too(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(writes("a"), writes("b"), say("Done."))) as at:
        strict = at.room.feed.watch(
            lambda: (
                conversations.choose_access(at.store, at.room.id, "cautious")
                if (at.workspace / "a").exists()
                else None
            )
        )
        await at.room.post("Write.", client_id="c1")
        question = await asked(at)
        strict()
        assert question.data["call_id"] == "c_b"
        assert not (at.workspace / "b").exists()
        await at.room.stop()


def card(at: House, call_id: str) -> MessageRow:
    return next(row for row in at.rows() if row.kind == "tool_call" and row.data.get("call_id") == call_id)


async def test_in_standard_access_a_change_in_the_workspace_does_not_ask(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(writes("a"), say("Done."))) as at:
        await at.say("Write.")
        assert (at.workspace / "a").read_text() == "new"
        assert decisions(at) == []


async def test_in_cautious_access_it_waits_with_all_that_it_would_do(tmp_path: Path) -> None:
    async with cautious(tmp_path, [*looks("a")], writes("a"), say("Done.")) as at:
        row = await asked(at)
        assert row.state == "streaming"
        assert row.data["payload"] == "new"
        assert row.data["facts"] == [["File", "a"], ["Folder", str(at.workspace)]]
        assert row.data["offers"] == ["allow_once", "allow_run", "allow_always", "deny"]
        assert at.room.floor.state == "asking"
        assert not (at.workspace / "a").exists()
        assert card(at, "c_a").data["asks"] is True
        await at.room.decide(row.id, "allow_once")
        await at.quiet()
        assert (at.workspace / "a").read_text() == "new"
        assert card(at, "c_a").data["asks"] is False
        assert decisions(at) == [("done", "allow_once")]


async def test_a_denial_is_told_to_the_model_with_its_reason_and_the_turn_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel(writes("a"), say("Then not."))
    async with house(tmp_path, model) as at:
        conversations.choose_access(at.store, at.room.id, "cautious")
        await at.room.post("Write.", client_id="c1")
        await at.room.decide((await asked(at)).id, "deny", "Wrong folder.")
        await at.quiet()
        assert not (at.workspace / "a").exists()
        (result,) = model.requests[-1].messages[-1].results
        assert result.code == "E_DENIED"
        assert 'They say: "Wrong folder."' in result.text
        assert at.rows()[-1].text == "Then not."


async def test_allowed_once_is_asked_again_and_allowed_for_the_run_is_not(tmp_path: Path) -> None:
    replies = [writes("a"), looks("a"), writes("a"), writes("a"), say("Done.")]
    async with cautious(tmp_path, *replies) as at:
        await at.room.decide((await asked(at, 1)).id, "allow_once")
        await at.room.decide((await asked(at, 2)).id, "allow_run")
        await at.quiet()
        assert decisions(at) == [("done", "allow_once"), ("done", "allow_run")]
        assert rules.list_rules(at.store) == []


async def test_allowed_for_the_run_asks_in_the_next_turn_and_allowed_always_does_not(tmp_path: Path) -> None:
    replies = [writes("a"), say("One."), writes("a"), say("Two."), writes("a"), say("Three.")]
    async with cautious(tmp_path, *replies) as at:
        await at.room.decide((await asked(at, 1)).id, "allow_run")
        await at.quiet()
        await at.room.post("Again.", client_id="c2")
        await at.room.decide((await asked(at, 2)).id, "allow_always")
        await at.quiet()
        await at.say("And again.")
        assert [decision for _, decision in decisions(at)] == ["allow_run", "allow_always"]
        (rule,) = rules.list_rules(at.store)
        assert (rules.rule_of(rule).text, rule.workspace) == ("write_file: a", str(at.workspace))


async def test_a_rule_that_is_taken_back_asks_again(tmp_path: Path) -> None:
    replies = [writes("a"), say("One."), writes("a"), say("Two.")]
    async with cautious(tmp_path, *replies) as at:
        await at.room.decide((await asked(at, 1)).id, "allow_always")
        await at.quiet()
        rules.revoke_rule(at.store, rules.list_rules(at.store)[0].id)
        await at.room.post("Again.", client_id="c2")
        await at.room.decide((await asked(at, 2)).id, "deny")
        await at.quiet()


async def test_a_rule_of_another_workspace_or_another_file_allows_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, ScriptedModel(writes("a"), say("Not."))) as at:
        rules.add_rule(at.store, writing("a"), str(tmp_path / "elsewhere"))
        rules.add_rule(at.store, writing("ab"), str(at.workspace))
        conversations.choose_access(at.store, at.room.id, "cautious")
        await at.room.post("Write.", client_id="c1")
        await at.room.decide((await asked(at)).id, "deny")
        await at.quiet()


async def test_a_stop_with_a_question_open_runs_nothing_and_closes_it(tmp_path: Path) -> None:
    async with cautious(tmp_path, writes("a")) as at:
        row = await asked(at)
        await at.room.stop()
        assert not (at.workspace / "a").exists()
        assert decisions(at) == [("interrupted", None)]
        with pytest.raises(NothingToDecide, match="already ended, nothing was run"):
            await at.room.decide(row.id, "allow_once")
        assert not (at.workspace / "a").exists()


async def test_a_question_is_answered_once(tmp_path: Path) -> None:
    async with cautious(tmp_path, writes("a"), say("Done.")) as at:
        row = await asked(at)
        await at.room.decide(row.id, "deny")
        with pytest.raises(NothingToDecide):
            await at.room.decide(row.id, "allow_once")
        await at.quiet()
        assert not (at.workspace / "a").exists()


@pytest.mark.parametrize("decision", ["", "yes", "allow", "ALLOW_ONCE", "allow_once "])
async def test_what_is_no_decision_decides_nothing(tmp_path: Path, decision: str) -> None:
    async with cautious(tmp_path, writes("a"), say("Done.")) as at:
        row = await asked(at)
        with pytest.raises(UnknownDecision):
            await at.room.decide(row.id, decision)
        assert decisions(at) == [("streaming", None)]
        await at.room.decide(row.id, "deny")
        await at.quiet()


async def test_after_a_restart_the_question_has_ended_and_continue_asks_it_anew(tmp_path: Path) -> None:
    async with cautious(tmp_path, writes("a")) as at:
        await asked(at)
        conversation = at.room.id
    again = ScriptedModel(writes("a"), say("Done."))
    async with house(tmp_path, again, conversation=conversation) as at:
        assert decisions(at) == [("interrupted", None)]
        await at.room.resume()
        await at.room.decide((await asked(at, 2)).id, "allow_once")
        await at.quiet()
        (result,) = again.requests[0].messages[2].results
        assert result.status == "interrupted", "it never ran, and the model is told so"
        assert (at.workspace / "a").read_text() == "new"


async def test_an_answer_counts_for_one_call_whatever_its_model_calls_it(tmp_path: Path) -> None:
    """Of two calls of one step and one of the next, all with the same id, one is allowed."""
    twice = [call("write_file", "same", n, path=f"{n}.txt", content="new") for n in (0, 1)]
    again = [call("write_file", "same", path="2.txt", content="new")]
    async with cautious(tmp_path, twice, again, say("Done.")) as at:
        await at.room.decide((await asked(at)).id, "allow_once")
        await at.room.decide((await asked(at, 2)).id, "deny")
        await at.room.decide((await asked(at, 3)).id, "deny")
        await at.quiet()
        assert [path.name for path in at.workspace.iterdir()] == ["0.txt"]


async def test_nothing_hides_in_a_question_or_looks_like_a_part_of_it(tmp_path: Path) -> None:
    path, content = "a\nNetwork: off\x1b[2K.txt", "\u202etxt.exe\x07\n\ttwo\u200b\n"
    reply = [call("write_file", "one", path=path, content=content)]
    async with cautious(tmp_path, reply, say("Done.")) as at:
        row = await asked(at)
        assert row.data["payload"] == "\\u202etxt.exe\\x07\n\ttwo\\u200b\n"
        assert row.data["facts"][0] == ["File", "a\\nNetwork: off\\x1b[2K.txt"]
        assert all(line.isprintable() for line in (*row.data["rules"], *row.data["reasons"]))
        await at.room.decide(row.id, "deny")
        await at.quiet()


async def test_an_edit_is_shown_line_by_line_with_where_it_is_made_however_long_it_is(tmp_path: Path) -> None:
    old, new = ("\n".join(f"{word} {n}" for n in range(600)) for word in ("old", "new"))
    edit = [call("edit_file", "two", path="a", old_string=old, new_string=f"same\n{new}", replace_all=True)]
    async with cautious(tmp_path, [*looks("a")], edit, say("Done.")) as at:
        (at.workspace / "a").write_text(old)
        row = await asked(at)
        lines = row.data["payload"].split("\n")
        assert [line for line in lines if line[0] == "-"] == [f"- old {n}" for n in range(600)]
        assert [line for line in lines if line[0] == "+"] == ["+ same", *(f"+ new {n}" for n in range(600))]
        assert ["Changed", "everywhere it stands in the file"] in row.data["facts"]
        await at.room.decide(row.id, "deny")
        await at.quiet()


async def test_a_turn_waits_for_its_user_as_long_as_one_of_its_questions_is_open(tmp_path: Path) -> None:
    """Two calls side by side: one asks, and the other ends meanwhile."""
    both = [call("read_file", "one", path="../other.txt"), call("read_file", "two", 1, path="a")]
    async with cautious(tmp_path, both, say("Done.")) as at:
        (at.workspace / "a").write_text("here")
        (tmp_path / "other.txt").write_text("there")
        row = await asked(at)
        await ended(at, "two")
        assert at.room.floor.state == "asking"
        await at.room.decide(row.id, "deny")
        await at.quiet()
