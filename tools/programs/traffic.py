"""Counts what every program reads and writes: traffic.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes, of which NAME.unopt.hlo is compiled with a call for each load and store (see traffic.c).
With a library and its arrays instead, traffic.py LIBRARY ARRAYS, calls that and prints a line of JSON: the bytes of all
loads and stores of a call, the lines that a cache reads and writes back, the bytes of arguments and results in the layouts of
the program, and what is wrong with its numbers.
"""

import ctypes
import json
import pathlib
import sys
import tempfile

import execute
import speed
from page import TRAFFIC_TABLE, asked
from steps import HERE, MOST, ran

LLVM_OPTIONS = (
    "-force-attribute=sanitize_address", "-asan-instrumentation-with-call-threshold=0", "-asan-stack=0", "-asan-globals=0"
)  # fmt: skip
FLAGS = ("-fsanitize=kernel-address", *(word for option in LLVM_OPTIONS for word in ("-mllvm", option)))
LINK = (HERE / "traffic.c", "-O2", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset", *(["-lmvec"] if speed.LIBRARY else []))
LINE = 64


def counted(path, arrays):
    arguments, results, types, truths = execute.loaded(arrays)
    program = execute.Program(path)
    packed = program.pack(arguments)
    program.library.begin_count()
    given = program.call("run", packed)
    program.library.end_count()
    accessed, read, written = (
        ctypes.c_long.in_dll(program.library, name).value for name in ("accessed_bytes", "read_lines", "written_lines")
    )
    wrong = execute.differences(program.unpack(given, results), results, types[len(arguments) :], truths)
    needed = sum(x.nbytes for x in (*arguments, *results))
    return {"accessed": accessed, "moved": LINE * (read + written), "needed": needed, "differences": wrong}


def main():
    if sys.argv[1].endswith(".so"):
        print(json.dumps(counted(*sys.argv[1:])))
        return
    folders, wanted, page = asked(TRAFFIC_TABLE, lambda _: 0)
    for file in (file for folder in folders for file in sorted(folder.glob("*.unopt.hlo"))):
        name = file.name.removesuffix(".unopt.hlo")
        if not wanted(file.name):
            continue
        with tempfile.TemporaryDirectory() as work:
            found = speed.library(file, pathlib.Path(work), linked=LINK, flags=(*speed.FLAGS, *FLAGS))
            error, cells, wrong = found, ["–"] * 4, []
            if isinstance(found, tuple):
                step = ran([sys.executable, "-B", HERE / "traffic.py", *found[:2]], None, MOST, speed.MEMORY)
                error = step.error
                if not error:
                    report = json.loads(step.text.splitlines()[-1])
                    sizes = [report[name] for name in ("accessed", "moved", "needed")]
                    cells = [*(f"{size / 1e6:.3g}" for size in sizes), f"{sizes[1] / max(sizes[2], 1):.2f}"]
                    wrong = [f"* {name}, {each}" for each in report["differences"][:1]]
            if found is not None:
                wrong += [f"* {name}, {error}"] if error else []
                print(page.put(TRAFFIC_TABLE, name, cells, wrong), *wrong, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
