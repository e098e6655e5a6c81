"""Whole programs with planned layouts beside the same with row-major ones.

The programs are those of the set `cpu` and of test/hlo, or the NAME.hlo or NAME.unopt.hlo of PROGRAM_FOLDERS in the
environment. Each is compiled three times, and the three are called in turns.
"""

import argparse
import os
import pathlib
import statistics
import tempfile

from bench import export
from bench.inspect import plan
from bench.library import FLAGS, OPTIONS
from bench.results import Column, Page, Row, Table, programs
from bench.run import ROOT, Failed

TURNS = 15
# How long one program runs in a turn, in seconds.
SECONDS = 0.03
# How far results may be from each other, as a part of the largest: sums are in another order.
NEAR = 1e-3

MS, RATIO = "{:.3f}", "{:.2f}"
TURNED = Table(
    "programs",
    (
        Column("program"), Column("row-major ms", MS), Column("fixed ms", MS), Column("÷", RATIO), Column("free ms", MS),
        Column("÷", RATIO), Column("arguments and results that change"),
    ),
)  # fmt: skip


def page(write: bool = True) -> Page:
    return Page("cpu", [TURNED], write)


def measured(text: str) -> Row:
    """The cells of a program's row after its name."""
    # Pages are made without NumPy.
    from bench.laid_out import PLANNED, LaidOut, timed
    from bench.near import apart

    plain = LaidOut(text)
    free = LaidOut(text, plan(plain.text, "cpu", "--entry", "free").json["entry"])
    types = zip(plain.arguments + plain.results, free.arguments + free.results, strict=True)
    changed = [str(one) != str(other) for one, other in types]
    with timed(plain) as row_major, timed(plain, PLANNED) as fixed, timed(free, PLANNED) as best:
        expected = row_major.results()
        for name, library in (("fixed", fixed), ("free", best)):
            off = apart(expected, library.results())
            if off > NEAR:
                raise Failed(f"results of `{name}` are {off:.1e} of the largest apart")
        turns = [[library.seconds(SECONDS) for library in (row_major, fixed, best)] for _ in range(TURNS)]
    cells: list[str | float] = [1e3 * min(turn[0] for turn in turns)]
    for k, library in ((1, fixed), (2, best)):
        ratio = statistics.median(turn[k] / turn[0] for turn in turns)
        cells += [1e3 * min(turn[k] for turn in turns), "same" if library.code == row_major.code else ratio]
    return [*cells, f"{sum(changed)} of {len(changed)}"]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("parts", metavar="PART", nargs="*", help="parts of names of programs; then nothing is written")


def main(options: argparse.Namespace) -> None:
    results = page(write=not options.parts)
    results.begin(TURNED, f"options beside the plan's: `{OPTIONS}`; `clang {' '.join(FLAGS)}`")
    with tempfile.TemporaryDirectory() as work:
        given = os.environ.get("PROGRAM_FOLDERS")
        folders = [pathlib.Path(folder) for folder in given.split(":")] if given else [pathlib.Path(work), ROOT / "test/hlo"]
        if not given:
            export.texts("cpu", folders[0], [])
        for name, file in (pair for folder in folders for pair in programs(folder).items()):
            if options.parts and not any(part in name for part in options.parts):
                continue
            try:
                cells = measured(file.read_text())
            except Failed as error:
                cells = [f"not measured: {error}", *[""] * 5]
            results.put(TURNED, [name, *cells])
