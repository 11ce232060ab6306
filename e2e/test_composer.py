"""The message box: what is written is kept until the server has it, and is sent exactly once."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import CDPSession, Page, Route, expect

from e2e.line import Line
from e2e.server import Server
from e2e.talk import Talk
from e2e.watch import LINE_BROKEN, Watch
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import hold, say

MEGABYTE = 1_000_000
TOO_BIG = 17 << 20
FRAMES_WAITED = 600
GAP = 12
"""Pixels of a bar that part what stands in it."""


def test_a_draft_is_kept_over_a_reload_and_per_conversation(talk: Talk, served: Server, llm: FakeLLM) -> None:
    talk.box.fill("Half a thought\nin two lines")
    other = Talk(talk.page, served.new_conversation()).opened()
    expect(other.box).to_have_value("")
    other.box.fill("Another thought")
    talk.opened()
    expect(talk.box).to_have_value("Half a thought\nin two lines")
    talk.box.press("Enter")
    talk.expect_answer("You said: Half a thought in two lines.")
    expect(talk.box).to_have_value("")
    talk.again()
    expect(talk.box).to_have_value("")
    other.opened()
    expect(other.box).to_have_value("Another thought")


def test_shift_enter_breaks_the_line(talk: Talk) -> None:
    talk.box.type("one")
    talk.box.press("Shift+Enter")
    talk.box.type("two")
    expect(talk.box).to_have_value("one\ntwo")
    expect(talk.articles("user")).to_have_count(0)


def test_an_empty_message_is_not_sent(talk: Talk, llm: FakeLLM, watch: Watch) -> None:
    watch.allow("status of 422")
    talk.box.press("Enter")
    talk.button("Send").click()
    talk.box.fill("  \n ")
    talk.box.press("Enter")
    talk.button("Send").click()
    expect(talk.page.locator("#toast")).to_contain_text("There is nothing to send")
    talk.say("Something")
    talk.expect_answer("You said: Something.")
    expect(talk.articles("user")).to_have_count(1)
    assert len(llm.bodies()) == 1


def test_a_double_click_and_a_held_enter_send_once(talk: Talk, llm: FakeLLM) -> None:
    talk.box.fill("Once only")
    talk.button("Send").dblclick()
    talk.expect_answer("You said: Once only.")
    talk.box.fill("Only once")
    talk.page.evaluate(
        """() => {
            const box = document.getElementById("message");
            for (let n = 0; n < 5; n++) {
                box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            }
        }"""
    )
    talk.expect_answer("You said: Only once.")
    talk.again()
    expect(talk.articles("user")).to_have_count(2)
    assert len(llm.bodies()) == 2


def test_a_message_of_a_megabyte_arrives_whole(talk: Talk, watch: Watch) -> None:
    text = "0123456789" * (MEGABYTE // 10)
    talk.say(text)
    expect(talk.box).to_have_value("")
    article = talk.articles("user")
    expect(article).to_contain_text("characters left out")
    with talk.page.expect_download() as download:
        article.get_by_role("link", name="The whole as plain text").click()
    assert download.value.path().read_text(encoding="utf-8") == text


def test_what_is_refused_as_too_big_stays_in_the_box(talk: Talk, watch: Watch) -> None:
    watch.allow("status of 413")
    talk.page.evaluate(
        """(size) => {
        const ballast = Object.assign(document.createElement("input"), { type: "hidden", name: "ballast" });
        ballast.value = "x".repeat(size);
        document.getElementById("composer").append(ballast);
    }""",
        TOO_BIG,
    )
    talk.say("I am in heavy company")
    expect(talk.page.locator("#toast")).to_contain_text("larger than what Plancia takes")
    expect(talk.box).to_have_value("I am in heavy company")
    expect(talk.articles("user")).to_have_count(0)


def test_a_browser_without_room_for_drafts_sends_all_the_same(talk: Talk, llm: FakeLLM) -> None:
    talk.page.evaluate("""() => { for (let size = 1 << 22; size >= 1; size >>= 1) {
        try { localStorage.setItem(`full-${size}`, "x".repeat(size)); } catch { continue; } } }""")
    talk.say("No room")
    talk.expect_answer("You said: No room.")


def test_a_server_that_is_gone_takes_nothing_and_a_second_try_counts_once(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    line.down()
    expect(distant.reconnecting).to_be_visible()
    distant.say("Do you hear me?")
    expect(distant.page.locator("#toast")).to_contain_text("did not answer")
    expect(distant.box).to_have_value("Do you hear me?")
    line.up()
    distant.box.press("Enter")
    distant.expect_answer("You said: Do you hear me?.")
    expect(distant.box).to_have_value("")
    expect(distant.articles("user")).to_have_count(1)


def test_a_message_that_arrived_though_its_answer_did_not_is_not_sent_twice(
    distant: Talk, line: Line, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    line.lose_answers(1)
    distant.say("Only one of me")
    expect(distant.page.locator("#toast")).to_contain_text("did not answer")
    expect(distant.box).to_have_value("Only one of me")
    distant.expect_answer("You said: Only one of me.")
    distant.box.press("Enter")
    expect(distant.box).to_have_value("")
    distant.again()
    expect(distant.articles("user")).to_have_count(1)
    assert len(llm.bodies()) == 1


def test_text_that_is_written_while_a_message_is_sent_stays(talk: Talk, llm: FakeLLM) -> None:
    llm.script(hold(say("Yes."), 0))
    talk.say("First")
    talk.box.fill("Second, begun at once")
    llm.wait_held()
    llm.release()
    talk.expect_answer("Yes.")
    expect(talk.box).to_have_value("Second, begun at once")


class Post:
    """Messages are held on their way to the server until the story lets them go, or fail."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._routes: list[Route] = []
        page.route(re.compile("/(messages|steer)$"), lambda route: self._routes.append(route))

    def wait_held(self) -> Route:
        """The one message that is under way."""
        for _ in range(FRAMES_WAITED):
            if not self._routes:
                self._page.evaluate("() => new Promise(requestAnimationFrame)")
        (route,) = self._routes
        self._routes.clear()
        return route

    @property
    def is_empty(self) -> bool:
        return not self._routes


@pytest.fixture
def held_post(talk: Talk) -> Post:
    return Post(talk.page)


def test_a_text_leaves_the_box_at_once_and_what_is_typed_meanwhile_stays(
    talk: Talk, held_post: Post, llm: FakeLLM
) -> None:
    talk.say("First")
    route = held_post.wait_held()
    expect(talk.box).to_have_value("")
    talk.box.type("Second, begun at once")
    route.continue_()
    talk.expect_answer("You said: First.")
    expect(talk.box).to_have_value("Second, begun at once")
    talk.box.press("Enter")
    held_post.wait_held().continue_()
    talk.expect_answer("You said: Second, begun at once.")
    expect(talk.box).to_have_value("")


def test_quick_messages_are_sent_one_after_the_other_in_order(
    talk: Talk, held_post: Post, llm: FakeLLM
) -> None:
    llm.script(hold(say("Yes."), 0), say("All three."))
    for text in ("alpha", "beta", "gamma"):
        talk.say(text)
    talk.box.type("delta")
    numbers = set()
    for text in ("alpha", "beta", "gamma"):
        route = held_post.wait_held()
        assert held_post.is_empty
        fields = parse_qs(route.request.post_data or "")
        assert fields["text"] == [text]
        numbers.add(fields["client_id"][0])
        route.continue_()
    assert len(numbers) == 3
    llm.wait_held()
    expect(talk.queue).to_have_count(2)
    llm.release()
    talk.expect_answer("All three.")
    expect(talk.articles("user").locator("[data-part=text]")).to_have_text(["alpha", "beta", "gamma"])
    expect(talk.box).to_have_value("delta")


def test_messages_into_a_live_run_keep_the_way_they_were_sent(
    talk: Talk, held_post: Post, llm: FakeLLM
) -> None:
    llm.script(hold(say("Working. ", "Done."), 1))
    talk.say("Work.")
    held_post.wait_held().continue_()
    llm.wait_held()
    expect(talk.button("Steer")).to_be_visible()
    talk.say("steered", key="Enter")
    talk.say("queued", key="Control+Enter")
    for address, text in (("/steer", "steered"), ("/messages", "queued")):
        route = held_post.wait_held()
        assert route.request.url.endswith(address)
        assert parse_qs(route.request.post_data or "")["text"] == [text]
        route.continue_()
    expect(talk.queue).to_have_count(2)
    llm.release()


def test_texts_that_could_not_be_sent_come_back_before_what_was_typed_since(
    talk: Talk, held_post: Post, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    talk.say("one")
    talk.say("two")
    talk.box.type("three")
    talk.box.press("ArrowLeft")
    held_post.wait_held().abort()
    expect(talk.page.locator("#toast")).to_contain_text("did not answer")
    expect(talk.box).to_have_value("one\n\ntwo\n\nthree")
    talk.box.type("_")
    expect(talk.box).to_have_value("one\n\ntwo\n\nthre_e")
    talk.again()
    expect(talk.box).to_have_value("one\n\ntwo\n\nthre_e")
    expect(talk.articles("user")).to_have_count(0)


def test_a_text_that_the_server_refused_comes_back_with_its_sentence(
    talk: Talk, held_post: Post, llm: FakeLLM, watch: Watch
) -> None:
    watch.allow("status of 503")
    talk.say("Take this")
    held_post.wait_held().fulfill(status=503, body="The disk is full.", content_type="text/html")
    expect(talk.page.locator("#toast")).to_contain_text("The disk is full.")
    expect(talk.box).to_have_value("Take this")
    talk.box.press("Enter")
    held_post.wait_held().continue_()
    talk.expect_answer("You said: Take this.")
    expect(talk.box).to_have_value("")


def test_texts_under_way_outlive_the_page(talk: Talk, held_post: Post, llm: FakeLLM) -> None:
    llm.script(hold(say("Yes."), 0), say("Both."))
    talk.say("one")
    talk.say("two")
    talk.box.type("three")
    first = parse_qs(held_post.wait_held().request.post_data or "")
    talk.again()
    again = held_post.wait_held()
    assert parse_qs(again.request.post_data or "") == first
    again.continue_()
    held_post.wait_held().continue_()
    llm.wait_held()
    llm.release()
    talk.expect_answer("Both.")
    expect(talk.articles("user").locator("[data-part=text]")).to_have_text(["one", "two"])
    expect(talk.box).to_have_value("three")
    talk.again()
    expect(talk.box).to_have_value("three")
    assert held_post.is_empty


@pytest.fixture
def keyboard(talk: Talk) -> CDPSession:
    return talk.page.context.new_cdp_session(talk.page)


def test_enter_that_ends_a_composition_does_not_send(talk: Talk, keyboard: CDPSession, llm: FakeLLM) -> None:
    talk.box.focus()
    keyboard.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    composing = {"windowsVirtualKeyCode": 229, "key": "Enter", "code": "Enter"}
    keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **composing})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **composing})
    expect(talk.box).to_have_value("にほん")
    keyboard.send("Input.insertText", {"text": "日本"})
    expect(talk.box).to_have_value("日本")
    expect(talk.articles("user")).to_have_count(0)
    talk.box.press("Enter")
    talk.expect_answer("You said: 日本.")
    assert len(llm.bodies()) == 1


def test_a_text_that_comes_back_does_not_disturb_a_composition(
    talk: Talk, keyboard: CDPSession, held_post: Post, watch: Watch
) -> None:
    watch.allow(*LINE_BROKEN)
    talk.say("Before")
    route = held_post.wait_held()
    keyboard.send("Input.imeSetComposition", {"text": "にほん", "selectionStart": 3, "selectionEnd": 3})
    route.abort()
    expect(talk.page.locator("#toast")).to_contain_text("did not answer")
    expect(talk.box).to_have_value("にほん")
    keyboard.send("Input.insertText", {"text": "日本"})
    expect(talk.box).to_have_value("Before\n\n日本")


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_the_name_of_the_model_has_all_the_room_that_is_left(
    talk: Talk, llm: FakeLLM, width: int
) -> None:
    talk.page.set_viewport_size({"width": width, "height": 800})

    def unused() -> tuple[float, float]:
        """Between the badge, the choice of the model, and the buttons, in pixels."""
        badge, model, sends = (
            talk.page.locator(one).bounding_box()
            for one in (".box-bar .badge", "#model-picker select", "#sends")
        )
        assert badge is not None
        assert model is not None
        assert sends is not None
        return model["x"] - badge["x"] - badge["width"], sends["x"] - model["x"] - model["width"]

    assert max(unused()) <= GAP
    llm.script(hold(say("Working. ", "Done."), 1))
    talk.say("Work.")
    llm.wait_held()
    expect(talk.button("Steer")).to_be_visible()
    assert max(unused()) <= GAP
    llm.release()


def test_an_example_is_put_into_the_box_not_sent(talk: Talk) -> None:
    talk.page.get_by_role("link", name="Show me around").click()
    expect(talk.box).to_have_value(re.compile("^Show me around"))
    expect(talk.box).to_be_focused()
    expect(talk.articles("user")).to_have_count(0)
