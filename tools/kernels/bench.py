"""Times each kernel beside its peers, checks all of them against NumPy, and writes a table.

The peers of a kernel run in turns, call by call, on one core, so that what disturbs one disturbs all; of each the
fastest call counts. Before anything is timed, every implementation has run once on inputs whose padding is NaN (0xA5 in
integers), and its output, which was filled with the same, is compared in memory order: the elements must be right, and
padding and surroundings as they were.

usage: bench.py [--write TABLE] [NAME,NAME...]     kernels with NAME in their names; all without
"""

import os

# NumPy's BLAS reads these when it is loaded.
for _library in ("OPENBLAS", "OMP", "MKL", "BLIS"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

import build
import tiles
from programs import DTYPES, KERNELS

# What padding and outputs are filled with: NaNs that no computation makes.
SENTINEL = {"f32": np.uint32(0x7FC5A5A5), "bf16": np.uint16(0x7FE5), "i8": np.uint8(0xA5)}

# Calls of each implementation, and how long a kernel may go on beyond them.
ROUNDS = 25
SECONDS = float(os.environ.get("KERNEL_SECONDS", "3"))
# An implementation that takes longer than this, in seconds, is called a few times only.
SLOW, SLOW_ROUNDS = 0.1, 3

FORMS = ["strided", "physical"]
PEERS = ["NumPy", "row-major", "row-major loops", "normalize-memrefs"]


class Wrong(Exception):
    """A result is not what NumPy has."""


def bits(elements, dtype):
    return elements.view(SENTINEL[dtype].dtype)


class Data:
    """The buffers of a kernel: inputs and output in its layouts, and row-major ones, which may be the same."""

    def __init__(self, kernel, random):
        self.kernel = kernel
        *inputs, output = kernel.operands
        self.arrays = kernel.data(random)
        expected = np.asarray(kernel.expected(*self.arrays), DTYPES[output.dtype])
        self.inputs, self.outputs, self.expected, self.is_padding = {}, {}, {}, {}
        for plain in (False, True):
            for i, (operand, array) in enumerate(zip(inputs, self.arrays)):
                key = i, None if plain else operand.layout
                if key not in self.inputs:
                    self.inputs[key] = build.Buffer(self.packed(operand, array, key[1]).view(DTYPES[operand.dtype]))
            layout = None if plain else output.layout
            if layout not in self.outputs:
                self.expected[layout] = self.packed(output, expected, layout)
                self.is_padding[layout] = ~tiles.pack(np.ones(output.shape, bool), layout, False)
                self.outputs[layout] = build.Buffer(np.empty_like(self.expected[layout]).view(DTYPES[output.dtype]))
        self.sums = {key: zlib.crc32(buffer.elements.view(np.uint8)) for key, buffer in self.inputs.items()}

    def packed(self, operand, array, layout):
        return tiles.pack(bits(np.ascontiguousarray(array), operand.dtype), layout, SENTINEL[operand.dtype])

    def buffers(self, plain):
        """Elements in memory order, the output last."""
        *inputs, output = self.kernel.operands
        found = [self.inputs[i, None if plain else o.layout] for i, o in enumerate(inputs)]
        return [b.elements for b in [*found, self.outputs[None if plain else output.layout]]]

    def check(self, call, plain):
        """Calls, and compares what there is then."""
        output = self.kernel.operands[-1]
        layout = None if plain else output.layout
        buffer = self.outputs[layout]
        got, expected, padding = bits(buffer.elements, output.dtype), self.expected[layout], self.is_padding[layout]
        got[:] = SENTINEL[output.dtype]
        call()
        differs = got != expected
        if not self.kernel.moves() and differs.any():
            # Zeros of both signs are equal, and so is what is near enough; NaN is not.
            a, b = (x.view(DTYPES[output.dtype]).astype(np.float64) for x in (got, expected))
            differs &= padding | ~(np.abs(a - b) <= self.kernel.tolerance * np.abs(b))
        if differs.any():
            elements, places = np.count_nonzero(differs & ~padding), np.count_nonzero(differs & padding)
            raise Wrong(f"{elements} elements are wrong and {places} places of padding written to, "
                        f"the first at {differs.argmax()}")  # fmt: skip
        if not all(b.room_is_untouched() for b in [*self.inputs.values(), *self.outputs.values()]):
            raise Wrong("written outside of a buffer")

    def check_inputs(self):
        for key, buffer in self.inputs.items():
            if zlib.crc32(buffer.elements.view(np.uint8)) != self.sums[key]:
                raise Wrong(f"input {key[0]} was written to")

    def total_bytes(self):
        return sum(b.elements.nbytes for b in [*self.inputs.values(), *self.outputs.values()])


def numpy_call(kernel, data):
    """NumPy's way, and whether it is on the row-major buffers."""
    if kernel.numpy:
        shaped = [b.reshape(o.shape) for b, o in zip(data.buffers(plain=True), kernel.operands)]
        return kernel.numpy(*shaped), True
    source, target = kernel.operands
    pairs = tiles.moves(source.shape, data.buffers(False)[0], source.layout, data.buffers(False)[1], target.layout)

    def call():
        for to, of in pairs:
            np.copyto(to, of, casting="unsafe")

    return call, False


def memcpy_call(kernel, data):
    copy = ctypes.CDLL(None).memcpy
    copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    source, target = (build.Buffer(np.ones(kernel.bytes(), np.uint8)) for _ in range(2))
    return lambda keep=(source, target): copy(target.elements.ctypes.data, source.elements.ctypes.data, kernel.bytes())


def time_all(calls, warm):
    """The shortest time of each, in seconds; `warm` calls each once before the call that is timed."""
    best = dict.fromkeys(calls, float("inf"))
    start = time.perf_counter()
    rounds = 0
    while rounds < ROUNDS or time.perf_counter() - start < SECONDS:
        for name, call in calls.items():
            if best[name] > SLOW and rounds >= SLOW_ROUNDS and best[name] != float("inf"):
                continue
            if warm and best[name] < SLOW:
                call()
            before = time.perf_counter_ns()
            call()
            best[name] = min(best[name], (time.perf_counter_ns() - before) * 1e-9)
        rounds += 1
        if all(t > SLOW for t in best.values()) and rounds >= SLOW_ROUNDS:
            break
    return best


class Report:
    """What came of a kernel."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.times, self.problems = {}, []

    def problem(self, name, error):
        self.problems.append(name)
        print(f"bench-kernels: {self.kernel.name}, {name}: {error}", file=sys.stderr)


def bench(kernel, builder, cache, random):
    report = Report(kernel)
    data = Data(kernel, random)
    ways = {form: (lambda form=form: builder.tiled(kernel.text(), form), False) for form in FORMS}
    ways["row-major"] = lambda: builder.tiled(kernel.text(plain=True), "strided"), True
    ways["row-major loops"] = lambda: builder.stock(kernel.text(plain=True, plain_order=True)), True
    ways["normalize-memrefs"] = lambda: builder.stock(kernel.text(plain_order=True)), False
    calls = {}
    for name, (make, plain) in ways.items():
        try:
            calls[name] = make().on(data.buffers(plain))
            data.check(calls[name], plain)
        except (build.Failure, Wrong) as error:
            calls.pop(name, None)
            report.problem(name, error)
    calls["NumPy"], plain = numpy_call(kernel, data)
    data.check(calls["NumPy"], plain)
    if kernel.unit == "memcpy":
        calls["memcpy"] = memcpy_call(kernel, data)
    report.times = time_all(calls, warm=data.total_bytes() <= cache)
    try:
        data.check_inputs()
    except Wrong as error:
        report.problem("strided or physical", error)
    return report


def figures(report):
    """The times in the kernel's unit, and what that unit is taken from, in seconds."""
    kernel, times = report.kernel, report.times
    if kernel.unit == "GFLOP/s":
        return {name: kernel.flops / t * 1e-9 for name, t in times.items()}, None
    bases = {"memcpy": ["memcpy"], "row-major": ["row-major", "row-major loops"]}[kernel.unit]
    base = min((times[name] for name in bases if name in times), default=None)
    return {name: t / base for name, t in times.items()} if base else {}, base


def goal(report, reports):
    """The goal as text, and whether both forms reach it."""
    kernel, (got, _) = report.kernel, figures(report)
    ours = [got.get(form) for form in FORMS]
    if kernel.unit != "GFLOP/s":
        return f"≤ {kernel.goal}", all(x is not None and x <= kernel.goal for x in ours)
    least, text = [], []
    if kernel.goal:
        least.append(kernel.goal)
        text.append(f"≥ {kernel.goal}")
    if kernel.of_numpy:
        least.append(kernel.of_numpy * got["NumPy"])
        text.append(f"≥ {kernel.of_numpy} of NumPy")
    if kernel.of_kernel:
        other = [r for r in reports if r.kernel.name == kernel.of_kernel]
        text.append(f"≥ {kernel.of_kernel}")
        if not other:
            return text[0], None
        least.append(min(figures(other[0])[0].get(form, float("inf")) for form in FORMS))
    return " and ".join(text), all(x is not None and x >= max(least) for x in ours)


COLUMNS = ["kernel", "operands", "strided ms", "physical ms", "unit", *FORMS, *PEERS, "goal", "reached"]


def row(report, reports):
    kernel, (got, base) = report.kernel, figures(report)
    digits = 1 if kernel.unit == "GFLOP/s" else 2
    unit = {"memcpy": "÷ memcpy", "row-major": "÷ row-major"}.get(kernel.unit, kernel.unit)
    if base:
        unit += f", {base * 1e3:.2f} ms"
    figure = {name: f"{got[name]:.{digits}f}" if name in got else "failed" for name in FORMS + PEERS}
    ms = [f"{report.times[form] * 1e3:.2f}" if form in report.times else "failed" for form in FORMS]
    text, reached = goal(report, reports)
    operands = " × ".join(str(o) for o in kernel.operands[:-1]) + f" → {kernel.operands[-1]}"
    return [kernel.name, f"`{operands}`", *ms, unit, *figure.values(), text, {True: "yes", False: "no", None: "?"}[reached]]


def compile_row(builder):
    """How long layout-opt takes for the attention block of the examples."""
    times = {}
    for form in FORMS * 7:
        before = time.perf_counter()
        build.run([builder.tool, "examples/attention.mlir", builder.pipeline(form), "-o", os.devnull])
        times[form] = min(times.get(form, float("inf")), time.perf_counter() - before)
    cells = dict.fromkeys(COLUMNS, "")
    cells |= {"kernel": "compile-attention", "operands": "`examples/attention.mlir`, all of layout-opt", "unit": "s"}
    cells |= {f"{form} ms": f"{t * 1e3:.0f}" for form, t in times.items()} | {form: f"{t:.2f}" for form, t in times.items()}
    cells |= {"goal": "≤ 0.5", "reached": "yes" if max(times.values()) <= 0.5 else "no"}
    return list(cells.values())


def caches():
    """(level, type, bytes) of each cache of the first core."""
    found = []
    for folder in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        found.append((int(level), kind, int(size.rstrip("KM")) * (2**20 if size.endswith("M") else 2**10)))
    return found


def cpu(field):
    """A line of /proc/cpuinfo, such as `model name`."""
    found = re.search(rf"^{field}\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else ""


def default_options(tool, last_cache):
    """The options for this machine, of those that the pipeline has."""
    listed = re.search(r"^ *--layout-to-llvm .*\n((?:        --.*\n|    =.*\n)*)", build.run([tool, "--help"]), re.MULTILINE)
    flags = cpu("flags").split()
    vectors = "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else "neon"
    wanted = {"vectorize": vectors, "reassociate": "true", "contract": "true", "cache-bytes": last_cache, "parallel": "none"}
    return " ".join(f"{name}={value}" for name, value in wanted.items() if re.search(rf"--{name}\b", listed[1]))


def machine(builder, cached):
    version = lambda command: subprocess.run([command, "--version"], capture_output=True, text=True).stdout.splitlines()
    sizes = ", ".join(f"L{level} {kind.lower() + ' ' if kind != 'Unified' else ''}{size // 1024} KiB"
                      for level, kind, size in cached if kind != "Instruction")  # fmt: skip
    return [
        f"- machine: {cpu('model name') or os.uname().machine}, {sizes}; 1 thread on 1 core",
        f"- clang: {version(builder.clang)[0]}, `{' '.join(builder.flags)}`",
        f"- NumPy {np.__version__}, Python {sys.version.split()[0]}",
        f"- options: `{builder.pipeline('FORM')}`",
    ]


INTRODUCTION = """\
# Kernels beside their peers

Made by `make bench-kernels`. Each kernel and its peers ran in turns on one core, and the fastest call of each counts. All
results were checked against NumPy, with NaN in the padding. `strided` and `physical` are the two forms of lowering.

- ÷ memcpy: time over that of memcpy of the same bytes (the mean of input and output where they differ); small is good.
- ÷ row-major: time over that of the faster of the two row-major programs; small is good.
- NumPy: the same thing on one thread; relayouts as strided copies between the same buffers.
- row-major: the same program with all operands row-major and with the same options.
- row-major loops: that with upstream's loops, and normalize-memrefs: the tiled program with upstream's loops. Columns
  innermost in products.
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="?", default="", help="comma-separated parts of names")
    parser.add_argument("--write", metavar="TABLE", help="where the table goes, when all kernels ran")
    arguments = parser.parse_args()
    parts = [part for part in arguments.names.split(",") if part] or [""]
    chosen = [k for k in KERNELS if any(part in k.name for part in parts)]
    compiles = any(part in "compile-attention" for part in parts)
    if not chosen and not compiles:
        sys.exit(f"bench-kernels: no kernel has {arguments.names} in its name")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cached = caches()
    last_cache = max((size for _, _, size in cached), default=2**25)

    with tempfile.TemporaryDirectory() as folder:
        builder = build.Build(folder, "")
        options = os.environ.get("KERNEL_OPTIONS")
        builder.options = default_options(builder.tool, last_cache) if options is None else options
        head = machine(builder, cached)
        print("\n".join(head), flush=True)
        reports, rows = [], []
        for kernel in chosen:
            print(f"{kernel.name} ...", end="", file=sys.stderr, flush=True)
            reports.append(bench(kernel, builder, last_cache, np.random.default_rng(1)))
            rows.append(row(reports[-1], reports))
            print("\r", end="", file=sys.stderr, flush=True)
            print(" | ".join(rows[-1]), flush=True)
        if compiles:
            rows.append(compile_row(builder))
            print(" | ".join(rows[-1]), flush=True)

    widths = [max(len(line[i]) for line in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    lines = [COLUMNS, ["-" * width for width in widths], *rows]
    table = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    reached = sum(line[-1] == "yes" for line in rows)
    print("\n" + "\n".join(table) + f"\n\n{reached} of {len(rows)} goals reached")
    if arguments.write and parts == [""]:
        pathlib.Path(arguments.write).write_text(INTRODUCTION + "\n" + "\n".join(head + [""] + table) + "\n")
    if any(set(report.problems) & {*FORMS, "strided or physical"} for report in reports):
        sys.exit("bench-kernels: not all kernels were built, or gave what they must")


main()
