# make test            everything, and a sample of the longest tests (all of them: make test-long)
# make quick           the tests nearest to what changed; COMMIT=main: to what differs from there
# make demo            the main job on real input
# make bench           the measurements in Rust; those below run tools/bench
# make bench-kernels   lowered kernels beside their peers; KERNELS=matmul,row: those with such names
# make bench-import    whole programs of JAX, imported, lowered and run; PROGRAMS=llama: those with such names
# make bench-programs  their speed beside XLA's, on one core, and in planned layouts
# make bench-plan      plans of the programs in the folder PROGRAMS=; bench-memory: within less memory; bench-arenas:
#                      arenas beside what is live at once; bench-schedule: orders of least memory
# make bench-solver    the solver beside HiGHS on the folder PROBLEMS=
# make bench-devices   plans over 8 to 4096 devices
# make bench-verify    the time of verification beside that of lowering
# make bench-processes programs in one process and in two, and the bytes that these send
# make wheel           the Python package, into target/wheels; test-python: its tests, in make test too
# make web             the page for the browser, into target/web; test-web: tries it beside layout-inspect, in make test too
# make test-tpu        what reports advise beside XLA:TPU, ahead of time and without a device
# make test-jax        models beside JAX, in make test too where JAX can be installed
# make fuzz            every check of fuzz/ under libFuzzer; MINUTES=60 for all together, FUZZ="map 600" for one, and its seconds
# make random          a million random maps and layouts, and 100,000 programs; RANDOM_CASES="programs 1000" for others
# make package         two Debian packages, tried
# make release         all files of a release, tried, with checksums, into target/release-files;
#                      PARTS="wheel crates": only those
# make lint-python     the tables of benches beside their results, and ruff and mypy over tools/bench where they are installed
# make deny            licences and advisories of all crates, where cargo-deny is installed

# LLVM is where the environment says, or `llvm-config-22` on the PATH, or .cargo/config.toml.
$(foreach variable,$(shell tools/llvm.sh variables),$(eval export $(variable)))

CLANG_FORMAT = $(shell tools/llvm.sh)/bin/clang-format
CPP = $(wildcard $(foreach folder,dialect passes tools/opt tools/embed layout-c examples/embed-cpp examples/first-cpp test/embed test/embed/static, \
  $(addprefix $(folder)/*.,c cpp h)))

.PHONY: all setup quick lint environments test test-long test-all test-jax test-python test-tpu test-web web wheel deny demo bench bench-kernels bench-import bench-programs bench-plan bench-memory bench-devices bench-arenas bench-schedule bench-solver bench-verify bench-processes lint-python fuzz random package release
all: test

setup:
	@tools/setup.sh

# All that tests lower is verified. Of the long tests, `make test` runs one in twelve by the number of the day, so that
# twelve days run all, and `make test-long` everything: see test/long.md.
SAMPLE := $(shell echo $$(($$(date +%s) / 86400)))/12
test test-long: export LAYOUT_VERIFY = 1
test: export LAYOUT_SAMPLE = $(SAMPLE)
test-long: test-all
test: test-all
test-all: setup
	@echo "long tests: LAYOUT_SAMPLE=$${LAYOUT_SAMPLE:-0/1}, a seed and a share; all of them: make test-long"
	@$(MAKE) --no-print-directory environments & $(MAKE) --no-print-directory lint && wait
	jax=$$(tools/test-jax.sh --if-reachable) && web=$$(tools/web.sh --if-reachable) && \
	  env $${jax:+LAYOUT_JAX="$$jax"} $${web:+LAYOUT_WEB="$$web"} cargo test --workspace --no-fail-fast
	@tools/deny.sh --if-installed
	@$(MAKE) --no-print-directory lint-python
	@tools/test-python.sh --if-reachable

# The library that only lowers is built nowhere else.
lint:
	cargo fmt --all --check
	$(CLANG_FORMAT) --dry-run -Werror $(CPP)
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy --package layout-embed --no-default-features --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# PyPI answers, and the page for the browser is built, while Clippy runs.
environments:
	-@tools/python.sh target/jax tools/test-jax.txt
	-@tools/python.sh target/python tools/test-python.txt
	-@tools/web.sh --if-reachable >/dev/null

quick: setup
	@tools/quick.sh $(COMMIT)

deny:
	@tools/deny.sh

test-jax: setup
	LAYOUT_JAX=$$(tools/test-jax.sh) cargo test --workspace --test models

wheel: setup
	@tools/test-python.sh --wheel

test-python:
	@tools/test-python.sh

test-tpu: test-python
	@tools/test-tpu.sh

web:
	@tools/web.sh

test-web: setup
	web=$$(tools/web.sh --if-reachable) && $${web:+env LAYOUT_WEB="$$web"} cargo test --package layout-inspect --test inspect web

demo: setup
	@tools/demo.sh

package: setup
	@tools/package.sh

release: setup
	@tools/release.sh $(PARTS)

bench: setup
	cargo bench --workspace

fuzz: setup
	@tools/fuzz.sh $(FUZZ) $(if $(MINUTES),minutes $(MINUTES))

random: setup
	@tools/random.sh $(RANDOM_CASES)

bench-kernels: setup
	@tools/bench.sh kernels $(KERNELS)

bench-import: setup
	@tools/bench.sh import $(PROGRAMS)

bench-programs: setup
	@tools/bench.sh speed $(PROGRAMS)
	@tools/bench.sh cpu $(PROGRAMS)

bench-solver: setup
	@tools/bench.sh solver $(PROBLEMS)

bench-plan: setup
	@tools/bench.sh plan $(PROGRAMS)

bench-memory: setup
	@tools/bench.sh memory $(PROGRAMS)

bench-devices: setup
	@tools/bench.sh devices

bench-arenas: setup
	@tools/bench.sh arenas $(PROGRAMS)

bench-schedule: setup
	@tools/bench.sh schedule $(PROGRAMS)

bench-verify: setup
	@tools/bench.sh verify

bench-processes: setup
	@tools/bench.sh processes

lint-python:
	@PYTHONPATH=tools python3 -B -m bench pages --check
	@if command -v ruff >/dev/null && command -v mypy >/dev/null; then \
	  cd tools && ruff check bench && mypy --config-file bench/pyproject.toml --package bench; \
	else echo "lint-python: ruff and mypy are not installed; tools/bench is not checked" >&2; fi
