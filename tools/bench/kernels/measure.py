"""Times each kernel beside its peers, and checks all of them against NumPy.

The peers of a kernel run in turns, call by call, on one core, so that a disturbance affects all of them. Before that,
each runs once and its result is compared. In the environment: KERNEL_OPTIONS, the options of `--layout-to-llvm` beside
`form`; KERNEL_FLAGS, clang's; KERNEL_SECONDS, how long a kernel goes on.
"""

import argparse
import ctypes
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench import machine
from bench.kernels import open_sizes, padding, tiles
from bench.kernels.build import Build, Function
from bench.kernels.check import Buffer, Data, Wrong
from bench.kernels.page import FORMS, KERNELS_TABLE, PEERS, goals, page
from bench.kernels.programs import KERNELS, Kernel, small
from bench.library import CLANG, FLAGS, OPTIONS
from bench.results import Page, Row
from bench.run import ROOT, TOOLS, Failed, run

Call = Callable[[], object]

# Calls of each implementation, and how long a kernel goes on after them, in seconds.
ROUNDS = 25
SECONDS = float(os.environ.get("KERNEL_SECONDS", "5"))
COMPILED = "compile-attention"


def most_rounds(seconds: float) -> float:
    """How many calls of an implementation that takes so long, at most: little disturbs a slow one."""
    return np.inf if seconds < 0.1 else max(1, int(1.5 / seconds))


def time_all(calls: dict[str, Call], warm: bool) -> dict[str, list[float]]:
    """The times of each, in seconds, round by round; `warm` calls each once before a call that is timed, but for
    the first."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    start, rounds = time.perf_counter(), 0
    names = list(calls)
    while names and (rounds < ROUNDS or time.perf_counter() - start < SECONDS):
        for name in names:
            if warm and times[name]:
                calls[name]()
            before = time.perf_counter_ns()
            calls[name]()
            times[name].append((time.perf_counter_ns() - before) * 1e-9)
        rounds += 1
        # To and fro, so that each comes now after one neighbour, now after the other.
        names = [name for name in reversed(names) if rounds < most_rounds(min(times[name]))]
    return times


def numpy_call(kernel: Kernel, data: Data) -> tuple[Call, bool]:
    """NumPy's way, and whether it is on the row-major buffers."""
    if kernel.numpy:
        buffers = zip(data.buffers(plain=True), kernel.operands, strict=True)
        return kernel.numpy(*(b.reshape(o.shape) for b, o in buffers)), True
    (source, target), (x, y) = kernel.operands, data.buffers(plain=False)
    pairs = tiles.moves(source.shape, x, source.layout, y, target.layout)

    def call() -> None:
        for to, of in pairs:
            np.copyto(to, of, casting="unsafe")

    return call, False


def memcpy_call(size: int) -> tuple[Call, object]:
    """memcpy of so many bytes; also the two buffers, which have to live as long."""
    copy = ctypes.CDLL(None).memcpy
    copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    source, target = (Buffer(np.ones(size, np.uint8)) for _ in range(2))
    to, of = target.elements.ctypes.data, source.elements.ctypes.data
    return lambda: copy(to, of, size), (source, target)


class Report:
    """The times of each implementation of a kernel, in seconds, one for each round, and which failed."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.times: dict[str, list[float]] = {}
        self.problems: set[str] = set()

    def problem(self, name: str, error: Failed) -> None:
        self.problems.add(name)
        print(f"kernels: {self.kernel.name}, {name}: {error}", file=sys.stderr)

    def best(self, name: str) -> float:
        return min(self.times.get(name, [np.inf]))

    def over(self, name: str, base: str) -> float:
        """The median of one's time over another's in the same round, of the half of the rounds in which the other was
        fastest: where others use the machine too, those that they disturbed least. A slow implementation is in the
        first rounds only."""
        pairs = sorted(zip(self.times[base], self.times[name], strict=False))
        return statistics.median(b / a for a, b in pairs[: -(-len(pairs) // 2)])

    def base(self) -> str | None:
        """What the kernel's unit is a multiple of; none for GFLOP/s."""
        names = {"memcpy": ["memcpy"], "row-major": ["row-major", "row-major loops"]}.get(self.kernel.unit)
        return min(names, key=self.best) if names else None

    def figures(self) -> dict[str, float]:
        """The times in the kernel's unit."""
        base = self.base()
        if base is None:
            return {name: self.kernel.flops / self.best(name) * 1e-9 for name in self.times}
        return {name: self.over(name, base) for name in self.times} if base in self.times else {}

    def goal(self, reports: Sequence["Report"]) -> tuple[str, bool | None]:
        """The goal as text, and whether both forms reach it; none where the other kernel did not run."""
        kernel, got, goal = self.kernel, self.figures(), self.kernel.goal or 1
        if kernel.unit != "GFLOP/s":
            return f"≤ {kernel.goal}", all(got.get(form, np.inf) <= goal for form in FORMS)
        if kernel.of_kernel:
            other = next((r.figures() for r in reports if r.kernel.name == kernel.of_kernel), None)
            text = f"≥ {f'{kernel.goal} of ' if kernel.goal else ''}{kernel.of_kernel}"
            return text, all(got.get(form, 0) >= goal * other.get(form, np.inf) for form in FORMS) if other else None
        text = f"≥ {kernel.goal}" + (f" and ≥ {kernel.of_numpy} of NumPy" if kernel.of_numpy else "")
        fast = all(got.get(form, 0) >= goal for form in FORMS)
        return text, fast and all(self.over("NumPy", form) >= kernel.of_numpy for form in FORMS)

    def row(self, reports: Sequence["Report"]) -> Row:
        """The row of the kernel, of text: its digits are those of its unit."""
        kernel, got, base = self.kernel, self.figures(), self.base()
        digits = 1 if kernel.unit == "GFLOP/s" else 2
        unit = f"÷ {kernel.unit}, {self.best(base) * 1e3:.2f} ms" if base else kernel.unit
        ms = [f"{self.best(form) * 1e3:.2f}" if form in self.times else "failed" for form in FORMS]
        figures = [f"{got[name]:.{digits}f}" if name in got else "failed" for name in FORMS + PEERS]
        operands = " × ".join(map(str, kernel.operands[:-1])) + f" → {kernel.operands[-1]}"
        text, reached = self.goal(reports)
        said = "?" if reached is None else "yes" if reached else "no"
        return [kernel.name, f"`{operands}`", *ms, unit, *figures, text, said]


def bench(kernel: Kernel, builder: Build) -> Report:
    """The times of a kernel and of its peers."""
    report = Report(kernel)
    data = Data(kernel, np.random.default_rng(1))
    tiled, plain = kernel.text(), kernel.text(plain=True)
    # How each is built, and whether it is on the row-major buffers.
    ways: dict[str, tuple[Callable[[str], Function], bool]] = {
        "strided": (lambda name: builder.tiled(name, tiled, "strided"), False),
        "physical": (lambda name: builder.tiled(name, tiled, "physical"), False),
        "row-major": (lambda name: builder.tiled(name, plain, "strided"), True),
        "row-major loops": (lambda name: builder.upstream(name, kernel.text(plain=True, upstream=True)), True),
        "normalize-memrefs": (lambda name: builder.upstream(name, kernel.text(upstream=True)), False),
    }
    calls: dict[str, Call] = {}
    for name, (make, on_plain) in ways.items():
        try:
            call = make(f"{kernel.name}.{name.replace(' ', '-')}").on(data.buffers(on_plain))
            data.check(call, on_plain)
            calls[name] = call
        except Failed as error:
            report.problem(name, error)
    calls["NumPy"], on_plain = numpy_call(kernel, data)
    data.check(calls["NumPy"], on_plain)
    if kernel.unit == "memcpy":
        calls["memcpy"], _buffers = memcpy_call(kernel.bytes())
    # What fits into the last cache is there: then the other implementations' buffers are in nobody's way.
    report.times = time_all(calls, warm=data.total_bytes() <= machine.last_cache())
    try:
        data.check_inputs()
    except Wrong as error:
        report.problem("inputs", error)
    return report


def compilation(builder: Build) -> Row:
    """How long layout-opt takes for the attention block of the examples, in each form."""
    text = (ROOT / "examples/attention.mlir").read_text()
    block = text[: text.index("func.func @attention_plain")]
    times = {
        form: min(run([TOOLS / "layout-opt", builder.pipeline(form), "-o", os.devnull], block).clock for _ in range(7))
        for form in FORMS
    }
    goal = 0.5
    ms, figures = [f"{times[form] * 1e3:.0f}" for form in FORMS], [f"{times[form]:.2f}" for form in FORMS]
    operands = "`@attention` of `examples/attention.mlir`, all of `layout-opt`"
    reached = "yes" if max(times.values()) <= goal else "no"
    return [COMPILED, operands, *ms, "s", *figures, *[""] * len(PEERS), f"≤ {goal}", reached]


def check_random(builder: Build, count: int, seed: int) -> int:
    """Checks small random kernels in both forms; the number of programs that are wrong."""
    wrong = 0
    for i in range(count):
        kernel = small(np.random.default_rng([seed, i]))
        data = Data(kernel, np.random.default_rng([seed, i]))
        for form in FORMS:
            try:
                call = builder.tiled(f"{seed}.{i}.{form}", kernel.text(), form).on(data.buffers(plain=False))
                data.check(call, plain=False)
                data.check_inputs()
            except Failed as error:
                wrong += 1
                print(f"kernels: random kernel {i}, {form}: {error}\n{kernel.text()}", file=sys.stderr)
    return wrong


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME,NAME...", nargs="?", default="", help="parts of names; then nothing is written")
    parser.add_argument("--random", metavar="COUNT", type=int, help="check small random kernels instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--open", action="store_true", help="time sizes known only at run time beside sizes in types")
    parser.add_argument("--padding", action="store_true", help="time incomplete tiles beside whole ones instead")


def main(options: argparse.Namespace) -> None:
    parts = [part for part in options.names.split(",") if part] or [""]
    kernels = [kernel for kernel in KERNELS if any(part in kernel.name for part in parts)]
    compiles = any(part in COMPILED for part in parts)
    if not kernels and not compiles and not options.padding:
        raise Failed(f"no kernel has {options.names} in its name")
    with tempfile.TemporaryDirectory() as folder:
        # From there on memcpy of glibc streams, too.
        default = f"{OPTIONS} cache-bytes={machine.last_cache() * 3 // 4} parallel=none"
        builder = Build(pathlib.Path(folder), os.environ.get("KERNEL_OPTIONS", default))
        if options.random and options.padding:
            wrong, widened = padding.check_random(builder, options.random, options.seed)
            print(f"{wrong} of {options.random} programs are wrong; {widened} go over whole tiles")
            sys.exit(wrong > 0)
        if options.random:
            wrong = check_random(builder, options.random, options.seed)
            print(f"{wrong} of {2 * options.random} programs are wrong")
            sys.exit(wrong > 0)
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        if options.padding:
            padding_table(builder, parts)
        elif options.open:
            shown = Page("kernels", [open_sizes.OPEN], write=False)
            shown.begin(open_sizes.OPEN)
            for kernel in kernels:
                shown.put(open_sizes.OPEN, open_sizes.row(kernel, builder))
        else:
            kernels_table(builder, kernels, compiles, write=parts == [""])


def padding_table(builder: Build, parts: list[str]) -> None:
    shown = Page("kernels", [padding.PADDING], write=False)
    shown.begin(padding.PADDING)
    for number in padding.SIZES:
        for part, (kernel, _) in enumerate(padding.kernels(number)):
            if any(name in kernel.name for name in parts):
                shown.put(padding.PADDING, padding.row(number, builder, part))


def kernels_table(builder: Build, kernels: list[Kernel], compiles: bool, write: bool) -> None:
    """The kernels beside their peers. Not all of them may fail."""
    clang = run([CLANG, "--version"]).out.splitlines()[0]
    results = page(write)
    flags = f"{clang}, `{' '.join(FLAGS)}`; NumPy {np.__version__}"
    results.begin(KERNELS_TABLE, "1 thread, on 1 core", flags, f"`{builder.pipeline('FORM')}`")
    reports: list[Report] = []
    for kernel in kernels:
        reports.append(bench(kernel, builder))
        results.put(KERNELS_TABLE, reports[-1].row(reports))
    if compiles:
        results.put(KERNELS_TABLE, compilation(builder))
    print(goals(results.measured[KERNELS_TABLE.name].rows))
    if any(report.problems & {*FORMS, "inputs"} for report in reports):
        raise Failed("not all kernels were built, or gave what they must")
