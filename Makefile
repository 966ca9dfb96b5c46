# The commands of a day's work. They use the active environment: see CONTRIBUTING.md.
PYTHON ?= python
export PYTHON

.PHONY: check lint test test-random test-alone test-all soak engines kernels kernels-check kernels-arm64 kernels-local unicode bench pictures pages pages-check docs release-check

check: lint test  ## everything that a change has to pass

lint:  ## style, types, imports, generated pages
	.ci/lint

test:
	$(PYTHON) -m pytest

test-random:  ## in a random order: make test-random SEED=7
	TOKENTUI_ORDER=$(or $(SEED),$(shell date +%s)) $(PYTHON) -m pytest

test-alone:  ## each test of the first run in a fork of its own
	$(PYTHON) -m pytest -n 0 -p alone

test-all:  ## the tests marked slow as well
	$(PYTHON) -m pytest -m 'not soak'

soak:  ## long tests, and every property with many more examples
	$(PYTHON) -m pytest -m soak --hypothesis-profile=soak --timeout=3600

engines:  ## the tests with compiled kernels, with plain Python, and with Numba in the process
	$(PYTHON) -m pytest
	TOKENTUI_KERNELS=off $(PYTHON) -m pytest
	_TOKENTUI_TEST_KERNELS=numba $(PYTHON) -m pytest

kernels:  ## compile the kernels, with the tools in tokentui/core/toolchain.lock
	$(PYTHON) -m tokentui.building

kernels-check:  ## compile the kernels in a temporary folder, and compare bytes
	$(PYTHON) -m tokentui.building --check

kernels-arm64:  ## record calls of kernels here, and replay them through the library for Linux, arm64, under QEMU
	$(PYTHON) tests/support/replay.py

kernels-local:  ## compile the kernels for this system alone, with any Numba and a C compiler: CC=clang
	$(PYTHON) -m tokentui.building --local "$(CC)"

unicode:  ## write tokentui/text/unicode.json: the characters that versions of Unicode treat differently
	$(PYTHON) .ci/unicode_tables.py

bench:  ## make bench CORPUS="novel.txt library.txt": docs/performance.md
	$(PYTHON) benchmarks/run.py $(CORPUS)

pictures:  ## the pictures of the documents, drawn by the running program
	$(PYTHON) docs/scripts/pictures.py
	$(PYTHON) docs/scripts/film.py

pages-check:  ## compare the generated pages with the program; part of make lint
	$(PYTHON) docs/scripts/reference.py --check
	$(PYTHON) docs/scripts/commands.py --check
	$(PYTHON) docs/scripts/errors.py --check

pages:  ## the generated pages, and the output of commands in the others
	$(PYTHON) docs/scripts/reference.py
	$(PYTHON) docs/scripts/commands.py
	$(PYTHON) docs/scripts/errors.py
	$(PYTHON) docs/scripts/howto.py

docs:  ## the site of the documents, in build/site; needs the extra docs
	.ci/docs

release-check:  ## everything that a release has to pass; RELEASE=1 also requires a dated changelog entry
	$(PYTHON) .ci/release.py
