"""Races every program against XLA on one core: the forms of each, and what XLA makes of NAME.unopt.hlo, are called in turns."""

import argparse
import collections
import json
import pathlib
import re

from bench import entry, library, worker
from bench.library import FLAGS, OPTIONS, VECTOR_MATHS, How
from bench.results import Value
from bench.run import LLVM, MEMORY, PACKAGE, SECONDS, Argument, Failed, run
from bench.whole import SPEED, TPU_SPEED, Selected, arguments, arrays_of

__all__ = ["arguments"]

LOWERING = f"--layout-to-llvm={OPTIONS} approximate arena=kept"
# Lines of the HLO text in the code, by which samples are known.
LINES = ("--ensure-debug-info-scope-on-llvm-func=emission-kind=LineTablesOnly", "--mlir-print-debuginfo")
LINK: tuple[Argument, ...] = ("-lmvec",) if VECTOR_MATHS else ()
PROFILE: tuple[Argument, ...] = (PACKAGE / "profile.c", "-Wl,--wrap=malloc,--wrap=aligned_alloc", *LINK)
# A process that has loaded JAX and has samples.
WORKER_MEMORY = 20 * 2**30
METADATA = re.compile(r', metadata=\{(?:[^"}]|"[^"]*")*\}')
INSTRUCTION = re.compile(r"\s*(?:ROOT )?%?(\S+) = .*?\b([a-z][\w-]*)\(")

FAST = How((LOWERING, *LINES), FLAGS, PROFILE)


class Built:
    """The library of a program, its numbers, and the seconds until it could run."""

    def __init__(self, file: pathlib.Path, work: pathlib.Path, how: How = FAST) -> None:
        name, arrays = file.name.removesuffix(".hlo"), arrays_of(file)
        mlir, bare = work / f"{name}.imported.mlir", work / file.name
        # Locations are lines of the HLO text where it names no source.
        bare.write_text(METADATA.sub("", file.read_text()))
        seconds = library.imported(bare, mlir)
        # Programs that exchange with others, and those without numbers, are for nobody to call.
        self.callable = arrays is not None and not entry.exchanges(mlir.read_text())
        self.arrays = str(arrays)
        if self.callable:
            self.path, self.code = library.library(name, mlir.read_text(), work, how)
            self.seconds = seconds + sum(self.code.seconds.values())

    def asked(self, how: str) -> worker.Report:
        """What a worker reports of the library."""
        return worker.asked(how, self.path, self.arrays, memory=WORKER_MEMORY)


def places(path: pathlib.Path, samples: list[int | str]) -> str:
    """Where most samples are, with their part of all."""
    inside = [hex(at) for at in samples if isinstance(at, int)]
    command: list[Argument] = [LLVM / "bin/llvm-symbolizer", f"--obj={path}", "--output-style=JSON", "--no-inlines"]
    said = run(command, "\n".join(inside), memory=MEMORY).out
    counts = collections.Counter(f"`{pathlib.Path(at).name}`" for at in samples if isinstance(at, str))
    texts: dict[str, list[str]] = {}
    for line in said.splitlines():
        symbol = json.loads(line)["Symbol"][0]
        file, number = symbol["FileName"], symbol["Line"]
        if file not in texts:
            texts[file] = pathlib.Path(file).read_text().splitlines() if file.endswith(".hlo") else []
        found = INSTRUCTION.match(texts[file][number - 1]) if 0 < number <= len(texts[file]) else None
        counts[f"`{found[1]}` {found[2]}" if found else f"`{symbol['FunctionName']}`"] += 1
    return ", ".join(f"{place} {100 * count / max(len(samples), 1):.0f} %" for place, count in counts.most_common(3) if count)


def cells(report: worker.Report, built: Built) -> list[Value]:
    """The cells of a form beside XLA."""
    form = report["forms"][str(built.path)]
    pieces, size = form["allocated"]
    times = [1000 * report["seconds"], 1000 * form["seconds"], form["seconds"] / report["seconds"]]
    sizes = [pieces, size / 1e6, form["given"] / 1e6, form["faults"]]
    return [*times, report["compiled"], built.seconds, *sizes, places(built.path, form["samples"])]


def race(files: list[pathlib.Path], work: pathlib.Path) -> dict[str, tuple[list[Value], list[str]]]:
    """The cells and faults of the forms of a program, of which the last is the one that XLA compiles."""
    rows: dict[str, tuple[list[Value], list[str]]] = {}
    forms: dict[str, Built] = {}
    none: list[Value] = [None] * (len(SPEED.columns) - 1)
    for file in files:
        name = file.name.removesuffix(".hlo")
        try:
            built = Built(file, work)
        except Failed as error:
            rows[name] = (none, [str(error)])
            continue
        if built.callable:
            forms[name] = built
    if not forms:
        return rows
    pairs = [f"{built.path}={built.arrays}" for built in forms.values()]
    unopt = next(file for file in files if file.name.endswith(".unopt.hlo"))
    try:
        report = worker.asked("race", unopt, *pairs, most=3 * SECONDS, memory=WORKER_MEMORY)
    except Failed as error:
        return rows | {name: (none, [str(error)]) for name in forms}
    for name, built in forms.items():
        rows[name] = (cells(report, built), report["forms"][str(built.path)]["differences"][:1])
    return rows


def main(options: argparse.Namespace) -> None:
    selected = Selected(options, SPEED, TPU_SPEED)
    for table, unopt, work in selected.files("*.unopt.hlo"):
        stem = unopt.name.removesuffix(".unopt.hlo")
        for name, (row, faults) in sorted(race(sorted(unopt.parent.glob(f"{stem}.*.hlo")), work).items()):
            selected.page.put(table, [name, *row], faults)
