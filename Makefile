# `make demo` and `make test` set up everything they need in .venv first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo label-studio test test-long lint types imports install bench clean

demo: $(INSTALLED)
	$(BIN)/labelsieve demo --out demo-output

test: lint types imports
	$(BIN)/pytest -n 2 --dist worksteal

# What the tests with a real Label Studio server need; they are skipped without it.
label-studio:
	tests/label_studio/install.sh

# The statistical tests with ten times the repetitions, and ten times as many killed processes.
test-long: $(INSTALLED)
	LABELSIEVE_REPETITIONS=5000 $(BIN)/pytest -n 2 --dist worksteal tests/statistical
	LABELSIEVE_KILLS=50 $(BIN)/pytest -n 2 -k killed tests/integration tests/web

lint: $(INSTALLED)
	$(BIN)/ruff check src tests benchmarks experiments
	$(BIN)/ruff format --check src tests benchmarks experiments

types: $(INSTALLED)
	$(BIN)/mypy

imports: $(INSTALLED)
	$(BIN)/lint-imports

install: $(INSTALLED)

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks $(if $(LABELSIEVE_DATA),--data $(LABELSIEVE_DATA))

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo-output
