"""`layout-inspect offsets` on tight problems of which a solution is known."""

import argparse
import csv
import pathlib
import random
import tempfile

from bench.inspect import INSPECT
from bench.results import Column, Page, Table
from bench.run import Argument, Failed, run

CAPACITY = 1 << 20
MOMENTS = 1000
UNIT = 1024
STEPS = 3_000_000_000
# Name, buffers, how many of 100 cuts are pinwheels, how many of 100 buffers are taken out afterwards.
PROBLEMS = [
    ("A", 154, 0, 0),
    ("B", 170, 50, 0),
    ("C", 203, 25, 2),
    ("D", 240, 0, 1),
    ("E", 269, 25, 0),
    ("F", 296, 0, 5),
    ("G", 312, 10, 0),
    ("H", 367, 0, 0),
    ("I", 386, 10, 2),
    ("J", 454, 0, 0),
    ("K", 500, 0, 2),
]
# Of a buffer the first moment, the one after the last, the lowest byte and the one after the highest.
Buffer = tuple[int, int, int, int]

PERCENT, COUNT = "{} %", "{:,}"
SOLVED = Table(
    "problems",
    (
        Column("problem"), Column("buffers"), Column("pinwheels", PERCENT), Column("taken out", PERCENT), Column("peak", COUNT),
        Column("without search", COUNT), Column("arena", COUNT), Column("arena / peak", "{:.3f}"), Column("seconds", "{:.2f}"),
    ),
)  # fmt: skip


def page() -> Page:
    return Page("offsets", [SOLVED])


def cut(name: str, count: int, pinwheels: int, taken: int) -> list[Buffer]:
    """A rectangle of all moments and bytes in parts."""
    rng = random.Random(name)
    parts = [(0, MOMENTS, 0, CAPACITY)]
    while len(parts) < count:
        at = rng.randrange(len(parts))
        first, end, low, high = parts[at]
        rows = (high - low) // UNIT
        if rng.randrange(100) < pinwheels and end - first > 2 and rows > 2:
            # Four parts around a fifth: no straight cut through all separates them.
            left, right = sorted(rng.sample(range(first + 1, end), 2))
            below, above = (low + UNIT * row for row in sorted(rng.sample(range(1, rows), 2)))
            parts[at] = (left, right, below, above)
            parts += [(first, left, low, above), (left, end, low, below)]
            parts += [(right, end, below, high), (first, right, above, high)]
        elif rng.random() < 0.5 and end - first > 1:
            middle = rng.randrange(first + 1, end)
            parts[at] = (first, middle, low, high)
            parts.append((middle, end, low, high))
        elif rows > 1:
            middle = low + UNIT * rng.randrange(1, rows)
            parts[at] = (first, end, low, middle)
            parts.append((first, end, middle, high))
    rng.shuffle(parts)
    return parts[len(parts) * taken // 100 :]


def peak(parts: list[Buffer]) -> int:
    """The most bytes at a moment."""
    return max(sum(high - low for first, end, low, high in parts if first <= m < end) for m in range(MOMENTS))


def solved(parts: list[Buffer], *options: Argument) -> tuple[int | None, float]:
    """The bytes of the arena, or none where none was found, and the seconds of the processor. The answer is checked here."""
    with tempfile.TemporaryDirectory() as folder:
        problem, answer = pathlib.Path(folder, "problem.csv"), pathlib.Path(folder, "answer.csv")
        lines = [f"{k},{first},{end},{high - low}\n" for k, (first, end, low, high) in enumerate(parts)]
        problem.write_text("id,lower,upper,size\n" + "".join(lines))
        try:
            done = run([INSPECT, "offsets", problem, *options, "--table", answer], most=None)
        except Failed as error:
            return None, error.clock
        with answer.open() as file:
            rows = [[int(row[c]) for c in ("lower", "upper", "offset", "size")] for row in csv.DictReader(file)]
    assert len(rows) == len(parts)
    for k, (first, end, low, size) in enumerate(rows):
        for other_first, other_end, other_low, other_size in rows[:k]:
            meet = first < other_end and other_first < end
            assert not meet or low + size <= other_low or other_low + other_size <= low
    return max(low + size for _, _, low, size in rows), done.clock


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, default=STEPS, help="the most steps of the search")


def main(options: argparse.Namespace) -> None:
    results = page()
    results.begin(SOLVED, f"`--capacity {CAPACITY} --steps {options.steps}`")
    for name, count, pinwheels, taken in PROBLEMS:
        parts = cut(name, count, pinwheels, taken)
        alone, _ = solved(parts, "--steps", 0)
        arena, took = solved(parts, "--steps", options.steps, "--capacity", CAPACITY)
        most = peak(parts)
        ratio = arena / most if arena else None
        results.put(SOLVED, [name, len(parts), pinwheels, taken, most, alone, arena or "not found", ratio, took])
