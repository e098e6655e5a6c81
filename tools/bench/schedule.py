"""The peaks of programs in the order of the file and in one of least memory.

Folders have NAME.hlo.
"""

import argparse
import pathlib

from bench.inspect import inspect
from bench.results import Column, Page, Row, Table, number
from bench.run import ROOT, Failed, existing


def peaks(rows: list[Row]) -> str:
    known = [row for row in rows if row[4] is not None]
    lower = sum(number(row[4]) < number(row[3]) for row in known)
    least = sum(row[6] == 0 for row in known)
    return (
        f"Of {len(known)} peaks {lower} are lower than in the order of the file, and {least} are proved to be the least of all"
        " orders; a gap that rounds to 0.0 % may be one."
    )


PEAKS = Table(
    "peaks",
    (
        Column("program"), Column("instructions", "{:,}"), Column("memory"), Column("file's order", "{:,}"),
        Column("least-memory", "{:,}"), Column("less", "{:.1f} %"), Column("above the bound", "{:.1f} %"),
        Column("seconds", "{:.2f}"),
    ),
    keys=3,
    summary=peaks,
)  # fmt: skip


def page() -> Page:
    return Page("schedule", [PEAKS])


def rows(file: pathlib.Path) -> list[Row]:
    """A row for each memory of a program in which some order could matter."""
    try:
        report = inspect("hlo", file, "--summary", "--schedule", "least-memory")
    except Failed as error:
        return [[file.stem, None, None, str(error), None, None, None, None]]
    found: list[Row] = []
    for memory in report.json["spaces"]:
        order, peak = memory["order"], memory["peak"]["bytes"]
        if (memory["temporaries"] == 0 and order["file"] == peak) or memory["space"] > 1:
            continue
        less, above = 100 * (1 - peak / max(1, order["file"])), 100 * (peak / max(1, order["bound"]) - 1)
        found.append([file.stem, report.json["instructions"], memory["name"], order["file"], peak, less, above, report.seconds])
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", type=existing, nargs="*", default=[ROOT / "test/hlo"])


def main(options: argparse.Namespace) -> None:
    results = page()
    results.begin(PEAKS)
    for folder in options.folders:
        for file in sorted(folder.glob("*.hlo")):
            for row in rows(file):
                results.put(PEAKS, row)
