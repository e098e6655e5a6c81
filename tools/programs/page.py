"""The page of all programs, benches/programs.md, and its tables."""

import argparse
import math
import pathlib

INTRODUCTION = """# Programs

`make bench-import` writes this page. Programs of JAX, as it hands them over (`unopt`) and as XLA's CPU backend compiles them
(`opt`; those for 8 devices as one of 8 partitions): read and analysed by `layout-inspect hlo --json`, imported by
`layout-translate`, lowered by `layout-opt --layout-to-llvm`, compiled by `mlir-translate` and `clang -O1`, and called. Figures
are seconds of the processor, user and system, of the process of each step; of the call those of all its threads, the devices
of a program for 8. Work for others on the same cores makes them up to 1.6 times as large. `make bench-programs` writes the tables of their speed.

*Numbers* says whether they are near XLA's: integers are equal, floats within 2e-4 of the largest plus 2e-3 of the element for
f32, 2e-2 and 4e-2 for bf16; or, where the program computes with less than 32 bits, the root of the mean square of their
distance to the same program with 32 bits is at most 1.2 times that of XLA's numbers. A step with "no" is explained below the
table. A dash: a step that was ended after the seconds that are said below, or XLA has no numbers to compare with.
`collectives.unopt` is such a program: outside it has the arrays of all devices, inside those of one.
"""
TPU = """## Programs of a TPU's compiler

Twenty more, which are not in the repository, as JAX hands them over (`unopt`), before and after XLA:TPU assigns layouts, and as
it leaves them for a TPU v5e; `PROGRAM_FOLDERS` names a folder that `tools/programs/make.py --of` makes of them. Their text
has the layouts of a TPU, which the lowering keeps. Arguments are small random numbers, and the numbers are those of `unopt`
by XLA:CPU, for the v5e with operands of products rounded to bf16, as its text says. What the texts leave to a runner,
`tools/programs/given.py` defines: the kernel that `attention` calls, and masks in `conv` and `resnet_block`.

No vector code is asked for, and `clang -O1` makes none: `bert_layer.unopt` takes 10.6 s so, 4.0 s with `clang -O2`, and 0.9 s
with `vectorize=avx512 reassociate contract` and `-march=native`.
"""
SPEED = """## Speed

`make bench-programs` compiles the same programs as JAX does, for one core: `layout-opt --layout-to-llvm` with vector code,
`reassociate`, `contract` and `approximate`, then `clang -O3 -march=native`. XLA:CPU and our forms of a program run in turns, call by call, in
one process on one core; milliseconds are those of the fastest call. What JAX hands over is what XLA compiles. *Compiled* is
seconds of the processor from the text to code that runs. *Allocated* is what one call allocates, in pieces and in MB, beside
the MB of arguments and results; *faults* are the page faults of the least of the calls. At the end of a line is where samples
of the processor, one a millisecond, found the program: the instruction of the HLO text, or a function of a library.

Forms that exchange with other devices are not in the table, as one process on one core is raced: `collectives`,
`fsdp_train.opt`, `sharded_llama_train.opt` and `sharded_mlp_train.opt`.
"""
TPU_SPEED = """## Speed of the programs of a TPU's compiler

The same for the other twenty. Arguments have the layouts that the text says before the clock starts.
"""
THREADS = """## Threads

`tools/bench-programs.sh threads` compiles what JAX hands over as for the tables of speed, with `parallel=openmp`, and links
LLVM's OpenMP library. The same code runs in turns with one thread and with two; milliseconds are those of the fastest call.
Programs of less than a millisecond are left out.
"""
COMPILING = """## Compilation

`tools/bench-programs.sh compiling` compiles what JAX hands over as for the tables of speed, without debug information and
with `--verify-each=false`, at clang's levels 3, 2 and 1. Figures are seconds of the processor. XLA's are those of one call in a
process that has started and has read the text. Ours are those of whole processes: *lowered* of `layout-translate` and
`layout-opt`, those below a level of `mlir-translate` and `clang -c`, *linked* of clang and the linker. The line `(nothing)` is
of a program that gives back its argument: what processes cost that start, load LLVM and read a text. Ratios to XLA are without
that: of the lowering alone, and of all steps with each level. Last are the milliseconds of the code of levels 2 and 1, over
those of level 3; with more than a few milliseconds they vary by half, on a machine that others use.
"""
TRAFFIC = """## Bytes moved

`tools/bench-programs.sh traffic` compiles what JAX hands over as for the tables of speed, with a call for each load and store,
and counts those of one call: *accessed* are the bytes of all loads and stores, *moved* those of the lines of 64 bytes that a
cache of 1 MiB in 16 ways, empty at first, reads from memory and writes back, and *needed* those of arguments and results in
row-major order, in MB of 10^6 bytes. What stays in registers is in neither; padding of tiles is in what is moved.
"""
STEPS = ("instructions", "analysed", "imported", "lowered", "compiled", "called", "numbers")
SPEEDS = ("XLA, ms", "ms", "ratio", "XLA compiled, s", "compiled, s", "allocated", "MB", "given MB", "faults", "most time")
TIMES = ("one thread, ms", "two, ms", "times")
TRAFFICS = ("accessed, MB", "moved, MB", "needed, MB", "moved / needed")
COMPILINGS = (
    "XLA", "lowered", "-O3", "-O2", "-O1", "linked", "lowering / XLA", "all, -O3 / XLA", "-O2 / XLA", "-O1 / XLA", "ms, -O2 / -O3",
    "-O1 / -O3",
)  # fmt: skip
# The numbers of the first table of speed, and of those of threads, of compilation and of bytes.
SPEED_TABLES, THREADS_TABLE, COMPILING_TABLE, TRAFFIC_TABLE = 2, 4, 5, 6
TABLES = (
    (INTRODUCTION, STEPS), (TPU, STEPS), (SPEED, SPEEDS), (TPU_SPEED, SPEEDS), (THREADS, TIMES), (COMPILING, COMPILINGS),
    (TRAFFIC, TRAFFICS),
)  # fmt: skip


def table_of(folder):
    """The number of the table of steps that the programs of a folder are in."""
    return int(any(folder.glob("*.v5e.hlo")))


class Page:
    """The lines of the tables and of their faults, by the number of the table and the name of the program.

    A page that is there keeps the lines of the tables that are not made, or of all.
    """

    def __init__(self, path, keep, made):
        self.path, self.rows, self.faults = path, [{} for _ in TABLES], [{} for _ in TABLES]
        parts = path.read_text().split("\n## ") if path and path.exists() else []
        headings = [introduction.splitlines()[0].lstrip("# ") for introduction, _ in TABLES]
        for lines in (part.splitlines() for part in parts):
            k = headings.index(lines[0].lstrip("# "))
            if k in made and not keep:
                continue
            table = [line for line in lines if line.startswith("| ")][1:]
            self.rows[k] = {line.split("|")[1].strip(): line for line in table}
            for line in lines:
                if line.startswith("* "):
                    self.faults[k].setdefault(line[2:].split(",")[0], []).append(line)

    def put(self, k, name, cells, faults):
        """Puts a line into a table and writes the page; gives the line."""
        self.rows[k][name], self.faults[k][name] = f"| {name} | " + " | ".join(cells) + " |", faults
        if self.path:
            tables = zip(TABLES, self.rows, self.faults)
            self.path.write_text("\n".join(table(*each) for each in tables if each[1]))
        return self.rows[k][name]


def asked(first, table_of=table_of):
    """The folders of the command line, whether a name is asked for, and the page for their tables, from number `first`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, action="append", required=True)
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    page = Page(options.write, options.keep, {first + table_of(folder) for folder in options.folder})
    return options.folder, lambda name: not options.parts or any(part in name for part in options.parts), page


def table(what, rows, faults):
    introduction, columns = what
    head = "| program | " + " | ".join(columns) + " |\n|---|" + "--:|" * len(columns)
    faults = [fault for name in sorted(rows) for fault in faults.get(name, [])]
    lines = [introduction, head, *(rows[name] for name in sorted(rows)), *([""] if faults else []), *faults]
    return "\n".join([*lines, *(means(rows) if columns is SPEEDS else geometric(rows) if columns is COMPILINGS else []), ""])


def means(rows):
    """The geometric means of the ratios of each form, and the largest."""
    ratios = {}
    for name, line in rows.items():
        ratio = line.split("|")[SPEEDS.index("ratio") + 2].strip()
        if ratio != "–":
            ratios.setdefault(name.rsplit(".", 1)[1], []).append((float(ratio), name))
    lines = [
        f"`{form}`: {math.exp(sum(math.log(r) for r, _ in all_of) / len(all_of)):.2f} in the geometric mean of {len(all_of)},"
        f" at most {max(all_of)[0]:g} (`{max(all_of)[1]}`)."
        for form, all_of in sorted(ratios.items())
    ]
    return ["", "\\\n".join(lines)] if lines else []


def geometric(rows):
    """The geometric means of the ratios of compilation."""
    first = COMPILINGS.index("lowering / XLA")
    cells = [[float(cell) for cell in line.split("|")[first + 2 : -1]] for line in rows.values() if " – " not in line]
    means = [math.exp(sum(math.log(max(each, 0.01)) for each in column) / len(cells)) for column in zip(*cells)]
    if not means:
        return []
    named = ", ".join(f"{name} {mean:.2f}" for name, mean in zip(COMPILINGS[first:], means))
    return ["", f"In the geometric mean of {len(cells)}: {named}."]
