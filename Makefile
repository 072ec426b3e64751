# Everything a newcomer types: `make demo` to see it work, `make fast` while working, `make test` to check it all.
# Paths are relative, so the folder may have a space in its name.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

# Tests start the command more than a hundred times: compiling the package anew for each costs minutes.
export PYTHONDONTWRITEBYTECODE :=

# Runs a command and prints it with what it said when it has ended, so that commands side by side do not mix their lines.
whole = @said=$$({ $(1); } 2>&1); code=$$?; printf '%s\n' '$(1)' "$$said"; exit $$code

.PHONY: env demo test fast unit parity parity2 parity4 torture format lint types docs notebooks displays site package leaderboard clean

# The environment alone; then: source .venv/bin/activate
env: .venv/ready

demo: .venv/ready
	$(BIN)/carrylens trace 555555555+444444448
	$(BIN)/carrylens trace 325-329
	$(BIN)/carrylens ask mix_d6_l3_h4_w96_t4K_s1 555555+444448 000325-000329
	$(BIN)/carrylens explain add_d6_l2_h3_w96_t2K_s1 --quick --out out/demo

# One process for each of two cores; each test runs on one thread.
PYTEST := $(BIN)/python -m pytest -q --numprocesses 2 --dist worksteal

# Checks of one process run side by side; then the tests have both cores.
test: .venv/ready
	@$(MAKE) --no-print-directory --jobs 2 lint types parity
	@$(MAKE) --no-print-directory unit

# Everything but `tests/parity`, `tests/parity4` and what is marked slow.
fast: .venv/ready
	@$(MAKE) --no-print-directory --jobs 2 lint types
	$(PYTEST) -m "not slow"

unit: .venv/ready
	$(PYTEST)

# The same weights must give the same activations in TransformerLens 2.x, and the same logits in 4.x; each needs versions
# of its own.
parity: parity2 parity4

parity2: .venv-parity/ready
	$(call whole,.venv-parity/bin/python -m pytest -q tests/parity)

parity4: .venv-parity4/ready
	$(call whole,PYTHONPATH=src .venv-parity4/bin/python -m pytest -q tests/parity4)

# Kills, malformed inputs and damaged files by the thousand, in at most an hour; the tests have a few of each.
torture: .venv/ready
	PYTHONPATH=tests $(BIN)/python -m torture.campaign --minutes 50

format: .venv/ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/ready
	$(call whole,$(BIN)/ruff format --check . && $(BIN)/ruff check .)

types: .venv/ready
	$(call whole,$(BIN)/mypy)

docs: .venv/ready
	$(BIN)/typer carrylens.cli utils docs --name carrylens --output docs/cli.md
	$(BIN)/carrylens frequencies --questions 1000000 --markdown > docs/frequencies.md
	$(BIN)/carrylens trace 555555555+444444448 --svg docs/trace.svg
	$(BIN)/carrylens models --markdown > docs/models.md
	$(BIN)/carrylens models --aligned --markdown > docs/aligned_models.md
	$(BIN)/carrylens family --shipped --markdown --svg docs/family.svg --csv docs/family.csv > docs/family.md
	$(BIN)/carrylens paper --markdown > docs/paper.md
	$(BIN)/carrylens losses --svg docs/losses.svg
	$(BIN)/carrylens losses mix_d6_l3_h4_w96_t4K_s1 --svg docs/losses_by_digit.svg
	$(BIN)/python -c "from carrylens.report.api_page import api_page; print(api_page(), end='')" > docs/api.md
	rm -rf out/planted && $(BIN)/carrylens plant mix --digits 3 --decoys 1 --out out/planted --svg docs/planted.svg

# Runs the scripts in notebooks/ and writes the notebooks beside them, with their outputs.
notebooks: .venv/ready
	PYTHONPATH=tests $(BIN)/python -m notebook_files

# Pictures of what a notebook draws, for docs/displays.md, drawn in chromium.
displays: .venv/ready
	PYTHONPATH=tests $(BIN)/python -m display_files

# The documents, the notebooks and the API as a site in build/site; a broken link fails.
site: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# The wheel and the source archive, each tried in an environment of its own, from another folder. The archive is made
# into a wheel first, as pip does with it. What they need they take from the first environment. Without PYTHONPATH, which
# would let pip and Python find the source tree instead of what was installed; the last line of `tried` checks that.
package: export PYTHONPATH :=
package: .venv/ready
	rm -rf build/dist build/from-source && $(BIN)/python -m build --outdir build/dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/from-source build/dist/*.tar.gz
	$(call tried,build/dist,build/tried)
	$(call tried,build/from-source,build/tried-source)

# Without a pip of its own: that would bring a setuptools that is older than what PyTorch asks for.
define tried
	"$(PYTHON)" -m venv --clear --without-pip $(2)
	$(BIN)/python -c "$(PACKAGES)" > "$$($(2)/bin/python -c "$(PACKAGES)")/shared.pth"
	$(BIN)/python -m pip --python $(2)/bin/python install --quiet --no-deps $(1)/*.whl
	$(BIN)/python -m pip --python $(2)/bin/python check
	cd $(2) && bin/carrylens --version && bin/carrylens ask add_d6_l2_h3_w96_t2K_s1 555555+444448
	cd $(2) && bin/carrylens judge add_d6_l2_h3_w96_t2K_s1 --out claims.json > /dev/null || test $$? -eq 1
	cd $(2) && bin/carrylens explore add_d6_l2_h3_w96_t2K_s1 --out explore.html
	cd $(2) && bin/python -c "import carrylens, sys; sys.exit(not carrylens.__file__.startswith(sys.prefix))"
endef

# Every method on every suite: hours, and it goes on where it was stopped. `--quick` takes minutes.
leaderboard: .venv/ready
	$(BIN)/carrylens benchmark --out out/benchmark --leaderboard docs

# The file `ready` is touched last, so an interrupted set-up starts again.
.venv/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "carrylens needs Python 3.11 or newer. Install it, or write: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	@test ! -L .venv || { echo ".venv is a link to an environment that others may use, so it is not made anew. Remove the link, or write: make -o .venv/ready $(MAKECMDGOALS)"; exit 2; }
	"$(PYTHON)" -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0 --editable ".[dev]"
	touch .venv/ready

# What it needs in the same version, PyTorch above all, it takes from the first environment; pip adds the rest.
.venv-parity/ready: .venv/ready parity-constraints.txt
	"$(PYTHON)" -m venv --clear .venv-parity
	$(BIN)/python -c "$(PACKAGES)" > "$$(.venv-parity/bin/python -c "$(PACKAGES)")/shared.pth"
	.venv-parity/bin/python -m pip install --quiet --no-warn-conflicts --constraint parity-constraints.txt \
		torch==2.13.0 --editable . transformer-lens pytest
	touch .venv-parity/ready

# The same for 4.x, whose own list of requirements is longer than what it imports: pip is given just what it needs.
.venv-parity4/ready: .venv/ready parity4-constraints.txt
	"$(PYTHON)" -m venv --clear .venv-parity4
	$(BIN)/python -c "$(PACKAGES)" > "$$(.venv-parity4/bin/python -c "$(PACKAGES)")/shared.pth"
	.venv-parity4/bin/python -m pip install --quiet --no-deps --no-warn-conflicts --requirement parity4-constraints.txt
	touch .venv-parity4/ready
PACKAGES := import sysconfig; print(sysconfig.get_path('purelib'))

clean:
	rm -rf .venv .venv-* build out .pytest_cache .mypy_cache .ruff_cache .hypothesis
