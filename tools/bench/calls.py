"""Calls functions of libraries that `library` made, with arrays of NumPy."""

import ctypes
import itertools
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from bench import near
from bench.run import Failed

Array = npt.NDArray[Any]
Words = Any  # A ctypes array of 64-bit integers: two pointers, an offset, sizes and strides.

LIBC = ctypes.CDLL(None)
LINE = 64

# NumPy's types by their names in HLO.
TYPES: dict[str, np.dtype[Any]] = {"pred": np.dtype(np.bool_), "bf16": np.dtype(ml_dtypes.bfloat16)} | {
    f"{kind}{8 * size}": np.dtype(f"{letter}{size}")
    for kind, letter, sizes in (("s", "i", (1, 2, 4, 8)), ("u", "u", (1, 2, 4, 8)), ("f", "f", (2, 4, 8)))
    for size in sizes
}


def descriptor(array: Array, sizes: Sequence[int] | None = None, strides: Sequence[int] | None = None) -> Words:
    """The descriptor of a memref; sizes, and strides in elements, are those of the array if none are given."""
    start = array.ctypes.data
    sizes = array.shape if sizes is None else sizes
    strides = [s // array.itemsize for s in array.strides] if strides is None else strides
    return (ctypes.c_int64 * (3 + len(sizes) + len(strides)))(start, start, 0, *sizes, *strides)


def aligned(array: Array) -> Array:
    """A row-major copy of an array that begins at a line of the cache, as what XLA and lowered programs allocate does."""
    room = np.empty(array.nbytes + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    copy = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def elements(address: int, count: int, dtype: Any) -> Array:
    """So many elements at an address."""
    buffer = (ctypes.c_char * max(count * np.dtype(dtype).itemsize, 1)).from_address(address)
    return np.frombuffer(memoryview(buffer), dtype, count)


def read(words: Sequence[int], like: Array) -> Array:
    """The array of a descriptor, of the sizes and the type of another."""
    rank = like.ndim
    _, aligned, offset = words[:3]
    sizes, strides = words[3 : 3 + rank], words[3 + rank : 3 + 2 * rank]
    if tuple(sizes) != like.shape:
        raise Failed(f"sizes {list(sizes)}, not {list(like.shape)}")
    if like.size == 0:
        return np.zeros_like(like)
    span = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    flat = elements(aligned + offset * like.itemsize, span, like.dtype)
    return np.lib.stride_tricks.as_strided(flat, sizes, [s * like.itemsize for s in strides]).copy()


def free(descriptors: Sequence[Words]) -> None:
    """Frees what a function gave."""
    for start in {words[0] for words in descriptors}:
        LIBC.free(ctypes.c_void_p(start))


class Program:
    """A library with the three functions of `entry.alone` and `entry.beside`, and what `library` wrote of it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.library = ctypes.CDLL(str(path))
        known = json.loads(pathlib.Path(f"{path}.json").read_text())
        self.ranks: dict[str, list[int]] = known["ranks"]
        self.exchanges: list[str] = known["exchanges"]
        self.functions = {name: getattr(self.library, f"call_{name}") for name in self.ranks}

    def pointers(self, name: str, arguments: Sequence[Words]) -> tuple[Any, Any]:
        """Room for the descriptors of what a function gives, and the pointers that it takes."""
        sizes = [3 + 2 * rank for rank in self.ranks[name]]
        out = (ctypes.c_int64 * sum(sizes))()
        addresses = [ctypes.addressof(words) for words in [*([out] if sizes else []), *arguments]]
        return out, (ctypes.c_void_p * len(addresses))(*addresses)

    def given(self, name: str, out: Words) -> list[Words]:
        """The descriptors of what a function gave."""
        sizes = [3 + 2 * rank for rank in self.ranks[name]]
        ends = itertools.accumulate(sizes)
        return [(ctypes.c_int64 * n)(*out[end - n : end]) for n, end in zip(sizes, ends, strict=True)]

    def call(self, name: str, arguments: Sequence[Words]) -> list[Words]:
        """The descriptors of what a function gives for those of its arguments."""
        out, pointers = self.pointers(name, arguments)
        self.functions[name](pointers)
        return self.given(name, out)

    def pack(self, arrays: Sequence[Array]) -> list[Words]:
        """The arguments of the program, of row-major arrays."""
        return self.call("pack", [descriptor(array) for array in arrays])

    def unpack(self, given: Sequence[Words], results: Sequence[Array]) -> list[Array | str]:
        """The row-major arrays of results like these, or what is wrong with them."""
        found: list[Array | str] = []
        plain = self.call("unpack", given)
        for words, like in zip(plain, results, strict=True):
            try:
                found.append(read(list(words), like))
            except Failed as error:
                found.append(str(error))
        free(plain)
        return found


class Numbers:
    """The arguments of a program, and XLA's results, of a file that `xla.save` wrote."""

    def __init__(self, path: pathlib.Path) -> None:
        arrays = np.load(path)
        types = [str(t) for t in arrays["types"]]
        count = sum(name.startswith("a") for name in arrays.files)
        self.arguments = [aligned(arrays[f"a{k}"]) for k in range(count)]
        self.argument_types, self.result_types = types[:count], types[count:]
        self.results = [arrays[f"r{k}"] for k in range(len(self.result_types))]
        # Results with more bits, where there are some.
        self.truths = [arrays[f"w{k}"] if f"w{k}" in arrays.files else None for k in range(len(self.results))]

    def bytes(self) -> int:
        return sum(array.nbytes for array in (*self.arguments, *self.results))

    def differences(self, found: Sequence[Array | str]) -> list[str]:
        """What is wrong with the results of a call."""
        faults = []
        for k, (like, array, name, truth) in enumerate(zip(self.results, found, self.result_types, self.truths, strict=True)):
            if isinstance(array, str):
                wrong: str | None = array
            else:
                wrong = near.difference(name, typed(like, name), typed(array, name), truth)
            faults += [f"result {k}: {wrong}"] if wrong else []
        return faults


def typed(array: Array, name: str) -> Array:
    """An array that is stored as its bits in the type of a name."""
    return array.view(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else array
