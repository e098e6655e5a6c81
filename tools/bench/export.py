"""Writes the programs of a set as HLO, as JAX hands them over: FOLDER/NAME.unopt.hlo.

`plan` stands for all sets for the planner, each of which gets a folder of its own in FOLDER. Those of `import` get the
numbers of their arguments and results and the form that XLA compiles. With `--of`, programs are those of another folder,
NAME.unopt.hlo and further forms of the same function: each is linked, and gets numbers.
"""

import argparse
import pathlib

from bench.programs import PLANNED, SETS, lowered, programs_of
from bench.run import existing


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("set", choices=["plan", *SETS])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", metavar="NAME", nargs="*", help="the programs; without one all")
    parser.add_argument("--of", metavar="OTHER", type=existing, help="a folder of programs, for the set import")


def texts(name: str, folder: pathlib.Path, names: list[str]) -> None:
    """Writes programs of a set into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for key, program in programs_of(name, names).items():
        if name == "import":
            from bench import xla

            xla.with_numbers(key, program, folder)
            counts = [(folder / f"{key}.{form}.hlo").read_text().count(" = ") for form in ("unopt", "opt")]
            print(f"{key}: {counts[0]} and {counts[1]} instructions", flush=True)
        else:
            text = lowered(program, program.numbers(7)).compiler_ir("hlo").as_hlo_text()
            (folder / f"{key}.unopt.hlo").write_text(text)


def known(other: pathlib.Path, folder: pathlib.Path, names: list[str]) -> None:
    """Puts the programs of another folder with numbers into a folder."""
    programs_of("import")
    from bench import xla

    folder.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(file.name.removesuffix(".unopt.hlo") for file in other.glob("*.unopt.hlo")):
        xla.known(name, other, folder)


def main(options: argparse.Namespace) -> None:
    if options.of:
        known(options.of, options.folder, options.names)
        return
    for name in PLANNED if options.set == "plan" else [options.set]:
        texts(name, options.folder / name if options.set == "plan" else options.folder, options.names)
