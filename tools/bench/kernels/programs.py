"""The kernels: for each its program, its data, what it must give, and what it is measured by.

A program is a function on memrefs, the result in the last. The same text, with other types, is the program in tiles and
the one that is all row-major. A contraction or reduction starts its result itself, so that calls can be repeated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.calls import TYPES, Array

DTYPES = {"f32": TYPES["f32"], "bf16": TYPES["bf16"], "i8": TYPES["s8"]}

Random = np.random.Generator


@dataclass(frozen=True)
class Operand:
    """A matrix or a vector; without a layout it is row-major and a plain memref."""

    shape: tuple[int, ...]
    dtype: str
    layout: str | None = None

    def type(self) -> str:
        layout = f", #layout.tiled<{self.layout}>" if self.layout else ""
        return f"memref<{'x'.join(map(str, self.shape))}x{self.dtype}{layout}>"

    def plain(self) -> "Operand":
        return Operand(self.shape, self.dtype)

    def logical_bytes(self) -> int:
        return int(np.prod(self.shape)) * DTYPES[self.dtype].itemsize

    def __str__(self) -> str:
        row_major = "{" + ",".join(str(d) for d in reversed(range(len(self.shape)))) + "}"
        return f"{self.dtype}[{','.join(map(str, self.shape))}]{self.layout or row_major}"


Body = Callable[[Sequence[Operand], bool], str]


@dataclass
class Kernel:
    """A program, its data and its goal."""

    name: str
    # Inputs, then the output.
    operands: Sequence[Operand]
    # The function's body, of the operands; and whether it is for upstream's loops, whose order is the text's.
    body: Body
    # Arrays for the inputs, of a random generator.
    data: Callable[[Random], list[Array]]
    # The output, of the inputs, in whatever way is right.
    expected: Callable[..., Array]
    # NumPy's fastest way, of the row-major inputs and output; without it, strided copies between the laid out buffers.
    numpy: Callable[..., Callable[[], object]] | None
    # "memcpy": time / memcpy of `bytes`. "GFLOP/s": `flops` / time. "row-major": time / the row-major program's.
    unit: str
    # The goal in that unit, and the part of NumPy's GFLOP/s, or the kernel whose GFLOP/s, or that part of them, it has to
    # reach.
    goal: float | None
    of_numpy: float = 0.0
    of_kernel: str | None = None
    flops: int = 0
    # Relative error allowed; 0 is bit for bit.
    tolerance: float = 0.0

    def text(self, plain: bool = False, upstream: bool = False) -> str:
        """The module."""
        operands = [o.plain() if plain else o for o in self.operands]
        arguments = ", ".join(f"%{i}: {o.type()}" for i, o in enumerate(operands))
        body = self.body(operands, upstream)
        return f"func.func @kernel({arguments}) attributes {{llvm.emit_c_interface}} {{\n{body}  return\n}}\n"

    def moves(self) -> bool:
        """Whether it only moves bits, none of which may change."""
        return not self.numpy and self.operands[0].dtype == self.operands[-1].dtype

    def bytes(self) -> int:
        """What memcpy copies: as much as the output, or the mean of input and output where these differ."""
        return (self.operands[0].logical_bytes() + self.operands[-1].logical_bytes()) // 2


def generic(maps: Sequence[str], iterators: Sequence[str], operands: Sequence[Operand], names: Sequence[str], body: str) -> str:
    """A linalg.generic on memrefs, of maps as text, the last operand the output."""
    types = [o.type() for o in operands]
    mapped = ", ".join(f"affine_map<{m}>" for m in maps)
    kinds = ", ".join(f'"{i}"' for i in iterators)
    ins = f" ins({', '.join(names[:-1])} : {', '.join(types[:-1])})" if names[:-1] else ""
    return (
        f"  linalg.generic {{indexing_maps = [{mapped}], iterator_types = [{kinds}]}}\n"
        f"     {ins} outs({names[-1]} : {types[-1]}) {{\n{body}  }}\n"
    )


def fill(value: str, operand: Operand, name: str) -> str:
    return (
        f"  %start = arith.constant {value} : {operand.dtype}\n"
        f"  linalg.fill ins(%start : {operand.dtype}) outs({name} : {operand.type()})\n"
    )


# Relayouts.


def copy(operands: Sequence[Operand], _: bool) -> str:
    source, target = operands
    if source.dtype == target.dtype:
        return f"  linalg.copy ins(%0 : {source.type()}) outs(%1 : {target.type()})\n"
    body = (
        f"  ^bb0(%a: {source.dtype}, %o: {target.dtype}):\n"
        f"    %r = arith.truncf %a : {source.dtype} to {target.dtype}\n"
        f"    linalg.yield %r : {target.dtype}\n"
    )
    return generic(["(i, j) -> (i, j)"] * 2, ["parallel"] * 2, operands, ["%0", "%1"], body)


Layouts = Sequence[str | None]
Goal = float | None


def relayout(name: str, shape: tuple[int, ...], dtypes: Sequence[str], layouts: Layouts, goal: Goal) -> Kernel:
    source, target = (Operand(shape, d, layout) for d, layout in zip(dtypes, layouts, strict=True))

    def data(random: Random) -> list[Array]:
        if source.dtype == target.dtype:
            # Any bits: none may change.
            return [np.frombuffer(random.bytes(source.logical_bytes()), DTYPES[source.dtype]).reshape(shape)]
        return [random.standard_normal(shape, np.float32)]

    def expected(x: Array) -> Array:
        return x.astype(DTYPES[target.dtype], copy=False)

    return Kernel(name, [source, target], copy, data, expected, None, "memcpy", goal)


# Contractions, of small integers, whose sums are exact in any order.


def integers(operand: Operand, random: Random) -> Array:
    return random.integers(-8, 9, operand.shape).astype(DTYPES[operand.dtype])


def product(operands: Sequence[Operand], upstream: bool) -> str:
    a, b, c = operands
    start = fill("0.0", c, "%2")
    if not upstream:
        return start + f"  linalg.matmul ins(%0, %1 : {a.type()}, {b.type()}) outs(%2 : {c.type()})\n"
    # Upstream's loops are as written: the columns innermost are what a compiler can vectorise.
    x, y, widen = "%x", "%y", ""
    if a.dtype == "bf16":
        x, y = "%xw", "%yw"
        widen = "    %xw = arith.extf %x : bf16 to f32\n    %yw = arith.extf %y : bf16 to f32\n"
    body = (
        f"  ^bb0(%x: {a.dtype}, %y: {b.dtype}, %sum: f32):\n{widen}"
        f"    %p = arith.mulf {x}, {y} : f32\n    %r = arith.addf %sum, %p : f32\n    linalg.yield %r : f32\n"
    )
    maps = ["(i, k, j) -> (i, k)", "(i, k, j) -> (k, j)", "(i, k, j) -> (i, j)"]
    return start + generic(maps, ["parallel", "reduction", "parallel"], operands, ["%0", "%1", "%2"], body)


def matmul(name: str, sizes: Sequence[int], dtypes: Sequence[str], layouts: Layouts, goal: Goal, **of: Any) -> Kernel:
    m, n, k = sizes
    shapes = [(m, k), (k, n), (m, n)]
    operands = [Operand(s, d, layout) for s, d, layout in zip(shapes, dtypes, layouts, strict=True)]

    def data(random: Random) -> list[Array]:
        return [integers(o, random) for o in operands[:2]]

    def expected(a: Array, b: Array) -> Array:
        product: Array = a.astype(np.float32) @ b.astype(np.float32)
        return product

    def numpy(a: Array, b: Array, c: Array) -> Callable[[], object]:
        if operands[0].dtype == "f32":
            return lambda: np.matmul(a, b, out=c)
        return lambda: np.matmul(a.astype(np.float32), b.astype(np.float32), out=c)

    return Kernel(name, operands, product, data, expected, numpy, "GFLOP/s", goal, flops=2 * m * n * k, **of)


# Reductions of rows, into f32.


def reduce_rows(operation: str, start: str) -> Body:
    def body(operands: Sequence[Operand], _: bool) -> str:
        x, y = operands
        widen = "    %w = arith.extf %a : bf16 to f32\n" if x.dtype == "bf16" else ""
        of = "%w" if widen else "%a"
        inner = (
            f"  ^bb0(%a: {x.dtype}, %o: f32):\n{widen}"
            f"    %r = arith.{operation} %o, {of} : f32\n    linalg.yield %r : f32\n"
        )
        maps = ["(i, j) -> (i, j)", "(i, j) -> (i)"]
        return fill(start, y, "%1") + generic(maps, ["parallel", "reduction"], operands, ["%0", "%1"], inner)

    return body


def rows(name: str, operation: str, shape: tuple[int, ...], dtype: str, layout: str | None, goal: Goal) -> Kernel:
    x, y = Operand(shape, dtype, layout), Operand(shape[:1], "f32")
    kinds: dict[str, tuple[str, Any]] = {"maximumf": ("0xFF800000", np.maximum), "addf": ("0.0", np.add)}
    start, ufunc = kinds[operation]

    def data(random: Random) -> list[Array]:
        # Sums of small integers are exact; the largest of them would be all over the row.
        if ufunc is np.add:
            return [integers(x, random)]
        return [random.standard_normal(shape, np.float32).astype(DTYPES[dtype])]

    def expected(a: Array) -> Array:
        return np.asarray(ufunc.reduce(a.astype(np.float32), axis=1))

    def numpy(a: Array, c: Array) -> Callable[[], object]:
        if dtype == "f32":
            return lambda: ufunc.reduce(a, axis=1, out=c)
        return lambda: ufunc.reduce(a.astype(np.float32), axis=1, out=c)

    return Kernel(name, [x, y], reduce_rows(operation, start), data, expected, numpy, "row-major", goal)


def softmax_body(operands: Sequence[Operand], _: bool) -> str:
    x, y = operands
    r = Operand(x.shape[:1], "f32")
    whole, row = "(i, j) -> (i, j)", "(i, j) -> (i)"

    def step(operation: Sequence[str], what: str) -> str:
        lines = "".join(f"    {line}\n" for line in operation)
        return f"  ^bb0({what}):\n{lines}    linalg.yield %r : f32\n"

    parallel, reduction = ["parallel", "parallel"], ["parallel", "reduction"]
    return (
        f"  %lowest = arith.constant 0xFF800000 : f32\n  %zero = arith.constant 0.0 : f32\n"
        f"  %max = memref.alloc() {{alignment = 64 : i64}} : {r.type()}\n"
        f"  %sum = memref.alloc() {{alignment = 64 : i64}} : {r.type()}\n"
        f"  linalg.fill ins(%lowest : f32) outs(%max : {r.type()})\n"
        f"  linalg.fill ins(%zero : f32) outs(%sum : {r.type()})\n"
        + generic([whole, row], reduction, [x, r], ["%0", "%max"],
                  step(["%r = arith.maximumf %o, %a : f32"], "%a: f32, %o: f32"))
        + generic([whole, row, whole], parallel, [x, r, y], ["%0", "%max", "%1"],
                  step(["%d = arith.subf %a, %b : f32", "%r = math.exp %d : f32"], "%a: f32, %b: f32, %o: f32"))
        + generic([whole, row], reduction, [y, r], ["%1", "%sum"],
                  step(["%r = arith.addf %o, %a : f32"], "%a: f32, %o: f32"))
        + generic([row, whole], parallel, [r, y], ["%sum", "%1"],
                  step(["%r = arith.divf %o, %b : f32"], "%b: f32, %o: f32"))
        + f"  memref.dealloc %max : {r.type()}\n  memref.dealloc %sum : {r.type()}\n"
    )  # fmt: skip


def softmax(name: str, shape: tuple[int, ...], layout: str | None, goal: Goal) -> Kernel:
    operands = [Operand(shape, "f32", layout)] * 2

    def data(random: Random) -> list[Array]:
        return [random.standard_normal(shape, np.float32)]

    def expected(x: Array) -> Array:
        e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True), np.float32)

    def numpy(x: Array, y: Array) -> Callable[[], object]:
        def call() -> None:
            np.subtract(x, x.max(axis=1, keepdims=True), out=y)
            np.exp(y, out=y)
            np.divide(y, y.sum(axis=1, keepdims=True), out=y)

        return call

    return Kernel(name, operands, softmax_body, data, expected, numpy, "row-major", goal, tolerance=2e-5)


def both_ways(name: str, shape: tuple[int, ...], dtype: str, layout: str, goal: Goal) -> list[Kernel]:
    return [
        relayout(f"{name}-to-tiles", shape, [dtype] * 2, [None, layout], goal),
        relayout(f"{name}-from-tiles", shape, [dtype] * 2, [layout, None], goal),
    ]


# Tiles for elements of 32, 16 and 8 bits.
T4, T2, T1 = "{1,0:T(8,128)}", "{1,0:T(8,128)(2,1)}", "{1,0:T(8,128)(4,1)}"

KERNELS = [
    *both_ways("f32", (4096, 4096), "f32", T4, 0.85),
    *both_ways("bf16", (8192, 4096), "bf16", T2, 0.85),
    *both_ways("i8", (8192, 8192), "i8", T1, 0.9),
    *both_ways("f32-ragged", (4095, 4090), "f32", T4, 1.2),
    *both_ways("bf16-ragged", (8191, 4090), "bf16", T2, 1.2),
    relayout("f32-columns-to-tiles", (4096, 4096), ["f32"] * 2, ["{0,1}", T4], 1.3),
    relayout("f32-transpose", (4096, 4096), ["f32"] * 2, [None, "{0,1}"], 1.3),
    relayout("tiles-to-tiles-cast", (4096, 4096), ["f32", "bf16"], [T4, "{1,0:T(16,128)(2,1)}"], 1.1),
    matmul("matmul-f32", (1024, 1024, 1024), ["f32"] * 3, [T4] * 3, 150, of_numpy=0.75),
    matmul("matmul-f32-ragged", (1000, 1000, 1000), ["f32"] * 3, [T4] * 3, 0.91, of_kernel="matmul-f32"),
    matmul("matmul-mixed", (1000, 1000, 1000), ["f32"] * 3, [T4, "{0,1:T(8,128)}", "{1,0:T(4,64)}"], 110),
    matmul("matmul-bf16", (1024, 1024, 1024), ["bf16", "bf16", "f32"], [T2, T2, T4], None, of_kernel="matmul-f32"),
    rows("row-max-f32", "maximumf", (4000, 4000), "f32", T4, 1.1),
    rows("row-sum-f32", "addf", (4000, 4000), "f32", T4, 1.1),
    rows("row-max-bf16", "maximumf", (4000, 4000), "bf16", T2, 1.1),
    rows("row-sum-bf16", "addf", (4000, 4000), "bf16", T2, 1.1),
    softmax("softmax-f32", (1000, 1000), T4, 1.1),
]


# Small kernels for tests: sizes around those of tiles and vectors, layouts that suit neither.
SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 40]
COLUMNS = [1, 5, 16, 31, 64, 100, 127, 128, 129, 200, 257, 300]
TILES = [
    "", ":T(8,128)", ":T(8,128)(2,1)", ":T(8,128)(4,1)", ":T(16,128)(2,1)", ":T(4,64)", ":T(2,4)(2,1,1,1)", ":T(6,20)",
    ":T(128)", ":T(256)(128)(2,1)", ":T(8,128)(3,1)", ":T(4,16)L(1000)", ":T(16,16)(4,8)(2,1)",
]  # fmt: skip


def small(random: Random) -> Kernel:
    """A random one."""
    shape = int(random.choice(SIZES)), int(random.choice(COLUMNS))
    shape = shape if random.integers(2) else shape[::-1]

    def layout() -> str | None:
        if random.integers(5) == 0:
            return None
        return "{" + str(random.choice(["1,0", "0,1"])) + str(random.choice(TILES)) + "}"

    def one_of(*values: Any) -> Any:
        return values[random.integers(len(values))]

    kind = random.integers(6)
    if kind <= 1:
        dtypes = one_of(["f32"] * 2, ["bf16"] * 2, ["i8"] * 2, ["f32", "bf16"])
        return relayout("relayout", shape, dtypes, [layout(), layout()], 0)
    if kind == 2:
        dtypes = one_of(["f32"] * 3, ["bf16", "bf16", "f32"])
        sizes = [*shape, int(random.choice(SIZES + COLUMNS))]
        return matmul("matmul", sizes, dtypes, [layout() for _ in range(3)], 0)
    if kind == 5:
        return softmax("softmax", shape, layout(), 0)
    return rows("rows", one_of("maximumf", "addf"), shape, one_of("f32", "bf16"), layout(), 0)
