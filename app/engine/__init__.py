"""The agent harness: one loop, its values and its policies. Could be published alone.

Start at ``runner.py``; ``messages.py``, ``events.py``, ``provider.py`` and ``tools.py`` are its vocabulary.
"""
