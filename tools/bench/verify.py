"""How long lowering the programs of test/run to vector code takes, and how much verification adds.

Seconds are those of the processor, the least of three runs; starting the tool is in both.
"""

import argparse
import math
import pathlib

from bench.results import Column, Page, Row, Table, numbers
from bench.run import ROOT, TOOLS, Failed, run

RUNS = 3
# Verification that takes less is counted as this.
LEAST = 0.001


def ratios(rows: list[Row]) -> str:
    lowering, more = numbers(rows, 1), numbers(rows, 2)
    mean = math.exp(sum(math.log(b / a) for a, b in zip(lowering, more, strict=True)) / max(1, len(rows)))
    return (
        f"The geometric mean of the ratios is {mean:.2f}; all programs together take"
        f" {sum(more) / max(LEAST, sum(lowering)):.1f} times as long."
    )


COSTS = Table(
    "costs",
    (Column("program"), Column("lowering s", "{:.3f}"), Column("verification s", "{:.3f}"), Column("ratio", "{:.1f}")),
    summary=ratios,
)


def page() -> Page:
    return Page("verify", [COSTS])


def lowered(program: pathlib.Path, options: str) -> float:
    """The seconds of lowering a program with some options."""
    lowering = f"--layout-to-memref={options}"
    return run([TOOLS / "layout-opt", program, "--split-input-file", lowering, "-o", "/dev/null"], most=None).seconds


def verified(program: pathlib.Path, options: str) -> float:
    """The same with verification, whether it proves the program or not."""
    try:
        return lowered(program, f"verify {options}")
    except Failed as error:
        return error.seconds


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", metavar="PART", nargs="*", help="parts of names of programs; without one all")


def main(options: argparse.Namespace) -> None:
    results = page()
    results.begin(COSTS)
    for program in sorted((ROOT / "test/run").glob("*.mlir")):
        if options.parts and not any(part in program.name for part in options.parts):
            continue
        try:
            lowering = min(lowered(program, "vectorize=avx2") for _ in range(RUNS))
        except Failed:
            continue
        both = min(verified(program, "vectorize=avx2") for _ in range(RUNS))
        more = max(LEAST, both - lowering)
        results.put(COSTS, [program.name, lowering, more, more / lowering])
