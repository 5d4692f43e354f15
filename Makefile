# Two commands do all the set-up: `make demo` and `make test`. Both build the environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-slow lint types imports suite system constraints clean help

help:            ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | sort | expand -t 16

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Seedbed needs Python 3.11 or newer; $(PYTHON) is older. Name another: make PYTHON=python3.12 demo"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { echo "Python cannot make virtual environments here; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --compile-bytecode --python $(BIN)/python -c constraints.txt -e ".[dev]"
	@touch $@

demo: .venv/ready  ## leaves, a few labels, a trained model and its pages, in under five minutes
	$(BIN)/seedbed demo

test: .venv/ready system lint types imports suite  ## lint, types, import rules and the quick tests

test-slow: .venv/ready system  ## the rest: every block of the docs, long fault runs, accuracy over seeds
	$(BIN)/pytest -m slow --timeout 1500

system:
	@bash scripts/system-packages.sh

lint: .venv/ready
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks

types: .venv/ready
	$(BIN)/mypy

imports: .venv/ready
	$(BIN)/lint-imports --no-cache

suite: .venv/ready
	$(BIN)/pytest

constraints: .venv/ready  ## pin the versions that were tested
	$(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --upgrade --all-extras pyproject.toml \
	  | grep -v '^seedbed' > constraints.new && mv constraints.new constraints.txt

clean:           ## remove what make built
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache dist
