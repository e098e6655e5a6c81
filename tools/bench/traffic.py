"""Counts the bytes that every program reads and writes. It is compiled with a call for each load and store; see traffic.c."""

import argparse
import dataclasses
import pathlib

from bench.library import FLAGS
from bench.results import Value
from bench.run import PACKAGE
from bench.speed import FAST, LINK, Built
from bench.whole import TRAFFIC, Selected, arguments

__all__ = ["arguments"]

CALLS = (
    "-force-attribute=sanitize_address",
    "-asan-instrumentation-with-call-threshold=0",
    "-asan-stack=0",
    "-asan-globals=0",
)
COUNTED = dataclasses.replace(
    FAST,
    flags=(*FLAGS, "-fsanitize=kernel-address", *(word for option in CALLS for word in ("-mllvm", option))),
    link=(PACKAGE / "traffic.c", "-O2", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset", *LINK),
)


def cells(file: pathlib.Path, work: pathlib.Path) -> tuple[list[Value], list[str]] | None:
    built = Built(file, work, COUNTED)
    if not built.callable:
        return None
    report = built.asked("traffic")
    sizes = [report[name] / 1e6 for name in ("accessed", "moved", "needed")]
    return [*sizes, report["moved"] / max(report["needed"], 1)], report["differences"][:1]


def main(options: argparse.Namespace) -> None:
    Selected(options, TRAFFIC).put("*.unopt.hlo", cells)
