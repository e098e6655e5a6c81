"""Calls programs in a process of its own, whose end does not end the benchmark: `python -m bench.worker CALLED ARGUMENT..`.

It prints one line of JSON. LIBRARY is one that `library.library` made, ARRAYS the file of its numbers.

  run LIBRARY ARRAYS                    calls the program, on threads where it exchanges between devices
  threads LIBRARY ARRAYS                calls it with one thread and with two
  traffic LIBRARY ARRAYS                counts what it reads and writes; see traffic.c
  race UNOPT.hlo LIBRARY=ARRAYS...      calls XLA and forms of a program in turns on one core; see profile.c
  alone LIBRARY ARRAYS                  calls a program on one core
"""

import ctypes
import json
import os
import pathlib
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.calls import Array, Numbers, Program, Words, free, typed
from bench.exchange import Devices
from bench.run import MEMORY, SECONDS, Argument, run

Report = dict[str, Any]

# Rounds of calls, and how many seconds they go on at most and, with fewer rounds, at least.
ROUNDS, MOST = 5, 20.0
# The seconds in which samples are taken, one in this many microseconds.
SAMPLED, PERIOD = 1.0, 1000
THREADS = (1, 2)
LINE = 64


def asked(how: str, *arguments: Argument, most: float = SECONDS, memory: int = MEMORY) -> Report:
    """What a worker reports."""
    done = run([sys.executable, "-B", "-m", "bench.worker", how, *arguments], most=most, memory=memory)
    report: Report = json.loads(done.out.splitlines()[-1])
    return report


class Form:
    """A program with its arguments in its layouts."""

    def __init__(self, path: str, arrays: str) -> None:
        self.program, self.numbers = Program(pathlib.Path(path)), Numbers(pathlib.Path(arrays))
        self.packed = self.program.pack(self.numbers.arguments)

    def run(self) -> list[Words]:
        return self.program.call("run", self.packed)

    def differences(self, given: Sequence[Words]) -> list[str]:
        """What is wrong with what a call gave, which is freed."""
        found = self.program.unpack(given, self.numbers.results)
        free(given)
        return self.numbers.differences(found)

    def count(self, name: str) -> int:
        """A counter of the library."""
        return int(ctypes.c_long.in_dll(self.program.library, name).value)


def once(program: Program, arguments: Sequence[Array], results: Sequence[Array]) -> tuple[list[Array | str], float]:
    """What a call gives, and the seconds of this thread that it took."""
    packed = program.pack(arguments)
    start = time.thread_time()
    given = program.call("run", packed)
    seconds = time.thread_time() - start
    found = program.unpack(given, results)
    free(packed)
    free(given)
    return found, seconds


def on_devices(program: Program, numbers: Numbers) -> tuple[list[Array | str], float]:
    """What each device gives, and the seconds of all."""
    count = len(numbers.arguments[0])
    devices = Devices(count, count)
    kept = devices.install(program.library, program.exchanges)
    found: list[list[Array | str]] = [[] for _ in range(count)]
    seconds = [0.0] * count

    def of_device(number: int) -> None:
        devices.enter(number)
        arguments = [np.ascontiguousarray(x[number]).reshape(x.shape[1:]) for x in numbers.arguments]
        found[number], seconds[number] = once(program, arguments, [x[number] for x in numbers.results])

    threads = [threading.Thread(target=of_device, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del kept
    stacked: list[Array | str] = []
    for parts in zip(*found, strict=True):
        wrong = next((part for part in parts if isinstance(part, str)), None)
        stacked.append(wrong or np.stack([part for part in parts if not isinstance(part, str)]))
    return stacked, sum(seconds)


def called(path: str, arrays: str) -> Report:
    """The seconds of the processor, of all threads, that a call takes, and what is wrong with its numbers."""
    program, numbers = Program(pathlib.Path(path)), Numbers(pathlib.Path(arrays))
    if program.exchanges:
        found, seconds = on_devices(program, numbers)
    else:
        found, seconds = once(program, numbers.arguments, numbers.results)
    return {"seconds": seconds, "differences": numbers.differences(found)}


def rounds(least: float, calls: Callable[[], None]) -> None:
    """Calls for so many seconds, or as many rounds."""
    start, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < MOST and (passed < least or count < ROUNDS):
        calls()
        count += 1


def threaded(path: str, arrays: str) -> Report:
    """The seconds of the fastest call with each number of threads, and the differences of the numbers of the last."""
    form = Form(path, arrays)
    seconds: dict[int, list[float]] = {count: [] for count in THREADS}
    given: list[Words] = []

    def calls() -> None:
        nonlocal given
        for count in THREADS:
            free(given)
            form.program.library.omp_set_num_threads(ctypes.c_int(count))
            before = time.perf_counter()
            given = form.run()
            seconds[count].append(time.perf_counter() - before)

    rounds(2.0, calls)
    return {"seconds": [min(seconds[count]) for count in THREADS], "differences": form.differences(given)}


def counted(path: str, arrays: str) -> Report:
    """The bytes of all loads and stores of a call, of the lines that a cache reads and writes back, and of arguments and
    results, and what is wrong with the numbers."""
    form = Form(path, arrays)
    form.program.library.begin_count()
    given = form.run()
    form.program.library.end_count()
    moved = LINE * (form.count("read_lines") + form.count("written_lines"))
    sizes = {"accessed": form.count("accessed_bytes"), "moved": moved, "needed": form.numbers.bytes()}
    return {**sizes, "differences": form.differences(given)}


class Raced(Form):
    """A form of a program that runs beside XLA."""

    def __init__(self, path: str, arrays: str) -> None:
        super().__init__(path, arrays)
        self.wrong = self.differences(self.run())
        self.seconds: list[float] = []
        self.faults: list[int] = []

    def call(self) -> None:
        faults, start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.perf_counter()
        given = self.run()
        self.seconds.append(time.perf_counter() - start)
        self.faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
        free(given)

    def allocated(self) -> list[int]:
        """How many pieces and bytes a call allocates."""
        names = ("allocations", "allocated_bytes")
        before = [self.count(name) for name in names]
        self.call()
        return [self.count(name) - b for name, b in zip(names, before, strict=True)]

    def sampled(self) -> list[int | str]:
        """Where the program is in a second: addresses in the library, and names outside of it."""
        library, end = self.program.library, time.perf_counter() + SAMPLED
        library.sample(ctypes.c_long(PERIOD))
        while time.perf_counter() < end:
            free(self.run())
        library.sample(ctypes.c_long(0))
        library.symbol.restype = ctypes.c_char_p
        samples = (ctypes.c_long * self.count("sampled")).in_dll(library, "samples")
        return [at if at >= 0 else library.symbol(ctypes.c_long(-at)).decode() for at in samples]

    def report(self) -> Report:
        fastest, faults = min(self.seconds), min(self.faults)
        about = {"allocated": self.allocated(), "given": self.numbers.bytes(), "samples": self.sampled()}
        return {"seconds": fastest, "faults": faults, **about, "differences": self.wrong}


class Xla:
    """What XLA makes of a program for one core."""

    def __init__(self, text: str, numbers: Numbers) -> None:
        import jax

        from bench import xla

        start = time.process_time()
        executable = xla.executable_of(xla.computation_of(text))
        self.compiled = time.process_time() - start
        given = zip(numbers.arguments, numbers.argument_types, strict=True)
        arguments = xla.on_device([typed(x, name) for x, name in given])
        self.run: Callable[[], object] = lambda: jax.block_until_ready(xla.called(executable, arguments))
        self.seconds: list[float] = []
        self.run()

    def call(self) -> None:
        start = time.perf_counter()
        self.run()
        self.seconds.append(time.perf_counter() - start)


def raced(text: str, *forms: str) -> Report:
    """Seconds of XLA's compilation and of its fastest call; for each library the fastest call, the page faults of the least
    of the calls, what a call allocates, samples, and what is wrong with its numbers."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"
    pairs = [form.split("=", 1) for form in forms]
    # What is compiled first waits for what the process loads.
    from bench import xla

    xla.executable_of(xla.computation_of("HloModule m\nENTRY e { ROOT a = f32[] parameter(0) }"))
    theirs = Xla(pathlib.Path(text).read_text(), Numbers(pathlib.Path(pairs[0][1])))
    ours = {path: Raced(path, arrays) for path, arrays in pairs}

    racers: list[Xla | Raced] = [theirs, *ours.values()]

    def calls() -> None:
        for racer in racers:
            racer.call()

    rounds(1.0, calls)
    reports = {path: form.report() for path, form in ours.items()}
    return {"compiled": theirs.compiled, "seconds": min(theirs.seconds), "forms": reports}


def alone(path: str, arrays: str) -> Report:
    """The seconds of the fastest call, and what is wrong with its numbers."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    form = Raced(path, arrays)
    rounds(1.0, form.call)
    return {"seconds": min(form.seconds), "differences": form.wrong}


HOW: dict[str, Callable[..., Report]] = {
    "run": called, "threads": threaded, "traffic": counted, "race": raced, "alone": alone,
}  # fmt: skip

if __name__ == "__main__":
    print(json.dumps(HOW[sys.argv[1]](*sys.argv[2:])))
