"""A browser for processes under test, for the variable ``BROWSER``: opens an address and goes where it is sent."""

from __future__ import annotations

import sys
from urllib.request import ProxyHandler, build_opener

BROWSER = f"{sys.executable} -m tests.fakes.browser %s"

if __name__ == "__main__":
    build_opener(ProxyHandler({})).open(sys.argv[1]).read()
