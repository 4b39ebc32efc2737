# The two commands of this project, and what they are made of:
#   make demo [PORT=6006]   train a small LSTM and look at its gates in TensorBoard
#   make test               set up everything that the tests need, then run every check
#   make lint               only the checks that read the code
#   make page               build the tab's page after a change in frontend/
#   make clean              remove what make installed and built

SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help demo test lint page clean

PORT ?= 6006
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
RUN := logs/digits
PAGE_SOURCES := $(shell find frontend -type f -not -path '*/node_modules/*' 2>/dev/null)
# Of pip's many lines, the ones that show that it is at work.
SHORT_PIP := awk '/^ *(Downloading|Using cached) / { split($$2, part, "-"); \
	print "    " part[1], part[2], $$3, $$4; fflush() } \
	/^Installing collected/ { print "    unpacking"; fflush() }'
# TensorFlow's notes on the hardware, which no log level of its own holds back, and pip's advice.
QUIETLY := 2> >(grep --line-buffered -vE '^(WARNING: |[IE]0000 )' >&2)

help:
	@sed -n 's/^#   /  /p' Makefile

demo: $(VENV)/.installed-demo
	@$(BIN)/python -c "import socket; socket.create_server(('localhost', $(PORT)))" 2>/dev/null \
	    || { echo "Port $(PORT) is in use; choose another one: make demo PORT=$$(($(PORT) + 1))"; exit 1; }
	@echo "Training two LSTM layers on handwritten digits; what their gates do goes to $(RUN)."
	@rm -rf $(RUN)
	@TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/python demo/digits.py --logdir $(RUN) $(QUIETLY)
	@echo "Starting TensorBoard; in a few seconds: http://localhost:$(PORT)/#lstm_gates  (Ctrl-C ends it)"
	@TF_CPP_MIN_LOG_LEVEL=3 $(BIN)/tensorboard --logdir $(dir $(RUN)) --port $(PORT) $(QUIETLY)

test: $(VENV)/.installed-test frontend/node_modules/.package-lock.json
	@$(BIN)/python tests/run_all.py

lint: $(VENV)/.installed-test frontend/node_modules/.package-lock.json
	@$(BIN)/python tests/run_all.py --only-lint

page: frontend/node_modules/.package-lock.json
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix frontend run build

clean:
	rm -rf $(VENV) frontend/node_modules lstm_gates_plugin/static logs

$(BIN)/python:
	@echo "Making a virtual environment in $(VENV)/"
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' \
	    || { echo "TensorFlow needs Python 3.10 to 3.13; name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	    || { rm -rf $(VENV); echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }

# Again whenever what is installed, or the page that is built on the way, would be another one.
$(VENV)/.installed-%: pyproject.toml constraints.txt hatch_build.py $(PAGE_SOURCES) | $(BIN)/python
	@echo "Building the tab's page and installing the package with what '$*' needs (minutes the first time)"
	@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
	    --no-compile -c constraints.txt -e '.[$*]' $(QUIETLY) | $(SHORT_PIP)
	@touch $@

# The build of the package leaves these in place; here for when they have been removed since.
frontend/node_modules/.package-lock.json: frontend/package-lock.json | $(VENV)/.installed-test
	@echo "Installing the page's npm packages"
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix frontend ci --no-audit --no-fund --silent
	@touch $@
