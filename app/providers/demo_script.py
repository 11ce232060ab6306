"""What the demo model says and does: a pure function of the history, with no chance and no memory of its own.

It acts through the tools it is offered and speaks only of results that stand in the history, so a tour that
was stopped, refused or cut goes on from what really happened.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import assert_never

from app.engine.messages import Message
from app.providers.demo_moves import Move, call
from app.providers.demo_scene import Deed, Scene, read_scene
from app.providers.demo_team import guest_move, send_two, sent, team_move
from app.providers.demo_words import HOW_TO_ADD, NOTE, NOTE_TITLE, SAMPLE, fenced, introduce, plain

NOTE_NAMES = ("plancia-tour.md", "plancia-tour-2.md", "plancia-tour-3.md")

_MOST_CALLS = 12
"""No history keeps the script going for ever."""

_READABLE = re.compile(r"[\w./-]*\w\.(?:md|txt)\b")


def next_move(messages: Sequence[Message], tools: Collection[str]) -> Move:
    """The answer to this history with these tools."""
    if (move := guest_move(messages, tools)) is not None:
        return move
    scene = read_scene(messages)
    offered = tools if len(scene.deeds) < _MOST_CALLS else ()
    match scene.kind:
        case "tour":
            move = _tour(scene, offered)
        case "team":
            move = team_move(scene, offered)
        case "look":
            move = _look(scene, offered)
        case "sample":
            move = Move(SAMPLE)
        case "other":
            move = Move(introduce(scene.request))
        case _:
            assert_never(scene.kind)
    return _joined(move, scene)


def _joined(move: Move, scene: Scene) -> Move:
    """After a stop only what was not said yet; after an interjection a word about it first."""
    if scene.cut_text and move.text.startswith(scene.cut_text) and move.text != scene.cut_text:
        return replace(move, text=move.text.removeprefix(scene.cut_text))
    if scene.added is not None:
        heard = f"You added: “{plain(scene.added)}”. I only follow a script, so I go on with it."
        return replace(move, text=f"{heard}\n\n{move.text}")
    return move


def _tour(scene: Scene, tools: Collection[str]) -> Move:
    if "list_files" in tools and scene.last("list_files") is None:
        return Move(
            "I will look at the workspace, write a short note in it, and read the note back. First a look.",
            call("list_files", path="."),
        )
    for name in NOTE_NAMES:
        move = _note_move(scene, name, tools)
        if move is not None:
            return move
        if not _belongs_to_others(scene, name):
            break
    if "dispatch_to" in tools and not sent(scene):
        return send_two("That was I alone. Now I send two members at once: watch both of them at work.")
    return Move(_tour_summary(scene, tools))


def _note_move(scene: Scene, name: str, tools: Collection[str]) -> Move | None:
    """The next call for the note of that name; None when there is nothing more to do about it."""
    wrote, read = scene.last("write_file", name), scene.last("read_file", name)
    ours = read is not None and _is_ours(scene.deeds[read])
    if wrote is None:
        if read is None and "read_file" in tools and _is_listed(scene, name):
            return _read(name, f"There is a `{name}` already. I read it before I touch it.")
        if "write_file" in tools and not _belongs_to_others(scene, name):
            return _write(
                name,
                "It is a note of an earlier tour, so I write it anew." if ours else f"Now I write `{name}`.",
            )
        return None
    deed = scene.deeds[wrote]
    if "read_file" in tools and (read is None or read < wrote) and deed.result.code != "E_DENIED":
        return _read(name, _why_read(deed, name))
    if (
        deed.result.status == "error"
        and ours
        and "write_file" in tools
        and scene.times("write_file", name) < 2
    ):
        return _write(name, "It is a note of an earlier tour, so I write it anew.")
    return None


def _read(name: str, words: str) -> Move:
    return Move(words, call("read_file", path=name))


def _write(name: str, words: str) -> Move:
    return Move(words, call("write_file", path=name, content=NOTE))


def _why_read(wrote: Deed, name: str) -> str:
    if wrote.ok:
        return "Written. I read it back, to see what really stands there."
    if wrote.result.status == "outcome_unknown":
        return f"Nobody saw how writing `{name}` ended, so I look what stands there."
    return f"Writing was refused:\n\n{fenced(wrote.result.text, 3)}\n\nI look what is there."


def _belongs_to_others(scene: Scene, name: str) -> bool:
    """A file of that name was read, and it is not a note of an earlier tour."""
    read, wrote = scene.last("read_file", name), scene.last("write_file", name)
    if read is None or (wrote is not None and scene.deeds[wrote].ok):
        return False
    return scene.deeds[read].ok and not _is_ours(scene.deeds[read])


def _is_ours(read: Deed) -> bool:
    return read.ok and NOTE_TITLE in read.result.text


def _is_listed(scene: Scene, name: str) -> bool:
    listed = scene.last("list_files")
    return (
        listed is not None
        and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", scene.deeds[listed].result.text) is not None
    )


def _tour_summary(scene: Scene, tools: Collection[str]) -> str:
    if not scene.deeds:
        return (
            "I would look at the workspace, write a short note and read it back, but no file tools are "
            f"offered to me in this conversation. So I did nothing.\n\n{HOW_TO_ADD}"
        )
    told = "\n".join(f"- {_told(deed)}" for deed in scene.deeds)
    return (
        f"This is what happened:\n\n{told}\n\n{_outcome(scene)}\n\nI am a script and not an AI. {HOW_TO_ADD}"
    )


_ERRANDS = {"list_files": "List", "read_file": "Read", "write_file": "Write", "dispatch_to": "Ask"}


def _told(deed: Deed) -> str:
    what = _ERRANDS.get(deed.call.name, f"`{deed.call.name}` on")
    name = f"{what} `{deed.path or deed.call.arguments.get('to') or '.'}`"
    match deed.result.status:
        case "ok":
            lines = len(deed.result.text.strip().splitlines())
            return f"{name}: done, {lines} {'line' if lines == 1 else 'lines'} came back."
        case "error":
            return f"{name}: refused. {_reason(deed)}"
        case "interrupted":
            return f"{name}: cut off before it ran."
        case "outcome_unknown":
            return f"{name}: begun, but nobody saw how it ended."
    assert_never(deed.result.status)


def _reason(deed: Deed) -> str:
    """The tool's own words, its code set as code."""
    code = deed.result.code
    words = deed.result.text.removeprefix(f"{code}:")
    return (f"`{code}`: " if code else "") + plain(words, 160)


def _outcome(scene: Scene) -> str:
    """The end of the matter: the last note that was written, and what reading it showed."""
    for place in reversed(range(len(scene.deeds))):
        deed = scene.deeds[place]
        if (
            deed.call.name == "read_file"
            and deed.path in NOTE_NAMES
            and scene.last("write_file", deed.path) is not None
        ):
            wrote = scene.last("write_file", deed.path)
            if wrote is not None and wrote < place and _is_ours(deed):
                return (
                    f"The note is in `{deed.path}`, and reading it back shows:\n\n{fenced(deed.result.text)}"
                )
    wrote = scene.last("write_file")
    if wrote is not None and scene.deeds[wrote].ok:
        return (
            f"The note was written to `{scene.deeds[wrote].path}`, but I did not see it with my own reading."
        )
    return "No note was written."


def _look(scene: Scene, tools: Collection[str]) -> Move:
    listed = scene.last("list_files")
    if listed is None:
        if "list_files" not in tools:
            return Move("No file tools are offered to me in this conversation, so I looked at nothing.")
        return Move("I look at the workspace first.", call("list_files", path="."))
    listing = scene.deeds[listed]
    if not listing.ok:
        return Move(f"I could not look at the workspace:\n\n{fenced(listing.result.text)}")
    read = scene.last("read_file")
    chosen = _readable(listing.result.text)
    if read is None and chosen and "read_file" in tools:
        return Move(f"I open `{chosen}`.", call("read_file", path=chosen))
    return Move(_look_summary(listing, None if read is None else scene.deeds[read]))


def _readable(listing: str) -> str | None:
    """The first text file named in a listing, a README before others."""
    names = _READABLE.findall(listing)
    return next((name for name in names if "readme" in name.lower()), names[0] if names else None)


def _look_summary(listing: Deed, read: Deed | None) -> str:
    told = f"The workspace holds:\n\n{fenced(listing.result.text)}\n\n"
    if read is None:
        told += "I saw no text file to open."
    elif read.ok:
        told += f"`{read.path}` begins:\n\n{fenced(read.result.text)}"
    else:
        told += f"I could not open `{read.path}`. {_reason(read)}"
    limits = "I am a script and not an AI, so I can show you this but not tell you what it means."
    return f"{told}\n\n{limits} {HOW_TO_ADD}"
