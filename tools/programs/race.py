"""Calls XLA and the forms of a program in turns on one core: race.py UNOPT.hlo LIBRARY=ARRAYS...

Prints one line of JSON: seconds of XLA's compilation and of its fastest call; for each library the fastest call, the page
faults of the least of the calls, what a call allocates, samples as addresses in the library or names outside of it, and what is wrong with its numbers.
"""

import os

core = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {core})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import ctypes
import json
import pathlib
import resource
import sys
import time

import jax
import make
from execute import Program, differences, free, loaded, typed

# Rounds of calls, and how many seconds they go on at most and, with fewer rounds, at least.
ROUNDS, LEAST, MOST = 5, 1.0, 20.0
# The seconds in which samples are taken, one in this many microseconds.
SAMPLED, PERIOD = 1.0, 1000


class Form:
    """A form of a program that was lowered, with arguments in its layouts."""

    def __init__(self, path, arrays):
        arguments, results, types, truths = loaded(arrays)
        self.program = Program(path)
        self.packed = self.program.pack(arguments)
        given = self.program.call("run", self.packed)
        found = self.program.unpack(given, results)
        free(given)
        self.given_bytes = sum(x.nbytes for x in (*arguments, *results))
        self.differences = differences(found, results, types[len(arguments) :], truths)
        self.seconds, self.faults = [], []

    def call(self):
        faults, start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.perf_counter()
        given = self.program.call("run", self.packed)
        self.seconds.append(time.perf_counter() - start)
        self.faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
        free(given)

    def allocated(self):
        """How many pieces and bytes a call allocates."""
        counters = [ctypes.c_long.in_dll(self.program.library, name) for name in ("allocations", "allocated_bytes")]
        before = [c.value for c in counters]
        self.call()
        return [c.value - b for c, b in zip(counters, before)]

    def sampled(self):
        library, end = self.program.library, time.perf_counter() + SAMPLED
        library.sample(ctypes.c_long(PERIOD))
        while time.perf_counter() < end:
            free(self.program.call("run", self.packed))
        library.sample(ctypes.c_long(0))
        count = ctypes.c_long.in_dll(library, "sampled").value
        library.symbol.restype = ctypes.c_char_p
        named = lambda at: at if at >= 0 else library.symbol(ctypes.c_long(-at)).decode()
        return [named(at) for at in (ctypes.c_long * count).in_dll(library, "samples")]

    def report(self):
        fastest, faults = min(self.seconds), min(self.faults)
        return {
            "seconds": fastest, "faults": faults, "allocated": self.allocated(), "given": self.given_bytes,
            "samples": self.sampled(), "differences": self.differences,
        }  # fmt: skip


class Xla:
    def __init__(self, text, arrays):
        start = time.process_time()
        self.executable = make.executable_of(make.computation_of(text))
        self.compiled = time.process_time() - start
        arguments, _, types, _ = loaded(arrays)
        self.arguments = make.on_device([typed(x, name) for x, name in zip(arguments, types)])
        self.seconds = []
        jax.block_until_ready(make.called(self.executable, self.arguments))

    def call(self):
        start = time.perf_counter()
        jax.block_until_ready(make.called(self.executable, self.arguments))
        self.seconds.append(time.perf_counter() - start)


def main():
    text, *forms = sys.argv[1:]
    forms = dict(form.split("=", 1) for form in forms)
    # What is compiled first waits for what the process loads.
    make.executable_of(make.computation_of("HloModule m\nENTRY e { ROOT a = f32[] parameter(0) }"))
    xla = Xla(pathlib.Path(text).read_text(), next(iter(forms.values())))
    own = {path: Form(path, arrays) for path, arrays in forms.items()}
    start = time.perf_counter()
    while True:
        passed = time.perf_counter() - start
        if passed > MOST or (passed > LEAST and len(xla.seconds) >= ROUNDS):
            break
        for each in (xla, *own.values()):
            each.call()
    reports = {path: form.report() for path, form in own.items()}
    print(json.dumps({"compiled": xla.compiled, "seconds": min(xla.seconds), "forms": reports}))


if __name__ == "__main__":
    main()
