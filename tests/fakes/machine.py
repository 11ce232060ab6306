"""This machine for tests: commands as free as its user, and nothing known that would have to be masked."""

from __future__ import annotations

import os

from app.hands.jobs import Jobs
from app.hands.machine import FoundConfinement, Machine
from app.hands.permissions.confinement import Confinement, Unconfined
from app.hands.terminal_text import as_it_is
from app.infra.clock import Clock
from app.infra.ids import new_id
from app.infra.paths import DataFolder


def unconfined(folder: DataFolder, clock: Clock) -> Machine:
    async def confinement() -> Confinement:
        return Confinement(Unconfined())

    jobs = Jobs(folder.jobs, clock, new_id, as_it_is)
    return Machine(os.environ, as_it_is, as_it_is, jobs, FoundConfinement(confinement))
