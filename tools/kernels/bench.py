"""Times each kernel beside its peers, checks all of them against NumPy, and writes a table.

The peers of a kernel run in turns, call by call, on one core, so that a disturbance affects all of them. Before that,
each runs once and its result is compared.

  bench.py [--write TABLE] [NAME,NAME...]   the kernels with NAME in their names, or all
  bench.py --random COUNT [--seed SEED]     small random kernels, which are checked and not timed
  bench.py --open [NAME,NAME...]            sizes known only at run time beside sizes in types
  bench.py --padding [NAME,NAME...]         incomplete tiles, masked and typed, beside whole ones
  bench.py --padding --random COUNT         small random kernels on incomplete tiles, typed, which are checked
"""

import os

# NumPy's BLAS reads these when it is loaded.
for library in ("OPENBLAS", "OMP", "MKL", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import ctypes
import pathlib
import re
import shutil
import sys
import tempfile
import time

import numpy as np

import open_sizes
import padding
import table
import tiles
from build import Build, Failure, run
from check import Buffer, Data, Wrong
from programs import KERNELS, small
from table import FORMS, Report

# Calls of each implementation, and how long a kernel goes on after them, in seconds.
ROUNDS = 25
SECONDS = float(os.environ.get("KERNEL_SECONDS", "5"))


def most_rounds(seconds):
    """How many calls of an implementation that takes so long, at most: little disturbs a slow one."""
    return np.inf if seconds < 0.1 else max(1, int(1.5 / seconds))


def time_all(calls, warm):
    """The times of each, in seconds, round by round; `warm` calls each once before a call that is timed, but for
    the first."""
    times = {name: [] for name in calls}
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


def numpy_call(kernel, data):
    """NumPy's way, and whether it is on the row-major buffers."""
    if kernel.numpy:
        shaped = [b.reshape(o.shape) for b, o in zip(data.buffers(plain=True), kernel.operands)]
        return kernel.numpy(*shaped), True
    (source, target), (x, y) = kernel.operands, data.buffers(plain=False)
    pairs = tiles.moves(source.shape, x, source.layout, y, target.layout)

    def call():
        for to, of in pairs:
            np.copyto(to, of, casting="unsafe")

    return call, False


def memcpy_call(size):
    """memcpy of so many bytes; also the two buffers, which have to live as long."""
    copy = ctypes.CDLL(None).memcpy
    copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    source, target = (Buffer(np.ones(size, np.uint8)) for _ in range(2))
    to, of = target.elements.ctypes.data, source.elements.ctypes.data
    return lambda: copy(to, of, size), (source, target)


def bench(kernel, builder):
    report = Report(kernel)
    data = Data(kernel, np.random.default_rng(1))
    tiled, plain = kernel.text(), kernel.text(plain=True)
    # How each is built, and whether it is on the row-major buffers.
    ways = {
        "strided": (lambda name: builder.tiled(name, tiled, "strided"), False),
        "physical": (lambda name: builder.tiled(name, tiled, "physical"), False),
        "row-major": (lambda name: builder.tiled(name, plain, "strided"), True),
        "row-major loops": (lambda name: builder.stock(name, kernel.text(plain=True, stock=True)), True),
        "normalize-memrefs": (lambda name: builder.stock(name, kernel.text(stock=True)), False),
    }
    calls = {}
    for name, (make, on_plain) in ways.items():
        try:
            file = f"{kernel.name}.{name.replace(' ', '-')}"
            call = make(file).on(data.buffers(on_plain))
            data.check(call, on_plain)
            calls[name] = call
        except (Failure, Wrong) as error:
            report.problem(name, error)
    calls["NumPy"], on_plain = numpy_call(kernel, data)
    data.check(calls["NumPy"], on_plain)
    if kernel.unit == "memcpy":
        calls["memcpy"], _buffers = memcpy_call(kernel.bytes())
    # What fits into the last cache is there: then the other implementations' buffers are in nobody's way.
    report.times = time_all(calls, warm=data.total_bytes() <= table.last_cache())
    try:
        data.check_inputs()
    except Wrong as error:
        report.problem("inputs", error)
    return report


def time_compilation(builder):
    """How long layout-opt takes for the attention block of the examples, in each form."""
    text = pathlib.Path("examples/attention.mlir").read_text()
    block = text[: text.index("func.func @attention_plain")]
    times = {}
    for form in FORMS * 7:
        before = time.perf_counter()
        run([builder.tool, builder.pipeline(form), "-o", os.devnull], block)
        times[form] = min(times.get(form, np.inf), time.perf_counter() - before)
    return times


def check_random(builder, count, seed):
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
            except (Failure, Wrong) as error:
                wrong += 1
                print(f"bench-kernels: random kernel {i}, {form}: {error}\n{kernel.text()}", file=sys.stderr)
    return wrong


def default_options(tool):
    """The options for this machine, of those that the pipeline has."""
    texts = re.split(r"^ {6}(?=--)", run([tool, "--help"]), flags=re.MULTILINE)
    ours = next(text for text in texts if text.startswith("--layout-to-llvm "))
    flags = table.cpu("flags").split()
    wanted = {
        "vectorize": "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else "neon",
        "reassociate": "true",
        "contract": "true",
        # From there on memcpy of glibc streams, too.
        "cache-bytes": table.last_cache() * 3 // 4,
        "parallel": "none",
    }
    return " ".join(f"{name}={value}" for name, value in wanted.items() if f" --{name}" in ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="?", default="", help="comma-separated parts of names")
    parser.add_argument("--write", metavar="TABLE", help="where the table goes, when all kernels ran")
    parser.add_argument("--random", metavar="COUNT", type=int, help="check small random kernels instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--open", action="store_true", help="time sizes known only at run time beside sizes in types")
    parser.add_argument("--padding", action="store_true", help="time incomplete tiles beside whole ones instead")
    arguments = parser.parse_args()
    parts = [part for part in arguments.names.split(",") if part] or [""]
    kernels = [kernel for kernel in KERNELS if any(part in kernel.name for part in parts)]
    compiles = any(part in "compile-attention" for part in parts)
    if not kernels and not compiles and not arguments.padding:
        sys.exit(f"bench-kernels: no kernel has {arguments.names} in its name")

    folder = os.environ.get("KERNEL_FOLDER") or tempfile.mkdtemp()
    try:
        os.makedirs(folder, exist_ok=True)
        builder = Build(folder)
        options = os.environ.get("KERNEL_OPTIONS")
        builder.options = default_options(builder.tool) if options is None else options
        if arguments.random and arguments.padding:
            wrong, widened = padding.check_random(builder, arguments.random, arguments.seed)
            print(f"{wrong} of {arguments.random} programs are wrong; {widened} go over whole tiles")
            sys.exit(wrong > 0)
        if arguments.random:
            wrong = check_random(builder, arguments.random, arguments.seed)
            print(f"{wrong} of {2 * arguments.random} programs are wrong")
            sys.exit(wrong > 0)

        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        if arguments.padding:
            padding.show(builder, parts)
            return
        if arguments.open:
            open_sizes.show(open_sizes.COLUMNS)
            for kernel in kernels:
                open_sizes.show(open_sizes.row(kernel, builder))
            return
        head = table.machine(builder)
        print("\n".join(head) + "\n")
        table.show(table.COLUMNS)
        reports, rows = [], []
        for kernel in kernels:
            reports.append(bench(kernel, builder))
            rows.append(reports[-1].row(reports))
            table.show(rows[-1])
        if compiles:
            rows.append(table.compile_row(time_compilation(builder), 0.5))
            table.show(rows[-1])
    except Failure as error:
        sys.exit(f"bench-kernels: {error}")
    finally:
        if not os.environ.get("KERNEL_FOLDER"):
            shutil.rmtree(folder)

    print(f"\n{sum(row[-1] == 'yes' for row in rows)} of {len(rows)} goals reached")
    if arguments.write and parts == [""]:
        table.write(arguments.write, head, rows)
    if any(set(report.problems) & {*FORMS, "inputs"} for report in reports):
        sys.exit("bench-kernels: not all kernels were built, or gave what they must")


main()
