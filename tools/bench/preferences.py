"""Fits the preferences of a machine to what its judge says, with half of the programs held out.

    PYTHON=PYTHON_WITH_JAX_TPU tools/bench.sh preferences
    PYTHON=PYTHON_WITH_JAX_TPU tools/bench.sh preferences --machine cpu --programs 16 --rows dot

The programs are random ones of one operation (`programs/fresh.py`), new each time. For each array of the operation all entries
of an order are tried, while the other arrays keep theirs, until nothing improves: the row is the one with which the entries
that are planned cost least by the judge. Then the held-out programs are planned with that row and with none, and the row stays
where it saves more than twice its standard error. The row that the machine has is held beside it. The judge of `tpu_v5e` is
XLA's compiler, that of `cpu` a run.
"""

import argparse
import contextlib
import itertools
import math
import random
import re
import statistics
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from bench.inspect import INSPECT, plan
from bench.results import Column, Page, Table
from bench.run import Failed, run
from bench.tpu import DEFAULT, Compiler, compiled, text_of


class Fitted(NamedTuple):
    """An operation with preferences: the kind of random programs that have it, and the kinds of dimensions of each array."""

    kind: str
    arrays: Sequence[Sequence[str]]


ROWS = {
    "dot": Fitted("einsum", (("batch", "m", "k"), ("batch", "n", "k"), ("batch", "m", "n"))),
    "convolution": Fitted(
        "convolution", (("batch", "feature", "spatial"), ("input", "output", "window"), ("batch", "feature", "spatial"))
    ),
    "gather": Fitted("gather", (("indexed", "offset"), ("batch", "vector"), ("batch", "offset"))),
    "scatter": Fitted("scatter", (("indexed", "offset"), ("batch", "vector"), ("batch", "offset"))),
    "sort": Fitted("sort", (("sorted", "other"),)),
}
# XLA says that a sort inside of registers takes almost nothing, or nothing at all: one such program would decide for all.
MOST = math.log(4)
PREFERENCES = Table(
    "preferences",
    (
        Column("machine"), Column("row"), Column("programs"), Column("fitted, ÷ default", "{:.3f}"),
        Column("held out, ÷ default", "{:.3f}"), Column("without the row", "{:.3f}"), Column("saved, %", "{:.1f}"),
        Column("standard error, %", "{:.1f}"), Column("stays"), Column("the machine's row", "{:.3f}"),
    ),
    keys=2,
)  # fmt: skip


class Judge:
    """What a program costs in layouts of its arguments and results, asked once for each."""

    def __init__(self, compiler: Compiler, machine: str) -> None:
        self.compiler, self.machine = compiler, machine
        self.known: dict[str, int | None] = {}

    def text(self, name: str) -> str:
        return self.compiler.asked(text_of, "fresh", name)[0]

    def cost(self, name: str, entry: dict[str, Any]) -> int | None:
        """The cost, or none where the judge has none."""
        key = f"{name} {entry}"
        if key not in self.known:
            with contextlib.suppress(Failed):
                self.known[key] = self.asked(name, entry)
        return self.known.setdefault(key, None)

    def asked(self, name: str, entry: dict[str, Any]) -> int:
        if self.machine == "cpu":
            # NumPy is not there where pages are made.
            from bench.cpu_judge import judged

            return judged(self.text(name), {"entry": entry}, False)
        return self.compiler.asked(compiled, "fresh", name, entry).cycles


class Fit:
    """Programs of one operation, and what their plans cost with a row of preferences."""

    def __init__(self, judge: Judge, operation: str, machine: str) -> None:
        self.judge, self.operation, self.machine = judge, operation, machine
        self.texts: dict[str, str] = {}
        self.defaults: dict[str, int] = {}
        self.scores: dict[tuple[str, tuple[str, ...]], float] = {}

    def add(self, name: str) -> None:
        """Adds a program that has a cost in the default layouts."""
        with contextlib.suppress(Failed):
            text = self.judge.text(name)
            default = DEFAULT if self.judge.machine != "cpu" else self.entry(text, "", "default")
            cost = self.judge.cost(name, default)
            if cost:
                self.texts[name], self.defaults[name] = text, cost

    def entry(self, text: str, row: str, entry: str = "free") -> dict[str, Any]:
        preferences = f", preferences: ({self.operation}: {row})" if row else ""
        return dict(plan(text, self.machine + preferences, "--entry", entry).json["entry"])

    def logarithm(self, name: str, row: str) -> float:
        """The logarithm of what a plan costs over the default, at most `MOST` from 0; that of no plan is `MOST`."""
        try:
            cost = self.judge.cost(name, self.entry(self.texts[name], row))
        except Failed:
            cost = None
        return MOST if cost is None else max(-MOST, min(MOST, math.log(max(1, cost) / self.defaults[name])))

    def mean(self, names: Sequence[str], row: str) -> float:
        key = row, tuple(names)
        if key not in self.scores:
            self.scores[key] = statistics.fmean(self.logarithm(name, row) for name in names)
        return self.scores[key]

    def row(self, own: str, count: int, seed: int) -> list[Any]:
        """The row of a table: the fitted row, what it saves on programs that were held out, and what the machine's does."""
        kind, arrays = ROWS[self.operation]
        seeds = random.Random(f"{seed} {self.operation}")
        for _ in range(count):
            self.add(f"{kind}.{seeds.randrange(2**32)}")
        names = list(self.texts)
        learned, held_out = names[::2], names[1::2]
        row = self.fitted(learned, arrays)
        saved = [self.logarithm(name, "") - self.logarithm(name, row) for name in held_out]
        gain, error = statistics.fmean(saved), statistics.stdev(saved) / math.sqrt(len(saved))
        measured = [(learned, row), (held_out, row), (held_out, "")]
        ratios = [math.exp(self.mean(names, row)) for names, row in measured]
        stays, present = "yes" if gain > 2 * error else "no", math.exp(self.mean(held_out, own))
        return [self.judge.machine, f"{self.operation}: {row}", len(names), *ratios, 100 * gain, 100 * error, stays, present]

    def fitted(self, names: Sequence[str], arrays: Sequence[Sequence[str]]) -> str:
        """The row with which plans cost least; of equals the shortest."""
        registers = re.search(r"registers: \d+x(\d+)", self.machine)
        lanes = int(registers[1]) if registers else 1

        def best(rows: Iterator[str]) -> str:
            return min(rows, key=lambda row: (round(self.mean(names, row), 4), len(row)))

        if len(arrays) == 1:
            return best(alternatives(arrays[0], lanes))
        way = ["" for _ in arrays]
        while True:
            before = list(way)
            for k, kinds in enumerate(arrays):
                rows = (joined([*way[:k], entry, *way[k + 1 :]]) for entry in entries(kinds))
                way[k] = best(rows).strip("()").split(", ")[k]
            if way == before:
                return joined(way)


def joined(way: Sequence[str]) -> str:
    return f"({', '.join(way)})"


def entries(kinds: Sequence[str]) -> list[str]:
    """The orders of an array that are tried."""
    pairs = [f"{one}&{other}" for one, other in itertools.combinations_with_replacement(kinds, 2)]
    return ["", *kinds, *pairs]


def alternatives(kinds: Sequence[str], lanes: int) -> Iterator[str]:
    """The rows of one array that are tried: an order, and two orders."""
    pairs = [f"each {one} {other}" if one != kinds[0] else f"{one} each {other}" for one, other in itertools.permutations(kinds)]
    orders = [*entries(kinds), *pairs, *(pair.replace(kinds[0], f"{kinds[0]} from {lanes}", 1) for pair in pairs)]
    yield from map("({})".format, orders)
    yield from (f"({one}) or ({other})" for one, other in itertools.combinations(orders[len(kinds) + 1 :], 2))


def page() -> Page:
    return Page("preferences", [PREFERENCES])


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", metavar="NAME", choices=("tpu_v5e", "cpu"), default="tpu_v5e")
    parser.add_argument("--programs", metavar="N", type=int, default=60, help="the programs of each operation, half held out")
    parser.add_argument("--rows", metavar="LIST", default=",".join(ROWS), help="the operations, with commas")
    parser.add_argument("--seed", metavar="S", type=int, help="the seed of the programs; without it another one each time")
    parser.add_argument("--capped", metavar="SECONDS", type=float, default=30, help="the most that a compilation may take")


def main(options: argparse.Namespace) -> None:
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    machine = run([INSPECT, "machine", options.machine]).out.strip()
    plain = re.sub(r", preferences: .*", "", machine)
    results = page()
    with contextlib.closing(Compiler(options.capped)) as compiler:
        results.begin(PREFERENCES, f"libtpu {compiler.version}", f"{options.programs} programs of seed {seed} for each row")
        judge = Judge(compiler, options.machine)
        for operation in options.rows.split(","):
            own = re.search(rf"\b{operation}: (\([^()]*\)(?: or \([^()]*\))*)", machine.removeprefix(plain))
            programs = Fit(judge, operation, plain)
            results.put(PREFERENCES, programs.row(own[1] if own else "", options.programs, seed))
