"""Plans of a step of training over 8 to 4096 devices, beside the shardings of its program."""

import argparse
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

from bench import export
from bench.inspect import INSPECT, gap, plan
from bench.results import Column, Page, Row, Table, Value
from bench.run import Failed, run

CHAINS = [
    ("rows to columns", "((64_Device, 64:4096), (4096:1))", "((4096:64), (64_Device, 64:1))"),
    ("rows of 64 to blocks of 8 * 8", "((64_Device, 64:4096), (4096:1))", "((8_Device:8, 512:512), (8_Device:1, 512:1))"),
    ("blocks of 8 * 8, axes exchanged", "((8_Device:8, 512:512), (8_Device:1, 512:1))",
     "((8_Device:1, 512:512), (8_Device:8, 512:1))"),
    ("one axis gathered", "((8_Device:8, 512:512), (8_Device:1, 512:1))", "((8_Device:8, 512:4096), (4096:1); B@[8_Device:1])"),
    ("copies to blocks", "((8_Device:8, 512:4096), (4096:1); B@[8_Device:1])", "((8_Device:8, 512:512), (8_Device:1, 512:1))"),
]  # fmt: skip

PLANS = Table(
    "plans",
    (
        Column("devices"), Column("shardings"), Column("ms", "{:.2f}"), Column("of these communication", "{:.2f}"),
        Column("MB got by each", "{:,.0f}"), Column("GB held at once", "{:.2f}"), Column("above the bound", "{:.2f} %"),
        Column("s", "{:.1f}"),
    ),
    keys=2,
)  # fmt: skip
RESHARDING = Table(
    "resharding",
    (Column("from, to"), Column("collectives"), Column("MB", "{:.2f}"), Column("all-gather and slice, MB", "{:.2f}")),
)


def page() -> Page:
    return Page("devices", [PLANS, RESHARDING])


def cells(answer: dict[str, Any]) -> list[Value]:
    """Milliseconds, of these communication, megabytes that a device gets, gigabytes that it holds at most, and the gap."""
    moved = answer["cost"] - answer["work"]
    received = answer["levels"][0]["bytes"]
    return [answer["cost"] / 1e9, moved / 1e9, received / 1e6, answer["peak"]["0"] / 1e9, gap(answer)]


def rows(seconds: str, folder: pathlib.Path) -> Iterator[Row]:
    """The shardings of the program, the plan, and the plan in the least memory that one of these takes, for each number of
    devices."""
    files = sorted(folder.glob("*.hlo"), key=lambda file: [int(n) for n in file.name.split(".")[:3]])
    search = ["--seconds", seconds]
    for count in sorted({int(file.name.split(".")[0]) for file in files}):
        machine, peaks = f"tpu_v5e_{count}", []
        of_count = [file for file in files if int(file.name.split(".")[0]) == count]
        best = plan(of_count[0], machine, *search)
        for file in of_count:
            _, fsdp, tensor, *_ = file.name.split(".")
            given = plan(file, machine, "--compare", *search).json["compare"]
            peaks.append(given["peak"]["0"])
            yield [count, f"fsdp {fsdp}, tensor {tensor}", *cells(given), None]
        yield [count, "plan", *cells(best.json), best.clock]
        what = "plan in the least memory of these"
        try:
            small = plan(of_count[0], machine, "--capacity", f"HBM={min(peaks)}", *search)
            yield [count, what, *cells(small.json), small.clock]
        except Failed as error:
            yield [count, what, "none found", *[None] * 4, error.clock]


def chains() -> Iterator[Row]:
    """Collectives that bring a tensor from one sharding to another, and their bytes."""
    for what, source, destination in CHAINS:
        done = run([INSPECT, "convert", source, destination])
        steps = [line for line in done.out.splitlines() if " along " in line and line.endswith("to each")]
        got = sum(int(line.rsplit(": ", 1)[1].split()[0].replace(",", "")) for line in steps)
        # All of it comes to every device, but for what that has.
        digits = source.split(";")[0]
        parts = 64 if "64_Device" in digits or digits.count("8_Device") == 2 else 8
        whole = 4096 * 4096 * 4
        names = " and ".join(line.split(" along ")[0].strip() for line in steps) or "nothing"
        yield [what, names, got / 1e6, whole * (parts - 1) / parts / 1e6]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", default="60", help="the longest search")
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", help="programs of the set `devices`, N.F.T; without one all")


def main(options: argparse.Namespace) -> None:
    results = page()
    with tempfile.TemporaryDirectory() as work:
        export.texts("devices", pathlib.Path(work), options.programs)
        results.begin(PLANS, f"{options.seconds} s of search at most")
        for row in rows(options.seconds, pathlib.Path(work)):
            results.put(PLANS, row)
    results.begin(RESHARDING)
    for row in chains():
        results.put(RESHARDING, row)
