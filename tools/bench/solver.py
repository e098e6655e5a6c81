"""The solver beside HiGHS, on problems of the ASPLOS 2025 contest on intra-operator parallelism.

FOLDER has NAME.json or NAME.json.gz, in the form of the contest. Proofs are replayed. HiGHS is SciPy's, and solves the
problems that are small enough.
"""

import argparse
import bisect
import gzip
import json
import tempfile
from typing import Any

from bench.inspect import INSPECT, inspect
from bench.results import Column, Page, Table
from bench.run import Failed, existing, run

# More finite pairs than this, or more amounts in the rows of capacities, are too much for the mixed-integer program.
LARGEST = 700_000
LARGEST_ROWS = 20_000_000
INFINITE = 10**18
# Optima or best plans that are published for instances of the contest.
PUBLISHED = {"A": 6548641531, "B": 532843, "D": 313613524736, "G": 217039, "P": 662197407330}

COUNT = "{:,}"
SOLVED = Table(
    "problems",
    (
        Column("problem"), Column("nodes"), Column("edges"), Column("cost", COUNT), Column("bound", COUNT),
        Column("gap", "{:.2f} %"), Column("s", "{:.1f}"), Column("check s", "{:.1f}"), Column("proof holds"),
        Column("published", COUNT), Column("HiGHS: cost", COUNT), Column("bound", "{:,.0f}"),
    ),
)  # fmt: skip


def page() -> Page:
    return Page("solver", [SOLVED])


def amounts(problem: dict[str, Any]) -> int:
    """How many amounts there are in the rows of capacities, one row for each moment at which an interval begins."""
    nodes = problem["nodes"]
    starts = sorted({begin for begin, end in nodes["intervals"] if begin < end})
    rows = [bisect.bisect_left(starts, end) - bisect.bisect_left(starts, begin) for begin, end in nodes["intervals"]]
    return sum(max(0, n) * len(costs) for n, costs in zip(rows, nodes["costs"], strict=True))


def milp(problem: dict[str, Any], seconds: float) -> tuple[int | str, float | str]:
    """Cost and bound of HiGHS: a binary variable for each choice and one for each finite pair."""
    import numpy
    import scipy.optimize
    import scipy.sparse

    nodes, edges = problem["nodes"], problem["edges"]
    sizes = [len(costs) for costs in nodes["costs"]]
    first = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(int)
    costs = [cost for costs in nodes["costs"] for cost in costs]
    rows: list[tuple[Any, Any]] = []
    right: list[tuple[int, int]] = []
    for v, size in enumerate(sizes):
        rows.append((range(first[v], first[v] + size), [1] * size))
        right.append((1, 1))
    for (a, b), table in zip(edges["nodes"], edges["costs"], strict=True):
        by: list[list[int]] = [[] for _ in range(sizes[a] + sizes[b])]
        for at, cost in enumerate(table):
            if cost < INFINITE:
                i, j = divmod(at, sizes[b])
                by[i].append(len(costs))
                by[sizes[a] + j].append(len(costs))
                costs.append(cost)
        for k, pairs in enumerate(by):
            choice = first[a] + k if k < sizes[a] else first[b] + k - sizes[a]
            rows.append(([*pairs, choice], [1] * len(pairs) + [-1]))
            right.append((0, 0))
    for moment in {i[0] for i in nodes["intervals"] if i[0] < i[1]}:
        alive = [v for v, i in enumerate(nodes["intervals"]) if i[0] <= moment < i[1]]
        index = [first[v] + k for v in alive for k in range(sizes[v])]
        rows.append((index, [nodes["usages"][v][k] / problem["usage_limit"] for v in alive for k in range(sizes[v])]))
        right.append((0, 1))
    start = numpy.concatenate([[0], numpy.cumsum([len(index) for index, _ in rows])])
    places = numpy.concatenate([numpy.asarray(index, dtype=int) for index, _ in rows])
    value = numpy.concatenate([numpy.asarray(value, dtype=float) for _, value in rows])
    matrix = scipy.sparse.csr_matrix((value, places, start), shape=(len(rows), len(costs)))
    upper = numpy.array([0 if cost >= INFINITE else 1 for cost in costs])
    low, high = zip(*right, strict=True)
    found = scipy.optimize.milp(
        [0 if cost >= INFINITE else cost for cost in costs],
        integrality=numpy.ones(len(costs)),
        bounds=scipy.optimize.Bounds(0, upper),
        constraints=scipy.optimize.LinearConstraint(matrix, low, high),
        options={"time_limit": seconds},
    )
    bound = getattr(found, "mip_dual_bound", None)
    return "none" if found.fun is None else round(found.fun), "none" if bound is None else float(bound)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=existing)
    parser.add_argument("seconds", metavar="SECONDS", type=float, nargs="?", default=300, help="the longest search")


def main(options: argparse.Namespace) -> None:
    results, seconds = page(), options.seconds
    results.begin(SOLVED, f"{seconds:.0f} seconds at most")
    for file in sorted(options.folder.glob("*.json*")):
        raw = file.read_bytes()
        problem = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)["problem"]
        name = file.name.split(".")[0]
        with tempfile.NamedTemporaryFile() as proof:
            answer = inspect("solve", file, "--seconds", str(seconds), "--certificate", proof.name)
            try:
                check, holds = run([INSPECT, "solve", file, "--check", proof.name], most=None).clock, "yes"
            except Failed:
                check, holds = None, "no"
        cost, bound = answer.json["cost"], answer.json["bound"]
        pairs = sum(cost < INFINITE for table in problem["edges"]["costs"] for cost in table)
        small = pairs <= LARGEST and amounts(problem) <= LARGEST_ROWS
        peer = milp(problem, seconds) if small else (None, None)
        sizes = [len(problem["nodes"]["costs"]), len(problem["edges"]["nodes"])]
        above = 100 * (cost - bound) / max(1, abs(bound))
        results.put(SOLVED, [name, *sizes, cost, bound, above, answer.clock, check, holds, PUBLISHED.get(name, 0), *peer])
