"""A seat for each test of a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.seat import Seat


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    return Seat(tmp_path)
