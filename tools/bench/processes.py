"""Programs in one process and in two, and the bytes that these send."""

import argparse
import pathlib
import tempfile

from bench.programs.processes import PROGRAMS, overlap
from bench.results import Column, Page, Table
from bench.run import LLVM, ROOT, TOOLS, Argument, Failed, run

PASSES = "--layout-to-llvm=vectorize=avx2 reassociate contract arena=kept"
# Each time is the least of so many runs.
RUNS = 3

MS, COUNT = "{:.1f}", "{:,}"
SPEED = Table(
    "programs",
    (
        Column("program"), Column("one process, ms", MS), Column("two, ms", MS), Column("times as fast", "{:.2f}"),
        Column("bytes sent", COUNT), Column("the least", COUNT),
    ),
)  # fmt: skip
OVERLAP = Table("overlap", (Column("what"), Column("ms", MS)))


def page() -> Page:
    return Page("processes", [SPEED, OVERLAP])


def called(work: pathlib.Path, n: int, text: str) -> tuple[float, int]:
    """The seconds of a step of a program in so many processes, and the most bytes that one of them sent."""
    lowered = work / "lowered.mlir"
    run([TOOLS / "layout-opt", "-", PASSES, "-o", lowered], text)
    mpi = next(pathlib.Path("/usr/lib").glob("*/libmpi.so.40"), None)
    if mpi is None:
        raise Failed("there is no libmpi.so.40, which Debian's openmpi-bin has")
    libraries = [*(LLVM / f"lib/lib{name}.so" for name in ("mlir_runner_utils", "mlir_c_runner_utils")), work / "bytes.so", mpi]
    shared = f"-shared-libs={','.join(map(str, libraries))}"
    runner: list[Argument] = [LLVM / "bin/mlir-runner", lowered, "-O3", "-e", "main", "-entry-point-result=void", shared]
    command: list[Argument] = runner if n == 1 else [ROOT / "tools/mpirun.sh", n, *runner]
    done = [run(command, most=None) for _ in range(RUNS)]
    sent = [int(line.split()[4]) for line in done[0].err.splitlines() if line.startswith("sent ")]
    return min(float(each.out.split()[0]) for each in done), max(sent, default=0)


def arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def main(options: argparse.Namespace) -> None:
    del options
    results = page()
    results.begin(SPEED)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        counter = ROOT / "test/run/processes/Inputs/bytes.c"
        run(["cc", "-shared", "-fPIC", "-O2", counter, "-o", work / "bytes.so"])
        for name, make, steps in PROGRAMS:
            one, _ = called(work, 1, make(1, steps)[0])
            text, least = make(2, steps)
            two, sent = called(work, 2, text)
            # What is sent before and after the steps is in both.
            sent = called(work, 2, make(2, 2 * steps)[0])[1] - sent
            results.put(SPEED, [name, one * 1e3, two * 1e3, one / two, sent // steps, least])
        results.begin(OVERLAP)
        for what, text in overlap():
            results.put(OVERLAP, [what, called(work, 2, text)[0] * 1e3])
