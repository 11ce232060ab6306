#!/bin/sh
# Plancia on a small real model: starts the model's server, registers it in a throw-away data folder, serves the page.
# Both environments are there already; options go to `plancia serve`.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
PLANCIA_DATA_DIR="$folder/data" PLANCIA_WORKSPACE="$folder/workspace"
export PLANCIA_DATA_DIR PLANCIA_WORKSPACE
mkdir "$PLANCIA_WORKSPACE"

.venv-real-model/bin/python bench/real_model.py >"$folder/address" 2>"$folder/model.log" &
model=$!
trap 'kill "$model" 2>/dev/null || :; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

until [ -s "$folder/address" ]; do
    if ! kill -0 "$model" 2>/dev/null; then
        echo "The model's server did not start:" >&2
        tail -n 3 "$folder/model.log" >&2
        exit 1
    fi
    sleep 0.2
done

.venv/bin/python -m app provider add local --kind openai --base-url "$(cat "$folder/address")" --model smollm2 </dev/null
.venv/bin/python -m app serve "$@" &
page=$!
trap 'kill "$page" 2>/dev/null || :; wait "$page" || :; exit 130' INT
trap 'kill "$page" 2>/dev/null || :; wait "$page" || :; exit 143' TERM
wait "$page"
