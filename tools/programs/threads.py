"""Calls every program with one thread and with two: threads.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes, of which NAME.unopt.hlo is compiled with `parallel=openmp`. With a library and its
arrays instead, threads.py LIBRARY ARRAYS, calls that and prints a line of JSON: the seconds of the fastest call with each
number of threads, and what is wrong with the numbers of the last.
"""

import ctypes
import json
import pathlib
import sys
import tempfile
import time

import execute
import speed
from page import THREADS_TABLE, asked
from steps import HERE, LLVM, MOST, ran

COUNTS = (1, 2)
# Rounds of calls, and how many seconds they go on at most and, with fewer rounds, at least.
ROUNDS, LEAST, MOST_SECONDS = 5, 2.0, 20.0
SHORT = 1e-3


def called(path, arrays):
    """The seconds of the fastest call with each number of threads, and the differences of the numbers of the last."""
    arguments, results, types, truths = execute.loaded(arrays)
    program = execute.Program(path)
    packed = program.pack(arguments)
    seconds, start, rounds, given = {count: [] for count in COUNTS}, time.perf_counter(), 0, []
    while (passed := time.perf_counter() - start) < MOST_SECONDS and (passed < LEAST or rounds < ROUNDS):
        for count in COUNTS:
            execute.free(given)
            program.library.omp_set_num_threads(ctypes.c_int(count))
            before = time.perf_counter()
            given = program.call("run", packed)
            seconds[count].append(time.perf_counter() - before)
        rounds += 1
    wrong = execute.differences(program.unpack(given, results), results, types[len(arguments) :], truths)
    return {"seconds": [min(seconds[count]) for count in COUNTS], "differences": wrong}


def main():
    if sys.argv[1].endswith(".so"):
        print(json.dumps(called(*sys.argv[1:])))
        return
    folders, wanted, page = asked(THREADS_TABLE, lambda _: 0)
    lowering, link = f"{speed.LOWERING} parallel=openmp", (*speed.LINK, f"-L{LLVM}/lib", "-lomp")
    for file in (file for folder in folders for file in sorted(folder.glob("*.unopt.hlo"))):
        if not wanted(file.name):
            continue
        name = file.name.removesuffix(".unopt.hlo")
        with tempfile.TemporaryDirectory() as work:
            found = speed.library(file, pathlib.Path(work), lowering, link)
            step = None
            if isinstance(found, tuple):
                step = ran([sys.executable, "-B", HERE / "threads.py", *found[:2]], None, MOST, speed.MEMORY)
                if not step.error:
                    report = json.loads(step.text.splitlines()[-1])
                    one, two = report["seconds"]
                    wrong = [f"* {name}, {each}" for each in report["differences"][:1]]
                    if one < SHORT:
                        print(f"{name}: {1000 * one:.4g} ms with one thread, which is too short for a row", *wrong, sep="\n  ", flush=True)
                    else:
                        cells = [f"{1000 * one:.4g}", f"{1000 * two:.4g}", f"{one / two:.2f}"]
                        print(page.put(THREADS_TABLE, name, cells, wrong), *wrong, sep="\n  ", flush=True)
                    continue
            error = step.error if step else found
            if error:
                print(page.put(THREADS_TABLE, name, ["–"] * 3, [f"* {name}, {error}"]), error, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
