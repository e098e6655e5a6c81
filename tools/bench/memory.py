"""Plans of programs whose fastest memory holds a part of what the plan without capacity takes.

A folder has NAME.unopt.hlo or NAME.hlo.
"""

import argparse
import pathlib
import tempfile
from typing import Any

from bench.inspect import INSPECT, gap, plan
from bench.results import Column, Page, Row, Table, numbers, programs
from bench.run import ROOT, Failed, existing, run

MACHINE = "tpu_v5e"
# The bytes of the machine's fastest memory.
VMEM = 134217728
# The parts of the unconstrained peak that the memory holds.
PARTS = (2, 4)


def gaps(rows: list[Row]) -> str:
    found = numbers(rows, 7)
    return f"{len(found)} plans; the largest gap is {max(found, default=0):.2f} %, and {found.count(0)} have none."


COUNT = "{:,}"
PLANS = Table(
    "plans",
    (
        Column("program"), Column("free", COUNT), Column("all", COUNT), Column("vmem", COUNT), Column("stays", COUNT),
        Column("over time", COUNT), Column("more", "{:.1f} %"), Column("gap", "{:.2f} %"), Column("moves"),
        Column("bytes moved", COUNT), Column("waited", COUNT), Column("s", "{:.1f}"),
    ),
    keys=4,
    summary=gaps,
)  # fmt: skip


def page() -> Page:
    return Page("memory", [PLANS])


def cells(file: pathlib.Path, whole: dict[str, Any], size: int, seconds: str) -> Row:
    """The cells of a program in a memory of so many bytes. `whole` is the plan in all of the machine's."""
    limit = ["--entry", "free", "--capacity", f"vmem={size}", "--seconds", seconds]
    try:
        stay = plan(file, MACHINE, *limit, "--stay").json["cost"]
    except Failed:
        stay = None
    with tempfile.NamedTemporaryFile() as proof:
        try:
            time = plan(file, MACHINE, *limit, "--certificate", proof.name)
        except Failed as error:
            return [size, str(error), *[None] * 7]
        run([INSPECT, "check-plan", file, proof.name], most=None)
    cost, transfers = time.json["cost"], time.json.get("transfers", [])
    moved, waited = (sum(transfer[key] for transfer in transfers) for key in ("bytes", "exposed"))
    more = 100 * (cost / max(1, whole["cost"]) - 1)
    return [size, stay, cost, more, gap(time.json), len(transfers), moved, waited, time.seconds]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", default="60", help="the longest search")
    parser.add_argument("folder", metavar="FOLDER", type=existing, nargs="?", default=ROOT / "test/hlo")


def main(options: argparse.Namespace) -> None:
    results = page()
    results.begin(PLANS, f"{options.seconds} seconds of search at most")
    for name, file in programs(options.folder).items():
        try:
            free = plan(file, MACHINE, "--entry", "free").json
        except Failed:
            continue
        if not free["peak"].get("1"):
            continue
        whole = plan(file, MACHINE, "--entry", "free", "--capacity", f"vmem={VMEM}", "--seconds", options.seconds).json
        for part in PARTS:
            results.put(PLANS, [name, free["cost"], whole["cost"], *cells(file, whole, free["peak"]["1"] // part, options.seconds)])
