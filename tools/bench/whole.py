"""The page of whole programs, `benches/programs.md`, and the command lines of the benchmarks that write its tables."""

import argparse
import math
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Sequence

from bench import export
from bench.results import Column, Page, Row, Table, Value, number
from bench.run import ROOT, Failed, existing

SECONDS, RATIO = "{:.2f}", "{:.2f}"
MS, MB = "{:.4g}", "{:.1f}"
STEPS = ("analysed", "imported", "lowered", "compiled", "called", "numbers")
STEP_COLUMNS = (Column("program"), Column("instructions"), *(Column(step, SECONDS) for step in STEPS))
SPEED_COLUMNS = (
    Column("program"), Column("XLA, ms", MS), Column("ms", MS), Column("ratio", RATIO), Column("XLA compiled, s", SECONDS),
    Column("compiled, s", SECONDS), Column("allocated"), Column("MB", MB), Column("given MB", MB), Column("faults"),
    Column("most time"),
)  # fmt: skip
LEVELS = ("-O3", "-O2", "-O1")
RATIOS = ("lowering / XLA", "all, -O3 / XLA", "-O2 / XLA", "-O1 / XLA", "ms, -O2 / -O3", "-O1 / -O3")


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(math.log(max(ratio, 0.01)) for ratio in ratios) / len(ratios))


def by_form(rows: list[Row]) -> str:
    """The geometric means of the ratios of each form, and the largest."""
    ratios: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row[3] is not None:
            ratios.setdefault(str(row[0]).rsplit(".", 1)[1], []).append((number(row[3]), str(row[0])))
    return " ".join(
        f"`{form}`: {mean([ratio for ratio, _ in each]):.2f} in the geometric mean of {len(each)}, at most"
        f" {max(each)[0]:.2f} (`{max(each)[1]}`)."
        for form, each in sorted(ratios.items())
    )


def compilation(rows: list[Row]) -> str:
    """The geometric means of the ratios of compilation."""
    whole = [row for row in rows if None not in row]
    if not whole:
        return ""
    means = [mean([number(row[k]) for row in whole]) for k in range(-len(RATIOS), 0)]
    named = ", ".join(f"{name} {ratio:.2f}" for name, ratio in zip(RATIOS, means, strict=True))
    return f"In the geometric mean of {len(whole)}: {named}."


IMPORT = Table("import", STEP_COLUMNS, by_name=True)
TPU_IMPORT = Table("tpu-import", STEP_COLUMNS, by_name=True)
SPEED = Table("speed", SPEED_COLUMNS, by_name=True, summary=by_form)
TPU_SPEED = Table("tpu-speed", SPEED_COLUMNS, by_name=True, summary=by_form)
THREADS = Table(
    "threads",
    (Column("program"), Column("one thread, ms", MS), Column("two, ms", MS), Column("times", RATIO)),
    by_name=True,
)
COMPILING = Table(
    "compiling",
    tuple(Column(name, SECONDS) for name in ("program", "XLA", "lowered", *LEVELS, "linked", *RATIOS)),
    by_name=True,
    summary=compilation,
)
TRAFFIC = Table(
    "traffic",
    (
        Column("program"), Column("accessed, MB", "{:.3g}"), Column("moved, MB", "{:.3g}"), Column("needed, MB", "{:.3g}"),
        Column("moved / needed", RATIO),
    ),
    by_name=True,
)  # fmt: skip
TABLES = (IMPORT, TPU_IMPORT, SPEED, TPU_SPEED, THREADS, COMPILING, TRAFFIC)


def page(write: bool = True, keep: bool = False) -> Page:
    return Page("programs", TABLES, write, keep)


def arguments(parser: argparse.ArgumentParser) -> None:
    folders = [existing(folder) for folder in os.environ.get("PROGRAM_FOLDERS", "").split(":") if folder]
    parser.add_argument("parts", metavar="PART", nargs="*", help="parts of names of programs; then nothing is written")
    parser.add_argument("--keep", action="store_true", help="writes all the same, and keeps the other rows")
    parser.add_argument(
        "--folder",
        dest="folders",
        type=existing,
        action="append",
        default=folders,
        help="a folder that `export import` wrote, also in PROGRAM_FOLDERS; target/programs without one",
    )


class Selected:
    """The programs that a command line asks for, and the page for their tables."""

    def __init__(self, options: argparse.Namespace, *tables: Table, conditions: Sequence[str] = ()) -> None:
        self.folders: list[pathlib.Path] = options.folders or [ROOT / "target/programs"]
        if not options.folders and not self.folders[0].exists():
            export.texts("import", self.folders[0], [])
        self.parts: list[str] = options.parts
        self.page = page(write=options.keep or not self.parts, keep=options.keep)
        # The second table of two is that of programs of a TPU's compiler.
        self.tables = tables
        for table in sorted({self.table(folder).name: self.table(folder) for folder in self.folders}.values(), key=TABLES.index):
            self.page.begin(table, *conditions)

    def table(self, folder: pathlib.Path) -> Table:
        return self.tables[-1] if any(folder.glob("*.v5e.hlo")) else self.tables[0]

    def files(self, pattern: str) -> Iterator[tuple[Table, pathlib.Path, pathlib.Path]]:
        """The table of each file, the file, and a folder to work in."""
        files = [file for folder in self.folders for file in sorted(folder.glob(pattern))]
        asked = [file for file in files if not self.parts or any(part in file.name for part in self.parts)]
        if not asked:
            places = ", ".join(map(str, self.folders))
            raise Failed(f"no {pattern} of {places}" + (f" has {' or '.join(self.parts)} in its name" if self.parts else ""))
        for file in asked:
            with tempfile.TemporaryDirectory() as work:
                yield self.table(file.parent), file, pathlib.Path(work)

    def put(self, pattern: str, cells: Callable[[pathlib.Path, pathlib.Path], tuple[list[Value], list[str]] | None]) -> None:
        """Puts a row for each file: of the cells and faults of a measurement, or of why there are none."""
        for table, file, work in self.files(pattern):
            name = file.name.removesuffix(pattern.lstrip("*"))
            try:
                measured = cells(file, work)
            except Failed as error:
                measured = [None] * (len(table.columns) - 1), [str(error)]
            if measured:
                self.page.put(table, [name, *measured[0]], measured[1])


def arrays_of(file: pathlib.Path) -> pathlib.Path | None:
    """The numbers of a program: its own or those of each device first, then those of all forms."""
    name = file.name.removesuffix(".hlo")
    stem = name.rsplit(".", 1)[0]
    names = [*([f"{stem}.shards.npz"] if name.endswith(".opt") else []), f"{name}.npz", f"{stem}.npz"]
    return next((file.parent / each for each in names if (file.parent / each).exists()), None)
