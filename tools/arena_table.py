"""Writes benches/arenas.md: see bench-arenas.sh."""

import pathlib
import re
import subprocess
import sys

TOOLS, FOLDERS = pathlib.Path(sys.argv[1]), [pathlib.Path(folder) for folder in sys.argv[2:]]
REMARK = re.compile(r"the arena in memory space 0 has (\d+) bytes for (\d+) buffers, of which at most (\d+) are live")
HEAD = """# Arenas

Made by `tools/bench-arenas.sh FOLDER ..`: the arena of each program that `layout-plan-memory` makes after
`layout-to-memref`, and the most bytes of it that are live at once, which no arena is smaller than. A buffer counts as live
from where it is made to where it is freed, rounded up to 64 bytes; what a loop carries, during all of the loop. What a
program returns is not in the arena. `more` is what the arena has above that.

| program | buffers | live at once | arena | more |
| --- | --- | --- | --- | --- |
"""


def run(*command, text=None):
    """The output of a tool and its remarks; None where it fails or takes longer than two minutes."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return None
    return (done.stdout, done.stderr) if done.returncode == 0 else None


def arena(program):
    """The buffers, the live bytes and the bytes of a program's largest arena; None where it has none."""
    imported = run(TOOLS / "layout-translate", "--import-hlo", program)
    lowered = imported and run(TOOLS / "layout-opt", "--layout-to-memref", text=imported[0])
    planned = lowered and run(TOOLS / "layout-opt", "--layout-plan-memory=report", "-o", "/dev/null", text=lowered[0])
    if not planned:
        return None
    found = [tuple(map(int, own)) for own in REMARK.findall(planned[1])]
    return max(((live, whole, count) for whole, count, live in found), default=())


def main():
    """One line for each program."""
    rows, failed, none = [], [], 0
    for program in sorted((p for folder in FOLDERS for p in folder.glob("*.hlo")), key=lambda p: p.name):
        found = arena(program)
        if found is None:
            failed.append(program.name)
        elif not found:
            none += 1
        else:
            rows.append((program.name.removesuffix(".hlo"), *found))
    lines = [
        f"| {name} | {count:,} | {live:,} | {whole:,} | {100 * (whole - live) / live:.2f} % |"
        for name, live, whole, count in rows
    ]
    most = max((whole / live for _, live, whole, _ in rows), default=1)
    same = sum(live == whole for _, live, whole, _ in rows)
    text = HEAD + "\n".join(lines) + "\n\n"
    text += f"{len(rows)} programs; {same} arenas have no more than what is live at once, and the largest difference is "
    text += f"{100 * (most - 1):.2f} %. {none} programs have a single buffer or none."
    text += f" Not lowered: {', '.join(failed)}.\n" if failed else "\n"
    pathlib.Path("benches/arenas.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
