"""A gateway is logged in to from its settings, and its models answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from e2e.test_access import AXE, FIND_BARRIERS, RULES, SIDEWAYS
from e2e.watch import Watch
from tests.fakes.gateway_client import FakeGateway


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("gateway"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def gate(bare: Server, gateway: FakeGateway) -> Iterator[str]:
    """The address of the login of a gateway that nobody has logged in to."""
    gateway.rule(interval=0.2)
    bare.post("/settings/models", kind="gateway", name="gate", base_url=gateway.base_url, models="fake-model")
    yield bare.at("/settings/models/gate/login")
    bare.post("/settings/models/gate/remove")


def test_the_user_enters_a_code_and_the_page_goes_on_by_itself(
    bare: Server, gate: str, gateway: FakeGateway, page: Page, watch: Watch
) -> None:
    watch.allow("status of 401")  # the gateway has no icon for its page
    page.goto(bare.at("/settings/models"))
    page.get_by_role("link", name="Log in to gate").click()
    page.get_by_role("button", name="Log in").click()
    code = page.locator(".login-code").inner_text()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the gateway's page").click()
    expect(opened.value.get_by_role("textbox")).to_have_value(code)
    opened.value.get_by_role("button", name="Allow").click()
    page.wait_for_url("**/settings/models?saved")
    expect(page.get_by_role("list", name="Keys of gate")).to_contain_text("login")
    talk = Talk(page, bare.new_conversation()).opened()
    talk.say("Hello")
    talk.expect_answer("You said: Hello.")
    gateway.expire()
    talk.say("Again")
    talk.expect_answer("You said: Again.")
    assert gateway.renewals() == 1


def test_it_is_done_with_the_keyboard_alone(gate: str, gateway: FakeGateway, page: Page) -> None:
    page.goto(gate)
    page.get_by_role("button", name="Log in").focus()
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Open the gateway's page")
    expect(link).to_be_visible()
    link.focus()
    with page.expect_request("**/login"):
        pass  # it has looked how the login stands
    expect(link).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Cancel")).to_be_focused()
    gateway.allow()
    page.wait_for_url("**/settings/models?saved")


def test_a_login_that_was_declined_is_said_where_it_was_begun(
    gate: str, gateway: FakeGateway, page: Page
) -> None:
    page.goto(gate)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".login-code")).to_be_visible()
    gateway.allow(allow=False)
    expect(page.get_by_role("alert")).to_contain_text("was declined there")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".login-code")).to_be_visible()


def test_without_script_the_page_reloads_until_it_is_done(
    gate: str, gateway: FakeGateway, new_context: NewContext
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(gate)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".login-code")).to_be_visible()
    gateway.allow()
    page.wait_for_url("**/settings/models?saved")


def test_there_is_no_barrier_and_nothing_scrolls_sideways(gate: str, page: Page, watch: Watch) -> None:
    watch.allow("status of 422")
    page.goto(gate)
    page.get_by_text("What whoever runs the gateway").click()
    look(page)
    page.get_by_label("Login service").fill("http://id.example")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("is not an https:// address")
    look(page)
    page.goto(gate)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".login-code")).to_be_visible()
    look(page)


def look(page: Page) -> None:
    page.evaluate(AXE)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 2_600})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(FIND_BARRIERS, RULES) == [], f"{scheme}, {width}"
        assert page.evaluate(SIDEWAYS) == []
