"""Every sentence of the demo model, and the prompts that an empty page suggests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LABEL = "Demo model: scripted, not an AI"
"""Stands wherever the name of this model stands."""

SceneKind = Literal["tour", "team", "look", "sample", "other"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A first thing to try; good for any model, and a scene of the demo."""

    kind: SceneKind
    title: str
    prompt: str


SUGGESTIONS: tuple[Suggestion, ...] = (
    Suggestion(
        "tour",
        "Show me around",
        "Show me around: write a short note in the workspace, read it back, and tell me what you did.",
    ),
    Suggestion(
        "team",
        "Watch a team at work",
        "Show me a team at work: two members at once, a command that asks first, a question to me, and a member who "
        "takes over.",
    ),
    Suggestion(
        "look",
        "Explain what is in this folder",
        "Look at the files in this workspace, open one of them, and tell me what you found.",
    ),
    Suggestion(
        "sample",
        "Write a longer answer",
        "Write a longer answer with a list, a table and some code, so that I can try Stop and Continue.",
    ),
)

NOTE_TITLE = "# A note from the Plancia tour"

NOTE = f"""{NOTE_TITLE}

The demo model wrote this file to show that agents really act on this machine.

- It lies in the workspace, the folder that this conversation works in.
- Every file that an agent reads or writes is shown in the conversation.
- You can stop an agent at any moment, edit this note, or delete it.
"""

SAMPLE = """This answer comes from a script, word by word, as a model's answer would. Press **Stop** while \
it runs: what has arrived stays, and **Continue** goes on where it ended.

## A list

1. You write a message and press Enter.
2. The agent answers, and uses tools where the work needs them.
3. Each tool it uses is shown with what went in and what came out.
   - Reading is quiet.
   - Writing shows what changed.

## A table

| Key | What it does |
|---|---|
| Enter | sends; while an answer runs it steers that answer |
| Ctrl or Cmd + Enter | queues the message for afterwards |
| Shift + Enter | breaks the line |
| Esc | offers to stop |

## Some code

```python
def fathoms(metres: float) -> float:
    \"\"\"Depth as sailors once counted it.\"\"\"
    return metres / 1.8288


for depth in (5, 20, 100):
    print(f"{depth:>4} m = {fathoms(depth):6.1f} fathoms")
```

> A quotation, for measure: the log is written while the ship sails, not when it is back in port.

That is all. Reload the page if you like: it will look the same.
"""

HOW_TO_ADD = """To get real answers, add a model:

- on the page: Settings, Models. A model on this computer (Ollama, LM Studio, llama.cpp) needs no key;
- in a terminal: `plancia provider add NAME --kind openai --base-url URL --model MODEL`;
- or set a key such as `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` before you start Plancia."""


def introduce(request: str) -> str:
    """The answer to anything that is no scene."""
    heard = f"You wrote: “{plain(request)}”. " if request.strip() else ""
    return (
        f"{heard}I cannot think about that: I am the demo model, a script on this computer and not an AI. "
        f"What I can do is show you around: write **tour**.\n\n{HOW_TO_ADD}"
    )


def plain(text: str, limit: int = 120) -> str:
    """One line of ``text`` without marks that a page would format, cut at a word."""
    words = " ".join(re.sub(r"[`*_<>\[\]#|\\~]", " ", text).split())
    if len(words) <= limit:
        return words
    return words[:limit].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


def fenced(text: str, lines: int = 8, width: int = 120) -> str:
    """The first lines of a tool's result as a code block that its own backticks cannot close."""
    shown = [line[:width] for line in text.strip().splitlines()]
    left = len(shown) - lines
    body = "\n".join(shown[:lines]) + (f"\n… {left} more lines" if left > 0 else "")
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{fence}text\n{body}\n{fence}"
