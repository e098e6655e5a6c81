"""Compares temporaries of small programs with those of XLA:CPU.

Compiles the programs with the JAX that runs this, writes each as FOLDER/NAME.hlo, and prints those whose `temporaries` of
`layout-inspect hlo` are more than 2 % and 2 KiB off `temp_size_in_bytes`, which has gaps between buffers and tables of tuples
in it.
"""

import argparse
import pathlib

from bench.inspect import inspect
from bench.programs import lowered, programs_of


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help="programs of the set `memory`; without one all")


def main(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    programs = programs_of("memory", options.names)
    off = 0
    for name, program in programs.items():
        compiled = lowered(program, program.numbers(0)).compile()
        theirs = compiled.memory_analysis().temp_size_in_bytes
        file = options.folder / f"{name}.hlo"
        file.write_text(compiled.as_text())
        report = inspect("hlo", file, "--summary").json
        ours = sum(space["temporaries"] for space in report["spaces"] if space["space"] == 0)
        if abs(ours - theirs) > max(0.02 * max(ours, theirs), 2048):
            off += 1
            print(f"{name}: {ours} bytes, XLA {theirs}", flush=True)
    print(f"{len(programs)} programs, {off} off")
