"""Puts every program through everything: table.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes. For each `*.hlo`, or those whose names contain a PART: `layout-inspect` analyses it,
`layout-translate` imports it, `layout-opt --layout-to-llvm` lowers it, clang compiles it, and it is called and compared
with XLA where `NAME.npz` has XLA's numbers. Seconds are of the processor, user and system, of each child, so that other
work on the machine changes them less than the clock.

FILE is written after each program, and keeps its other tables. With `--keep` it keeps its lines of other programs too. A
folder with `*.v5e.hlo` is one of `make.py --of`, which has a table of its own.
"""

import json
import os
import pathlib
import sys
import tempfile

import harness
import link
from page import STEPS, asked, table_of
from steps import HERE, TOOLS, Step, ran


def through(file, work):
    """The steps of one program, as far as it comes."""
    steps = {"analysed": ran([TOOLS / "layout-inspect", "hlo", file, "--json"], os.devnull)}
    mlir, low = work / "imported.mlir", work / "lowered.mlir"
    steps["imported"] = ran([TOOLS / "layout-translate", "--import-hlo", file, "-o", mlir])
    if steps["imported"].error:
        return steps
    own = ran([TOOLS / "layout-opt", "--layout-to-llvm", mlir, "-o", low])
    steps["lowered"] = own
    if own.error:
        return steps
    name = file.name.removesuffix(".hlo")
    arrays = next((p for p in harness.arrays_of(file.parent, name) if p.exists()), None)
    if arrays is None:
        return steps
    text = mlir.read_text()
    if harness.exchanges(text) and not arrays.name.endswith(".shards.npz"):
        # It says itself what each device does, but its numbers are those of all.
        return steps
    path, steps["compiled"] = link.library(name, text, work)
    if path is None:
        return steps
    # The lowering is a step of its own.
    steps["compiled"].seconds -= json.loads(steps["compiled"].text)["lowered"]
    step = ran([sys.executable, "-B", HERE / "execute.py", path, arrays])
    steps["called"] = step
    if step.error:
        return steps
    report = json.loads(step.text.splitlines()[-1])
    steps["called"] = Step(report["seconds"])
    steps["numbers"] = Step(None)
    if report["differences"]:
        steps["numbers"].error = f"{len(report['differences'])} results: {report['differences'][0]}"
    return steps


def cell(step):
    if step is None or step.unfinished:
        return "–"
    return "no" if step.error else "yes" if step.seconds is None else f"{step.seconds:.2f}"


def main():
    folders, wanted, page = asked(0)
    for file in (file for folder in folders for file in sorted(folder.glob("*.hlo"))):
        name = file.name.removesuffix(".hlo")
        if not wanted(name):
            continue
        with tempfile.TemporaryDirectory() as work:
            steps = through(file, pathlib.Path(work))
        count = sum(" = " in line for line in file.read_text().splitlines())
        faults = [f"* {name}, {k}: {step.error}" for k, step in steps.items() if step.error]
        line = page.put(table_of(file.parent), name, [str(count), *(cell(steps.get(k)) for k in STEPS[1:])], faults)
        print(line, *faults, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
