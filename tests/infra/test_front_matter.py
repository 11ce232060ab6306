"""The head of a Markdown file: read as YAML reads it where that is valid, read all the same where it is not."""

from __future__ import annotations

import pytest
import yaml  # type: ignore[import-untyped]  # the oracle of this file
from hypothesis import given
from hypothesis import strategies as st

from app.infra.front_matter import FrontMatter, FrontMatterError, Value, written

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), max_size=40)
NAMES = st.from_regex(r"[a-z_]{1,10}", fullmatch=True)
WORDS = st.from_regex(r"[a-z][a-z ]{0,30}[a-z]", fullmatch=True)


def head(value: str) -> FrontMatter:
    return FrontMatter.parse(f"---\nkey: {value}\n---\n")


def read(value: str) -> Value | None:
    return head(value).find("key")


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("plain", "plain"),
        ("plain # with a remark", "plain"),
        ("C# is no remark", "C# is no remark"),
        ("'it''s quoted' # so", "it's quoted"),
        (r'"a \"b\"\n\u00e9\x41 \\"', 'a "b"\né' + "A \\"),
        ("", ""),
        ("# nothing", ""),
        ("one\n  two\n\n  three", "one two three"),
        ("|\n  one\n    two\n\n  three", "one\n  two\n\nthree\n"),
        ("|-\n  one", "one"),
        (">\n  one\n  two\n\n  three", "one two\nthree\n"),
        (">-\n  one\n  two", "one two"),
        ("[]", ()),
        ('[a, \'b, c\', "d\\", e", ]', ("a", "b, c", 'd", e')),
        ("[it's, o'clock] # so", ("it's", "o'clock")),
        ("[\n  a,\n  b\n]", ("a", "b")),
        ("\n  - a\n  - 'b: c'\n  # so\n  - d # e", ("a", "b: c", "d")),
        ("\n- a\n- b", ("a", "b")),
        ("\n  write: false\n  '*': true", {"write": "false", "*": "true"}),
        ("{write: false, bash: true}", {"write": "false", "bash": "true"}),
        ("Read, Grep", "Read, Grep"),
    ],
)
def test_a_value_is_read_in_all_its_spellings(spelled: str, value: Value) -> None:
    assert read(spelled) == value


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("Use it when: the user says so", "Use it when: the user says so"),
        ("'unfinished", "'unfinished"),
        ('"a" and "b"', '"a" and "b"'),
        ("*alias", "*alias"),
        ("&anchor text", "&anchor text"),
        ("!!python/object/apply:os.system [ls]", "!!python/object/apply:os.system [ls]"),
        ("[open", "[open"),
        ("@user asks", "@user asks"),
        ("yes", "yes"),
        ("007", "007"),
    ],
)
def test_what_is_no_yaml_or_more_than_a_text_is_a_text(spelled: str, value: str) -> None:
    assert read(spelled) == value


@pytest.mark.parametrize(
    "text", ["", "No head.\n", "--- x\na: b\n---\n", "----\n---\n", "\n---\na: b\n---\n"]
)
def test_a_text_without_a_head_is_all_body(text: str) -> None:
    assert FrontMatter.parse(text) == FrontMatter("", (), "", text)


def test_a_head_that_does_not_end_is_an_error() -> None:
    with pytest.raises(FrontMatterError, match="no second line of ---"):
        FrontMatter.parse("---\nname: a\n")


def test_of_a_key_that_stands_there_twice_the_last_one_counts() -> None:
    assert FrontMatter.parse("---\na: 1\na: 2\n---\n").find("a") == "2"
    assert FrontMatter.parse("---\nab: 1\n---\n").find("a") is None


FOREIGN = (
    "\ufeff---\r\n# mine\r\n\r\nname:   old # why\r\nhooks:\r\n  PreToolUse:\r\n"
    "    - matcher: Bash\r\n\r\n# about the next\r\nx-more: {a: [1]}\r\n---\r\n"
    "\r\nBody: here.\r\n---\r\nNot the head.\x0c"
)


def test_a_change_leaves_everything_else_to_the_byte() -> None:
    matter = FrontMatter.parse(FOREIGN)
    assert matter.text == FOREIGN
    assert matter.keys == ("name", "hooks", "x-more")
    changed = matter.with_value("name", "new").with_value("color", "blue")
    expected = FOREIGN.replace("name:   old # why", "name: new").replace("]}\r\n", "]}\r\ncolor: blue\r\n")
    assert changed.text == expected
    assert changed.without("color").with_value("name", "old").text == FOREIGN.replace("   old # why", " old")


def test_a_head_is_made_where_there_was_none() -> None:
    assert FrontMatter.parse("Body.\r\n").with_value("name", "a").text == "---\r\nname: a\r\n---\r\nBody.\r\n"
    assert FrontMatter(body="Body.\n").with_value("name", "a").text == "---\nname: a\n---\nBody.\n"


@given(st.text(max_size=200), st.sampled_from(["", "---\n", "\ufeff---\r\n"]), st.sampled_from(["", "---\n"]))
def test_any_text_is_put_together_again_as_it_was(text: str, opening: str, closing: str) -> None:
    whole = f"{opening}{text}\n{closing}"
    try:
        matter = FrontMatter.parse(whole)
    except FrontMatterError:
        return
    assert matter.text == whole
    assert [matter.find(key) is not None for key in matter.keys] == [True] * len(matter.keys)


@given(TEXTS)
def test_a_text_that_was_written_is_read_by_us_and_by_yaml_as_it_was(text: str) -> None:
    assert read(written(text)) == text
    assert yaml.safe_load(f"key: {written(text)}")["key"] == text


@pytest.mark.parametrize("value", [True, False])
def test_a_yes_or_no_is_one_for_yaml_too(value: bool) -> None:
    assert yaml.safe_load(FrontMatter(body="").with_value("key", value).text.strip("-\n"))["key"] is value


@given(st.lists(TEXTS.filter(bool), max_size=5))
def test_a_list_that_was_written_is_read_by_us_and_by_yaml_as_it_was(texts: list[str]) -> None:
    assert read(written(texts)) == tuple(texts)
    assert yaml.safe_load(f"key: {written(texts)}")["key"] == texts


@given(
    st.dictionaries(NAMES, WORDS | st.lists(WORDS, min_size=1, max_size=4), min_size=1),
    st.sampled_from([None, '"', "'", "|", ">"]),
    st.integers(20, 200),
)
def test_what_yaml_writes_is_read_as_yaml_reads_it(
    values: dict[str, str | list[str]], style: str | None, width: int
) -> None:
    plain = {key: value for key, value in values.items() if style is None or isinstance(value, str)}
    lines = (yaml.safe_dump(value, default_style=style, width=width) for value in plain.values())
    text = "".join(
        f"{key}:\n{line}" if line.startswith("-") else f"{key}: {line.removesuffix('...' + chr(10))}"
        for key, line in zip(plain, lines, strict=True)
    )
    matter = FrontMatter.parse(f"---\n{text}---\n")
    assert {key: matter.find(key) for key in plain} == {
        key: value if isinstance(value, str) else tuple(value) for key, value in plain.items()
    }


@pytest.mark.parametrize("piece", ['"\\",', "'", "[", "{a: ", "- ", "\n", " ", "a,", "#", "\\"])
def test_a_head_that_was_made_to_be_slow_is_read(piece: str) -> None:
    for beginning in ("", "[", "{", '"', "|\n ", ">\n ", "\n  - ", "\n  a: "):
        assert read(f"{beginning}{piece * 50_000}") is not None
