# Two commands do everything: `make run` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test lint bench verify clean

run: $(STAMP)  ## install, probe the installed torch, count what is known, show a first card
	-$(BIN)/gradcat probe --failures
	$(BIN)/gradcat list > /dev/null
	$(BIN)/gradcat show MulBackward0

test: $(STAMP)-test  ## everything that the tests need, then the tests
	$(BIN)/python -m pytest

lint: $(STAMP)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

verify: $(STAMP)  ## run every formula against the installed torch
	$(BIN)/gradcat verify

bench: $(STAMP)-bench
	$(BIN)/python benchmarks/ratios.py
	$(BIN)/python benchmarks/trace.py

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "gradcat needs Python 3.10 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(STAMP)-%: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
