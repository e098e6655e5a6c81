"""Writes benches/solver.md: the solver beside HiGHS. Called by bench-solver.sh."""

import bisect
import gzip
import json
import pathlib
import subprocess
import sys
import time

# More finite pairs than this, or more amounts in the rows of capacities, are too much for the mixed-integer program.
LARGEST = 700_000
LARGEST_ROWS = 20_000_000
INFINITE = 10**18
# Optima or best plans that are published for instances of the contest.
PUBLISHED = {"A": 6548641531, "B": 532843, "D": 313613524736, "G": 217039, "P": 662197407330}


def solved(program, file, seconds):
    """Cost, bound, seconds, seconds of the check, and whether the proof holds."""
    proof = pathlib.Path("target/solver.proof")
    start = time.time()
    command = [program, "solve", file, "--seconds", str(seconds), "--certificate", str(proof), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer, took = json.loads(done.stdout), time.time() - start
    start = time.time()
    checked = subprocess.run([program, "solve", file, "--check", str(proof)], capture_output=True, text=True)
    return answer["cost"], answer["bound"], took, time.time() - start, checked.returncode == 0


def amounts(problem):
    """How many amounts there are in the rows of capacities, one row for each moment at which an interval begins."""
    nodes = problem["nodes"]
    starts = sorted({begin for begin, end in nodes["intervals"] if begin < end})
    rows = [bisect.bisect_left(starts, end) - bisect.bisect_left(starts, begin) for begin, end in nodes["intervals"]]
    return sum(max(0, n) * len(costs) for n, costs in zip(rows, nodes["costs"]))


def milp(problem, seconds):
    """Cost and bound of HiGHS: a binary variable for each choice and one for each finite pair."""
    import numpy
    import scipy.optimize
    import scipy.sparse

    nodes, edges = problem["nodes"], problem["edges"]
    sizes = [len(costs) for costs in nodes["costs"]]
    first = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(int)
    costs = [cost for list in nodes["costs"] for cost in list]
    rows, right = [], []
    for v, size in enumerate(sizes):
        rows.append((range(first[v], first[v] + size), [1] * size))
        right.append((1, 1))
    for (a, b), table in zip(edges["nodes"], edges["costs"]):
        by = [[] for _ in range(sizes[a] + sizes[b])]
        for at, cost in enumerate(table):
            if cost < INFINITE:
                i, j = divmod(at, sizes[b])
                by[i].append(len(costs))
                by[sizes[a] + j].append(len(costs))
                costs.append(cost)
        for k, list in enumerate(by):
            own = first[a] + k if k < sizes[a] else first[b] + k - sizes[a]
            rows.append((list + [own], [1] * len(list) + [-1]))
            right.append((0, 0))
    for moment in {i[0] for i in nodes["intervals"] if i[0] < i[1]}:
        alive = [v for v, i in enumerate(nodes["intervals"]) if i[0] <= moment < i[1]]
        index = [first[v] + k for v in alive for k in range(sizes[v])]
        rows.append((index, [nodes["usages"][v][k] / problem["usage_limit"] for v in alive for k in range(sizes[v])]))
        right.append((0, 1))
    start = numpy.concatenate([[0], numpy.cumsum([len(index) for index, _ in rows])])
    index = numpy.concatenate([numpy.asarray(index, dtype=int) for index, _ in rows])
    value = numpy.concatenate([numpy.asarray(value, dtype=float) for _, value in rows])
    matrix = scipy.sparse.csr_matrix((value, index, start), shape=(len(rows), len(costs)))
    upper = numpy.array([0 if cost >= INFINITE else 1 for cost in costs])
    low, high = zip(*right)
    found = scipy.optimize.milp(
        [0 if cost >= INFINITE else cost for cost in costs],
        integrality=numpy.ones(len(costs)),
        bounds=scipy.optimize.Bounds(0, upper),
        constraints=scipy.optimize.LinearConstraint(matrix, low, high),
        options={"time_limit": seconds},
    )
    cost = "none" if found.fun is None else f"{round(found.fun):,}"
    bound = getattr(found, "mip_dual_bound", None)
    return cost, "none" if bound is None else f"{bound:,.0f}"


def main():
    program, folder, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float((sys.argv[3:] or ["300"])[0])
    lines = [
        "# The solver on problems of a contest",
        "",
        f"Made by `tools/bench-solver.sh FOLDER {seconds:.0f}`: problems of the ASPLOS 2025 contest on intra-operator",
        "parallelism (google/iopddl), two threads, at most that many seconds.",
        "",
        "- gap: of the cost over the bound; 0 is a proof that no plan costs less. A checker that shares no code with the",
        "  solver replayed each proof; `check` is its time.",
        "- published: the best plan of all teams.",
        "- HiGHS: SciPy's `milp` for the same seconds, a binary variable for each choice and each finite pair;",
        f"  left out above {LARGEST:,} finite pairs, or {LARGEST_ROWS:,} amounts in the rows of capacities.",
        "",
        "| problem | nodes | edges | cost | bound | gap | s | check s | proof holds | published | HiGHS: cost | bound |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for file in sorted(folder.glob("*.json*")):
        raw = file.read_bytes()
        problem = json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)["problem"]
        name = file.name.split(".")[0]
        cost, bound, took, check, holds = solved(program, file, seconds)
        pairs = sum(cost < INFINITE for table in problem["edges"]["costs"] for cost in table)
        peer = milp(problem, seconds) if pairs <= LARGEST and amounts(problem) <= LARGEST_ROWS else ("-", "-")
        gap = f"{100 * (cost - bound) / max(1, abs(bound)):.2f} %"
        cells = [name, len(problem["nodes"]["costs"]), len(problem["edges"]["nodes"]), f"{cost:,}", f"{bound:,}", gap]
        cells += [f"{took:.1f}", f"{check:.1f}", "yes" if holds else "no", f"{PUBLISHED.get(name, 0):,}", *peer]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], flush=True)
    pathlib.Path("benches/solver.md").write_text("\n".join(lines) + "\n")


main()
