"""Kernels whose sizes are known only at run time beside the same ones with sizes in their types."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bench.kernels.build import Argument, Build, Function, parameters
from bench.kernels.check import Data, Wrong
from bench.kernels.programs import Kernel
from bench.results import Column, Row, Table
from bench.run import Failed

# Calls of each, and how long both go on after them, in seconds.
ROUNDS = 25
SECONDS = float(os.environ.get("KERNEL_SECONDS", "5"))
MS = "{:.2f}"
OPEN = Table(
    "open",
    (Column("kernel"), Column("sizes in types, ms", MS), Column("at run time, ms", MS), Column("ratio", "{:.2f}")),
)


def opened(kernel: Kernel) -> str:
    """The module of a kernel with `?` for each size."""
    text = re.sub(r"memref<((?:\d+x)+)", lambda m: "memref<" + re.sub(r"\d+", "?", m[1]), kernel.text())
    if "memref.alloc()" in text:
        found = re.search(r"%0: (memref<.*?>>?)[,)]", text)
        assert found
        first = found[1]
        size = f"  %first = arith.constant 0 : index\n  %rows = memref.dim %0, %first : {first}\n"
        text = text.replace("{\n", "{\n" + size, 1).replace("memref.alloc()", "memref.alloc(%rows)")
    return text


class Open(Argument):
    """A memref argument of which the sizes come first that tiles cut, with strides of 0."""

    def __init__(self, static: Argument, text: str, shape: Sequence[int]) -> None:
        carried = text.count("?x") + len(re.findall(r"\d+x", text)) - len(static.sizes)
        if carried not in (0, len(shape)):
            raise Failed(f"the lowered function takes {text}")
        outer = list(shape) if carried else []
        self.sizes, self.strides = outer + static.sizes, [0] * len(outer) + static.strides


def build(builder: Build, kernel: Kernel) -> dict[str, Function]:
    """The kernel with sizes in its types, and the one without, both strided."""
    static, text = builder.tiled(kernel.name, kernel.text(), "strided"), opened(kernel)
    types = parameters(builder.passes(text, "--layout-to-memref=form=strided"))
    known = zip(static.arguments, types, kernel.operands, strict=True)
    arguments = [Open(argument, type.split(",")[0], operand.shape) for argument, type, operand in known]
    dynamic = builder.function(f"{kernel.name}.open", text, arguments, builder.pipeline("strided"))
    return {"sizes in types": static, "at run time": dynamic}


def fastest(calls: Mapping[str, Callable[[], object]]) -> list[float]:
    """The least time of each in milliseconds, of the processor alone: other programs may run meanwhile."""
    best = {name: float("inf") for name in calls}
    start, rounds = time.thread_time(), 0
    while rounds < ROUNDS or time.thread_time() - start < SECONDS:
        for name, call in calls.items():
            before = time.thread_time_ns()
            call()
            best[name] = min(best[name], (time.thread_time_ns() - before) * 1e-6)
        rounds += 1
    return list(best.values())


def row(kernel: Kernel, builder: Build) -> Row:
    """The fastest calls of both, which are made in turns, and their ratio."""
    data = Data(kernel, np.random.default_rng(1))
    calls = {}
    for name, function in build(builder, kernel).items():
        calls[name] = function.on(data.buffers(plain=False))
        try:
            data.check(calls[name], False)
        except Wrong as error:
            raise Failed(f"{kernel.name}, {name}: {error}") from error
    static, dynamic = fastest(calls)
    return [kernel.name, static, dynamic, dynamic / static]
