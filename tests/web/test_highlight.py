"""Colours of code: four classes, the text itself untouched."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.highlight import highlight, language_of

INFOS = [
    ("python", "python"),
    ("Python title=x", "python"),
    ("  c++ ", "c++"),
    ("objective-c", "objective-c"),
    ("", ""),
    ("   ", ""),
    ("c#", ""),
    ("a" * 33, ""),
    ('js"onload=alert(1)', ""),
    ("<b>", ""),
    ("pythön", ""),
]


@pytest.mark.parametrize(("info", "language"), INFOS)
def test_the_first_word_of_a_fence_names_the_language(info: str, language: str) -> None:
    assert language_of(info) == language


CODE = [
    ("python", "def f(): return 'x'  # note", {"tk-k": "def", "tk-f": "f", "tk-s": "'x'", "tk-c": "# note"}),
    ("html", "<p class='a'>x</p>", {"tk-k": "p", "tk-f": "class"}),
    ("diff", "+added\n-gone\n", {"tk-s": "+added", "tk-c": "-gone"}),
]


@pytest.mark.parametrize(("language", "code", "classes"), CODE)
def test_code_has_the_colours_of_its_language(language: str, code: str, classes: dict[str, str]) -> None:
    html = highlight(code, language)
    for name, text in classes.items():
        assert f'<span class="{name}">{text}' in html


@given(st.text(), st.sampled_from(["python", "html", "bash", "json", "no-such-language", ""]))
def test_no_character_is_lost_or_left_as_markup(code: str, language: str) -> None:
    code = code.replace("\r", "\n")
    html = highlight(code, language)
    assert unescape(re.sub(r'</?span(?: class="tk-[kscf]")?>', "", html)) == code
