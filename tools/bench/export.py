"""Writes the programs of a set as HLO, as JAX hands them over: FOLDER/NAME.unopt.hlo.

`plan` stands for all sets for the planner, each of which gets a folder of its own in FOLDER.
"""

import argparse
import pathlib

from bench.programs import PLANNED, SETS, lowered, programs_of


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("set", choices=["plan", *SETS])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help="the programs; without one all")


def texts(name: str, folder: pathlib.Path, names: list[str]) -> None:
    """Writes programs of a set into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, program in programs_of(name).items():
        if not names or key in names:
            text = lowered(program, program.numbers(7)).compiler_ir("hlo").as_hlo_text()
            (folder / f"{key}.unopt.hlo").write_text(text)


def main(options: argparse.Namespace) -> None:
    for name in PLANNED if options.set == "plan" else [options.set]:
        texts(name, options.folder / name if options.set == "plan" else options.folder, options.names)
