"""Writes benches/offsets.md: `layout-inspect offsets` on tight problems of which a solution is known.

    cargo build --release -p layout-inspect && python3 tools/offsets_table.py target/release/layout-inspect
"""

import csv
import pathlib
import random
import subprocess
import sys
import tempfile
import time

CAPACITY = 1 << 20
MOMENTS = 1000
UNIT = 1024
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
STEPS = 3_000_000_000


def cut(name, count, pinwheels, taken):
    """A rectangle of all moments and bytes in parts: (first, end, low, high)."""
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


def peak(parts):
    """The most bytes at a moment."""
    return max(sum(high - low for first, end, low, high in parts if first <= m < end) for m in range(MOMENTS))


def solved(program, parts, capacity, steps):
    """The arena, or None where none was found; and the seconds. What is found is checked here."""
    with tempfile.TemporaryDirectory() as folder:
        problem, answer = pathlib.Path(folder, "problem.csv"), pathlib.Path(folder, "answer.csv")
        lines = [f"{k},{first},{end},{high - low}\n" for k, (first, end, low, high) in enumerate(parts)]
        problem.write_text("id,lower,upper,size\n" + "".join(lines))
        options = ["--steps", str(steps), "--table", str(answer)]
        options += ["--capacity", str(capacity)] if capacity else []
        start = time.time()
        done = subprocess.run([program, "offsets", problem, *options], capture_output=True, text=True)
        took = time.time() - start
        if done.returncode != 0:
            return None, took
        rows = [[int(row[c]) for c in ("lower", "upper", "offset", "size")] for row in csv.DictReader(answer.open())]
    assert len(rows) == len(parts)
    for k, (first, end, low, size) in enumerate(rows):
        for other_first, other_end, other_low, other_size in rows[:k]:
            meet = first < other_end and other_first < end
            assert not meet or low + size <= other_low or other_low + other_size <= low
    return max(low + size for _, _, low, size in rows), took


def main():
    program = sys.argv[1]
    lines = [
        "# Offsets of tight problems",
        "",
        "Made by `python3 tools/offsets_table.py target/release/layout-inspect`: a memory of 1,048,576 bytes and 1,000 moments is",
        "cut into buffers, in two or as a pinwheel (four around a fifth, which no straight cut separates), and some are taken out",
        "again. So a solution is known, and where nothing is taken out there is no free byte at any moment. Each is given as a",
        f"table to `layout-inspect offsets --capacity 1048576 --steps {STEPS}`, and what it finds is checked.",
        "",
        "- peak: the most bytes that are live at a moment; no arena is smaller.",
        "- without search: `--steps 0` and no capacity, the best of best fit and three orders of the lowest gap.",
        "- arena: what is found for the capacity; seconds with the start of the program.",
        "",
        "| problem | buffers | pinwheels | taken out | peak | without search | arena | arena / peak | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, count, pinwheels, taken in PROBLEMS:
        parts = cut(name, count, pinwheels, taken)
        alone, _ = solved(program, parts, None, 0)
        arena, took = solved(program, parts, CAPACITY, STEPS)
        ratio = f"{arena / peak(parts):.3f}" if arena else "-"
        found = f"{arena:,}" if arena else "not found"
        row = (name, len(parts), f"{pinwheels} %", f"{taken} %", f"{peak(parts):,}", f"{alone:,}", found, ratio, f"{took:.2f}")
        lines.append("| " + " | ".join(map(str, row)) + " |")
        print(lines[-1], flush=True)
    pathlib.Path("benches/offsets.md").write_text("\n".join(lines) + "\n")


main()
