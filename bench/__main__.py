"""``python -m bench [NAME…]``: run the measurements and print each figure beside its aim; ``!`` marks a missed one."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(path.stem.removeprefix("measure_") for path in Path(__file__).parent.glob("measure_*.py"))


def main(names: list[str]) -> int:
    unknown = set(names) - set(NAMES)
    if unknown:
        print(
            f"There is no measurement {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.",
            file=sys.stderr,
        )
        return 2
    for name in names or NAMES:
        print(f"\n{name}")
        for figure in import_module(f"bench.measure_{name}").measure():
            print(figure, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
