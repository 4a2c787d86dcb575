# Every target sets up what it needs; `make` alone lists them.

PYTHON ?= python3
UV_VERSION := 0.13.9

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
SOURCES := framework games clients/python proto tests examples benchmarks
COMPILED_TESTS := $(addprefix tests/,compiled games bots codec plugins examples \
	testing/test_golden.py testing/test_lepidoptery_laws.py)
PROTOS := $(shell find proto -name '*.proto' 2>/dev/null)

.DEFAULT_GOAL := help
# The steps of the gate run in their order, also under make -j.
.NOTPARALLEL:
.DELETE_ON_ERROR:

.PHONY: help setup demo test test-compiled check proto bench bench-peers compiled strength profile kill fuzz format lock clean \
	check-format check-lint check-imports check-types check-proto check-generated check-clients clients pairings first-match

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make or refresh the environment in .venv

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed; name one with make PYTHON=...' >&2; exit 1; }
	@echo 'setting up $(VENV) ...'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip install --quiet --python $(VENV) -c requirements.lock -e . --group dev
	@touch $@

demo: $(STAMP) ## play a short demonstration (GAME=... picks the game)
	@$(BIN)/python examples/demo.py $(if $(GAME),--game $(GAME))

test: $(STAMP) ## run the tests, on all cores (ARGS=... is passed to pytest)
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --max-worker-restart 2 $(ARGS)

test-compiled: compiled ## run the tests of rules, search and codec on the compiled build
	@FRITILLARY_BUILD=compiled .venv-compiled/bin/python -m pytest -q -n auto --dist loadfile --max-worker-restart 2 \
		-o 'pythonpath=.venv-compiled/rules .' $(COMPILED_TESTS) $(ARGS)

bench: $(STAMP) ## run the benchmarks (ARGS=... is passed on)
	@$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(STAMP) ## install what the benchmarks compare with, in .venv-peers
	@$(BIN)/python -m benchmarks.peers

compiled: $(STAMP) ## compile rules and search: a wheel in dist/, installed in .venv-compiled
	@$(BIN)/python -m benchmarks.compiled

strength: $(STAMP) ## play for the tables of docs/strength.md (ARGS=... is passed on)
	@$(BIN)/python -m benchmarks.strength $(ARGS)

profile: $(STAMP) ## print the profile of each hot path (PART=... picks one)
	@$(BIN)/python -m benchmarks.hot_paths $(PART)

kill: $(STAMP) ## kill bots and servers, cut links, at each moment (ARGS=... is passed on)
	@$(BIN)/python -m tests.kill $(ARGS)

fuzz: $(STAMP) ## attack a server while honest matches are played (ARGS=... is passed on)
	@$(BIN)/python -m tests.service.fuzz $(ARGS)

check: check-format check-lint check-imports check-types check-proto check-generated check-clients ## run the gate (make -k check: all steps even if one fails)
	@echo 'check: all steps passed'

# $(call step,name,command,what to do when it fails)
step = @echo '== $(1)'; $(2) || { echo 'check: $(1) failed: $(3)' >&2; exit 1; }

check-format: $(STAMP)
	$(call step,format,$(BIN)/ruff format --check --quiet .,run make format)

check-lint: $(STAMP)
	$(call step,lint,$(BIN)/ruff check --quiet --output-format=concise .,see the rules and their reasons in pyproject.toml)

check-imports: $(STAMP)
	$(call step,imports,$(BIN)/lint-imports --no-logo,an import breaks a contract of pyproject.toml)

check-types: $(STAMP)
	$(call step,types,$(BIN)/mypy,see the errors above)

check-proto: $(STAMP)
ifeq ($(PROTOS),)
	@echo '== proto: no .proto file yet'
else
	$(call step,proto,$(BIN)/buf lint,see the errors above)
	$(call step,proto format,$(BIN)/buf format --diff --exit-code,run make format)
endif

check-generated:
ifeq ($(PROTOS),)
	@echo '== generated code: no .proto file yet'
else
	$(call step,generated code,PYTHON='$(PYTHON)' proto/generate.sh --check,run make proto and commit the result)
endif

check-clients: $(STAMP)
	$(call step,clients,$(BIN)/python -m tests.clients.languages check,see the errors above)

clients: $(STAMP) ## build the clients in other languages, where their tools are found
	@$(BIN)/python -m tests.clients.languages build

pairings: $(STAMP) ## let the clients of all languages play each other, and print a table
	@$(BIN)/python -m tests.clients.pairings $(ARGS)

first-match: $(STAMP) ## time the way from a clone to a first match, for each language
	@$(BIN)/python -m tests.clients.first_match $(ARGS)

proto: ## generate framework/fritillary/api from proto/
	@PYTHON='$(PYTHON)' proto/generate.sh

format: $(STAMP) ## format the code and the .proto files
	@$(BIN)/ruff check --quiet --select I --fix --exit-zero .
	@$(BIN)/ruff format .
	@test -z '$(PROTOS)' || $(BIN)/buf format --write

lock: $(STAMP) ## bring requirements.lock up to date
	@$(BIN)/uv lock --quiet --upgrade
	@$(BIN)/uv export --quiet --frozen --no-hashes --no-header --no-annotate \
		--no-emit-project --all-groups --output-file requirements.lock

clean: ## remove caches and build products (the environments stay)
	@rm -rf build dist htmlcov .coverage .coverage.* coverage.xml
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
