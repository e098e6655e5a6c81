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
UNVERIFIED = ("--verify-each=false",)
NOTHING = "HloModule nothing\nENTRY main { ROOT a = f32[] parameter(0) }\n"


def compiled(file, work):
    """The seconds of the steps of a program, and its libraries by their level; or what is wrong."""
    name, seconds, paths = file.name.removesuffix(".hlo"), {}, {}
    mlir = work / f"{name}.imported.mlir"

    def took(step, spent):
        seconds[step] = min(spent, seconds.get(step, spent))

    for level in LEVELS:
        folder = work / level
        folder.mkdir()
        imported = ran([TOOLS / "layout-translate", "--import-hlo", file, "-o", mlir])
        if imported.error:
            return imported.error
        flags = (level, *speed.FLAGS[1:])
        path, step = link.library(name, mlir.read_text(), folder, speed.LOWERING, flags, UNVERIFIED, speed.LINK)
        if path is None:
            return step.error
        spent = json.loads(step.text)
        alone = [LLVM / "bin/clang", "-shared", folder / f"{name}.o", "-o", folder / "alone.so", "-lm", *speed.LINK[2:]]
        linked = ran(alone)
        if linked.error:
            return linked.error
        took("lowered", imported.seconds + spent["lowered"])
        took(level, spent["translated"] + spent["compiled"])
        took("linked", linked.seconds)
        paths[level] = path
    return seconds, paths


def line(seconds, start, report, paths):
    """The cells of a program beside XLA."""
    xla, ms = report["compiled"], [report["forms"][str(paths[level])]["seconds"] for level in LEVELS]
    steps = [seconds[step] for step in ("lowered", *LEVELS, "linked")]
    net = {step: max(seconds[step] - start[step], 0) for step in seconds}
    whole = [(net["lowered"] + net[level] + net["linked"]) / xla for level in LEVELS]
    ratios = [net["lowered"] / xla, *whole, *(each / ms[0] for each in ms[1:])]
    return [f"{each:.2f}" for each in (xla, *steps, *ratios)]


def main():
    folders, wanted, page = asked(COMPILING_TABLE, lambda _: 0)
    with tempfile.TemporaryDirectory() as work:
        nothing = pathlib.Path(work) / "nothing.hlo"
        nothing.write_text(NOTHING)
        start, _ = compiled(nothing, pathlib.Path(work))
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
            found = compiled(bare, pathlib.Path(work))
            if isinstance(found, tuple):
                seconds, paths = found
                forms = [f"{path}={arrays}" for path in paths.values()]
                step = ran([sys.executable, "-B", HERE / "race.py", file, *forms], None, 3 * MOST, speed.MEMORY)
                if not step.error:
                    report = json.loads(step.text.splitlines()[-1])
                    wrong = [form["differences"][0] for form in report["forms"].values() if form["differences"]]
                    faults = [f"* {name}, {each}" for each in wrong[:1]]
                    cells = line(seconds, start, report, paths)
                    print(page.put(COMPILING_TABLE, name, cells, faults), *faults, sep="\n  ", flush=True)
                    continue
                found = step.error
            print(page.put(COMPILING_TABLE, name, ["–"] * 12, [f"* {name}, {found}"]), found, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
