"""Model text on a page: nothing in it acts or loads, nothing of it is lost, and streaming ends where rendering does."""

from __future__ import annotations

import bleach
import pytest
from bleach.css_sanitizer import CSSSanitizer

from app.web.live_markdown import LiveMarkdown
from app.web.markdown import ATTRIBUTES, CLASSES, SCHEMES, TAGS, clean, render_markdown
from app.web.plain import one_line, plain_output
from tests.case_tables import load_tsv
from tests.web.dom import holds, present, read, shape, text_of

CASES = list(enumerate(load_tsv("xss_cases.tsv"), start=1))
CHUNK = "\u241e"
LONG = 400


def rows(*sinks: str) -> list[pytest.ParameterSet]:
    chosen = [(number, row) for number, row in CASES if row["note"].partition("]")[0][1:] in sinks]
    return [pytest.param(row, id=f"row-{number}") for number, row in chosen]


def tokens(cell: str) -> list[str]:
    return [token for token in cell.split(" ;; ") if token]


def check(row: dict[str, str], html: str) -> None:
    root = read(html)
    assert not [token for token in tokens(row["must_not_contain"]) if present(token, root)]


@pytest.mark.parametrize("row", rows("md", "md-stream"))
def test_a_text_is_harmless_and_keeps_what_it_says(row: dict[str, str]) -> None:
    html = render_markdown(row["input"].replace(CHUNK, ""))
    check(row, html)
    root = read(html)
    assert not [token for token in tokens(row["must_hold"]) if not holds(token, root)]


@pytest.mark.parametrize("row", rows("md", "md-stream"))
def test_every_beginning_of_a_text_is_harmless_while_it_streams(row: dict[str, str]) -> None:
    text = row["input"].replace(CHUNK, "")
    step = 1 if len(text) <= LONG else len(text) // 40
    live = LiveMarkdown()
    for at in range(0, len(text), step):
        for swap in live.feed(text[at : at + step]):
            check(row, swap.html)
        check(row, live.html)
        check(row, render_markdown(text[: at + step]))


@pytest.mark.parametrize("row", rows("md-stream"))
def test_a_text_split_at_its_worst_place_is_harmless(row: dict[str, str]) -> None:
    live = LiveMarkdown()
    for chunk in row["input"].split(CHUNK):
        live.feed(chunk)
        check(row, live.html)
    check(row, live.finish())


@pytest.mark.parametrize("row", rows("md", "md-stream"))
def test_a_second_sanitiser_finds_nothing_to_remove(row: dict[str, str]) -> None:
    html = str(render_markdown(row["input"].replace(CHUNK, "")))
    attributes = {tag: [*names] for tag, names in ATTRIBUTES.items()}
    for tag in CLASSES:
        attributes[tag] = [*attributes.get(tag, []), "class"]
    attributes["a"] += ["rel"]
    second = bleach.clean(
        html,
        tags=TAGS,
        attributes=attributes,
        protocols=SCHEMES,
        css_sanitizer=CSSSanitizer(allowed_css_properties=[]),
    )
    assert shape(read(second)) == shape(read(html))


@pytest.mark.parametrize("row", rows("md", "md-stream"))
def test_cleaning_twice_changes_nothing(row: dict[str, str]) -> None:
    html = render_markdown(row["input"].replace(CHUNK, ""))
    assert clean(html) == html


@pytest.mark.parametrize("row", [row for row in rows("md") if len(row.values[0]["input"]) > LONG])  # type: ignore[index]
def test_a_text_made_to_be_slow_is_still_rendered_at_thirty_times_its_length(row: dict[str, str]) -> None:
    html = render_markdown(row["input"] * 30)
    check(row, html)
    assert read(html)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("quotes", "> " * 3000 + "deep"),
        ("lists", "".join("  " * level + "- x\n" for level in range(300)) + "deep"),
        ("stress", "*a _b " * 2000 + "deep"),
        ("links", "[" * 3000 + "deep" + "](https://e.example)" * 3000),
        ("mixed", "> - " * 800 + "deep"),
    ],
)
def test_deep_nesting_loses_no_text(name: str, text: str) -> None:
    assert "deep" in text_of(read(render_markdown(text)))


def test_control_characters_and_lone_surrogates_do_no_harm() -> None:
    html = render_markdown("a\x1b[31mb\x00c\ud800d\r\ne\rf")
    assert text_of(read(html)) == "a[31mb\ufffdc\ufffdd\ne\nf\n"


LINKS = [
    ("[see](https://e.example/a)", "https://e.example/a"),
    ("[see](HTTP://E.example)", "HTTP://E.example"),
    ("<https://e.example>", "https://e.example"),
    ("<a@b.example>", "mailto:a@b.example"),
    ("[here](#place)", "#place"),
    ("see https://e.example/a_b_c.", "https://e.example/a_b_c"),
    ("(https://e.example/a(b))", "https://e.example/a(b)"),
    ("[path](docs/read.md)", None),
    ("[abs](/settings)", None),
    ("[net](//e.example)", None),
    ("[half](https:e.example)", None),
    ("[ftp](ftp://e.example)", None),
    ("[bidi](https://e.example/\u202egpj.exe)", None),
    ("[long](https://" + "a" * 70 + ".example)", None),
    ("`https://e.example`", None),
]


@pytest.mark.parametrize(("text", "href"), LINKS)
def test_only_addresses_a_reader_may_follow_become_links(text: str, href: str | None) -> None:
    links = [each.get("href") for each in read(render_markdown(text)).iter("a")]
    assert links == ([href] if href else [])


def test_a_link_opens_apart_and_tells_nothing() -> None:
    (link,) = read(render_markdown("[x](https://e.example)")).iter("a")
    assert link.attrib == {
        "href": "https://e.example",
        "target": "_blank",
        "rel": "noopener noreferrer nofollow",
    }


HOSTS = [
    ("[https://bank.example](https://e.example)", "(e.example)"),
    ("[bank.example](https://e.example/bank.example)", "(e.example)"),
    ("[click](https://ok.example@e.example/)", "(e.example)"),
    ("[gооgle.example](https://gооgle.example)", "(xn--ggle-55da.example)"),
    ("[e.example](https://e.example/x)", None),
    ("[click](https://e.example)", None),
    ("[version 1.2](https://e.example)", None),
]


@pytest.mark.parametrize(("text", "shown"), HOSTS)
def test_a_link_that_could_mislead_shows_its_real_host(text: str, shown: str | None) -> None:
    spans = [
        text_of(each) for each in read(render_markdown(text)).iter("span") if each.get("class") == "host"
    ]
    assert spans == ([shown] if shown else [])


def test_a_picture_is_its_description_and_its_host() -> None:
    root = read(render_markdown("![a chart](https://e.example/p.png?d=secret)"))
    assert text_of(root).strip() == "a chart (e.example)"
    assert [each.get("href") for each in root.iter("a")] == ["https://e.example/p.png?d=secret"]


def test_code_is_coloured_and_named_by_its_first_word() -> None:
    root = read(render_markdown("```Python title=x\ndef f():\n    return 'a'  # b\n```"))
    (block,) = [each for each in root.iter("div") if each.get("class") == "code"]
    assert block.get("data-lang") == "python"
    assert {each.get("class") for each in block.iter("span")} == {"tk-k", "tk-f", "tk-s", "tk-c"}
    assert text_of(block) == "def f():\n    return 'a'  # b\n"


@pytest.mark.parametrize("info", ["", 'js"onload=alert(1)', "a" * 33, "no-such-language", "<b>"])
def test_code_of_a_strange_language_is_plain(info: str) -> None:
    root = read(render_markdown(f"```{info}\nx = '<b>'\n```"))
    assert not list(root.iter("span"))
    assert text_of(root).strip() == "x = '<b>'"


def test_ordinary_markdown_looks_as_meant() -> None:
    html = render_markdown(
        "# T\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n3. c\n\n~~no~~  \nline"
    )
    root = read(html)
    assert [text_of(each).strip() for each in root.iter("li")] == ["☑ done", "☐ open", "c"]
    assert [each.get("class") for each in root.iter("td")] == [None, "end"]
    assert [each.get("start") for each in root.iter("ol")] == ["3"]
    assert [each.tag for each in root.iter() if each.tag in ("s", "br")] == ["s", "br"]


OUTPUTS = [
    ("\x1b[31mred\x1b[0m and \x1b]0;title\x07plain", "red and plain"),
    ("10 %\r50 %\r100 %\nnext\r\n", "100 %\nnext\n"),
    ("bell\x07 back\x08", "bell back"),
    ("\x1b]8;;https://e.example\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("[31m is not a colour", "[31m is not a colour"),
]


@pytest.mark.parametrize(("output", "shown"), OUTPUTS)
def test_an_output_is_shown_as_a_terminal_would_have_left_it(output: str, shown: str) -> None:
    assert plain_output(output) == shown


def test_a_name_is_one_line_and_turns_nothing_round() -> None:
    assert one_line(" a\nb\u2028c\t\u202ed\x1b ") == "a b c \ufffdd"
