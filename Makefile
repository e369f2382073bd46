# deskhand: `make demo` sets everything up and runs it. ARGS goes to the command: make demo ARGS="--seed 3"
# PYTHON, when given, is the interpreter to use; else it is the newest suitable one.
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long test-page test-campaigns coverage docs lint lock check-lock clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/'

setup: ## prepare .venv: libraries, ROS 2, built interfaces (seconds when it is there)
	@$(or $(PYTHON),python3) scripts/bootstrap.py $(if $(PYTHON),--python "$(PYTHON)")

demo: setup ## the simulated arm cleans a desk (ARGS="--seed 3 --task desk_cleaning")
	@$(BIN)/deskhand demo $(ARGS)

lint: setup ## ruff and mypy
	@$(BIN)/ruff check src test launch scripts setup.py
	@$(BIN)/ruff format --check --quiet src test launch scripts setup.py
	@if $(BIN)/python -c 'import sys, numpy; sys.exit(sys.version_info < (3, 11) or numpy.__version__ < "2")'; then $(BIN)/mypy; \
	else echo "mypy left out: this numpy has older type stubs"; fi

test: lint ## lint, then every test (ARGS="-k safety"; unit tests on JOBS=2 cores)
	@$(BIN)/python -m pytest -n $(or $(JOBS),2) $(ARGS)

test-long: setup ## the tests that take long, of which shorter ones in make test show most (nightly)
	@$(BIN)/python -m pytest --long -m long $(ARGS)

test-page: setup ## the operator page in a headless Chromium (apt-get install chromium; minutes)
	@$(BIN)/python -m pip install --quiet -r requirements/browser.txt
	@$(BIN)/python -m pytest test/e2e/test_view_page.py $(ARGS)

test-campaigns: setup ## campaigns on a simulated Ray cluster, trackers, the LeRobot export: installs what they need (minutes)
	@$(BIN)/python -m pip install --quiet -r requirements/ray.txt -r requirements/mlflow.txt -r requirements/lerobot.txt
	@$(BIN)/python -m pytest test/unit/trials/campaigns test/unit/recording/episode/test_lerobot_export.py $(ARGS)

coverage: setup ## which lines the tests run: a table, and build/coverage/index.html (ARGS="test/unit/agent" for a part)
	@$(BIN)/python -m pip install --quiet -r requirements/coverage.txt
	@$(BIN)/python -m pytest -n $(or $(JOBS),2) --cov --cov-report=term:skip-covered --cov-report=html $(ARGS)

docs: ## the site of the docs in build/site; broken links fail (an environment of its own, build/docs)
	@test -x build/docs/bin/mkdocs || { $(or $(PYTHON),python3) -m venv build/docs && build/docs/bin/pip install --quiet -r requirements/docs.txt; }
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict $(ARGS)

lock: setup ## pin the versions of requirements/ again (ARGS=--upgrade: newer ones)
	@$(BIN)/python scripts/lock.py $(ARGS)

check-lock: setup ## fresh environments with numpy 1.26 beside .venv; planning and perception tests in them (ARGS="--python python3.10")
	@$(BIN)/python scripts/check_lock.py $(ARGS)

clean: ## remove .venv and everything built
	@rm -rf .venv build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	@find src test launch scripts -name __pycache__ -type d -prune -exec rm -rf {} +
