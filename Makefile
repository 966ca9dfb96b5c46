# The commands of a day's work. They use the active environment: see CONTRIBUTING.md.
PYTHON ?= python
export PYTHON

.PHONY: check lint test soak bench

check: lint test  ## all that a change has to pass

lint:  ## style, types, imports
	.ci/lint

test:
	$(PYTHON) -m pytest

soak:  ## long tests, and every property with many more examples
	$(PYTHON) -m pytest -m soak --hypothesis-profile=soak --timeout=3600

bench:  ## make bench CORPUS=novel.txt
	$(PYTHON) benchmarks/train.py $(CORPUS)
