# Everything runs from plain `python3` and pip: `make setup` builds .venv, the rest uses it.
# Paths are relative on purpose, so that a folder name with blanks does no harm.

PYTHON ?= python3
UV ?= uv
VENV := .venv
PY := $(VENV)/bin/python
# what pytest makes of the test modules is kept, even where the environment forbids bytecode:
# collecting them takes half the time
PYTEST := PYTHONDONTWRITEBYTECODE= $(PY) -m pytest
# more processes than two cores, since some tests wait; the tests of a file stay together
WORKERS ?= -n 3 --dist loadfile
# unit and contract tests that are not marked slow, with fewer examples of each property
QUICK := tests/unit tests/contract -m "not slow" --hypothesis-profile quick
BYTECODE := $(VENV)/.compiled
KERNELS := src/assay/compiled/_kernels.so
SOURCES := $(shell find src -name '*.py' 2>/dev/null)
COMPILE := $(UV) pip compile pyproject.toml --universal --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --quiet

# A stamp holds a checksum of what was installed and where; equal means there is nothing to do.
define ensure
@key="$$(cat pyproject.toml requirements/$(1).lock | cksum) $$PWD"; \
if [ "$$(cat $(VENV)/.stamp-$(1) 2>/dev/null)" != "$$key" ]; then \
	$(MAKE) --no-print-directory install-$(1) && printf '%s\n' "$$key" > $(VENV)/.stamp-$(1); \
fi
endef

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-bench install-dev install-bench python venv demo quick test check bench \
	bench-score bench-eval bench-encode bench-index bench-search bench-cluster congruence bench-serve soak \
	schema test-cluster crash fuzz reproduce lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: ## create .venv with everything that development needs
	$(call ensure,dev)
	@$(MAKE) -s --no-print-directory $(KERNELS) $(BYTECODE)

demo: setup ## show what assay does
	@$(VENV)/bin/assay demo

quick: setup ## run the core of the tests in less than a minute, for the work of every minute
	@$(PYTEST) $(WORKERS) $(QUICK)

test: setup ## run all tests
	@$(PYTEST) $(WORKERS)

check: setup ## format, lint, types, layers and tests: run this before a commit
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports
	@$(PYTEST) $(WORKERS)

test-cluster: setup ## run the tests that need a real OpenSearch cluster (Java and Maven)
	@ASSAY_TEST_CLUSTER=1 $(PY) -m pytest tests/cluster

.PHONY: docs docs-reference install-docs
docs: setup docs-reference ## build the documentation into site/, to be read without a network
	$(call ensure,docs)
	@$(PY) -m zensical build --strict
	@echo "open site/index.html; its search field needs a server: python3 -m http.server -d site"

docs-reference: setup ## write the pages of docs/pages/reference anew from the code
	@$(PY) -m docs.generate

KILLS ?= 50
crash: setup ## kill writers (KILLS=50 in each mode), cut the power, damage every file, and look for what is lost
	@$(PY) -m tests.crash.harness --mode ingest --kills $(KILLS)
	@$(PY) -m tests.crash.harness --mode compact --kills $(KILLS)
	@$(PY) -m tests.crash.harness --mode save --kills $(KILLS)
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || exit 0; \
	for mode in ingest save; do $(PY) -m tests.crash.harness --postgres --mode $$mode --kills $(KILLS) || exit 1; done
	@$(PY) -m tests.crash.evaluation --kills $(KILLS)
	@$(PY) -m tests.crash.annotation --kills $(KILLS)
	@$(PY) -m tests.crash.power --crashes 500
	@$(PY) -m tests.crash.power --crashes 500 --lies 0.4
	@ASSAY_EVERY_FILE=1 ASSAY_STATE_EXAMPLES=100 $(PY) -m pytest tests/faults

MINUTES ?= 60
.PHONY: chaos
chaos: setup ## kill, fill, slow down and mislead a service at once for MINUTES=60, and look for what is lost
	@$(PY) -m tests.chaos --minutes $(MINUTES)

reproduce: setup ## run every experiment and compare its figures
	@$(PY) -m reproduce.run

fuzz: setup ## feed broken inputs to every parser, ten minutes in all, or HOURS=2
	@$(PY) -m tests.fuzz $(if $(HOURS),--hours $(HOURS),--seconds 20)

BENCHMARKS := score index encode search evaluate serve
bench: setup-bench ## run every benchmark and write BENCHMARKS.md (some two hours)
	@for part in $(BENCHMARKS); do $(PY) -m bench.$$part --write || exit 1; done

bench-encode: setup ## time the encoders beside the bare onnxruntime session
	@$(PY) -m bench.encode

bench-serve: setup ## time the HTTP service, also at four times the load it can bear
	@$(PY) -m bench.serve --write

soak: setup ## ask the HTTP service for ten minutes and watch memory, threads and files
	@$(PY) -m bench.serve --soak 600

.PHONY: load attack
attack: setup ## attack a service with a key that may only read; HOME_FOLDER names a workspace
	@$(PY) -m tests.load.attack "$(HOME_FOLDER)"

load: setup ## hold the HTTP service to its promises at four times the load it can bear
	@$(PY) -m tests.load

.PHONY: browser
browser: setup ## try the pages in chromium, and leave pictures in tests/browser/pictures
	@ASSAY_BROWSER=all $(PYTEST) -n 0 tests/browser

schema: setup ## try many requests on every route of the HTTP service
	@ASSAY_SCHEMA_EXAMPLES=150 ASSAY_RANDOM_REQUESTS=10000 $(PY) -m pytest \
		tests/unit/http/test_schema.py tests/unit/http/test_metrics.py

bench-score: setup-bench ## time scoring beside other tools
	@$(PY) -m bench.score

bench-index: setup-bench ## time the index beside other engines
	@$(PY) -m bench.index

bench-search: setup-bench ## time hybrid search beside other engines
	@$(PY) -m bench.search

bench-cluster: setup-bench ## time search on a cluster beside the embedded index (Java and Maven)
	@$(PY) -m bench.cluster

congruence: setup ## compare embedded and cluster search on two collections (Java and Maven)
	@$(PY) -m reproduce.congruence

bench-eval: setup ## time what evaluating and comparing cost beyond the searches
	@$(PY) -m bench.evaluate

setup-bench: setup ## add what the benchmarks need to .venv
	$(call ensure,bench)

.PHONY: wheel package
wheel: setup ## build the wheel into dist/
	@$(PY) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

package: setup ## install the wheel on its own, count what comes with it, and run the tutorials
	@$(PY) -m tests.package.clean

# Tests that skip where another library is missing.
OTHERS := tests/unit/evaluation/test_systems.py tests/unit/evaluation/test_engines.py \
	tests/unit/test_passages.py tests/unit/test_plots.py tests/unit/test_mlflow.py \
	tests/unit/test_opentelemetry.py tests/unit/app/test_rows.py tests/unit/testsets/test_rows.py \
	tests/parity/test_mcp.py
.PHONY: adapters
adapters: setup ## try the adapters on the newest LangChain, LlamaIndex, Haystack, qdrant, MLflow and others
	@[ -x $(VENV)-adapters/bin/python ] || "$(PYTHON)" -m venv $(VENV)-adapters
	@$(VENV)-adapters/bin/python -m pip install --quiet --upgrade -e '.[adapters,dev,mlflow,opentelemetry,plots]'
	@$(VENV)-adapters/bin/python -W ignore -m pytest -n 0 -rs $(OTHERS)

.PHONY: audit sbom install-audit
audit: setup ## look every pinned package up for known vulnerabilities; DATABASE=osv.zip needs no network
ifndef DATABASE
	$(call ensure,audit)
endif
	@$(PY) -m tests.supply.audit $(if $(DATABASE),--database "$(DATABASE)")

sbom: setup ## write dist/sbom.json: every package that users get, with hashes (CycloneDX)
	$(call ensure,audit)
	@mkdir -p dist
	@$(PY) -W ignore -m cyclonedx_py requirements requirements/all.lock --pyproject pyproject.toml \
		--mc-type application --output-reproducible --validate -o dist/sbom.json
	@$(PY) -c 'import json; print("dist/sbom.json:", len(json.load(open("dist/sbom.json"))["components"]), "packages")'

lock: ## compile requirements/*.lock again (needs uv); UPGRADE=1 takes the newest versions
	@command -v "$(UV)" >/dev/null || { echo "make lock needs uv on the PATH, or UV=path" >&2; exit 1; }
	@$(COMPILE) $(if $(UPGRADE),--upgrade) --extra dev --extra bench -o requirements/bench.lock
	@$(COMPILE) --constraint requirements/bench.lock --extra dev -o requirements/dev.lock
	@$(COMPILE) --constraint requirements/bench.lock --extra dev --extra docs -o requirements/docs.lock
	@$(COMPILE) --constraint requirements/bench.lock --extra dev --extra audit -o requirements/audit.lock
	@$(COMPILE) --constraint requirements/bench.lock --extra all -o requirements/all.lock
	@$(COMPILE) --constraint requirements/bench.lock -o requirements/base.lock
	@! grep -nE '://|index-url|find-links' requirements/*.lock

clean: ## remove .venv, caches and build output
	@rm -rf $(VENV) $(VENV)-adapters dist build site .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Steps of the targets above, not meant to be called by hand.

install-dev: venv
	@$(PY) -m pip install --quiet --require-hashes -r requirements/dev.lock
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@echo "ready: $(VENV)/bin/assay --help"

install-docs:
	@$(PY) -m pip install --quiet --require-hashes -r requirements/docs.lock

install-audit:
	@$(PY) -m pip install --quiet --require-hashes -r requirements/audit.lock

install-bench:
	@$(PY) -m pip install --quiet --require-hashes -r requirements/bench.lock

# A .venv that was copied from elsewhere, or whose Python is gone, is made anew.
venv: python
	@[ "$$(cat $(VENV)/.place 2>/dev/null)" = "$$PWD" ] \
	&& $(PY) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	|| { echo "creating $(VENV) (this takes about a minute)"; \
	     "$(PYTHON)" -m venv --clear $(VENV) && printf '%s\n' "$$PWD" > $(VENV)/.place; }

python:
	@"$(PYTHON)" -c 'import sys' 2>/dev/null \
	|| { echo "$(PYTHON) does not run: install Python 3.11 or newer, or call make PYTHON=path" >&2; \
	     exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "assay needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" -V): call make PYTHON=path" >&2; \
	     exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
	|| { echo "$(PYTHON) lacks the venv module: install it (Debian and Ubuntu: python3-venv)" >&2; \
	     exit 1; }

# Installing compiles them, too; this is for a source that has changed, or a compiler that came, since.
$(KERNELS): src/assay/compiled/kernels.c hatch_build.py
	@$(PY) hatch_build.py || true

# Some environments forbid Python to write bytecode, which makes every start slow.
$(BYTECODE): $(SOURCES)
	@$(PY) -m compileall -q src
	@touch $@
