"""The page while it streams equals the page that is loaded: W1 of the promises, letter by letter."""

from __future__ import annotations

import random

import pytest

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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wherever_a_stream_pauses_a_fresh_page_shows_the_same(
    talk: Talk, second: Talk, llm: FakeLLM, seed: int
) -> None:
    pieces = in_pieces(MARKDOWN, seed)
    answer, pauses = with_pauses(say(*pieces), len(pieces), 6, seed)
    llm.script(answer)
    talk.say("Tell me everything.")
    for pause in pauses:
        llm.wait_held(pause)
        second.opened()
        talk.expect_same_as(second)
        llm.release(pause)
    talk.expect_state("done")
    second.opened()
    talk.expect_same_as(second)
