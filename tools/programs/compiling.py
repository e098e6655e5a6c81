"""How long programs take to compile: compiling.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes, of which NAME.unopt.hlo is compiled, by XLA in a process that has started, and by a
process for each of our steps, with each of LEVELS; the libraries are then called in turns. Seconds are those of the
processor, the least of as many runs as there are levels. The first line is of a program that does nothing.
"""

import json
import pathlib
import sys
import tempfile

import harness
import link
import speed
from page import COMPILING_TABLE, asked
from steps import HERE, LLVM, MOST, TOOLS, ran

LEVELS = ("-O3", "-O2", "-O1")
# As in a compiler that is in use: MLIR's verifier after each pass is for those who write passes.
UNVERIFIED = "--verify-each=false"
NOTHING = "HloModule nothing\nENTRY main { ROOT a = f32[] parameter(0) }\n"


def compiled(file, work):
    """The seconds of the steps of a program; or what is wrong."""
    name, seconds = file.name.removesuffix(".hlo"), {}
    imported, source, low, code, made, library = (
        work / f"{name}{end}" for end in (".imported.mlir", ".alone.mlir", ".low.mlir", ".ll", ".o", ".alone.so")
    )

    def took(step, *command):
        done = ran(command, None, 4 * MOST)
        if done.error:
            raise OSError(done.error)
        seconds[step] = min(done.seconds, seconds.get(step, done.seconds))

    lowering = f"--layout-to-llvm={speed.LOWERING}"
    try:
        for level in LEVELS:
            took("imported", TOOLS / "layout-translate", "--import-hlo", file, "-o", imported)
            source.write_text(harness.alone(imported.read_text()))
            took("lowered", TOOLS / "layout-opt", lowering, UNVERIFIED, source, "-o", low)
            took("translated", LLVM / "bin/mlir-translate", "--mlir-to-llvmir", low, "-o", code)
            flags = (level, *speed.FLAGS[1:])
            took(level, LLVM / "bin/clang", *flags, "-w", "-c", "-fPIC", "-x", "ir", code, "-o", made)
            took("linked", LLVM / "bin/clang", "-shared", made, "-o", library, "-lm", *speed.LINK[2:])
    except OSError as error:
        return str(error)
    llvm = {level: seconds["translated"] + seconds[level] for level in LEVELS}
    return {"lowered": seconds["imported"] + seconds["lowered"], **llvm, "linked": seconds["linked"]}


def libraries(file, work):
    """The library of each level; or what is wrong."""
    name, found = file.name.removesuffix(".hlo"), {}
    mlir = (work / f"{name}.imported.mlir").read_text()
    for level in LEVELS:
        folder = work / level
        folder.mkdir()
        found[level], step = link.library(name, mlir, folder, speed.LOWERING, (level, *speed.FLAGS[1:]), (), speed.LINK)
        if step.error:
            return step.error
    return found


def line(seconds, start, report, paths):
    """The cells of a program beside XLA."""
    xla, ms = report["compiled"], [report["forms"][str(paths[level])]["seconds"] for level in LEVELS]
    steps = [seconds[step] for step in ("lowered", *LEVELS, "linked")]
    net = {step: max(seconds[step] - start[step], 0) for step in seconds}
    whole = [(net["lowered"] + net[level] + net["linked"]) / xla for level in LEVELS]
    ratios = [net["lowered"] / xla, *whole, *(each / ms[0] for each in ms[1:])]
    return [f"{each:.2f}" for each in (xla, *steps, *ratios)]


def beside(file, arrays, bare, start):
    """The cells of a program, whose text without metadata is in a folder of its own, and what is wrong."""
    none, seconds = ["–"] * 12, compiled(bare, bare.parent)
    if not isinstance(seconds, dict):
        return none, [seconds]
    paths = libraries(bare, bare.parent)
    if not isinstance(paths, dict):
        return none, [paths]
    forms = [f"{path}={arrays}" for path in paths.values()]
    step = ran([sys.executable, "-B", HERE / "race.py", file, *forms], None, 3 * MOST, speed.MEMORY)
    if step.error:
        return none, [step.error]
    report = json.loads(step.text.splitlines()[-1])
    wrong = [form["differences"][0] for form in report["forms"].values() if form["differences"]]
    return line(seconds, start, report, paths), wrong[:1]


def main():
    folders, wanted, page = asked(COMPILING_TABLE, lambda _: 0)
    with tempfile.TemporaryDirectory() as work:
        nothing = pathlib.Path(work) / "nothing.hlo"
        nothing.write_text(NOTHING)
        start = compiled(nothing, pathlib.Path(work))
    steps = [f"{start[step]:.2f}" for step in ("lowered", *LEVELS, "linked")]
    print(page.put(COMPILING_TABLE, "(nothing)", ["–", *steps, *["–"] * 6], []), flush=True)
    for file in (file for folder in folders for file in sorted(folder.glob("*.unopt.hlo"))):
        name = file.name.removesuffix(".unopt.hlo")
        arrays = next((each for each in harness.arrays_of(file.parent, f"{name}.unopt") if each.exists()), None)
        if not wanted(file.name) or arrays is None:
            continue
        with tempfile.TemporaryDirectory() as work:
            bare = pathlib.Path(work) / file.name
            bare.write_text(speed.METADATA.sub("", file.read_text()))
            cells, faults = beside(file, arrays, bare, start)
        faults = [f"* {name}, {fault}" for fault in faults]
        print(page.put(COMPILING_TABLE, name, cells, faults), *faults, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
