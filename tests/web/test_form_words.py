"""A form as its template gets it: what stands in it, what was wrong, what was answered, and nothing that acts."""

from __future__ import annotations

from typing import Any

import pytest

from app.group_chat.forms import Form
from app.web.entries import FormView
from app.web.form_words import refused_view, typed_in
from app.web.rendering import Markup
from app.web.views import message_view
from tests.web.dom import read
from tests.web.samples import TEMPLATES, TIME, every_form, row


def view_of(**data: Any) -> FormView:
    form = every_form().stored()
    view = message_view(row("form", "done" if "answer" in data else "streaming", **{**form, **data}))
    assert isinstance(view, FormView)
    return view


def drawn(view: FormView) -> Markup:
    return TEMPLATES.render_message(view)


def test_a_form_without_a_title_is_called_after_who_asks() -> None:
    assert view_of(title="").title == "Questions of Commander"
    assert view_of(title="Ahoy").title == "Ahoy"


def test_its_fields_are_called_as_no_part_of_a_page_is() -> None:
    """Or a field ``id`` or ``submit`` would be taken for that of the form, and two ids could meet."""
    view = view_of()
    assert all(field.name.startswith("answer.") for field in view.fields)
    (article,) = read(drawn(view))
    ids = [element.get("id") for element in article.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_every_field_has_a_name_and_its_help_and_error_describe_it() -> None:
    form = every_form()
    refused = refused_view(view_of(), form, {}, {field.id: "No." for field in form.fields})
    (article,) = read(drawn(refused))
    ids = {element.get("id") for element in article.iter()}
    labels = {label.get("for") for label in article.iter("label")}
    for element in article.iter():
        assert set((element.get("aria-describedby") or "").split()) <= ids
        if element.tag in ("select", "textarea"):
            assert element.get("id") in labels


def test_what_was_typed_stays_and_the_first_mistake_is_gone_to() -> None:
    form = every_form()
    typed = {"text": ["mine"], "multiselect": ["x"], "boolean": ["yes"]}
    refused = refused_view(view_of(), form, typed, {"number_2": "Type a number.", "file_2": "Name a file."})
    by_name = {field.name: field for field in refused.fields}
    assert by_name["answer.text"].value == "mine"
    assert by_name["answer.text_2"].value == "", "a default that was emptied stays empty"
    assert [chosen for _, _, chosen in by_name["answer.multiselect"].options] == [True, False, False]
    assert by_name["answer.boolean"].value == "yes"
    assert refused.first_wrong == by_name["answer.number_2"]
    assert drawn(refused).count(" autofocus") == 1
    assert refused.wrong.count("What <b>") == 2


def test_a_browser_and_a_program_may_name_the_answers_each_in_its_way() -> None:
    assert typed_in({"answer.size": ["7"], "colour": ["red"]}) == {"size": ["7"], "colour": ["red"]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [("a", "a"), (7, "7"), (True, "Yes"), (False, "No"), (["a", "b"], "a, b"), (None, "left empty")],
)
def test_an_answer_is_shown_in_words(answer: object, said: str) -> None:
    stored = Form.of(every_form().stored())
    first = stored.fields[0]
    view = view_of(answer="sent", answers={first.id: answer}, answered_at=TIME)
    assert view.answers[0] == (first.label, said)
    assert (view.answer, view.ended, view.waits) == ("sent", "You answered", False)


def test_nothing_of_a_member_or_of_the_user_acts_in_the_page() -> None:
    hostile = "<img src=x onerror=alert(1)>\u202e"
    sent = view_of(answer="sent", answers={"text": hostile, "multiselect": [hostile]}, answered_at=TIME)
    asked = view_of(title=hostile)
    for view in (sent, asked):
        html = drawn(view)
        assert "<img" not in html
        assert "<b>text" not in html
    assert "\u202e" not in drawn(asked)
