"""Writes benches/memory.md: plans of HLO programs whose fastest memory holds a part of what the plan without capacity takes.

Called by bench-memory.sh with the program, the seconds that a search may take, and a folder of HLO texts.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

# The bytes of the machine's fastest memory.
VMEM = 134217728

# The parts of the unconstrained peak that the memory holds.
PARTS = (2, 4)


def planned(program, file, *options):
    """The answer, or what is wrong, and the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "plan", str(file), "--machine", "tpu_v5e", "--entry", "free", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else done.stderr.splitlines()[0]), took


def gap(answer):
    """How far the cost is above the bound, in percent of the bound."""
    return 100 * (answer["cost"] - answer["bound"]) / max(1, answer["bound"])


def row(program, file, whole, bytes, seconds):
    """The cells of a program with a capacity, and the gap."""
    limit = ["--capacity", f"vmem={bytes}", "--seconds", seconds]
    life, _ = planned(program, file, *limit, "--stay")
    with tempfile.NamedTemporaryFile() as proof:
        time, took = planned(program, file, *limit, "--certificate", proof.name)
        if isinstance(time, str):
            return [f"{bytes:,}", time, *["-"] * 6], None
        checked = subprocess.run([program, "check-plan", str(file), proof.name], capture_output=True, text=True)
    if checked.returncode != 0:
        sys.exit(f"{file}: {checked.stderr}")
    stay = "-" if isinstance(life, str) else f"{life['cost']:,}"
    more = f"{100 * (time['cost'] / max(1, whole['cost']) - 1):.1f} %"
    transfers = time.get("transfers", [])
    moved = sum(own["bytes"] for own in transfers)
    waits = sum(own["exposed"] for own in transfers)
    cells = [f"{bytes:,}", stay, f"{time['cost']:,}", more, f"{gap(time):.2f} %"]
    return [*cells, str(len(transfers)), f"{moved:,}", f"{waits:,}", f"{took:.1f}"], gap(time)


def main():
    program, seconds, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    lines = [
        "# Plans within a memory",
        "",
        "Made by `tools/bench-memory.sh FOLDER` for `tpu_v5e`, arguments and results in any layout (`--entry free`). `vmem` holds",
        "a half and a quarter of the bytes that it has at once in the plan without capacity, whose cost is `free`. That finds",
        "arguments of products prefetched for nothing; `all` is the plan with all of the machine's `vmem`, which brings them there.",
        "`stays` is the best plan in which each value is in one memory all its life (`--stay`), `over time` the one in which values",
        "move; `more` is what that costs more than `all`. The gap is that of the cost over the bound of all plans, after",
        f"{seconds} seconds of search at most. `moves` are copies between memories beside kernels, with their bytes, and what kernels",
        "wait for them. The time is that of the processor, for reading, planning, and writing the proof, which `check-plan` has",
        "accepted for each.",
        "",
    ]
    head = ["program", "free", "all", "vmem", "stays", "over time", "more", "gap", "moves", "bytes moved", "waited", "s"]
    lines += ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    gaps = []
    for file in sorted(folder.glob("*.unopt.hlo")) or sorted(folder.glob("*.hlo")):
        free, _ = planned(program, file)
        if isinstance(free, str) or not free["peak"].get("1"):
            continue
        whole, _ = planned(program, file, "--capacity", f"vmem={VMEM}", "--seconds", seconds)
        for part in PARTS:
            cells, own = row(program, file, whole, free["peak"]["1"] // part, seconds)
            gaps += [own] if own is not None else []
            lines.append("| " + " | ".join([file.name.split(".")[0], f"{free['cost']:,}", f"{whole['cost']:,}", *cells]) + " |")
            print(lines[-1], flush=True)
    lines += ["", f"{len(gaps)} plans; the largest gap is {max(gaps, default=0):.2f} %, and {sum(own == 0 for own in gaps)} have none."]
    pathlib.Path("benches/memory.md").write_text("\n".join(lines) + "\n")


main()
