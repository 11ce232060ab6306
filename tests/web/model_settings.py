"""The settings of models as a test uses them: forms that are sent, and what comes back read from the page."""

from __future__ import annotations

from app.providers.sources import SourceConfig
from app.workspace.model_sources import list_sources
from tests.fakes.llm_client import FakeLLM
from tests.web.asgi import Got
from tests.web.live_page import LivePage
from tests.web.pages import Open
from tests.web.tree import Element

KEY = "sk-proj-0123456789abcdef"
HERE = "/settings/models"


class Models:
    def __init__(self, opened: Open, llm: FakeLLM) -> None:
        self.opened = opened
        self.llm = llm

    async def post(self, path: str = "", *headers: tuple[str, str], **fields: str) -> Got:
        got = await self.opened.browser.post(HERE + path, fields, *headers)
        assert KEY not in got.text + str(got.headers)
        return got

    async def add(self, *headers: tuple[str, str], **fields: str) -> Got:
        return await self.post(
            "",
            *headers,
            **{"kind": "openai", "name": "lab", "base_url": self.llm.base_url, "key": KEY, **fields},
        )

    async def edit(self, name: str = "lab", *headers: tuple[str, str], **fields: str) -> Got:
        """Send the form of a source as it is shown, but for ``fields``."""
        got = await self.opened.browser.get(f"{HERE}/{name}/edit")
        assert (got.status, KEY in got.text) == (200, False)
        shown = {
            each: field(got, each).attributes.get("value", "")
            for each in ("base_url", "models", "key", "key_env")
        }
        kind = next(each for each in field(got, "kind").all("option") if "selected" in each.attributes)
        return await self.post(
            f"/{name}/edit", *headers, **{"kind": kind.attributes["value"], **shown, **fields}
        )

    async def rows(self) -> list[str]:
        """The listed sources, each as what stands in its row."""
        got = await self.opened.browser.get(HERE)
        assert KEY not in got.text
        return [words(each) for each in listed(LivePage.parsed(got.text))]

    @property
    def sources(self) -> tuple[SourceConfig, ...]:
        return list_sources(self.opened.bench.store)

    @property
    def names(self) -> list[str]:
        return [source.name for source in self.sources]

    @property
    def keys(self) -> list[str | None]:
        secrets = self.opened.bench.secrets
        return [secrets.get(name) for name in secrets.names()]


def listed(page: Element) -> list[Element]:
    return [each for each in page.all("li") if each.id.startswith("source-")]


def words(element: Element) -> str:
    return " ".join(element.text.split())


def field(got: Got, name: str) -> Element:
    page = LivePage.parsed(got.text)
    return next(
        each
        for each in page.walk()
        if each.attributes.get("name") == name and each.tag in ("input", "select")
    )


def note(got: Got, name: str) -> str:
    """What is said beside a field, which is marked as wrong."""
    page = LivePage.parsed(got.text)
    element = field(got, name)
    assert element.attributes.get("aria-invalid") == "true", f"nothing is wrong with {name}"
    found = page.find(element.attributes["aria-describedby"])
    assert found is not None
    return words(found)


def state_of(got: Got) -> tuple[bool, str]:
    """What came of the Test button of the form."""
    form = next(each for each in LivePage.parsed(got.text).all("form") if each.attributes.get("aria-label"))
    (said,) = [each for each in form.walk() if each.attributes.get("role") == "status"]
    state = next(each for each in said.all("p") if "busy" not in each.attributes["class"].split())
    return "done" in state.attributes["class"].split(), words(state)
