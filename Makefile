# Each target does its whole set-up in .venv: Python with venv and a C++ compiler are all it needs.
PYTHON ?= python3
PYTEST_ARGS ?=
DEMO ?= demo
CORES ?= 2

BIN := .venv/bin
INSTALLED := .venv/.installed
SOURCES := pyproject.toml $(shell find cpu pairhmm workflows -type f -not -name '*.so' -not -path '*/__pycache__/*' -not -path '*/.snakemake/*')

# The checkout's own pairhmm/ has no compiled part; this keeps `python -m` from taking it for the installed one.
export PYTHONSAFEPATH := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install demo test lint bench clean

help:
	@echo "make demo    simulate a genome, call it, and compare with the truth"
	@echo "make test    run the tests (PYTEST_ARGS='-k NAME' for some of them)"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed of this machine"
	@echo "make clean   remove what the others made"

install: $(INSTALLED)

.venv/bin/python:
	$(PYTHON) -m venv .venv

$(INSTALLED): .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[dev,parquet,workflow]'
	@touch $@

demo: $(INSTALLED)
	$(BIN)/snakemake --snakefile workflows/Snakefile --directory $(DEMO) --cores $(CORES) --quiet rules

test: $(INSTALLED)
	$(BIN)/pytest $(PYTEST_ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/pairhmm bench forward

clean:
	rm -rf .venv build dist $(DEMO) .hypothesis .mypy_cache .pytest_cache .ruff_cache
