"""The Files tab and the page of a turn: what it changed, line by line, and the way back, with script and without."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from app.engine.scripted import ScriptedModel, call, say
from app.group_chat.restoring import CHOSEN_ALONE
from app.group_chat.room import Room
from app.hands.undo.tally import key_of
from app.web import changes
from tests.web.asgi import Got
from tests.web.dom import elements, read, text_of
from tests.web.pages import HTMX, Open, open_page

pytestmark = pytest.mark.anyio

HOSTILE = "<img src=x onerror=alert(1)>.txt"


def writes(**files: str) -> list[Any]:
    return [
        call("write_file", f"c_{at}", at, path=name.replace("_", "."), content=text)
        for at, (name, text) in enumerate(files.items())
    ]


@asynccontextmanager
async def after(root: Path, *replies: Any) -> AsyncIterator[tuple[Open, Room]]:
    """A conversation whose one turn has just ended."""
    async with open_page(root, model=ScriptedModel(*replies, say("Done."))) as opened:
        room = opened.conversation()
        await room.post("Write the notes.", client_id="c1")
        with anyio.fail_after(10):
            await room.wait_quiet()
        yield opened, room


def address(room: Room, more: str = "") -> str:
    return f"/conversations/{room.id}/changes/{room.undoing.deeds()[0].id}{more}"


def panel(got: Got) -> str:
    [tab] = [each for each in elements(read(got.text)) if each.get("id") == "panel-files"]
    return text_of(tab)


async def test_before_the_first_change_the_tab_says_so(tmp_path: Path) -> None:
    async with open_page(tmp_path) as opened:
        room = opened.conversation()
        assert "No file has been changed yet" in panel(await opened.browser.get(f"/conversations/{room.id}"))


async def test_the_tab_lists_what_a_turn_changed_with_signs(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\ntwo\n")) as (opened, room):
        text = panel(await opened.browser.get(f"/conversations/{room.id}"))
        assert "Write the notes." in text
        assert "a.md" in text
        assert "+2 new" in text
        assert "Undo turn" in text


async def test_a_page_that_stands_open_is_told_of_each_change(tmp_path: Path) -> None:
    async with open_page(tmp_path, model=ScriptedModel(writes(a_md="one\n"), say("Done."))) as opened:
        room = opened.conversation()
        page = await opened.browser.get(f"/conversations/{room.id}")
        cursor = re.search(r"after=([\w-]+)", page.text)
        assert cursor
        async with opened.browser.stream(f"/conversations/{room.id}/stream?after={cursor[1]}") as stream:
            await room.post("Write.", client_id="c1")
            await stream.until_text('hx-target="#panel-files"')
        assert "+1</span> new" in stream.text


async def test_the_page_of_a_turn_has_its_files_and_steps(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        got = await opened.browser.get(address(room))
        text = text_of(read(got.text))
        assert "2 files" in text
        assert text.count("Undo step") == 2
        assert "Undo keeps everything in this folder." in text


async def test_a_diff_is_shown_in_the_tab_and_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.md").write_text("one\ntwo\nthree\n")
    edit = (
        [call("read_file", "r", path="a.md")],
        [call("edit_file", "e", path="a.md", old_string="two", new_string="2")],
    )
    async with after(tmp_path, *edit) as (opened, room):
        for headers in ((HTMX,), ()):
            got = await opened.browser.get(address(room, f"?file={key_of('a.md')}"), *headers)
            assert '<del data-n="2">two</del><ins data-n="2">2</ins>' in got.text
            assert '<span data-n="3">three</span>' in got.text
            assert ("<html" in got.text) == (not headers)


async def test_a_long_diff_is_cut_and_says_so(tmp_path: Path) -> None:
    long = "".join(f"{number}\n" for number in range(1500)) + "x" * 5000
    async with after(tmp_path, writes(a_md=long)) as (opened, room):
        got = await opened.browser.get(address(room, f"?file={key_of('a.md')}"), HTMX)
        assert "Cut: 1,000 of 1,503 lines are shown." in got.text
        assert got.text.count("<ins ") == 999


async def test_without_script_a_turn_is_taken_back_and_that_again(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n")) as (opened, room):
        note = opened.workspace / "a.md"
        page = await opened.browser.follow(await opened.browser.post(address(room, "/restore")))
        assert not note.exists()
        assert "Undone. What you changed since is kept." in page.text
        assert "undone at" in page.text
        back = re.search(
            r'action="(/conversations/[^"]+/restore)"><button class="btn">Undo</button>', page.text
        )
        assert back
        await opened.browser.post(back[1])
        assert note.read_text() == "one\n"


async def test_with_script_it_says_what_was_done_where_it_was_asked_for(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        got = await opened.browser.post(address(room, "/restore"), {"file": key_of("a.md")}, HTMX)
        assert (got.status, "<html" in got.text) == (200, False)
        assert "Undone: 1 file." in text_of(read(got.text))
        assert "Undo this" in got.text
        assert [path.name for path in opened.workspace.iterdir()] == ["b.md"]
        chat = await opened.browser.get(f"/conversations/{room.id}")
        assert "You took back a part of the turn of" in chat.text


async def test_one_step_is_taken_back(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        step = room.undoing.deeds()[0].steps[1].id
        await opened.browser.post(address(room, "/restore"), {"step": step})
        assert [path.name for path in opened.workspace.iterdir()] == ["a.md"]


@pytest.mark.parametrize("headers", [(), (HTMX,)])
async def test_a_conflict_is_a_form_and_nothing_is_done_before_its_answer(
    headers: Any, tmp_path: Path
) -> None:
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        (opened.workspace / "a.md").write_text("mine\n")
        got = await opened.browser.post(address(room, "/restore"), {}, *headers)
        assert got.status == 200
        assert "You changed this file as well" in got.text
        assert f'name="choice-{key_of("a.md")}" value="mine" checked' in got.text
        assert (opened.workspace / "b.md").exists()
        answer = {f"choice-{key_of('a.md')}": "before"}
        await opened.browser.post(address(room, "/restore"), answer, *headers)
        assert list(opened.workspace.iterdir()) == []


async def test_an_answer_that_was_not_offered_asks_again(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n")) as (opened, room):
        (opened.workspace / "a.md").write_text("mine\n")
        answer = {f"choice-{key_of('a.md')}": "everything"}
        got = await opened.browser.post(address(room, "/restore"), answer, HTMX)
        assert "You changed this file as well" in got.text


async def test_many_conflicts_get_one_choice_for_all(tmp_path: Path) -> None:
    names = {f"n{number}_md": "one\n" for number in range(CHOSEN_ALONE + 1)}
    async with after(tmp_path, writes(**names)) as (opened, room):
        for path in opened.workspace.iterdir():
            path.write_text("mine\n")
        got = await opened.browser.post(address(room, "/restore"), {}, HTMX)
        assert got.text.count("<fieldset>") == 1
        assert all(name.replace("_", ".") in got.text for name in names)
        await opened.browser.post(address(room, "/restore"), {"choice-": "before"}, HTMX)
        assert list(opened.workspace.iterdir()) == []


async def test_what_undoing_would_come_to_is_told_on_request(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        (opened.workspace / "a.md").write_text("mine\n")
        text = text_of(read((await opened.browser.get(address(room, "?now"))).text))
        assert "Undoing it now would change 1 path." in text
        assert "a.md: you changed it as well, so you are asked." in text


async def test_what_has_been_given_up_is_still_listed_without_a_way_back(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n")) as (opened, room):
        shutil.rmtree(opened.bench.folder.snapshots)
        got = await opened.browser.get(address(room))
        assert "is not kept any more" in got.text
        assert "a.md" in got.text
        assert "Undo turn" not in got.text
        refused = await opened.browser.post(address(room, "/restore"), {}, HTMX)
        assert (refused.status, "is not kept any more" in refused.text) == (409, True)


async def test_nothing_twice_and_nothing_that_is_not_there(tmp_path: Path) -> None:
    async with after(tmp_path, writes(a_md="one\n")) as (opened, room):
        await opened.browser.post(address(room, "/restore"))
        again = await opened.browser.post(address(room, "/restore"), {}, HTMX)
        assert (again.status, "There is nothing to bring back" in again.text) == (409, True)
        for wrong in (f"/conversations/{room.id}/changes/turn_none", address(room, "?file=none")):
            assert (await opened.browser.get(wrong)).status == 404


async def test_names_and_lines_of_files_are_text(tmp_path: Path) -> None:
    evil = [call("write_file", "c", path=HOSTILE, content="<script>alert(1)</script>\n")]
    async with after(tmp_path, evil) as (opened, room):
        for got in (
            await opened.browser.get(f"/conversations/{room.id}"),
            await opened.browser.get(address(room, f"?file={key_of(HOSTILE)}")),
            await opened.browser.get(address(room, f"?file={key_of(HOSTILE)}"), HTMX),
            await opened.browser.post(address(room, "/restore"), {}, HTMX),
        ):
            assert got.status == 200
            assert "<script>alert" not in got.text
            assert not [each for each in elements(read(got.text)) if each.get("onerror")]


async def test_more_files_than_are_listed_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "FILES_LISTED", 1)
    async with after(tmp_path, writes(a_md="one\n", b_md="two\n")) as (opened, room):
        got = await opened.browser.get(address(room))
        assert "1 more is not listed" in got.text


async def test_what_undo_does_not_keep_is_said(tmp_path: Path) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    async with after(tmp_path, writes(a_md="one\n")) as (opened, room):
        got = await opened.browser.get(address(room))
        assert ".git is not kept: it is a version history, which undo leaves alone." in got.text
