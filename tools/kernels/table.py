"""What is written of the times: figures in each kernel's unit, goals, and the machine."""

import os
import pathlib
import re
import statistics
import subprocess
import sys

import numpy as np

FORMS = ["strided", "physical"]
PEERS = ["NumPy", "row-major", "row-major loops", "normalize-memrefs"]
COLUMNS = ["kernel", "operands", "strided ms", "physical ms", "unit", *FORMS, *PEERS, "goal", "reached"]
# How wide they are on a terminal; the operands are in the file only.
WIDTHS = [23, 0, 10, 11, 22, 8, 8, 8, 10, 15, 17, 26, 7]

INTRODUCTION = """\
# Kernels beside their peers

Made by `make bench-kernels`. Each kernel and its peers ran in turns on one core. All results were checked against
NumPy, with NaN in the padding. `strided` and `physical` are the two forms of lowering, both of which have to reach the
goal.

- ms and GFLOP/s: of the fastest call. Ratios: of calls in the same turn, the median of the turns in which the divisor
  was in its faster half.
- ÷ memcpy: time over that of memcpy of the same bytes (the mean of input and output where they differ); small is good.
- ÷ row-major: time over that of the faster of the two row-major programs; small is good.
- NumPy: the same thing on one thread; relayouts as strided copies between the same buffers.
- row-major: the same program with all operands row-major, and the same options.
- row-major loops: that with upstream's loops; normalize-memrefs: the tiled program with upstream's loops and
  `normalize-memrefs`. Both have columns innermost in products, and may reorder and fuse what the options allow.

"""


class Report:
    """What came of a kernel: the times of each implementation, in seconds, one for each round, and which failed."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.times, self.problems = {}, []

    def problem(self, name, error):
        self.problems.append(name)
        print(f"bench-kernels: {self.kernel.name}, {name}: {error}", file=sys.stderr)

    def best(self, name):
        return min(self.times.get(name, [np.inf]))

    def over(self, name, base):
        """The median of one's time over another's in the same round, of the half of the rounds in which the other was
        fastest: where others use the machine too, those that they disturbed least. A slow implementation is in the
        first rounds only."""
        pairs = sorted(zip(self.times[base], self.times[name]))
        return statistics.median(b / a for a, b in pairs[: -(-len(pairs) // 2)])

    def base(self):
        """What the kernel's unit is a multiple of; `None` for GFLOP/s."""
        names = {"memcpy": ["memcpy"], "row-major": ["row-major", "row-major loops"]}.get(self.kernel.unit)
        return names and min(names, key=self.best)

    def figures(self):
        """The times in the kernel's unit."""
        if self.kernel.unit == "GFLOP/s":
            return {name: self.kernel.flops / self.best(name) * 1e-9 for name in self.times}
        return {name: self.over(name, self.base()) for name in self.times} if self.base() in self.times else {}

    def goal(self, reports):
        """The goal as text, and whether both forms reach it; `None` where the other kernel did not run."""
        kernel, got = self.kernel, self.figures()
        if kernel.unit != "GFLOP/s":
            return f"≤ {kernel.goal}", all(got.get(form, np.inf) <= kernel.goal for form in FORMS)
        if kernel.of_kernel:
            other = next((r.figures() for r in reports if r.kernel.name == kernel.of_kernel), None)
            part = kernel.goal or 1
            reached = other and all(got.get(form, 0) >= part * other.get(form, np.inf) for form in FORMS)
            return f"≥ {f'{kernel.goal} of ' if kernel.goal else ''}{kernel.of_kernel}", reached
        text = f"≥ {kernel.goal}" + (f" and ≥ {kernel.of_numpy} of NumPy" if kernel.of_numpy else "")
        fast = all(got.get(form, 0) >= kernel.goal for form in FORMS)
        return text, fast and all(self.over("NumPy", form) >= kernel.of_numpy for form in FORMS)

    def row(self, reports):
        kernel, got, base = self.kernel, self.figures(), self.base()
        digits = 1 if kernel.unit == "GFLOP/s" else 2
        unit = f"÷ {kernel.unit}, {self.best(base) * 1e3:.2f} ms" if base else kernel.unit
        ms = [f"{self.best(form) * 1e3:.2f}" if form in self.times else "failed" for form in FORMS]
        figures = [f"{got[name]:.{digits}f}" if name in got else "failed" for name in FORMS + PEERS]
        operands = " × ".join(map(str, kernel.operands[:-1])) + f" → {kernel.operands[-1]}"
        text, reached = self.goal(reports)
        said = {True: "yes", False: "no"}.get(reached, "?")
        return [kernel.name, f"`{operands}`", *ms, unit, *figures, text, said]


def compile_row(times, goal):
    """The row of a compilation, of its time for each form."""
    ms = [f"{times[form] * 1e3:.0f}" for form in FORMS]
    figures = [f"{times[form]:.2f}" for form in FORMS] + [""] * len(PEERS)
    operands = "`@attention` of `examples/attention.mlir`, all of `layout-opt`"
    reached = "yes" if max(times.values()) <= goal else "no"
    return ["compile-attention", operands, *ms, "s", *figures, f"≤ {goal}", reached]


def show(line):
    """A row, on the terminal."""
    print("  ".join(cell.ljust(width) for cell, width in zip(line, WIDTHS) if width).rstrip(), flush=True)


def write(path, head, rows):
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    pathlib.Path(path).write_text(INTRODUCTION + "\n".join(head) + "\n\n" + table + "\n")


def caches():
    """(level, type, bytes) of each cache of the first core."""
    found = []
    for folder in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        found.append((int(level), kind, int(size.rstrip("KM")) * (2**20 if size.endswith("M") else 2**10)))
    return found


def last_cache():
    """The bytes of the largest cache; 32 MiB if the system reports none."""
    return max((size for _, _, size in caches()), default=2**25)


def cpu(field):
    """A line of /proc/cpuinfo, such as `model name`."""
    found = re.search(rf"^{field}\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else ""


def machine(builder):
    """What the figures were measured with, as lines."""
    clang = subprocess.run([builder.clang, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    kinds = {"Data": " data", "Unified": ""}
    sizes = [f"L{level}{kinds[kind]} {size // 1024} KiB" for level, kind, size in caches() if kind in kinds]
    return [
        f"- {', '.join([cpu('model name') or os.uname().machine, *sizes])}; 1 thread, on 1 core",
        f"- {clang}, `{' '.join(builder.flags)}`; NumPy {np.__version__}",
        f"- `{builder.pipeline('FORM')}`",
    ]
