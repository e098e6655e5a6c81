"""Calls a lowered program and compares what it gives with XLA: execute.py LIBRARY ARRAYS [FUNCTION...].

The library has `call`, which takes pointers to the result and to the arguments row-major and gives the results so.
With functions that exchange between devices, the arrays are those of all devices, of which each is a thread. Prints one
line of JSON: the seconds of the processor, of all threads, that a call took and, where numbers differ, what differs.
"""

import ctypes
import json
import sys
import threading
import time

import ml_dtypes
import numpy as np
from devices import Devices

# How far a result may be from XLA's: the part of the largest element, and of the element. Sums are in another order.
TOLERANCES = {"float64": (1e-9, 1e-8), "float32": (2e-4, 2e-3), "bfloat16": (2e-2, 4e-2), "float16": (5e-3, 1e-2)}


def descriptor(array):
    """The words of a memref: two pointers, an offset, sizes and strides."""
    start = array.ctypes.data
    strides = [s // array.itemsize for s in array.strides]
    return (ctypes.c_int64 * (3 + 2 * array.ndim))(start, start, 0, *array.shape, *strides)


def given(words, like):
    """The array that a returned descriptor is of."""
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


def called(call, arguments, results):
    """What a call gives, for results of the sizes of these, or what is wrong with them."""
    words = [3 + 2 * r.ndim for r in results]
    out = (ctypes.c_int64 * sum(words))()
    descriptors = [descriptor(x) for x in arguments]
    pointers = [ctypes.addressof(d) for d in (out, *descriptors)]
    call((ctypes.c_void_p * len(pointers))(*pointers))
    found, at = [], 0
    for like, n in zip(results, words):
        try:
            found.append(given(list(out[at : at + n]), like))
        except AssertionError as error:
            found.append(str(error))
        at += n
    return found


def on_devices(library, names, arguments, results):
    """What each device gives."""
    count = len(arguments[0])
    devices = Devices(count, count)
    kept = devices.install(library, names)
    found = [None] * count

    def run(number):
        devices.enter(number)
        own = [np.ascontiguousarray(x[number]).reshape(x.shape[1:]) for x in arguments]
        found[number] = called(library.call, own, [x[number] for x in results])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    del kept
    wrong = next((x for own in found for x in own if isinstance(x, str)), None)
    return [wrong] * len(results) if wrong else [np.stack(all_of) for all_of in zip(*found)]


def main():
    path, arrays, *names = sys.argv[1:]
    arrays = np.load(arrays)
    types = [str(t) for t in arrays["types"]]
    count = sum(name.startswith("a") for name in arrays.files)
    # A rank of 0 is lost in `ascontiguousarray`.
    arguments = [np.ascontiguousarray(arrays[f"a{k}"]).reshape(arrays[f"a{k}"].shape) for k in range(count)]
    results = [arrays[f"r{k}"] for k in range(len(types) - count)]
    library = ctypes.CDLL(path)
    start = time.process_time()
    if names:
        found = on_devices(library, names, arguments, results)
    else:
        found = called(library.call, arguments, results)
    report = {"seconds": time.process_time() - start, "differences": []}
    for k, (like, own, name) in enumerate(zip(results, found, types[count:])):
        truth = arrays[f"w{k}"] if f"w{k}" in arrays.files else None
        numbers = None if isinstance(own, str) else (typed(like, name), typed(own, name), truth)
        wrong = f"result {k}: {own}" if numbers is None else difference(k, name, *numbers)
        report["differences"] += [wrong] if wrong else []
    print(json.dumps(report))


if __name__ == "__main__":
    main()
