"""Measures the machine `cpu` by runs of what lowering makes of single operations, and prints its text.

    tools/bench.sh cpu-machine

`layout-inspect machine cpu --measure` measures plain loops, in a second and without clang; this measures the vector code that
programs become. Each operation is a program of HLO:

- copies in one order, of arrays that fit in each memory: the rates, reading as fast as writing;
- a copy of 8 numbers: starting a kernel;
- copies that exchange the minor dimension: `turned_reading`, the mean over matrices of all memories; of others than the
  minor one: `sublane_tile`;
- a sum of two matrices in the first caches, beside what it moves: `computed_tile`;
- a product of matrices of 512: `pass`, 8 numbers times 8 rows of 8;
- a gather of single numbers: `scattered_tile`.
"""

import argparse
import math
from collections.abc import Sequence

from bench.laid_out import Entry, LaidOut, timed

# The bytes of the memories, as far as arrays may fill them.
MEMORIES = {"l1": 24 << 10, "l2": 512 << 10, "l3": 8 << 20, "ram": 128 << 20}
LANES = 8


def seconds(text: str, entry: Entry | None = None) -> float:
    """The fastest of several measurements of a program."""
    with timed(LaidOut(text, entry)) as library:
        return min(library.seconds(0.02) for _ in range(7))


def module(*lines: str) -> str:
    return "\n".join(["HloModule measured", "", "ENTRY main {", *(f"  {line}" for line in lines), "}", ""])


def copy(sizes: Sequence[int], layout: str | None = None) -> float:
    """The picoseconds of a copy of f32 in row-major order into a layout."""
    shape = f"f32[{','.join(map(str, sizes))}]"
    # Without a layout nothing is copied: a sign is changed instead.
    operation = "copy" if layout else "negate"
    text = module(f"x = {shape} parameter(0)", f"ROOT y = {shape} {operation}(x)")
    return 1e12 * seconds(text, {"out": [layout]} if layout else None)


def square(bytes_of_both: int) -> int:
    """The side of a matrix that, with a copy of it, has so many bytes; a multiple of 16, and of no large power of two."""
    return max(16, int(math.sqrt(bytes_of_both / 8)) // 32 * 32 + 16)


def arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def main(options: argparse.Namespace) -> None:
    del options
    kernel = copy([LANES])
    sides = {name: square(size) for name, size in MEMORIES.items()}
    plain = {name: copy([n, n]) - kernel for name, n in sides.items()}
    rates = {name: 8 * n * n / plain[name] for name, n in sides.items()}
    # A turned copy is `turned_reading` times reading and once writing, and a plain one once both.
    turned = [2 * (copy([n, n], "{0,1}") - kernel) / plain[name] - 1 for name, n in sides.items()]
    turned_reading = math.prod(turned) ** (1 / len(turned))
    outer = [(48, 40, 48), (20, 24, 72), (120, 72, 96)]
    tiles = [a * b * c / LANES for a, b, c in outer]
    sublane = [(copy(own, "{2,0,1}") - copy(own)) / n for own, n in zip(outer, tiles, strict=True)]
    n = sides["l1"]
    shape = f"f32[{n},{n}]"
    added = 1e12 * seconds(module(f"x = {shape} parameter(0)", f"y = {shape} parameter(1)", f"ROOT z = {shape} add(x, y)"))
    computed = (added - kernel - 12 * n * n / rates["l1"]) / (n * n / LANES)
    k, product = 512, "f32[512,512]"
    dot = f"ROOT z = {product} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    passes = 1e12 * seconds(module(f"x = {product} parameter(0)", f"y = {product} parameter(1)", dot)) / (k / LANES) ** 2 / k
    where = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    gather = f"ROOT z = f32[4096] gather(x, i), {where}"
    scattered = 1e12 * seconds(module("x = f32[4096] parameter(0)", "i = s32[4096,1] parameter(1)", gather)) / (4096 / LANES)
    memories = ", ".join(
        f"{name}: 0 with {1 << 34 if name == 'ram' else size} bytes reading {rates[name]:.3f} writing {rates[name]:.3f}"
        for name, size in MEMORIES.items()
    )
    print(
        f"axes: (), memories: ({memories}), word: 32, unit: picosecond, registers: 1x{LANES}, costs: (kernel: {kernel:.0f}, "
        f"computed_tile: {max(computed, 0):.0f}, copy: {kernel:.0f}, sublane_tile: {max(sum(sublane) / len(sublane), 0):.0f}, "
        f"transpose_window: {kernel:.0f}, turned_reading: {turned_reading:.2f}, product: {kernel:.0f}, pass: {passes:.0f}, "
        f"least_passes: 1, scattered_tile: {scattered:.0f})"
    )
