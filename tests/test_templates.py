"""Templates, scripts and styles by convention: one per kind, nothing inline, nothing unused, nothing altered."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import get_args

import pytest
from jinja2 import Environment

from app.engine.events import Event
from app.group_chat.events import RoomChange
from app.infra.paths import asset_root
from app.web.assets import EARLY, SCRIPTS, STYLES
from app.web.tool_words import words_for
from app.web.views import DRAWN_KINDS, message_views
from tests.web.samples import TEMPLATES, WRITING, every_row, values

ROOT, STATIC = asset_root("templates"), asset_root("static")
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.html"))
TOOLS = (
    "read_file",
    "stat_file",
    "list_files",
    "search_files",
    "grep_files",
    "write_file",
    "edit_file",
    "delete_file",
    "generate_image",
    "web_fetch",
    "web_search",
    "read_result",
    "search_result",
    "bash",
    "job_read",
    "job_write",
    "job_stop",
)

DRAWN_BY_ITS_ROW = {
    "approval", "compaction", "done", "fallback", "form", "loop_warning", "omission", "retry", "steer",
    "tool_delta", "tool_end", "tool_start",
}  # fmt: skip
"""Events that say nothing beyond the message that changes with them."""

DRAWN_WHOLE = {"log_reordered"}
"""Events after which all of the page is drawn."""

OF_THE_PAGE = {"announced", "desk_changed", "jobs", "snapshot"}
"""Templates of the stream for what is no event of a room."""


def source(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_kind_of_message_that_is_drawn_has_one_template_of_its_name() -> None:
    assert {Path(name).stem for name in FILES if name.startswith("messages/")} == set(DRAWN_KINDS)


def test_every_event_has_a_template_of_its_name_or_is_drawn_by_its_row() -> None:
    events = {each.type for each in (*get_args(Event), *get_args(RoomChange))}
    drawn = {Path(name).stem for name in FILES if name.startswith("stream/")}
    assert drawn - OF_THE_PAGE == events - DRAWN_BY_ITS_ROW - DRAWN_WHOLE
    assert events >= DRAWN_BY_ITS_ROW


STREAMED = {
    "text_delta": {"id": "msg_1", "swaps": ()},
    "reasoning_delta": {"id": "msg_1", "text": "<b>"},
    "announced": {"sentence": "<b>"},
    "tool_progress": {"id": "msg_1", "lines": "<b>\n", "open": "<b>"},
}


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("stream/")])
def test_a_template_of_the_stream_is_nothing_but_partials_and_a_title(name: str) -> None:
    (message,) = message_views(every_row()[:1])
    given = STREAMED.get(Path(name).stem) or values((message,), WRITING, message=message)
    html = TEMPLATES.render(name, **given)
    rest = re.sub(r"<hx-partial [^>]*>.*?</hx-partial>", "", html, flags=re.DOTALL)
    assert re.sub(r"<title>.*?</title>", "", rest).strip() == ""
    targets = re.findall(r'<hx-partial hx-target="#([\w-]+)', html)
    page = TEMPLATES.render("conversation/page.html", **values((message,), WRITING))
    assert all(f'id="{target}"' in page for target in targets if not target.startswith("msg_"))


@pytest.mark.parametrize("name", FILES)
def test_a_template_says_what_it_draws_and_stays_small(name: str) -> None:
    text = source(name)
    assert text.startswith("{#") or "macro" in text.split("\n")[0] or name == "parts/brand.html"
    assert len(text.splitlines()) <= 100


@pytest.mark.parametrize("name", FILES)
def test_a_template_runs_and_loads_nothing_of_its_own(name: str) -> None:
    text = source(name)
    Environment(autoescape=True).parse(text)
    for pattern in (
        r"\shx-on",
        r"\son\w+=",
        r"\sstyle=",
        r"javascript:",
        r'"js:',
        r"\|\s*safe",
        r"hx-trigger=\"[^\"]*\[",
    ):
        assert not re.search(pattern, text), pattern
    assert name == "errors/refused.html" or "<style" not in text
    assert name == "base.html" or "<script" not in text


def test_every_icon_in_use_is_in_the_sprite_and_no_other() -> None:
    drawn = set(re.findall(r'<symbol id="i-([a-z]+)"', source("parts/sprite.html")))
    asked = {name for file in FILES for name in re.findall(r'icon\("([a-z]+)"', source(file))}
    asked |= set(
        re.findall(r'act\(\w+, "\w+", "[\w ]+", "([a-z]+)"\)', "".join(source(file) for file in FILES))
    )
    asked |= {words_for(name).icon for name in (*TOOLS, "another")}
    assert drawn == asked


def test_what_others_wrote_is_unchanged() -> None:
    lines = (STATIC / "vendor" / "SHA256SUMS").read_text(encoding="utf-8").split("\n")
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}
    assert {"htmx.js", "hx-sse.js"} < set(known)
    for name, digest in known.items():
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest


def test_every_style_and_script_is_in_its_bundle_once() -> None:
    assert sorted(STYLES) == sorted(path.stem for path in (STATIC / "css").glob("*.css"))
    ours = [name for name in (*SCRIPTS, *EARLY) if name.startswith("js/")]
    assert sorted(ours) == sorted(f"js/{path.name}" for path in (STATIC / "js").glob("*.js"))


@pytest.mark.parametrize("path", sorted((STATIC / "js").glob("*.js")), ids=lambda path: path.name)
def test_a_script_is_small_keeps_to_itself_and_evaluates_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert text.startswith("// ")
    assert "(() => {" in text
    assert text.rstrip().endswith("})();")
    assert not re.search(r"\beval\(|new Function|document\.write|\.outerHTML|insertAdjacentHTML", text)


@pytest.mark.parametrize("path", sorted((STATIC / "css").glob("*.css")), ids=lambda path: path.name)
def test_a_stylesheet_is_small_and_loads_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "@import" not in text
    assert "url(" not in text
    assert path.name == "tokens.css" or not re.search(
        r"#[0-9a-fA-F]{3,8}\b", text.replace("#floor", "").replace("#queue", "")
    )
