"""Writes benches/schedule.md: the peaks of HLO programs in the order of the file and in one of least memory.

Called by bench-schedule.sh with the program and folders of HLO texts.
"""

import json
import pathlib
import resource
import subprocess
import sys


def report(program, file):
    """The report in the order of least memory, or what is wrong, and the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "hlo", str(file), "--summary", "--json", "--schedule", "least-memory"]
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (json.loads(done.stdout) if done.returncode == 0 else done.stderr.splitlines()[0]), took


def rows(program, file):
    """The cells of each memory of a program in which some order could matter, and whether it is proved least."""
    found, took = report(program, file)
    if isinstance(found, str):
        return [([file.stem, "-", "-", found, "-", "-", "-", f"{took:.2f}"], None)]
    all = []
    for memory in found["spaces"]:
        order, peak = memory["order"], memory["peak"]["bytes"]
        if memory["temporaries"] == 0 and order["file"] == peak or memory["space"] > 1:
            continue
        less = f"{100 * (1 - peak / max(1, order['file'])):.1f} %"
        gap = f"{100 * (peak / max(1, order['bound']) - 1):.1f} %"
        cells = [file.stem, f"{found['instructions']:,}", memory["name"], f"{order['file']:,}", f"{peak:,}", less, gap]
        all.append((cells + [f"{took:.2f}"], (peak < order["file"], peak == order["bound"])))
    return all


def main():
    program, *folders = sys.argv[1:]
    files = [file for folder in folders for file in sorted(pathlib.Path(folder).glob("*.hlo"))]
    all = [row for file in files for row in rows(program, file)]
    known = [how for _, how in all if how is not None]
    lower, least = (sum(how[k] for how in known) for k in (0, 1))
    head = ["program", "instructions", "memory", "file's order", "least-memory", "less", "above the bound", "seconds"]
    lines = [
        "# Orders of least memory",
        "",
        "Made by `tools/bench-schedule.sh FOLDER..`: the peak of each memory in the order of the file and in that of",
        "`layout-inspect hlo --schedule least-memory`, in bytes, how much less that is, and how far it is above what no order is",
        "below. Seconds are processor time of the whole report. Memories without temporaries are left out, and so are those of",
        "scalars and semaphores.",
        "",
        f"Of {len(known)} peaks {lower} are lower than in the order of the file, and {least} are proved to be the least of all",
        "orders that update in place what the file updates in place; a gap that rounds to 0.0 % may be one.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(cells) + " |" for cells, _ in all),
    ]
    pathlib.Path("benches/schedule.md").write_text("\n".join(lines) + "\n")


main()
