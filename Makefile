# Every target does its whole set-up: a virtual environment in the checkout, and nothing outside it.
PYTHON ?= python3
PYTEST_ARGS ?= -q
TESTS ?= not nightly
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1
FUZZ_JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip
# Rebuilt when what is compiled or required changes. pip would compile what nothing imports, on one core.
# `make demo` takes the package and its workflow; all else that is worked with comes on top.
BUILT := $(VENV)/built
ZIG := $(VENV)/ziglang
STAMP := $(VENV)/installed
EXTRAS := dev,docs,googlebatch,kubernetes,parquet,signal,slurm,webgpu,workflow
SOURCES := pyproject.toml $(wildcard cpu/CMakeLists.txt cpu/*/*)
comma := ,
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: test test-all test-gpu fuzz demo lint lint-page neon docs page web-module bench wheel clean

# A file's tests share what it takes long to make: they stay together. tests/conftest.py puts long files first.
test: $(STAMP)
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m '$(TESTS)' $(PYTEST_ARGS)

# All but the GPU's, with packages from apt: none of them may skip. A cluster of Slurm is started by root only, and the
# reference data are not in this repository.
test-all: export PAIRHMM_TEST_REQUIRE ?= $(subst $() ,$(comma),$(strip cpu docs parquet signal workflow emulator nvrtc webgpu browser node \
	$(if $(filter 0,$(shell id -u)),slurm) $(if $(wildcard $(PAIRHMM_SHARED_DATA) ../shared/data),shared)))
test-all:
	@.ci/packages
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory page; fi
	@$(MAKE) --no-print-directory docs
	@$(MAKE) --no-print-directory test TESTS=

# PYTHON_GPU=python3: with an interpreter as it is, and nothing from the network.
test-gpu:
	@PYTHON_GPU=$(PYTHON_GPU) PYTEST_ARGS="$(PYTEST_ARGS)" .ci/gpu

# What was found before, then mutated inputs. FUZZ_PYTHON=python3: with an interpreter as it is, and nothing installed.
FUZZ_BIN := .venv-fuzz/bin
FUZZ_STAMP := .venv-fuzz/installed
FUZZ_PYTHON ?= $(FUZZ_BIN)/python
fuzz: $(if $(filter $(FUZZ_BIN)/python,$(FUZZ_PYTHON)),$(FUZZ_STAMP))
	$(FUZZ_PYTHON) tests/fuzz --replay tests/fuzz/corpus
	$(FUZZ_PYTHON) tests/fuzz --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) --jobs $(FUZZ_JOBS) --output build/fuzz

demo: $(BUILT)
	@echo "four simulated samples -> calls and scans -> report, and a virus -> consensus, in demo/"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake -s workflows/.test/Snakefile --cores 2 -d demo --forceall \
		--show-failed-logs --quiet all
	@if [ -e pairhmm/web_page/pairhmm.html ]; then rm -rf demo/page && mkdir demo/page && \
		cp demo/data/sample_1/reads.bam* demo/data/sample_1/reference.fa* demo/page && \
		$(BIN)/pairhmm page --data demo/page -o demo/pairhmm.html; \
	else echo "skipped: demo/pairhmm.html needs the page (make page)"; fi

# What clang-format and Prettier check. No Python package has Prettier: npx brings it, in npm's cache, and its version is here.
CXX_SOURCES := $(wildcard cpu/*/*.?pp cuda/*.cu* cuda/*/*.cu* tests/*/*.?pp tests/*/*/*.?pp benchmarks/*/*.?pp)
PAGE_SOURCES := $(wildcard pairhmm/report/page/*.js pairhmm/report/page/*.css web/*.mjs web/*.json web/README.md \
	web/src/*.js web/src/*/*.js web/src/*/*.ts web/src/*/*.css web/src/*/*/*.js web/tests/*.js \
	tests/web/*.mjs tests/page/*.mjs benchmarks/*/*.mjs)
PRETTIER := prettier@3.10.1
lint: $(STAMP) lint-page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(BIN)/snakefmt --check workflows wrappers
	$(BIN)/snakemake --lint -s workflows/Snakefile --config samples=workflows/.test/samples.tsv reference=x signatures=x viruses=x \
		check_files=False

lint-page:
	@if command -v npx >/dev/null; then npx --yes $(PRETTIER) --check $(PAGE_SOURCES); \
	else echo "skipped: JavaScript and CSS are not checked without npx (apt install npm)"; fi

# That our kernels for ARM compile, without an ARM machine.
ARM_CXX := aarch64-linux-gnu-g++
neon:
	@if command -v $(ARM_CXX) >/dev/null; then \
		for kernels in $(wildcard cpu/*/*level.cpp); do \
			$(ARM_CXX) -std=c++17 -O3 -Wall -Wextra -Werror -Wno-psabi -Wno-ignored-attributes -DPAIRHMM_LEVEL=neon \
				-Icpu -c $$kernels -o /dev/null || exit 1; \
		done; \
	else echo "skipped: no $(ARM_CXX)"; fi

# The site, in build/docs: spelling, links and warnings are errors.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(STAMP)
	$(BIN)/codespell
	$(BIN)/mkdocs build --strict --quiet
	@echo "built: build/docs/index.html"

# Our C++ as WebAssembly. No thread, no exception: cpu/simd/failures.hpp, cpu/threads/.
WASM := build/web/pairhmm.wasm
WASM_SOURCES := $(wildcard cpu/forward/wasm*.cpp cpu/wasm/*.cpp) cpu/align/wasm.cpp cpu/posterior/wasm.cpp cpu/forward/dispatch.cpp \
	cpu/forward/trees.cpp cpu/pdhmm/columns.cpp cpu/pdhmm/pdhmm.cpp cpu/pdhmm/wasm.cpp \
	cpu/threads/std_threads.cpp cpu/threads/tasks.cpp cpu/formats/alignments.cpp cpu/formats/bam_record.cpp \
	cpu/formats/primers.cpp cpu/formats/read_ends.cpp cpu/formats/region_lines.cpp \
	$(filter-out cpu/calling/scoring.cpp,$(wildcard cpu/calling/*.cpp)) \
	cpu/packing/device_scores.cpp cpu/packing/tiles.cpp cpu/packing/tree_streams.cpp
WASM_CXX := $(BIN)/python -m ziglang c++ -target wasm32-wasi
WASM_FLAGS := -std=c++17 -O3 -msimd128 -fno-exceptions -fno-rtti -fno-math-errno -fno-trapping-math -Icpu
# The standard library's headers, read once: they take a third of the time.
WASM_HEADERS := build/web/headers.pch
$(WASM_HEADERS): $(ZIG)
	@mkdir -p $(@D)
	@grep -h '^#include <' cpu/calling/*.?pp | sort -u >$(@:.pch=.hpp)
	$(WASM_CXX) $(WASM_FLAGS) -x c++-header -o $@ $(@:.pch=.hpp)
WASM_OBJECTS := $(WASM_SOURCES:cpu/%.cpp=build/web/%.o)
$(WASM_OBJECTS): build/web/%.o: cpu/%.cpp $(wildcard cpu/*/*.hpp) | $(WASM_HEADERS)
	@mkdir -p $(@D)
	$(WASM_CXX) $(WASM_FLAGS) -include-pch $(WASM_HEADERS) -c -o $@ $<
$(WASM): $(WASM_OBJECTS)
	$(WASM_CXX) -mexec-model=reactor -s -Wl,--gc-sections -o $@ $^

# The kernels for GPUs, as a browser takes them.
GPU_JSON := build/web/gpu.json
$(GPU_JSON): $(STAMP) $(wildcard shaders/*/* pairhmm/backends/webgpu/*.py)
	@mkdir -p $(@D)
	$(BIN)/python -m pairhmm.backends.webgpu.browser $@

# The options, constants and header lines that the page shares with the package, as the page's programs import them.
PARAMETERS := web/src/models/parameters.js
$(PARAMETERS): $(STAMP) $(wildcard pairhmm/models/*.py pairhmm/models/presets/* pairhmm/calling/*.py pairhmm/sequences/*.py \
	pairhmm/likelihoods/table.py pairhmm/variants/*.py)
	$(BIN)/python -m pairhmm.calling.web_parameters $@

# Packages of web/, at the versions of its lock file. Node and npm are the system's (apt install nodejs npm).
NODE_MODULES := web/node_modules/.package-lock.json
$(NODE_MODULES): web/package-lock.json
	@command -v npm >/dev/null || { echo "Node and npm are needed: apt install nodejs npm"; exit 1; }
	@cd web && npm ci --silent
	@touch $@

# The module pairhmm-web, for `npm pack`.
web-module: web/dist
web/dist: $(NODE_MODULES) $(WASM) $(GPU_JSON) $(PARAMETERS) web/build.mjs $(wildcard web/src/*.js web/src/*/*.js)
	@cd web && node build.mjs
	@touch $@

# The page that `pairhmm page` copies, in pairhmm/web_page/.
page: web-module
	@cd web && node build_page.mjs

bench: $(STAMP)
	$(BIN)/pairhmm bench forward --lengths 100,1000,10000

wheel: $(STAMP)
	$(BIN)/pip wheel --quiet --no-deps -w dist .

$(PIP):
	@$(PYTHON) -m venv $(VENV) || { echo "python's venv is needed: apt install python3-venv"; exit 1; }

$(BUILT): $(SOURCES) | $(PIP)
	@command -v c++ >/dev/null || { echo "a C++ compiler is needed: apt install g++"; exit 1; }
	@echo "installing into $(VENV)"
	@$(PIP) install --quiet --no-compile -e '.[workflow]'
	@touch $(BUILT)

# By itself and at once, so that our C++ becomes WebAssembly while all else is installed.
$(ZIG): pyproject.toml | $(PIP)
	@$(PIP) install --quiet --no-compile $(shell grep -o 'ziglang==[0-9.]*' pyproject.toml)
	@touch $(ZIG)

$(STAMP): $(BUILT) $(ZIG)
	@$(PIP) install --quiet --no-compile 'pairhmm[$(EXTRAS)]'
	@touch $(STAMP)

# The compiled part with AddressSanitizer and UBSan, in an environment of its own.
$(FUZZ_STAMP): $(SOURCES)
	@command -v g++ >/dev/null || { echo "g++ and its sanitizers are needed: apt install g++"; exit 1; }
	@echo "installing into .venv-fuzz"
	@$(PYTHON) -m venv .venv-fuzz || { echo "python's venv is needed: apt install python3-venv"; exit 1; }
	@CXX=g++ $(FUZZ_BIN)/pip install --quiet --no-compile -e '.[parquet,signal]' -C cmake.define.PAIRHMM_SANITIZE=ON -C install.strip=false \
		-C 'build-dir=build/sanitized-{wheel_tag}'
	@touch $(FUZZ_STAMP)

clean:
	rm -rf $(VENV) .venv-fuzz build dist demo pairhmm/web_page web/dist $(PARAMETERS) web/node_modules .hypothesis .mypy_cache .pytest_cache .ruff_cache
