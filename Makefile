# The commands of a day's work. They use the active environment: see CONTRIBUTING.md.
PYTHON ?= python
export PYTHON

.PHONY: check lint test soak engines bench picture

check: lint test  ## all that a change has to pass

lint:  ## style, types, imports
	.ci/lint

test:
	$(PYTHON) -m pytest

soak:  ## long tests, and every property with many more examples
	$(PYTHON) -m pytest -m soak --hypothesis-profile=soak --timeout=3600

engines:  ## the tests with kernels, without Numba, and with kernels that are not compiled
	$(PYTHON) -m pytest
	PYTHONPATH=$(CURDIR)/tests/support/without_numba $(PYTHON) -m pytest
	NUMBA_DISABLE_JIT=1 $(PYTHON) -m pytest

bench:  ## make bench CORPUS="novel.txt library.txt": docs/performance.md
	$(PYTHON) benchmarks/run.py $(CORPUS)

picture:  ## the picture of the README, drawn anew
	$(PYTHON) benchmarks/picture.py docs/explorer.svg
