"""Examples in the documentation run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_example_of_the_engine_runs_alone() -> None:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == "done 1.2 m in Genoa, and rising."
    assert [line.split()[0] for line in lines].count("done") == 1
    assert "tool_end" in {line.split()[0] for line in lines}
