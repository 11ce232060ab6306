"""The page while it streams equals the page that is loaded: W1 of the promises, letter by letter."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import NewContext
from e2e.server import Server
from e2e.talk import Talk
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import Answer, call, insert, say

MARKDOWN = """\
Here is what I found, with a [reference][1] and **strong** words.

# A heading

1. First, with `code` in it
2. Second
   - nested *one*
   - nested two

     a second paragraph of it
3. Third

| Name | Size | Note |
|:-----|-----:|------|
| a.py | 120 | small & `x < y` |
| b.py | 9 000 | <b>not bold</b> |

> Quoted, and
> quoted on.

```python
def greet(name: str) -> str:
    # a comment <script>alert(1)</script>
    return f"Hello {name}"
```

- [ ] a task
- [x] a done one

Words in 日本語, عربي and 👩‍👩‍👧‍👦.

~~~
an unnamed block
  with   blanks
~~~

***

The last paragraph ends with a line break\\
and a hard one.

[1]: https://example.org/reference
"""


def in_pieces(text: str, seed: int) -> list[str]:
    """The text as a model sends it: pieces of one to nine characters."""
    chance, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = chance.randint(1, 9)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def with_pauses(answer: Answer, pieces: int, count: int, seed: int) -> tuple[Answer, list[str]]:
    """The answer with so many pauses at random places, and their names in order."""
    places = sorted(random.Random(seed).sample(range(1, pieces), count))
    names = [f"pause-{number}" for number in range(count)]
    for place, name in reversed(list(zip(places, names, strict=True))):
        answer = insert(answer, place, {"hold": name})
    return answer, names


def follow(talk: Talk, second: Talk, llm: FakeLLM, pauses: list[str]) -> None:
    """At every pause, and at the end, a page that is loaded right then shows what the live one does."""
    for pause in pauses:
        llm.wait_held(pause)
        second.opened()
        talk.expect_same_as(second)
        llm.release(pause)
    talk.expect_state("done")
    expect(talk.button("Send")).to_be_visible()
    second.opened()
    talk.expect_same_as(second)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wherever_markdown_pauses_a_fresh_page_shows_the_same(
    talk: Talk, second: Talk, llm: FakeLLM, seed: int
) -> None:
    pieces = in_pieces(MARKDOWN, seed)
    answer, pauses = with_pauses(say(*pieces), len(pieces), 4, seed)
    llm.script(answer)
    talk.say("Tell me everything.")
    follow(talk, second, llm, pauses)
    expect(talk.answer.get_by_role("table")).to_have_count(1)
    expect(talk.answer.locator("[data-part=text]").locator("script, b")).to_have_count(0)


def test_thinking_and_tools_look_the_same_live_and_loaded(
    talk: Talk, second: Talk, llm: FakeLLM, served: Server
) -> None:
    (served.workspace / "notes.txt").write_text("<b>first</b> line\nsecond line\n")
    calls = [call("read_file", {"path": "notes.txt"}, pieces=3), call("read_file", {"path": "none.txt"})]
    first = say("Let me ", "look.", reasoning=["A file ", "is named ", "notes.txt."], calls=calls)
    for after, pause in ((8, "in-arguments"), (4, "in-text"), (2, "in-thought")):
        first = insert(first, after, {"hold": pause})
    llm.script(first, insert(say("It says *first* ", "and second."), 1, {"hold": "in-answer"}))
    talk.say("What is in my notes?")
    follow(talk, second, llm, ["in-thought", "in-text", "in-arguments", "in-answer"])
    expect(talk.articles("tool_call")).to_have_count(2)
    expect(talk.articles("tool_call").first.locator("[data-part=output]")).to_contain_text(
        "<b>first</b> line"
    )
    expect(talk.articles("tool_call").last).to_have_attribute("data-state", "failed")


def test_a_long_answer_stays_the_same_to_its_end(talk: Talk, second: Talk, llm: FakeLLM) -> None:
    blocks = [f"## Part {number}\n\n" + f"Words of part {number}. " * 20 + "\n\n" for number in range(60)]
    answer, pauses = with_pauses(say(*blocks), len(blocks), 1, 7)
    llm.script(answer)
    talk.say("Write a book.")
    follow(talk, second, llm, pauses)
    expect(talk.answer.get_by_role("heading", name="Part")).to_have_count(60)


def test_the_tour_of_the_demo_looks_the_same_live_and_loaded(
    server: Server, page: Page, new_context: NewContext
) -> None:
    server.start()
    talk = Talk(page, server.new_conversation()).opened()
    talk.say("Show me around")
    expect(talk.articles("dispatch")).to_have_count(2, timeout=30_000)
    expect(talk.button("Send")).to_be_visible(timeout=30_000)
    talk.expect_same_as(Talk(new_context().new_page(), talk.address).opened())
