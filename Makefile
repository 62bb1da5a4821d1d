# Everything on a fresh machine: `make demo` shows the main job, `make test` runs all checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test coverage check clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

# One process a core, each with one thread: threads of several processes would wait for each other.
test: $(VENV)/installed check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadscope $(PYTEST)

# Apart, as it slows the tests down.
coverage: PYTEST := --cov --cov-report=term:skip-covered
coverage: test

check: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# constraints.txt pins what is slow to fetch; pyproject.toml stays open. Most of what is installed is
# never imported, so Python compiles it when it is. Of clip-benchmark only the functions are compared
# with: its own dependencies are many and large.
$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt torch torchvision
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-compile --no-deps clip-benchmark==1.6.2
	touch $@

clean:
	rm -rf $(VENV) .cache demo .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
