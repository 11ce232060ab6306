"""The demo model as a team: Commander who sends, asks and hands over, and the members who answer by the same script."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from app.engine.messages import Message
from app.providers.demo_moves import Move, call
from app.providers.demo_scene import Deed, Scene, read_scene
from app.providers.demo_words import HOW_TO_ADD, plain

LOOKS = "List the files of the workspace, and say how many there are."
WRITES = "Write one line of greeting into `plancia-team.md`, and say what you wrote."
TEACHES = "Ask the user one question, and give the floor back after their answer."
COMMAND = "python3 -c 'print(6 * 7)'"
"""Code in a command cannot be looked into, so it asks."""

_FILE = "plancia-team.md"
_LINE = "Two members worked at the same time. One of them wrote this.\n"


def team_move(scene: Scene, tools: Collection[str]) -> Move:
    """The next step of Commander: each kind of work with others once, as far as it is on offer."""
    if "dispatch_to" in tools and not sent(scene):
        return send_two("I send two members at once: watch both of them at work.")
    if "bash" in tools and scene.last("bash") is None:
        words = "Both are back. Now a command that nobody can look into, so you are asked before it runs."
        return Move(words, call("bash", command=COMMAND))
    if "ask_user" in tools and scene.last("ask_user") is None:
        return Move(
            "And now I ask you something, with a form.", call("ask_user", title="A question", fields=_FIELDS)
        )
    if "hand_off_to" in tools and scene.last("hand_off_to") is None:
        words = f"{_summary(scene)}\n\nLast, Tutor takes over: what you write next goes there."
        return Move(words, call("hand_off_to", to="tutor", message=TEACHES))
    return Move(f"{_summary(scene)}\n\nI am a script and not an AI. {HOW_TO_ADD}")


def send_two(words: str) -> Move:
    """Two members in one step."""
    jobs = (("researcher", LOOKS), ("writer", WRITES))
    return Move(words, tuple(("dispatch_to", {"to": to, "message": job}) for to, job in jobs))


def sent(scene: Scene) -> bool:
    return scene.last("dispatch_to") is not None


def guest_move(messages: Sequence[Message], tools: Collection[str]) -> Move | None:
    """The answer of a member that Commander has sent or handed over to; None for whoever is Commander."""
    if "run_worker" in tools:
        return None
    said = [message.text for message in messages if message.role == "user" and message.text.strip()]
    if not said:
        return None
    if "hand_back" in tools:
        return _teach(said)
    scene = read_scene(messages)
    if scene.request.rstrip().endswith(LOOKS):
        return _look(scene, tools)
    return _write(scene, tools) if scene.request.rstrip().endswith(WRITES) else None


def _teach(said: Sequence[str]) -> Move:
    if said[-1].rstrip().endswith(TEACHES):
        return Move(
            "I am Tutor now, played by the same script. You need no name any more: what you write comes to me. One "
            "question: which sea does your work remind you of?"
        )
    return Move(
        f"“{plain(said[-1])}”, noted. That was all, so I give the floor back to Commander.",
        call("hand_back", reason="The question was answered.", summary="A script asked one question."),
    )


def _look(scene: Scene, tools: Collection[str]) -> Move:
    place = scene.last("list_files")
    if place is None and "list_files" in tools:
        return Move("I look.", call("list_files", path="."))
    if place is None:
        return Move("No file tools are offered to me, so I saw nothing.")
    lines = [
        line for line in scene.deeds[place].result.text.splitlines() if line and not line.startswith("[")
    ]
    return Move(f"I see {len(lines)} {'entry' if len(lines) == 1 else 'entries'} in the workspace.")


def _write(scene: Scene, tools: Collection[str]) -> Move:
    wrote, read = scene.last("write_file"), scene.last("read_file")
    if wrote is None and "write_file" in tools:
        return Move("I write it.", call("write_file", path=_FILE, content=_LINE))
    if wrote is None:
        return Move("No file tools are offered to me, so I wrote nothing.")
    deed = scene.deeds[wrote]
    if deed.result.code == "E_NOT_READ" and read is None and "read_file" in tools:
        return Move("It is there already, so I read it first.", call("read_file", path=_FILE))
    if deed.result.code == "E_NOT_READ" and read is not None and scene.times("write_file", _FILE) < 2:
        return Move("Now I write it.", call("write_file", path=_FILE, content=_LINE))
    if deed.ok:
        return Move(f"It stands in `{_FILE}`.")
    return Move(f"It was not written: {plain(deed.result.text, 160)}")


def _summary(scene: Scene) -> str:
    told = "\n".join(f"- {_told(deed)}" for deed in scene.deeds)
    return (
        f"This is what happened:\n\n{told}" if told else "Nothing of that is on offer in this conversation."
    )


def _told(deed: Deed) -> str:
    names = {"bash": "The command", "ask_user": "Your answer"}
    name = names.get(deed.call.name) or str(deed.call.arguments.get("to") or deed.call.name).capitalize()
    match deed.result.status:
        case "ok":
            return f"{name}: {_answer(deed) or _words(deed)}"
        case "error":
            return f"{name}: not done. {plain(deed.result.text.partition(':')[2], 160)}"
        case _:
            return f"{name}: cut off, and nobody saw how it ended."


def _words(deed: Deed) -> str:
    """What came back, without the line in brackets that is about it."""
    lines = [line for line in deed.result.text.splitlines() if line and not line.startswith("[")]
    return plain(" ".join(lines), 160)


def _answer(deed: Deed) -> str:
    """What was filled in, where it was a form."""
    try:
        answers = json.loads(deed.result.text.partition("\n")[2]) if deed.call.name == "ask_user" else {}
    except ValueError:
        return ""
    if not isinstance(answers, dict):
        return ""
    given = (f"{name}: {plain(str(value), 60)}" for name, value in answers.items() if value not in (None, ""))
    return ", ".join(given)


_FIELDS = [
    {
        "id": "pace",
        "type": "select",
        "label": "How fast should a tour go?",
        "options": ["slow", "as it is", "fast"],
        "default": "as it is",
    },
    {"id": "note", "type": "text", "label": "A word for the log", "required": False},
]
