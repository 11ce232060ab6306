"""Keys that a run in the terminal comes across are in nothing that it says, sends or keeps."""

from __future__ import annotations

import json

from tests.commands.seat import Seat
from tests.fakes.llm_client import FakeLLM
from tests.fakes.llm_script import call, say
from tests.fakes.planted import CALLS, IN_ENVIRONMENT, STORED, VARIABLE, found_in, kept, plant


def test_no_key_is_shown_sent_or_kept(seat: Seat, llm: FakeLLM) -> None:
    seat.environment["ADDED"] = STORED
    seat.with_model(llm, "--key-env", "ADDED")
    del seat.environment["ADDED"]
    seat.environment[VARIABLE] = IN_ENVIRONMENT
    plant(seat.workspace)
    llm.script(say(calls=[call(name, arguments) for name, arguments in CALLS]), say("Done."))
    ran = seat.wait(seat.start("run", "Show all.", "--json", "--approve", "always"))
    assert ran.code == 0, ran.err
    assert "[redacted]" in ran.out
    assert found_in(ran.out + ran.err + json.dumps(llm.bodies())) == []
    assert [
        path for path in kept(seat.folder.root) if found_in(path.read_bytes().decode(errors="replace"))
    ] == []
