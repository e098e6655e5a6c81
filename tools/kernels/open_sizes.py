"""Kernels whose sizes are known only at run time beside the same ones with sizes in their types."""

import os
import re
import time

import numpy as np

from build import Argument, Failure, Function
from check import Data, Wrong

# Calls of each, and how long both go on after them, in seconds.
ROUNDS = 25
SECONDS = float(os.environ.get("KERNEL_SECONDS", "5"))
COLUMNS = ["kernel", "sizes in types, ms", "at run time, ms", "ratio"]


def opened(kernel):
    """The module of a kernel with `?` for each size."""
    text = re.sub(r"memref<((?:\d+x)+)", lambda m: "memref<" + re.sub(r"\d+", "?", m[1]), kernel.text())
    if "memref.alloc()" in text:
        first = re.search(r"%0: (memref<.*?>>?)[,)]", text)[1]
        size = f"  %first = arith.constant 0 : index\n  %rows = memref.dim %0, %first : {first}\n"
        text = text.replace("{\n", "{\n" + size, 1).replace("memref.alloc()", "memref.alloc(%rows)")
    return text


class Open(Argument):
    """A memref argument of which the sizes come first that tiles cut, with strides of 0."""

    def __init__(self, static, text, shape):
        carried = text.count("?x") + len(re.findall(r"\d+x", text)) - len(static.sizes)
        if carried not in (0, len(shape)):
            raise Failure(f"the lowered function takes {text}")
        carried = list(shape) if carried else []
        self.sizes, self.strides = carried + static.sizes, [0] * len(carried) + static.strides


def build(builder, kernel):
    """The kernel with sizes in its types, and the one without, both strided."""
    static = builder.tiled(kernel.name, kernel.text(), "strided")
    text = opened(kernel)
    lowered = builder.run("--layout-to-memref=form=strided", text)
    head = re.search(r"func\.func @kernel\((.*?)\) (?:attributes .*)?{$", lowered, re.MULTILINE)
    types = re.findall(r"%arg\d+: (memref<[^>]*>?[^%]*?)(?=, %arg|$)", head[1])
    arguments = [Open(a, t.split(",")[0], o.shape) for a, t, o in zip(static.arguments, types, kernel.operands, strict=True)]
    library = builder.library(kernel.name + ".open", builder.run(builder.pipeline("strided"), text))
    return static, Function(library, arguments)


def fastest(calls):
    """The least time of each in milliseconds, of the processor alone: other programs may run meanwhile."""
    best = {name: np.inf for name in calls}
    start, rounds = time.thread_time(), 0
    while rounds < ROUNDS or time.thread_time() - start < SECONDS:
        for name, call in calls.items():
            before = time.thread_time_ns()
            call()
            best[name] = min(best[name], (time.thread_time_ns() - before) * 1e-6)
        rounds += 1
    return best.values()


def row(kernel, builder):
    """The fastest calls of both, which are made in turns, and their ratio."""
    data = Data(kernel, np.random.default_rng(1))
    calls = {}
    for name, function in zip(COLUMNS[1:], build(builder, kernel)):
        calls[name] = function.on(data.buffers(plain=False))
        try:
            data.check(calls[name], False)
        except Wrong as error:
            raise Failure(f"{kernel.name}, {name}: {error}") from error
    static, dynamic = fastest(calls)
    return [kernel.name, f"{static:.2f}", f"{dynamic:.2f}", f"{dynamic / static:.2f}"]


def show(line):
    """A row, on the terminal."""
    print("  ".join(cell.ljust(width) for cell, width in zip(line, (24, 20, 16, 6))).rstrip(), flush=True)
