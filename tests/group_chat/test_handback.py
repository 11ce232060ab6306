"""A member gives the floor back by a marker in its text, and by nothing that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.group_chat.floor import hear
from app.group_chat.handback import MARKER, read_handback, safe_length
from tests.case_tables import load_tsv

ROWS = load_tsv("handback_cases.tsv")


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_marker_counts_as_the_table_says(row: dict[str, str]) -> None:
    by = "tutor" if row["source"] == "holder" else row["source"]
    heard = hear("tutor", by, row["text"])
    assert heard == (row["verdict"] == "back", row["shown"])


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_no_marker_flashes_up_while_the_text_grows(row: dict[str, str]) -> None:
    shown_at_last = read_handback(row["text"]).shown
    for length in range(len(row["text"]) + 1):
        begun = row["text"][:length]
        assert shown_at_last.startswith(begun[: safe_length(begun)].rstrip())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Done.\n<handback/>", "Done."),
        ("Done.\n<HandBack />", "Done."),
        ("Done.\n<handback></handback>", "Done."),
        ("Done.\n  <handback />  \n \n", "Done."),
        ("Done:\n- one\n- two\n<handback />", "Done:\n- one\n- two"),
        ("> quoted\n<handback />", "> quoted"),
        ("<details>\nx\n</details>\n<handback />", "<details>\nx\n</details>"),
        ("a ` b\n<handback />", "a ` b"),
    ],
)
def test_a_marker_may_be_written_a_little_differently(text: str, shown: str) -> None:
    assert read_handback(text) == (True, shown)


@pytest.mark.parametrize(
    "last",
    [
        "<handback>",
        f"<handback{' ' * 80}/>",
        "<handbac\u212a />",  # the sign of a kelvin
        "<handback-note />",
        "<handback\n/>",
        "    <handback />",
        "> <handback />",
        "<handback /> <!-- -->",
        "<handback /><handback />",
        "\\<handback />",
        "`<handback />`",
    ],
)
def test_what_only_looks_like_a_marker_is_text(last: str) -> None:
    text = f"Done.\n{last}"
    assert read_handback(text) == (False, text)


@pytest.mark.parametrize("opened", ["1. Write:\n   ```\n   ", "<pre>\n", "<!--\n", "````\n```\n"])
def test_a_marker_in_code_that_is_still_open_is_text(opened: str) -> None:
    assert not read_handback(f"{opened}{MARKER}").is_handback


@given(st.lists(st.sampled_from(["<hand", "back", " ", "/>", "\n", "Done.", ">", "</", "`", "\r\n", "\t"])))
def test_what_was_shown_of_a_growing_text_stays_right(pieces: list[str]) -> None:
    text = "".join(pieces)
    shown_at_last = read_handback(text).shown
    for length in range(len(text) + 1):
        begun = text[:length]
        assert shown_at_last.startswith(begun[: safe_length(begun)].rstrip())


def test_only_a_line_that_may_become_a_marker_waits() -> None:
    assert safe_length("Done.\n<handb") == len("Done.\n")
    for text in ("Done. <handb", "Done.\n<hands", "Done.\n<b", "Done.", "", f"<{' ' * 80}h"):
        assert safe_length(text) == len(text)
