"""The terminal's counterpart of web/: one file per command, each with ``async run(options, terminal) -> exit code``.

Names and flags stand in ``app/cli.py``, which loads a file of this room only when its command was asked for.
"""
