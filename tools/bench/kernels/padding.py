"""Kernels on incomplete tiles with `padding=masked` and `typed`, beside ones on as many whole tiles."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from bench.calls import Array
from bench.kernels import tiles
from bench.kernels.build import Build, Function
from bench.kernels.check import Data, Wrong
from bench.kernels.open_sizes import fastest
from bench.kernels.programs import DTYPES, T2, T4, Kernel, Operand, Random, generic, matmul, rows
from bench.results import Column, Row, Table
from bench.run import LLVM, TOOLS, Failed, run

US, RATIO, MS = "{:.2f}", "{:.2f}", "{:.0f}"
PADDING = Table(
    "padding",
    (
        Column("kernel"), Column("masked, us", US), Column("typed, us", US), Column("whole, us", US),
        Column("typed / masked", RATIO), Column("typed / whole", RATIO), Column("instructions: masked"), Column("typed"),
        Column("whole"), Column("compiled, ms: masked", MS), Column("typed", MS), Column("whole", MS),
    ),
)  # fmt: skip
SIZES = (100, 120, 1000)


def sum_body(operands: Sequence[Operand], _: bool) -> str:
    dtype = operands[0].dtype
    body = (
        f"  ^bb0(%a: {dtype}, %b: {dtype}, %o: {dtype}):\n    %r = arith.addf %a, %b : {dtype}\n"
        f"    linalg.yield %r : {dtype}\n"
    )
    return generic(["(i, j) -> (i, j)"] * 3, ["parallel"] * 2, operands, ["%0", "%1", "%2"], body)


def add(name: str, shape: tuple[int, ...], layout: str) -> Kernel:
    operands = [Operand(shape, "f32", layout)] * 3

    def data(random: Random) -> list[Array]:
        return [random.standard_normal(shape, np.float32) for _ in range(2)]

    def numpy(a: Array, b: Array, c: Array) -> Callable[[], object]:
        return lambda: np.add(a, b, out=c)

    return Kernel(name, operands, sum_body, data, np.add, numpy, "row-major", None)


def kernels(n: int) -> list[tuple[Kernel, str | None]]:
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


def promising(kernel: Kernel, held: str | None) -> str:
    """The module of a kernel that says what the padding of its inputs holds."""
    text = kernel.text()
    for i, operand in enumerate(kernel.operands[:-1] if held else []):
        promise = f"{operand.type()} {{layout.padding = {held} : {operand.dtype}}}"
        text = text.replace(f"%{i}: {operand.type()}", f"%{i}: {promise}", 1)
    return text


class Prepared(Data):
    """Buffers whose padding holds what is promised; that of the output may be written to."""

    def __init__(self, kernel: Kernel, held: str | None) -> None:
        super().__init__(kernel, np.random.default_rng(1))
        value = np.nan if held is None else -np.inf if held.startswith("0x") else float(held)
        for (i, layout), buffer in self.inputs.items():
            operand = kernel.operands[i]
            padding = ~tiles.pack(np.ones(operand.shape, bool), layout, False)
            buffer.elements[padding] = DTYPES[operand.dtype].type(value)

    def check(self, call: Callable[[], object], plain: bool) -> None:
        output = self.outputs[self.kernel.operands[-1].layout]
        output.clear()
        call()
        got, expected = output.buffer.elements, output.expected.view(DTYPES[output.dtype])
        if not np.array_equal(got[~output.padding], expected[~output.padding]):
            raise Wrong("elements are wrong")
        if not all(b.room_is_untouched() for b in [*self.inputs.values(), output.buffer]):
            raise Wrong("something outside of a buffer was written to")


def build(builder: Build, name: str, text: str, padding: str) -> tuple[Function, int, float]:
    """A kernel, its instructions, and the milliseconds of the processor that it takes to compile, the least of three times."""
    of_padding = Build(builder.folder, f"{builder.options} padding={padding}")
    functions = [of_padding.tiled(f"{name}.{padding}", text, "strided") for _ in range(3)]
    library = functions[-1].path
    shown = run([LLVM / "bin/llvm-objdump", "-d", "--no-show-raw-insn", "--disassemble-symbols=kernel", library]).out
    milliseconds = 1e3 * min(function.seconds for function in functions)
    return functions[-1], len(re.findall(r"^\s*[0-9a-f]+:", shown, re.MULTILINE)), milliseconds


def row(number: int, builder: Build, part: int) -> Row:
    """The kernel on incomplete tiles, in both ways, and on as many whole ones."""
    (kernel, held), (whole, _) = kernels(number)[part], kernels(-(-number // 128) * 128)[part]
    data, fitting = Prepared(kernel, held), Prepared(whole, None)
    built = [
        build(builder, kernel.name, promising(kernel, held), "masked"),
        build(builder, kernel.name, promising(kernel, held), "typed"),
        build(builder, whole.name, whole.text(), "masked"),
    ]
    repeats, calls = 1 if number >= 1000 else 100, {}
    for name, (function, *_), of in zip(("masked", "typed", "whole"), built, [data, data, fitting], strict=True):
        call = function.on(of.buffers(plain=False))
        try:
            of.check(call, False)
        except Wrong as error:
            raise Failed(f"{kernel.name}, {name}: {error}") from error

        def repeated(call: Callable[[], object] = call) -> None:
            for _ in range(repeats):
                call()

        calls[name] = repeated
    masked, typed, full = (1e3 * ms / repeats for ms in fastest(calls))
    sizes, compiled = [size for _, size, _ in built], [ms for *_, ms in built]
    return [kernel.name, masked, typed, full, typed / masked, typed / full, *sizes, *compiled]


def small(random: Random) -> tuple[Kernel, str | None]:
    """A random kernel with few places of padding, and what that of its inputs holds, which may be the wrong thing."""
    rows_of, columns = int(random.choice([7, 8, 15, 16, 31, 32])), int(random.choice([103, 110, 120, 127, 128, 250]))
    layout = str(random.choice(["{1,0:T(8,128)}", "{0,1:T(8,128)}", "{1,0:T(8,128)(2,1)}", "{1,0:T(4,64)}", "{1,0:T(2,16)}"]))
    held = (None, "0.0", "-0.0", "3.0", "NEGATIVE")[random.integers(5)]
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


def check_random(builder: Build, count: int, seed: int) -> tuple[int, int]:
    """Checks small random kernels with `padding=typed`; the number of those that are wrong, and of those over whole tiles."""
    wrong = widened = 0
    for i in range(count):
        kernel, held = small(np.random.default_rng([seed, i]))
        text = promising(kernel, held)
        report = "--layout-to-memref=vectorize=avx512 padding=report"
        widened += "runs to" in run([TOOLS / "layout-opt", report, "-o", "-"], text).err
        typed = Build(builder.folder, f"vectorize=avx512 padding=typed {['', 'reassociate'][i % 2]}")
        try:
            data = Prepared(kernel, held)
            data.check(typed.tiled(f"{seed}.{i}", text, ["strided", "physical"][i % 2]).on(data.buffers(plain=False)), False)
        except Failed as error:
            wrong += 1
            print(f"kernels: random kernel {i}, padding holds {held}: {error}\n{text}")
    return wrong, widened
