"""Puts every program through everything: analysed, imported, lowered, compiled, called and compared with XLA.

Seconds are of the processor, user and system, of each child, so that other work on the machine changes them less than the
clock. A folder with NAME.v5e.hlo is one of programs of a TPU's compiler, which have a table of their own.
"""

import argparse
import pathlib
from collections.abc import Callable

from bench import entry, library, worker
from bench.inspect import INSPECT
from bench.library import How
from bench.results import Value
from bench.run import MEMORY, TOOLS, Failed, Unfinished, run
from bench.whole import IMPORT, STEPS, TPU_IMPORT, Selected, arguments, arrays_of

__all__ = ["arguments"]


class Steps:
    """The steps of a program: seconds, or whether it comes so far, and the complaints."""

    def __init__(self) -> None:
        self.cells: dict[str, Value] = dict.fromkeys(STEPS)
        self.faults: list[str] = []

    def take(self, step: str, action: Callable[[], Value]) -> bool:
        """Whether a step succeeds."""
        try:
            self.cells[step] = action()
        except Failed as error:
            self.cells[step] = None if isinstance(error, Unfinished) else "no"
            self.faults.append(f"{step}: {error}")
            return False
        return True


def through(file: pathlib.Path, work: pathlib.Path) -> tuple[list[Value], list[str]]:
    """The steps of a program, as far as it comes."""
    steps, mlir = Steps(), work / "imported.mlir"
    name, arrays = file.name.removesuffix(".hlo"), arrays_of(file)
    count = sum(" = " in line for line in file.read_text().splitlines())

    def lowered() -> float:
        return run([TOOLS / "layout-opt", "--layout-to-llvm", mlir, "-o", work / "lowered.mlir"], memory=MEMORY).seconds

    def compiled() -> float:
        _, code = library.library(name, mlir.read_text(), work, How())
        # The lowering is a step of its own.
        return code.seconds["translated"] + code.seconds["compiled"]

    def numbers() -> str:
        if report["differences"]:
            raise Failed(f"{len(report['differences'])} results: {report['differences'][0]}")
        return "yes"

    report: worker.Report = {}

    def called() -> float:
        report.update(worker.asked("run", work / f"{name}.so", str(arrays)))
        return float(report["seconds"])

    steps.take("analysed", lambda: run([INSPECT, "hlo", file, "--json"], memory=MEMORY).seconds)
    if steps.take("imported", lambda: library.imported(file, mlir)) and steps.take("lowered", lowered) and arrays:
        # A program that says itself what each device does wants the numbers of each.
        parted = arrays.name.endswith(".shards.npz")
        if parted or not entry.exchanges(mlir.read_text()):
            for step, action in (("compiled", compiled), ("called", called), ("numbers", numbers)):
                if not steps.take(step, action):
                    break
    return [count, *steps.cells.values()], steps.faults


def main(options: argparse.Namespace) -> None:
    Selected(options, IMPORT, TPU_IMPORT).put("*.hlo", through)
