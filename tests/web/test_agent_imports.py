"""Agents of other programs are taken over by the page: from a path, from files, each with what became of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.workspace.agents import list_agents
from tests.web.asgi import Got, ask
from tests.web.live_page import LivePage
from tests.web.model_settings import words
from tests.web.pages import HOST, SAME, Open, open_page

pytestmark = pytest.mark.anyio

AGENT = "---\nname: Reviewer <b>\nmodel: sonnet\n---\nReview."
EDGE = "edge-of-parts"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with open_page(tmp_path) as opened:
        yield opened


async def send(opened: Open, path: str = "", **files: str | bytes) -> Got:
    """The form as a browser sends it; names of files have their dot as ``__``."""
    parts = [f'Content-Disposition: form-data; name="path"\r\n\r\n{path}'.encode()]
    for name, data in files.items():
        head = f'Content-Disposition: form-data; name="files"; filename="{name.replace("__", ".")}"\r\n\r\n'
        parts.append(head.encode() + (data.encode() if isinstance(data, str) else data))
    body = (
        b"".join(b"--" + EDGE.encode() + b"\r\n" + part + b"\r\n" for part in parts)
        + f"--{EDGE}--\r\n".encode()
    )
    headers = [HOST, opened.browser.cookie, SAME, ("content-type", f"multipart/form-data; boundary={EDGE}")]
    return await ask(opened.app, "POST", "/import-agents", headers, body=[body])


def report(got: Got) -> list[str]:
    page = LivePage.parsed(got.text)
    section = next(
        (each for each in page.all("section") if each.attributes.get("aria-labelledby") == "report"), None
    )
    return [words(each) for each in section.all("ol")[0].elements] if section else []


def own(opened: Open) -> list[str]:
    return [agent.id for agent in list_agents(opened.bench.folder) if not agent.is_shipped]


async def test_a_folder_is_taken_over_and_each_file_accounted_for(opened: Open, tmp_path: Path) -> None:
    home = tmp_path / "project" / ".claude" / "agents"
    home.mkdir(parents=True)
    (home / "reviewer.md").write_text(AGENT)
    (home / "README.md").write_text("# These are agents")
    got = await send(opened, str(tmp_path / "project"))
    left, new = report(got)
    assert left.startswith("left .claude/agents/README.mdIt is no agent")
    assert new.startswith("new Reviewer <b>.claude/agents/reviewer.mdThe model “sonnet” names no provider")
    assert own(opened) == ["reviewer"]


async def test_files_are_taken_over_and_what_is_there_stays(opened: Open) -> None:
    assert (
        len(
            report(
                await send(opened, reviewer__md=AGENT, coder__md=AGENT, latin__md=b"---\nname: \xff\n---\nx")
            )
        )
        == 3
    )
    assert own(opened) == ["reviewer"]
    (again,) = report(await send(opened, reviewer__md=AGENT))
    assert "There is an agent reviewer already, and it stays as it is." in again


async def test_a_path_that_is_none_is_told_beside_it_and_stays(opened: Open) -> None:
    for path, why in (
        ("notes/agents", "is no whole path"),
        ("/nowhere/at/all", "is not there"),
        ("", "Name a folder or a file, or choose files"),
    ):
        got = await send(opened, path)
        field = LivePage.parsed(got.text).find("import-path")
        note = LivePage.parsed(got.text).find("import-note")
        assert field is not None
        assert note is not None
        assert (got.status, field.attributes["value"], why in words(note)) == (422, path, True)


async def test_too_many_files_and_what_is_no_form_are_refused(opened: Open) -> None:
    many = {f"agent{number}__md": AGENT for number in range(51)}
    assert (await send(opened, **many)).status == 413
    headers = [HOST, opened.browser.cookie, SAME, ("content-type", "multipart/form-data")]
    assert (await ask(opened.app, "POST", "/import-agents", headers, body=[b"x"])).status == 400
    assert own(opened) == []
