"""What doctor looks at inside a sound database: turns, transcripts, keys, models."""

from __future__ import annotations

from collections.abc import Iterator

from app.commands.checks import Finding
from app.engine.errors import ProviderError, SessionError
from app.engine.transcript_file import read_transcript
from app.infra.errors import SecretsError
from app.providers.rotation import Refused
from app.workbench import Cabinet
from app.workspace.conversations import list_recent
from app.workspace.model_sources import list_sources
from app.workspace.rows import SessionRow
from app.workspace.sessions import list_sessions
from app.workspace.turns import live_turns


def check_turns(cabinet: Cabinet, is_running: bool) -> Iterator[Finding]:
    live = live_turns(cabinet.store)
    if is_running:
        yield Finding("turns", "ok", f"Turns that run now: {len(live)}.")
    elif live:
        text = f"Turns that were cut off: {len(live)}. The next start closes them and offers to continue."
        yield Finding("turns", "note", text)
    else:
        yield Finding("turns", "ok", "No turn is stuck.")


async def check_transcripts(cabinet: Cabinet) -> list[Finding]:
    """Every transcript is read, line by line."""
    findings = []
    count = 0
    for conversation in (*list_recent(cabinet.store), *list_recent(cabinet.store, archived=True)):
        for session in list_sessions(cabinet.store, conversation.id):
            count += 1
            if trouble := await _trouble(cabinet, session):
                text = f'The conversation "{conversation.title}" ({conversation.id}): {trouble}'
                findings.append(Finding("transcripts", "problem", text))
    return [Finding("transcripts", "ok", f"Transcripts that were read: {count}."), *findings]


def check_keys(cabinet: Cabinet) -> Iterator[Finding]:
    """Whether every key that a source names can be had."""
    try:
        if cabinet.secrets.names():
            yield Finding("keys", "ok", cabinet.secrets.where)
        for source in list_sources(cabinet.store):
            for name in source.keys:
                if cabinet.secrets.get(name) is None and not cabinet.environment.get(name):
                    text = (
                        f"A key of {source.name} is gone. Enter it again on the page under Settings, Models, or "
                        "remove the source and add it again: `plancia help provider add`."
                    )
                    yield Finding("keys", "problem", text)
    except SecretsError as error:
        yield Finding("keys", "problem", str(error))


def check_models(cabinet: Cabinet) -> Iterator[Finding]:
    """Which model answers by default; its server is not asked."""
    try:
        model = cabinet.sources.resolve(None)
    except (ProviderError, SecretsError) as error:
        yield Finding("models", "problem", str(error))
        return
    if isinstance(model.provider, Refused):
        yield Finding("models", "problem", f"{model.label} cannot be asked: {model.provider.error}")
    elif model.provider.id == "demo":
        text = "The demo model answers (scripted, not an AI). Add a real one: `plancia help provider add`."
        yield Finding("models", "note", text)
    else:
        yield Finding("models", "ok", f"{model.label} is asked, unless a conversation chose another one.")


async def _trouble(cabinet: Cabinet, session: SessionRow) -> str:
    path = cabinet.folder.root / session.path
    if session.size and not path.exists():
        return f"its transcript {session.path} is missing, so the model remembers nothing of it. Put the file back."
    try:
        transcript = await read_transcript(path)
    except SessionError as error:
        return str(error)
    if transcript.marks:
        lines = ", ".join(str(mark.line) for mark in transcript.marks[:5])
        return f"{session.path} has lines that cannot be read ({lines}); the rest is used, the lines stay in the file."
    return ""
