"""When a command asks: it is read, looked into, and held against the access mode and the rules of the user."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG

from app.engine.messages import ToolCall
from app.engine.tools import Tool
from app.hands.permissions import risk
from app.hands.permissions.access import Decision
from app.hands.permissions.closed_places import asks
from app.hands.permissions.confinement import Confinement
from app.hands.permissions.facts import Facts
from app.hands.permissions.paths import PathGate
from app.hands.permissions.permit import Permit
from app.hands.permissions.question import Denied, Judgement, Passed, Policy, Question
from app.hands.permissions.rules import READING, WRITING, Rule, apply, offers, open_folders
from app.hands.permissions.verdict import Category, Finding, Verdict
from app.hands.threads import in_thread
from app.infra.logs import note

_REACHES_OUT = frozenset[Category]({"network", "install", "publish", "exfiltration"})
_LENT = "One of these commands may reach the network by a rule, and the others would have it with it."
_MOST_LOOKED_AT = 200_000
"""Names of a workspace that are looked at for files that may hold secrets."""


@dataclass(frozen=True, slots=True)
class CommandQuestions:
    """See ``Judge``: for ``bash``."""

    gate: PathGate
    temporary: Path
    confinement: Confinement
    has_bash: bool
    made: Callable[[str], bool]
    """Whether this conversation made that file or folder, and all in it. It may look at the disk."""

    async def judge(self, call: ToolCall, tool: Tool, policy: Policy) -> Judgement:
        command = str(call.arguments["command"])
        verdict = await in_thread(lambda _: risk.judge(command, self._facts(policy.rules)))
        goes_on = bool(call.arguments.get("run_in_background"))
        if goes_on:
            verdict = self._in_background(verdict, command)
        note("command_judged", category=verdict.category, length=verdict.length)
        decision = apply(policy.rules, verdict, policy.access, confined=self._is_confined)
        permit = self._permit(verdict, policy.rules)
        if decision.kind == "allow" and policy.access != "trusted" and _lends_network(verdict, permit):
            decision = Decision("ask", (_LENT,))
        if decision.kind == "allow":
            return Passed(permit)
        if decision.kind == "deny":
            why = " ".join(decision.reasons)
            return Denied(
                f"This is never run here: {why} Reach the aim in another way, or tell the user what to do himself."
            )
        return Question(
            "command",
            payload=command,
            reasons=decision.reasons,
            facts=tuple(self._told(permit, goes_on=goes_on)),
            rules=() if decision.reasons == (_LENT,) else offers(verdict),
            permit=permit,
            may_add_network=self._is_confined and not permit.network and verdict.is_opaque,
        )

    @property
    def _is_confined(self) -> bool:
        return self.confinement.badge.level != "none"

    def _facts(self, rules: Sequence[Rule]) -> Facts:
        """Looks at the disk."""
        workspace = self.gate.workspace
        temporary = str(self.temporary.resolve())
        private = ("/tmp",) if self.confinement.badge.level == "bubblewrap" else ()
        secrets = frozenset(_secret_files(workspace))

        def made(path: str) -> bool:
            own = any(path != place and path.startswith(f"{place}/") for place in (temporary, *private))
            return own or self.made(path)

        return Facts(
            str(workspace),
            str(self.gate.closed.home),
            self.gate.closed,
            granted=(*open_folders(rules, WRITING), *private),
            readable=(*open_folders(rules, READING), *map(str, self.gate.read_only)),
            temporary=temporary,
            secret_files=secrets,
            is_second_name=lambda path: self._is_second_name(path, secrets),
            has_bash=self.has_bash,
            made=made,
            real=os.path.realpath,
        )

    def _is_second_name(self, path: str, secrets: Iterable[str]) -> bool:
        try:
            status = Path(path).stat()
        except OSError:
            return False
        if not S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        return self.gate.is_closed_file(status) or any(_is_same(status, secret) for secret in secrets)

    def _in_background(self, verdict: Verdict, command: str) -> Verdict:
        """A server is started to be reached, so where the network of commands is cut off a job is given it."""
        if not self._is_confined or not verdict.commands:
            return verdict
        what = "goes on in the background, where it may use the network"
        serves = Finding("exfiltration" if verdict.is_opaque else "network", command, what)
        first, *others = verdict.commands
        return Verdict((replace(first, findings=(*first.findings, serves)), *others), verdict.length)

    def _permit(self, verdict: Verdict, rules: Sequence[Rule]) -> Permit:
        """What its findings need. Whether code that nobody can look into needs the network, the user says."""
        network = any(finding.category in _REACHES_OUT for finding in verdict.findings)
        asked = {folder for finding in verdict.findings if (folder := _folder_of(finding.changes))}
        granted = map(Path, open_folders(rules, WRITING))
        # One that has become a link since it was granted leads where nobody let it.
        folders = {*asked, *(folder for folder in granted if folder.resolve() == folder)}
        return Permit(network=network, folders=tuple(sorted(folders)))

    def _told(self, permit: Permit, *, goes_on: bool) -> Iterator[tuple[str, str]]:
        yield "Folder", str(self.gate.workspace)
        if goes_on:
            yield "Goes on", "in the background, after the turn too"
        if self._is_confined:
            yield "Network", "on" if permit.network else "off"
            if permit.folders:
                yield "May also write in", ", ".join(map(str, permit.folders))


def _folder_of(path: str) -> Path | None:
    """The nearest folder above a path that is there; None for the root."""
    above = next((folder for folder in Path(path).parents if folder.is_dir()), None) if path else None
    return None if above is None or above == Path(above.anchor) else above.resolve()


def _is_same(status: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(status, Path(path).stat())
    except OSError:
        return False


def _secret_files(workspace: Path) -> Iterator[str]:
    """The files whose names ask, as far as they are found; a repository's own folder holds none of them."""
    looked_at = 0
    for folder, folders, files in os.walk(workspace):
        if ".git" in folders:
            folders.remove(".git")
        looked_at += len(files) + len(folders)
        if looked_at > _MOST_LOOKED_AT:
            return
        yield from (f"{folder}/{name}" for name in files if asks(name))


def _lends_network(verdict: Verdict, permit: Permit) -> bool:
    """Whether a rule about one command gives the network to others of its script that run or change something."""
    others = [
        command
        for command in verdict.commands
        if not any(finding.category in _REACHES_OUT for finding in command.findings)
    ]
    return permit.network and any(command.findings for command in others)
