"""The functions that imported exchanges between devices call, for devices that are threads of this process.

`library.source` makes each of them call what `install` puts in its place. In an exchange every device shows its operands,
waits for all others, takes what it gets, and waits again.
"""

import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench import library
from bench.calls import TYPES, Array, elements

COMBINE = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def array(address: int, dtype: Any) -> Array:
    """The array of a pointer to `{rank, descriptor}`."""
    rank, at = (ctypes.c_int64 * 2).from_address(address)
    _, aligned, offset, *sizes = (ctypes.c_int64 * (3 + rank)).from_address(at)
    return elements(aligned + offset, int(np.prod(sizes, dtype=np.int64)), dtype).reshape(sizes)


class Devices:
    def __init__(self, count: int, partitions: int) -> None:
        self.count, self.partitions = count, partitions
        self.barrier = threading.Barrier(count)
        self.shown: list[list[Array]] = [[]] * count
        self.own = threading.local()

    def enter(self, number: int) -> None:
        self.own.number = number

    def install(self, loaded: ctypes.CDLL, names: Sequence[str]) -> list[Any]:
        """Puts functions behind the names; they are to be kept as long as the library is used."""
        kept = []
        for name in names:
            function = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * library.arity(name))(self.function(name))
            ctypes.c_void_p.in_dll(loaded, f"to_{name}").value = ctypes.cast(function, ctypes.c_void_p).value
            kept.append(function)
        return kept

    def function(self, name: str) -> Callable[..., int]:
        if name == "partition_id":
            return lambda: int(self.own.number % self.partitions)
        if name == "replica_id":
            return lambda: int(self.own.number // self.partitions)
        kind, type = name.rsplit("_", 1)
        dtype = TYPES[type]

        def called(operand: int, result: int, *more: int) -> int:
            *lists, dim, groups, _ = more
            try:
                self.shown[self.own.number] = [array(operand, dtype), *(array(x, np.int64) for x in lists)]
                self.barrier.wait()
                members = [[int(d) for d in row if d >= 0] for row in array(groups, np.int64)]
                self.take(kind, array(result, dtype), dim, members)
                self.barrier.wait()
            except BaseException:
                self.barrier.abort()
                raise
            return 0

        return called

    def take(self, kind: str, out: Array, dim: int, groups: list[list[int]]) -> None:
        me = self.own.number
        if kind == "collective_permute":
            out[...] = next((self.shown[source][0] for source, target in groups if target == me), 0)
            return
        group = next((group for group in groups if me in group), None)
        if kind == "collective_broadcast":
            out[...] = 0 if group is None else self.shown[group[0]][0]
            return
        assert group is not None
        place, all_shown = group.index(me), [self.shown[d] for d in group]
        operands = [shown[0] for shown in all_shown]
        if kind == "all_gather":
            out[...] = np.concatenate(operands, dim)
        elif kind == "all_to_all":
            out[...] = np.concatenate([np.split(x, len(group), dim)[place] for x in operands], dim)
        elif kind.startswith("all_reduce_"):
            out[...] = functools.reduce(COMBINE[kind.removeprefix("all_reduce_")], operands)
        elif kind.startswith("reduce_scatter_"):
            whole = functools.reduce(COMBINE[kind.removeprefix("reduce_scatter_")], operands)
            out[...] = np.split(whole, len(group), dim)[place]
        elif kind == "ragged_all_to_all":
            for data, starts, counts, targets, _ in all_shown:
                each = len(starts) // len(group)
                for k in range(place * each, (place + 1) * each):
                    out[targets[k] : targets[k] + counts[k]] = data[starts[k] : starts[k] + counts[k]]
        else:
            raise ValueError(kind)
