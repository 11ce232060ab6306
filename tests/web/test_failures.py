"""What leaves a handler as an error: the sentence of the room it comes from, or a reference that is in the log."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.engine.errors import ProviderError
from app.group_chat.errors import EmptyMessage, NothingToResume, RoomBusy
from app.infra.errors import SecretsError
from app.infra.logs import logging_to
from app.infra.paths import asset_root
from app.infra.settings import SettingError
from app.models.errors import StorageError
from app.web.assets import Assets
from app.web.failures import STATUS, exception_handlers
from app.web.rendering import Templates
from app.workspace.errors import InvalidSource, NotFound, TurnLive
from app.workspace.folders import FolderUnusable
from tests.web.asgi import Got, ask
from tests.web.live_page import LivePage
from tests.web.pages import HTMX, open_by_hand
from tests.web.readers import address_of

pytestmark = pytest.mark.anyio

SECRET = "sk-proj-0123456789abcdef"
CONTENT = "the private words of a message"


class Defect(Exception):
    """Nobody expected this one."""


class Site:
    """One address that fails as it is told to."""

    def __init__(self) -> None:
        templates = Templates(asset_root("templates"), Assets(asset_root("static")))
        self.error: Exception = Defect()
        self.app = Starlette(
            routes=[Route("/fail/{name}", self.fail)], exception_handlers=exception_handlers(templates)
        )

    async def fail(self, request: Request) -> Response:
        words = CONTENT
        raise self.error from ValueError(f"{words} {SECRET}")

    async def ask(self, error: Exception, *headers: tuple[str, str]) -> Got:
        self.error = error
        return await ask(self.app, "GET", "/fail/here", headers, query=f"q={SECRET}")


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    with logging_to(tmp_path):
        yield tmp_path / "plancia.log"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("It is gone. Look elsewhere."), 404),
        (EmptyMessage("There is nothing to send."), 422),
        (InvalidSource("This name is taken.", "name"), 422),
        (FolderUnusable("That is a file."), 422),
        (SettingError("It takes a or b."), 422),
        (SecretsError("Keys cannot be read."), 422),
        (ProviderError("auth", "The key was refused."), 422),
        (NothingToResume("Nothing to continue."), 409),
        (RoomBusy("A turn is running."), 409),
        (TurnLive("Still answering."), 409),
        (StorageError("The disk is full. Make room."), 503),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_an_error_of_a_room_is_its_own_sentence(site: Site, error: Exception, status: int) -> None:
    page = await site.ask(error)
    assert page.status == status
    assert sentence(page) == str(error)
    assert "To the conversations" in page.text
    part = await site.ask(error, HTMX)
    assert (part.status, part.text.strip()) == (status, f'<p data-part="sentence">{error}</p>')
    for got in (page, part):
        assert "Reference" not in got.text
        assert CONTENT not in got.text


def sentence(got: Got) -> str:
    page = LivePage.parsed(got.text)
    return next(each.text for each in page.walk() if each.attributes.get("data-part") == "sentence")


def test_every_class_that_is_named_has_the_status_that_it_is_named_with() -> None:
    """A class stands before the one it is a kind of, or it would never be asked for."""
    kinds = list(STATUS)
    for place, kind in enumerate(kinds):
        assert not any(issubclass(kind, earlier) for earlier in kinds[:place])


async def test_a_sentence_is_text_whatever_is_in_it(site: Site) -> None:
    for headers in ((), (HTMX,)):
        got = await site.ask(NotFound('<b>"&nobody"</b>'), *headers)
        assert sentence(got) == '<b>"&nobody"</b>'
        assert LivePage.parsed(got.text).all("b") == []


@pytest.mark.parametrize("status", [400, 404, 405, 413, 422, 451])
async def test_a_refusal_of_the_framework_is_in_our_words(site: Site, status: int) -> None:
    got = await site.ask(HTTPException(status, "detail of the framework", headers={"X-Kept": "yes"}))
    assert got.status == status
    assert got.header("x-kept") == "yes"
    assert "detail of the framework" not in got.text
    assert len(sentence(got)) > 20


async def test_a_defect_is_a_page_with_a_reference_that_is_in_the_log(site: Site, log: Path) -> None:
    got = await site.ask(Defect(f"{CONTENT} {SECRET}"))
    assert got.status == 500
    assert sentence(got).startswith("Nothing that was saved is lost.")
    (reference,) = re.findall(r"R-[0-9A-Z]{8}", got.text)
    (line,) = [line for line in log.read_text().splitlines() if reference in line]
    assert "request_failed" in line
    assert "error=Defect<-ValueError" in line
    assert "test_failures.py" in line
    for words in (CONTENT, SECRET, "Traceback", "Defect", "test_failures"):
        assert words not in got.text
    assert CONTENT not in log.read_text()
    assert SECRET not in log.read_text()


async def test_for_a_part_of_a_page_a_defect_is_one_sentence_with_its_reference(
    site: Site, log: Path
) -> None:
    got = await site.ask(Defect(CONTENT), HTMX)
    assert got.status == 500
    assert re.fullmatch(r'<p data-part="sentence">[^<]+ \(reference R-[0-9A-Z]{8}\)</p>', got.text.strip())


async def test_each_defect_has_a_reference_of_its_own(site: Site) -> None:
    texts = {(await site.ask(Defect(), HTMX)).text for _ in range(5)}
    assert len(texts) == 5


@pytest.fixture
async def broken(tmp_path: Path) -> AsyncIterator[tuple[Got, Got, Path]]:
    """A page and an act of the real application while its database is gone, and its log."""
    async with open_by_hand(tmp_path) as opened:
        room = opened.conversation()
        await opened.browser.get(address_of(room))
        with logging_to(tmp_path):
            opened.bench.store.database.close()
            page = await opened.browser.get(address_of(room))
            part = await opened.browser.post(f"{address_of(room)}/title", {"title": CONTENT}, HTMX)
        yield page, part, tmp_path / "plancia.log"


async def test_the_real_application_fails_in_words_too(broken: tuple[Got, Got, Path]) -> None:
    page, part, log = broken
    for got in (page, part):
        assert got.status in (500, 503)
        assert "Traceback" not in got.text
        assert CONTENT not in got.text
        assert got.header("content-security-policy")
        for reference in re.findall(r"R-[0-9A-Z]{8}", got.text):
            assert reference in log.read_text()
    assert CONTENT not in log.read_text()
    assert "<html" not in part.text


def test_no_library_writes_what_was_said_into_the_log(log: Path) -> None:
    logging.getLogger("uvicorn.error").error("Exception: %s", CONTENT, exc_info=Defect(CONTENT))
    assert CONTENT not in log.read_text()
    assert "library=uvicorn.error" in log.read_text()
