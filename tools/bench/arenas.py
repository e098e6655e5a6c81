"""The bytes of the arenas of programs, and how many of them are live at once.

The programs are those of test/hlo, and of each folder that has NAME.hlo.
"""

import argparse
import pathlib
import re

from bench.results import Column, Page, Row, Table, numbers
from bench.run import ROOT, TOOLS, Failed, existing, run

REMARK = re.compile(r"the arena in memory space 0 has (\d+) bytes for (\d+) buffers, of which at most (\d+) are live")


def arenas(rows: list[Row]) -> str:
    same = sum(row[2] == row[3] for row in rows)
    return (
        f"{len(rows)} programs; {same} arenas have no more than what is live at once, and the largest difference is"
        f" {max(numbers(rows, 4), default=0):.2f} %."
    )


COUNT = "{:,}"
ARENAS = Table(
    "arenas",
    (
        Column("program"), Column("buffers", COUNT), Column("live at once", COUNT), Column("arena", COUNT),
        Column("more", "{:.2f} %"),
    ),
    by_name=True,
    summary=arenas,
)  # fmt: skip


def page() -> Page:
    return Page("arenas", [ARENAS])


def cells(program: pathlib.Path) -> Row | None:
    """The buffers, the live bytes and the bytes of a program's largest arena, and how much more these are; none where it
    has none."""
    imported = run([TOOLS / "layout-translate", "--import-hlo", program]).out
    lowered = run([TOOLS / "layout-opt", "--layout-to-memref"], imported).out
    remarks = run([TOOLS / "layout-opt", "--layout-plan-memory=report", "-o", "/dev/null"], lowered).err
    found = [tuple(map(int, numbers)) for numbers in REMARK.findall(remarks)]
    if not found:
        return None
    live, whole, count = max((live, whole, count) for whole, count, live in found)
    return [count, live, whole, 100 * (whole - live) / live]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", type=existing, nargs="*")


def main(options: argparse.Namespace) -> None:
    results, without, failed = page(), 0, []
    results.begin(ARENAS)
    for folder in [ROOT / "test/hlo", *options.folders]:
        for program in sorted(folder.glob("*.hlo")):
            name = program.name.removesuffix(".hlo")
            try:
                row = cells(program)
            except Failed:
                failed.append(name)
                continue
            if row is None:
                without += 1
            else:
                results.put(ARENAS, [name, *row])
    results.remark(ARENAS, f"{without} programs", "with a single buffer or none")
    results.remark(ARENAS, "not lowered", *([", ".join(failed)] if failed else []))
