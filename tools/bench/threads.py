"""Calls every program, compiled with `parallel=openmp`, with one thread and with two."""

import argparse
import dataclasses
import pathlib

from bench.results import Value
from bench.run import LLVM
from bench.speed import FAST, LINES, LOWERING, PROFILE, Built
from bench.whole import THREADS, Selected, arguments

__all__ = ["arguments"]

PASSES = (f"{LOWERING} parallel=openmp", *LINES)
PARALLEL = dataclasses.replace(FAST, passes=PASSES, link=(*PROFILE, f"-L{LLVM}/lib", "-lomp"))
# Programs that take less are too short for a row.
SHORT = 1e-3


def cells(file: pathlib.Path, work: pathlib.Path) -> tuple[list[Value], list[str]] | None:
    built = Built(file, work, PARALLEL)
    if not built.callable:
        return None
    report = built.asked("threads")
    one, two = report["seconds"]
    if one < SHORT and not report["differences"]:
        print(f"{file.name}: {1000 * one:.4g} ms with one thread, which is too short for a row", flush=True)
        return None
    return [1000 * one, 1000 * two, one / two], report["differences"][:1]


def main(options: argparse.Namespace) -> None:
    Selected(options, THREADS).put("*.unopt.hlo", cells)
