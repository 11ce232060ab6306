"""The page: names that people and tests rely on, words of others as text, nothing inline, live equals reload."""

from __future__ import annotations

import gzip
import re
from xml.etree.ElementTree import Element

import pytest
from html5lib import HTMLParser, getTreeBuilder
from jinja2 import UndefinedError

from app.web.floor_views import floor_view
from app.web.live_markdown import LiveMarkdown
from app.web.page_views import Toast, conversation_view
from app.web.times import amount, dollars, duration, elapsed, local, utc
from app.web.views import NoticeView, message_view, message_views
from app.workspace.rows import MessageRow
from tests.case_tables import load_tsv
from tests.web.dom import elements, holds, present, read, text_of
from tests.web.samples import TEMPLATES, WRITING, conversation, every_row, page, row, values

TITLE_ROWS = [
    pytest.param(case, id=f"row-{number}")
    for number, case in enumerate(load_tsv("xss_cases.tsv"), start=1)
    if case["note"].startswith("[title]")
]


def document(html: str) -> Element:
    """A whole page, read by a parser that refuses what is not valid."""
    tree = HTMLParser(strict=True, tree=getTreeBuilder("etree"), namespaceHTMLElements=False).parse(html)
    assert isinstance(tree, Element)
    return tree


def find(root: Element, **wanted: str) -> list[Element]:
    pairs = {name.strip("_").replace("_", "-"): value for name, value in wanted.items()}
    return [each for each in elements(root) if all(each.get(name) == value for name, value in pairs.items())]


def buttons(root: Element) -> list[str]:
    return [each.get("aria-label") or text_of(each).strip() for each in root.iter("button")]


def test_the_page_of_every_kind_of_message_is_valid_html_with_unique_ids() -> None:
    root = document(page(every_row()))
    ids = [each.get("id") for each in elements(root) if each.get("id")]
    assert len(ids) == len(set(ids))
    referred = {
        name
        for each in elements(root)
        for attribute in (
            "for",
            "aria-labelledby",
            "aria-describedby",
            "aria-controls",
            "popovertarget",
            "form",
        )
        for name in (each.get(attribute) or "").split()
    }
    assert referred <= set(ids)


def test_the_page_exposes_the_names_of_the_contract() -> None:
    root = document(page(every_row(), floor=floor_view([WRITING])))
    (log,) = find(root, role="log")
    assert log.get("aria-label") == "Conversation"
    assert [each.get("aria-label") for each in root.iter("nav")] == ["Conversations", "Workspace"]
    (details,) = root.iter("aside")
    assert details.get("aria-label") == "Details"
    assert [text_of(tab) for tab in find(details, role="tab")] == ["Tasks", "Plan", "Files", "Usage"]
    assert "New conversation" in buttons(root)
    (picker,) = [each for each in root.iter("select") if each.get("name") == "model"]
    assert picker.get("aria-label") == "Model"
    (label,) = [each for each in root.iter("label") if each.get("for") == "message"]
    assert text_of(label) == "Message"
    (lost,) = [each for each in find(root, role="status") if each.get("aria-label")]
    assert lost.get("aria-label") == "Reconnecting…"
    assert lost.get("hidden") is not None


@pytest.mark.parametrize(
    "message", every_row(), ids=lambda message: f"{message.kind}-{message.state}-{message.id}"
)
def test_an_article_says_who_what_and_how_it_stands(message: MessageRow) -> None:
    (article,) = read(TEMPLATES.render_message(message_view(message)))
    assert article.tag == "article"
    waits = message.kind in ("approval", "form") and message.state == "streaming"
    state = "done" if waits else message.state  # nothing is written: somebody is waited for
    assert (article.get("data-kind"), article.get("data-member"), article.get("data-state")) == (
        message.kind,
        message.member,
        state,
    )
    assert article.get("aria-label") in ("You", "Commander", "Tutor", "Worker", "Plancia")
    assert next(article.iter("time")).get("datetime") == message.created
    assert (article.get("aria-busy") == "true") == (state == "streaming")


def test_text_and_output_stand_alone_in_their_part() -> None:
    answer = read(
        TEMPLATES.render_message(message_view(row("assistant", "done", "One\n\n```py\nx = 1\n```")))
    )
    (part,) = find(answer, data_part="text")
    assert text_of(part) == "One\nx = 1\n\n"
    call = row("tool_call", call_id="c", name="read_file", arguments={"path": "a"}, result=" the\n output ")
    (output,) = find(read(TEMPLATES.render_message(message_view(call))), data_part="output")
    assert text_of(output) == " the\n output "
    said = row("user", "done", "  as\n typed ", member="user")
    (typed,) = find(read(TEMPLATES.render_message(message_view(said))), data_part="text")
    assert text_of(typed) == "  as\n typed "


def test_trouble_offers_one_way_on_until_it_is_settled() -> None:
    offers = {
        "Continue": [
            row("notice", notice="interrupted"),
            row("notice", notice="stopped"),
            row("notice", notice="limit"),
        ],
        "Retry": [row("error", "failed", "It failed.", kind="server")],
    }
    for name, rows in offers.items():
        for message in rows:
            article = read(TEMPLATES.render_message(message_view(message)))
            assert buttons(article) == [name]
            settled = MessageRow(**{**_fields(message), "data": {**message.data, "settled": True}})
            assert buttons(read(TEMPLATES.render_message(message_view(settled)))) == []


def _fields(message: MessageRow) -> dict[str, object]:
    return {name: getattr(message, name) for name in MessageRow.__slots__}


def test_only_what_needs_the_user_waits_for_the_user() -> None:
    waiting = [message for message in message_views(every_row()) if message.waits]
    assert {message.kind for message in waiting} == {"notice", "approval", "form"}
    assert [message.words.text.split()[0] for message in waiting if isinstance(message, NoticeView)] == [
        "Stopped:",
        "Stopped",
        "The",
        "The",
    ]
    for message in waiting:
        (article,) = read(TEMPLATES.render_message(message))
        assert article.get("data-wait") == "user"


def test_the_composer_offers_send_or_steer_and_queue() -> None:
    quiet = buttons(document(page()))
    assert "Send" in quiet
    assert not {"Steer", "Queue", "Stop"} & set(quiet)
    live = TEMPLATES.render("conversation/page.html", **values(floor=WRITING))
    root = document(live)
    assert {"Steer", "Queue", "Stop"} <= set(buttons(root))
    assert "Send" not in buttons(root)
    (enter,) = find(root, data_key="enter")
    assert text_of(enter).strip() == "Steer"


def test_a_setting_puts_queue_on_enter() -> None:
    composer = values(floor=WRITING)["composer"]
    swapped = type(composer)(True, "queue", composer.picker)
    (enter,) = find(document(page(composer=swapped)), data_key="enter")
    assert text_of(enter).strip() == "Queue"


def test_every_form_works_without_script() -> None:
    root = document(TEMPLATES.render("conversation/page.html", **values(message_views(every_row()), WRITING)))
    forms = [form for form in root.iter("form") if form.get("method") != "dialog"]
    assert forms
    for form in forms:
        assert form.get("method") == "post"
        assert (form.get("action") or "").startswith("/")
        if form.get("hx-post"):
            assert form.get("hx-post") == form.get("action")


@pytest.mark.parametrize("case", TITLE_ROWS)
def test_words_of_others_are_text_wherever_they_stand(case: dict[str, str]) -> None:
    said = case["input"]
    rows = [
        row("user", "done", said, member="user"),
        row(
            "tool_call",
            "failed",
            call_id="c",
            name=said,
            arguments={said: said, "path": said},
            result=said,
            error_code=said,
        ),
        row("error", "failed", said, kind=said, detail=said, reference=said),
        row("notice", "done", said, notice="retry", reason=said),
        row("notice", notice="fallback", to=said, reason=said),
        row("notice", notice="loop_warning", name=said, count=3),
        row("assistant", "done", "x", reasoning=said),
        row("assistant", "done", "x", member=said),
    ]
    html = page(
        rows,
        conversation=conversation_view(conversation(said, said)),
        draft=said,
        toast=Toast(f"{said} was deleted.", "/u"),
    )
    parser = HTMLParser(tree=getTreeBuilder("etree"), namespaceHTMLElements=False)
    whole, plain = parser.parse(html), parser.parse(page())
    ours = {token: present(token, plain) for token in ("tag:script", "attr:on*", "tag:b")}
    for token in case["must_not_contain"].split(" ;; "):
        if not ours.get(token):
            assert not present(token, whole)
    assert sum(1 for _ in whole.iter("script")) == sum(1 for _ in plain.iter("script"))
    assert all(holds(token, whole) for token in case["must_hold"].split(" ;; ") if token)


def test_nothing_on_the_page_is_inline_or_from_elsewhere() -> None:
    root = document(page(every_row(), toast=Toast("Done.", "/undo")))
    for each in elements(root):
        assert each.tag != "style"
        assert not [
            name for name in each.attrib if name.startswith("on") or name == "style" or "hx-on" in name
        ]
        for name in ("src", "href", "action", "hx-get", "hx-post"):
            address = each.get(name)
            if address and not (each.tag == "a" and each.get("target") == "_blank"):
                assert address.startswith(("/", "#", "?", "data:image/svg+xml"))
    assert {each.text for each in root.iter("script")} == {None}


def test_a_missing_value_is_an_error_and_not_a_gap() -> None:
    with pytest.raises(UndefinedError):
        TEMPLATES.render("conversation/page.html")


def test_a_text_that_streams_is_drawn_in_two_parts_and_ends_as_one() -> None:
    live = LiveMarkdown()
    live.feed("Closed.\n\nOpen\n**end")
    message = row("assistant", "streaming", "Closed.")
    article = read(TEMPLATES.render_message(message_view(message, live)))
    (tail,) = find(article, id=f"{message.id}-tail")
    assert text_of(tail).strip() == "Open\n**end"
    (part,) = find(article, data_part="text")
    assert text_of(part).split() == ["Closed.", "Open", "**end"]
    ended = MessageRow(**{**_fields(message), "state": "done", "text": "Closed.\n\nOpen\n**end**"})  # type: ignore[arg-type]
    assert f"{message.id}-tail" not in TEMPLATES.render_message(message_view(ended))


def test_a_day_is_said_once_before_its_first_entry() -> None:
    first, second, third = row("user", member="user"), row("assistant"), row("assistant")
    later = MessageRow(**{**_fields(third), "created": "2026-12-02T12:00:00.000Z"})  # type: ignore[arg-type]
    days = [
        each.get("id")
        for each in elements(document(page([first, second, later])))
        if each.get("class") == "day"
    ]
    assert days == ["day-2026-11-30", "day-2026-12-02"]


def test_times_and_amounts_are_written_as_people_write_them() -> None:
    assert utc(local("2026-11-30T14:10:24.871Z")) == "2026-11-30T14:10:24.871Z"
    assert [duration(seconds) for seconds in (0.04, 1.2, 12, 125)] == ["40 ms", "1.2 s", "12 s", "2:05"]
    assert [elapsed(seconds) for seconds in (-1, 8, 3725)] == ["0:00", "0:08", "1:02:05"]
    assert [amount(number) for number in (812, 3200, 41_000, 1_900_000)] == ["812", "3.2k", "41k", "1.9M"]
    assert [dollars(cost) for cost in (0, 0.31, 0.0012)] == ["$0.00", "$0.31", "$0.0012"]


def test_the_first_load_is_small() -> None:
    html = gzip.compress(page(every_row()).encode())
    assets = TEMPLATES.assets
    loaded = sum(map(len, (html, assets.styles.packed, assets.script.packed, assets.early.packed)))
    assert loaded <= 80_000
    assert len(TEMPLATES.assets.styles.packed) <= 20_000
    assert len(re.findall(r'(?:src|rel="stylesheet" href)="/static/', page())) == 3
