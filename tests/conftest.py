"""Settings of every unit test: properties that are quick, and the same on every run.

Fixtures that the stories share, those of the doubles among them, stand in the conftest.py of the root.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unit", deadline=None, max_examples=30, derandomize=True)
settings.register_profile("deep", deadline=None, max_examples=1000)
settings.load_profile("unit")
