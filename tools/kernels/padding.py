"""Kernels on incomplete tiles with `padding=masked` and `typed`, beside ones on as many whole tiles."""

import pathlib
import re
import resource

import numpy as np

import tiles
from build import Failure, run
from check import Data, Wrong
from open_sizes import fastest
from programs import DTYPES, T2, T4, Kernel, Operand, generic, matmul, rows

COLUMNS = [
    "kernel", "masked, us", "typed, us", "whole, us", "typed / masked", "typed / whole",
    "instructions: masked", "typed", "whole", "compiled, ms: masked", "typed", "whole",
]  # fmt: skip


def sum_body(operands, _):
    dtype = operands[0].dtype
    body = (
        f"  ^bb0(%a: {dtype}, %b: {dtype}, %o: {dtype}):\n    %r = arith.addf %a, %b : {dtype}\n"
        f"    linalg.yield %r : {dtype}\n"
    )
    return generic(["(i, j) -> (i, j)"] * 3, ["parallel"] * 2, operands, ["%0", "%1", "%2"], body)


def add(name, shape, layout):
    operands = [Operand(shape, "f32", layout)] * 3

    def data(random):
        return [random.standard_normal(shape, np.float32) for _ in range(2)]

    return Kernel(name, operands, sum_body, data, np.add, lambda a, b, c: lambda: np.add(a, b, out=c), "row-major", None)


def kernels(n):
    """Each kernel with what the padding of its inputs holds; none where that is no matter."""
    shape = (n, n)
    return [
        (add(f"add-f32-{n}", shape, T4), None),
        (rows(f"row-sum-f32-{n}", "addf", shape, "f32", T4, None), "0.0"),
        (rows(f"row-max-f32-{n}", "maximumf", shape, "f32", T4, None), "0xFF800000"),
        (rows(f"row-sum-bf16-{n}", "addf", shape, "bf16", T2, None), "0.0"),
        (rows(f"row-max-bf16-{n}", "maximumf", shape, "bf16", T2, None), "0xFF80"),
        (matmul(f"matmul-f32-{n}", (n, n, n), ["f32"] * 3, [T4] * 3, None), "0.0"),
        (matmul(f"matmul-bf16-{n}", (n, n, n), ["bf16", "bf16", "f32"], [T2, T2, T4], None), "0.0"),
    ]


def promising(kernel, held):
    """The module of a kernel that says what the padding of its inputs holds."""
    text = kernel.text()
    for i, operand in enumerate(kernel.operands[:-1] if held else []):
        promise = f"{operand.type()} {{layout.padding = {held} : {operand.dtype}}}"
        text = text.replace(f"%{i}: {operand.type()}", f"%{i}: {promise}", 1)
    return text


class Prepared(Data):
    """Buffers whose padding holds what is promised; that of the output may be written to."""

    def __init__(self, kernel, held):
        super().__init__(kernel, np.random.default_rng(1))
        value = np.nan if held is None else -np.inf if held.startswith("0x") else float(held)
        for (i, layout), buffer in self.inputs.items():
            operand = kernel.operands[i]
            padding = ~tiles.pack(np.ones(operand.shape, bool), layout, False)
            buffer.elements[padding] = DTYPES[operand.dtype].type(value)

    def check(self, call, plain):
        output = self.outputs[self.kernel.operands[-1].layout]
        output.clear()
        call()
        got, expected = output.buffer.elements, output.expected.view(DTYPES[output.dtype])
        if not np.array_equal(got[~output.padding], expected[~output.padding]):
            raise Wrong("elements are wrong")
        if not all(b.room_is_untouched() for b in [*self.inputs.values(), output.buffer]):
            raise Wrong("something outside of a buffer was written to")


def build(builder, name, text, padding):
    """A kernel, its instructions, and the milliseconds of processors that it takes to compile, the least of three times."""

    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (used.ru_utime + used.ru_stime) * 1e3

    options, builder.options, best = builder.options, f"{builder.options} padding={padding}", np.inf
    try:
        for _ in range(3):
            builder.made.clear()
            before = spent()
            function = builder.tiled(f"{name}.{padding}", text, "strided")
            best = min(best, spent() - before)
    finally:
        builder.options = options
    library = pathlib.Path(builder.folder).resolve() / f"{name}.{padding}.so"
    shown = run([f"{builder.llvm}/bin/llvm-objdump", "-d", "--no-show-raw-insn", "--disassemble-symbols=kernel", str(library)])
    return function, len(re.findall(r"^\s*[0-9a-f]+:", shown, re.MULTILINE)), best


def row(number, builder, part):
    """A line of the table: the kernel on incomplete tiles, in both ways, and on as many whole ones."""
    (kernel, held), (whole, _) = kernels(number)[part], kernels(-(-number // 128) * 128)[part]
    data, fitting = Prepared(kernel, held), Prepared(whole, None)
    built = [
        build(builder, kernel.name, promising(kernel, held), "masked"),
        build(builder, kernel.name, promising(kernel, held), "typed"),
        build(builder, whole.name, whole.text(), "masked"),
    ]
    calls = {}
    for name, (function, *_), of in zip(COLUMNS[1:], built, [data, data, fitting]):
        call = function.on(of.buffers(plain=False))
        try:
            of.check(call, False)
        except Wrong as error:
            raise Failure(f"{kernel.name}, {name}: {error}") from error
        repeats = 1 if number >= 1000 else 100
        calls[name] = lambda call=call: [call() for _ in range(repeats)]
    masked, typed, full = (1e3 * ms / repeats for ms in fastest(calls))
    times = [f"{masked:.2f}", f"{typed:.2f}", f"{full:.2f}", f"{typed / masked:.2f}", f"{typed / full:.2f}"]
    return [kernel.name, *times, *(str(size) for _, size, _ in built), *(f"{ms:.0f}" for *_, ms in built)]


def show(builder, parts):
    """The table, on the terminal."""
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    for number in (100, 120, 1000):
        for part, (kernel, _) in enumerate(kernels(number)):
            if any(name in kernel.name for name in parts):
                print(f"| {' | '.join(row(number, builder, part))} |", flush=True)


def small(random):
    """A random kernel with few places of padding, and what that of its inputs holds, which may be the wrong thing."""
    rows_of, columns = int(random.choice([7, 8, 15, 16, 31, 32])), int(random.choice([103, 110, 120, 127, 128, 250]))
    layout = str(random.choice(["{1,0:T(8,128)}", "{0,1:T(8,128)}", "{1,0:T(8,128)(2,1)}", "{1,0:T(4,64)}", "{1,0:T(2,16)}"]))
    held = [None, "0.0", "-0.0", "3.0", "NEGATIVE"][random.integers(5)]
    kind = random.integers(4)
    if kind == 0:
        kernel = add("add", (rows_of, columns), layout)
    elif kind == 1:
        sizes = [rows_of, columns, int(random.choice([120, 126, 128]))]
        kernel = matmul("matmul", sizes, ["f32"] * 3, [layout] * 3, None)
    else:
        dtype = ["f32", "bf16"][random.integers(2)]
        kernel = rows("rows", ["addf", "maximumf"][kind - 2], (rows_of, columns), dtype, layout, None)
    infinity = {"f32": "0xFF800000", "bf16": "0xFF80"}[kernel.operands[0].dtype]
    return kernel, infinity if held == "NEGATIVE" else held


def check_random(builder, count, seed):
    """Checks small random kernels with `padding=typed`; the number of those that are wrong, and of those over whole tiles."""
    wrong = widened = 0
    for i in range(count):
        kernel, held = small(np.random.default_rng([seed, i]))
        text = promising(kernel, held)
        reports = run([builder.tool, "--layout-to-memref=vectorize=avx512 padding=report", "-o", "-"], text, both=True)
        widened += "runs to" in reports
        builder.options = f"vectorize=avx512 padding=typed {['', 'reassociate'][i % 2]}"
        try:
            data = Prepared(kernel, held)
            data.check(builder.tiled(f"{seed}.{i}", text, ["strided", "physical"][i % 2]).on(data.buffers(plain=False)), False)
        except (Failure, Wrong) as error:
            wrong += 1
            print(f"bench-kernels: random kernel {i}, padding holds {held}: {error}\n{text}")
    return wrong, widened
