"""Races every program against XLA on one core: speed.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes. The forms of each program, or of those whose names contain a PART, are compiled and
called in turns with what XLA makes of NAME.unopt.hlo. FILE is written after each program and keeps its other tables; with
`--keep` it keeps its lines of other programs too.
"""

import collections
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import harness
import link
from page import SPEED_TABLES, asked, table_of
from steps import HERE, LLVM, MOST, TOOLS, ran

WIDEST = [isa for isa in ("avx512", "avx2") if isa in pathlib.Path("/proc/cpuinfo").read_text()] + ["neon"]
LOWERING = f"vectorize={WIDEST[0]} reassociate contract approximate arena=kept"
# As README tells users: the C library's vector maths, where it has some.
LIBRARY = ("-fveclib=libmvec",) if platform.machine() == "x86_64" else ()
FLAGS = ("-O3", "-march=native", *LIBRARY)
# Lines of the HLO text in the code, by which samples are known.
LINES = ("--ensure-debug-info-scope-on-llvm-func=emission-kind=LineTablesOnly", "--mlir-print-debuginfo")
LINK = (HERE / "profile.c", "-Wl,--wrap=malloc,--wrap=aligned_alloc", *(["-lmvec"] if LIBRARY else []))
MEMORY = 20 * 2**30
METADATA = re.compile(r', metadata=\{(?:[^"}]|"[^"]*")*\}')
INSTRUCTION = re.compile(r"\s*(?:ROOT )?%?(\S+) = .*?\b([a-z][\w-]*)\(")


def library(file, work, lowering=LOWERING, linked=tuple(LINK), flags=FLAGS):
    """The library of a program, its arrays and the seconds until it could run; or why there is none."""
    name = file.name.removesuffix(".hlo")
    arrays = next((p for p in harness.arrays_of(file.parent, name) if p.exists()), None)
    mlir, bare = work / f"{name}.imported.mlir", work / file.name
    # Locations are lines of the HLO text where it names no source.
    bare.write_text(METADATA.sub("", file.read_text()))
    imported = ran([TOOLS / "layout-translate", "--import-hlo", bare, "-o", mlir])
    if imported.error:
        return imported.error
    if arrays is None or harness.exchanges(mlir.read_text()):
        return None
    path, step = link.library(name, mlir.read_text(), work, lowering, flags, LINES, linked)
    return step.error if path is None else (path, arrays, imported.seconds + step.seconds)


def places(path, samples):
    """Where samples are, the most frequent first, with their part of all."""
    own = [hex(at) for at in samples if isinstance(at, int)]
    command = [LLVM / "bin/llvm-symbolizer", f"--obj={path}", "--output-style=JSON", "--no-inlines"]
    said = subprocess.run(command, input="\n".join(own), capture_output=True, text=True, check=True).stdout
    counts = collections.Counter(f"`{pathlib.Path(at).name}`" for at in samples if isinstance(at, str))
    files = {}
    for line in said.splitlines():
        symbol = json.loads(line)["Symbol"][0]
        file, number = symbol["FileName"], symbol["Line"]
        if file not in files:
            files[file] = pathlib.Path(file).read_text().splitlines() if file.endswith(".hlo") else []
        found = INSTRUCTION.match(files[file][number - 1]) if 0 < number <= len(files[file]) else None
        counts[f"`{found[1]}` {found[2]}" if found else f"`{symbol['FunctionName']}`"] += 1
    return [(place, count / max(len(samples), 1)) for place, count in counts.most_common(3) if count]


def cells(xla, path, form, compiled):
    share = ", ".join(f"{place} {100 * part:.0f} %" for place, part in places(path, form["samples"]))
    pieces, size = form["allocated"]
    ms = lambda seconds: f"{1000 * seconds:.4g}"
    return [
        ms(xla["seconds"]), ms(form["seconds"]), f"{form['seconds'] / xla['seconds']:.2f}", f"{xla['compiled']:.2f}",
        f"{compiled:.2f}", str(pieces), f"{size / 1e6:.1f}", f"{form['given'] / 1e6:.1f}", str(form["faults"]), share,
    ]  # fmt: skip


def race(stem, files, page):
    """Compiles and calls the forms of a program, and puts their lines."""
    k = SPEED_TABLES + table_of(files[0].parent)
    with tempfile.TemporaryDirectory() as work:
        forms = {file.name.removesuffix(".hlo"): library(file, pathlib.Path(work)) for file in files}
        built = {name: found for name, found in forms.items() if isinstance(found, tuple)}
        step = None
        if built:
            unopt = files[0].parent / f"{stem}.unopt.hlo"
            arguments = [f"{path}={arrays}" for path, arrays, _ in built.values()]
            step = ran([sys.executable, "-B", HERE / "race.py", unopt, *arguments], None, 3 * MOST, MEMORY)
        report = json.loads(step.text.splitlines()[-1]) if step and not step.error else None
        for name, found in forms.items():
            error, line = found, ["–"] * 10
            if isinstance(found, tuple):
                error = step.error
                if report:
                    form = report["forms"][str(found[0])]
                    line, error = cells(report, found[0], form, found[2]), next(iter(form["differences"]), None)
            if found is not None:
                faults = [f"* {name}, {error}"] if error else []
                print(page.put(k, name, line, faults), *faults, sep="\n  ", flush=True)


def main():
    folders, wanted, page = asked(SPEED_TABLES)
    for folder in folders:
        for unopt in sorted(folder.glob("*.unopt.hlo")):
            stem = unopt.name.removesuffix(".unopt.hlo")
            if wanted(stem):
                race(stem, sorted(folder.glob(f"{stem}.*.hlo")), page)


if __name__ == "__main__":
    main()
