"""Calls a program that `link.library` made and compares what it gives with XLA: execute.py LIBRARY ARRAYS.

With functions that exchange between devices, the arrays are those of all devices, of which each is a thread. Prints one
line of JSON: the seconds of the processor, of all threads, that `run` took and, where numbers differ, what differs.
"""

import ctypes
import itertools
import json
import pathlib
import sys
import threading
import time

import ml_dtypes
import numpy as np
from devices import Devices

LIBC = ctypes.CDLL(None)

# How far a result may be from XLA's: the part of the largest element, and of the element. Sums are in another order.
TOLERANCES = {"float64": (1e-9, 1e-8), "float32": (2e-4, 2e-3), "bfloat16": (2e-2, 4e-2), "float16": (5e-3, 1e-2)}


def descriptor(array):
    """The words of a memref: two pointers, an offset, sizes and strides."""
    start = array.ctypes.data
    strides = [s // array.itemsize for s in array.strides]
    return (ctypes.c_int64 * (3 + 2 * array.ndim))(start, start, 0, *array.shape, *strides)


def read(words, like):
    """The array that a descriptor is of."""
    rank = like.ndim
    _, aligned, offset = words[:3]
    sizes, strides = words[3 : 3 + rank], words[3 + rank : 3 + 2 * rank]
    assert tuple(sizes) == like.shape, f"sizes {list(sizes)}, not {list(like.shape)}"
    if like.size == 0:
        return np.zeros_like(like)
    span = 1 + sum((n - 1) * s for n, s in zip(sizes, strides))
    buffer = (ctypes.c_char * (span * like.itemsize)).from_address(aligned + offset * like.itemsize)
    flat = np.frombuffer(buffer, like.dtype)
    return np.lib.stride_tricks.as_strided(flat, sizes, [s * like.itemsize for s in strides]).copy()


def typed(array, name):
    return array.view(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else array


def as_near(expected, found, truth):
    """Whether a result is as near to that of more bits as what is expected is: roundings differ, and add up over layers.

    Of thousands of elements in bf16, the sum of squares of either error is known to some percent, the largest to a half.
    """
    errors = [np.abs(x.astype(np.float64) - truth.astype(np.float64)) for x in (found, expected)]
    if not all(np.isfinite(e).all() for e in errors):
        return False
    (own, theirs), (most, their_most) = [[f(e) for e in errors] for f in (lambda e: np.sqrt((e**2).mean()), np.max)]
    return own <= 1.2 * theirs and most <= 1.5 * their_most


def difference(k, name, expected, found, truth=None):
    """What is wrong with a result, if anything is. `truth` is the result with more bits."""
    if name not in TOLERANCES and not name.startswith(("complex", "float8")):
        wrong = expected != found
    else:
        small, large = TOLERANCES.get(name, (2e-1, 3e-1) if name.startswith("float8") else (2e-4, 2e-3))
        wide = np.complex128 if name.startswith("complex") else np.float64
        e, f = expected.astype(wide), found.astype(wide)
        ends = np.isfinite(e)
        most = np.abs(e[ends]).max(initial=0)
        with np.errstate(invalid="ignore"):
            near = np.abs(e - f) <= small * most + large * np.abs(e)
        wrong = ~np.where(ends, near, (e == f) | (np.isnan(e) & np.isnan(f)))
    if not wrong.any() or (truth is not None and as_near(expected, found, truth)):
        return None
    at = tuple(int(n) for n in np.argwhere(wrong)[0])
    return f"result {k}, {name}{list(expected.shape)}: {wrong.sum()} of {wrong.size} differ; at {list(at)} {found[at]}, not {expected[at]}"


class Program:
    """A library with the three functions of `harness.alone` and `harness.beside`, and what `link.library` wrote of it."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        known = json.loads(pathlib.Path(f"{path}.json").read_text())
        self.ranks, self.exchanges = known["ranks"], known["exchanges"]
        self.functions = {name: getattr(self.library, f"call_{name}") for name in self.ranks}

    def call(self, name, arguments):
        """The descriptors of what a function gives for those of its arguments."""
        sizes = [3 + 2 * rank for rank in self.ranks[name][1]]
        out = (ctypes.c_int64 * sum(sizes))()
        pointers = [ctypes.addressof(d) for d in ([out] if sizes else []) + arguments]
        self.functions[name]((ctypes.c_void_p * len(pointers))(*pointers))
        ends = itertools.accumulate(sizes)
        return [(ctypes.c_int64 * n)(*out[end - n : end]) for n, end in zip(sizes, ends)]

    def pack(self, arrays):
        return self.call("pack", [descriptor(x) for x in arrays])

    def unpack(self, given, results):
        """The arrays of results like these, or what is wrong with them."""
        found = []
        plain = self.call("unpack", given)
        for words, like in zip(plain, results):
            try:
                found.append(read(list(words), like))
            except AssertionError as error:
                found.append(str(error))
        free(plain)
        return found


def free(descriptors):
    """Frees what a function gave."""
    for start in {d[0] for d in descriptors}:
        LIBC.free(ctypes.c_void_p(start))


def on_devices(program, arguments, results):
    """What each device gives, and the seconds of all."""
    count = len(arguments[0])
    devices = Devices(count, count)
    kept = devices.install(program.library, program.exchanges)
    found, seconds = [None] * count, [0.0] * count

    def run(number):
        devices.enter(number)
        own = [np.ascontiguousarray(x[number]).reshape(x.shape[1:]) for x in arguments]
        found[number], seconds[number] = called(program, own, [x[number] for x in results])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del kept
    wrong = next((x for own in found for x in own if isinstance(x, str)), None)
    return [wrong] * len(results) if wrong else [np.stack(all_of) for all_of in zip(*found)], sum(seconds)


def called(program, arguments, results):
    """What a call gives, and the seconds of this thread that it took."""
    packed = program.pack(arguments)
    start = time.thread_time()
    given = program.call("run", packed)
    seconds = time.thread_time() - start
    found = program.unpack(given, results)
    free(packed)
    free(given)
    return found, seconds


def loaded(path):
    """The arguments, results, types of all, and results with more bits of what make.py wrote."""
    arrays = np.load(path)
    types = [str(t) for t in arrays["types"]]
    count = sum(name.startswith("a") for name in arrays.files)
    # A rank of 0 is lost in `ascontiguousarray`.
    arguments = [np.ascontiguousarray(arrays[f"a{k}"]).reshape(arrays[f"a{k}"].shape) for k in range(count)]
    results = [arrays[f"r{k}"] for k in range(len(types) - count)]
    truths = [arrays[f"w{k}"] if f"w{k}" in arrays.files else None for k in range(len(results))]
    return arguments, results, types, truths


def differences(found, results, types, truths):
    """What is wrong with the results of a call. `types` are those of the results."""
    faults = []
    for k, (like, own, name, truth) in enumerate(zip(results, found, types, truths)):
        numbers = None if isinstance(own, str) else (typed(like, name), typed(own, name), truth)
        wrong = f"result {k}: {own}" if numbers is None else difference(k, name, *numbers)
        faults += [wrong] if wrong else []
    return faults


def main():
    path, arrays = sys.argv[1:]
    arguments, results, types, truths = loaded(arrays)
    program = Program(path)
    found, seconds = (on_devices if program.exchanges else called)(program, arguments, results)
    print(json.dumps({"seconds": seconds, "differences": differences(found, results, types[len(arguments) :], truths)}))


if __name__ == "__main__":
    main()
