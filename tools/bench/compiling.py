"""How long programs take to compile beside XLA.

Programs are compiled by XLA in a process that has started, and by a process for each of our steps, with each level of clang;
the libraries are then called in turns. Seconds are those of the processor, the least of as many runs as there are levels. The
first row is that of a program that does nothing.
"""

import argparse
import dataclasses
import pathlib
import tempfile

from bench import library, worker
from bench.library import CLANG, FLAGS
from bench.results import Value
from bench.run import SECONDS
from bench.speed import FAST, LINK, LOWERING, METADATA, WORKER_MEMORY
from bench.whole import COMPILING, LEVELS, Selected, arguments, arrays_of

__all__ = ["arguments"]

# As in a compiler that is in use: MLIR's verifier after each pass is for those who write passes.
PASSES = (LOWERING, "--verify-each=false")
NOTHING = "HloModule nothing\nENTRY main { ROOT a = f32[] parameter(0) }\n"
STEPS = ("lowered", *LEVELS, "linked")


def compiled(file: pathlib.Path, work: pathlib.Path) -> tuple[dict[str, float], list[pathlib.Path]]:
    """The seconds of the steps of a program, and its library of each level."""
    name, mlir, seconds, paths = file.name.removesuffix(".hlo"), work / "imported.mlir", [], []
    for level in LEVELS:
        folder = work / level
        folder.mkdir()
        took = {"imported": library.imported(file, mlir)}
        how = dataclasses.replace(FAST, flags=(level, *FLAGS[1:]), passes=PASSES)
        path, code = library.library(name, mlir.read_text(), folder, how)
        alone = folder / "alone.so"
        took |= code.seconds | {"linked": library.step(CLANG, "-shared", *code.objects, "-o", alone, "-lm", *LINK)}
        seconds.append(took)
        paths.append(path)
    least = {step: min(took[step] for took in seconds) for step in seconds[0]}
    levels = {level: least["translated"] + took["compiled"] for level, took in zip(LEVELS, seconds, strict=True)}
    return {"lowered": least["imported"] + least["lowered"], **levels, "linked": least["linked"]}, paths


def row(seconds: dict[str, float], start: dict[str, float], report: worker.Report, paths: list[pathlib.Path]) -> list[Value]:
    """The cells of a program beside XLA. `start` are the seconds of a program that does nothing."""
    xla, ms = report["compiled"], [report["forms"][str(path)]["seconds"] for path in paths]
    net = {step: max(seconds[step] - start[step], 0) for step in seconds}
    whole = [(net["lowered"] + net[level] + net["linked"]) / xla for level in LEVELS]
    return [xla, *(seconds[step] for step in STEPS), net["lowered"] / xla, *whole, *(each / ms[0] for each in ms[1:])]


def main(options: argparse.Namespace) -> None:
    selected = Selected(options, COMPILING)
    with tempfile.TemporaryDirectory() as folder:
        nothing = pathlib.Path(folder) / "nothing.hlo"
        nothing.write_text(NOTHING)
        start, _ = compiled(nothing, nothing.parent)
    selected.page.put(COMPILING, ["(nothing)", None, *(start[step] for step in STEPS), *[None] * 6])

    def cells(file: pathlib.Path, work: pathlib.Path) -> tuple[list[Value], list[str]] | None:
        arrays, bare = arrays_of(file), work / file.name
        if arrays is None:
            return None
        bare.write_text(METADATA.sub("", file.read_text()))
        seconds, paths = compiled(bare, work)
        forms = [f"{path}={arrays}" for path in paths]
        report = worker.asked("race", file, *forms, most=3 * SECONDS, memory=WORKER_MEMORY)
        wrong = [form["differences"][0] for form in report["forms"].values() if form["differences"]]
        return row(seconds, start, report, paths), wrong[:1]

    selected.put("*.unopt.hlo", cells)
