"""The functions that imported exchanges between devices call, for devices that are threads of this process.

`source(names, ranks)` is C that a program is linked with: each function calls what `install` puts in its place, and
`call_pack`, `call_run` and `call_unpack` call the functions of `harness.alone` and `harness.beside` with an array of pointers, since ctypes
passes no more than 1024. In an exchange every device shows its operands, waits for all others, takes what it gets, and
waits again.
"""

import ctypes
import functools
import threading

import ml_dtypes
import numpy as np

TYPES = {"pred": np.bool_, "bf16": ml_dtypes.bfloat16} | {
    f"{kind}{8 * size}": np.dtype(f"{letter}{size}")
    for kind, letter, sizes in (("s", "i", (1, 2, 4, 8)), ("u", "u", (1, 2, 4, 8)), ("f", "f", (2, 4, 8)))
    for size in sizes
}
COMBINE = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def arity(name):
    return 0 if name.endswith("_id") else 9 if name.startswith("ragged") else 5


def source(names, ranks):
    lines = []
    for function, (taken, given) in ranks.items():
        pointers = ", ".join(f"a[{k}]" for k in range(taken + bool(given)))
        entry = f"_mlir_ciface_{function}"
        lines.append(f"void {entry}(); void call_{function}(void **a) {{ {entry}({pointers}); }}")
    for name in names:
        n = arity(name)
        types, values = ", ".join(f"long a{k}" for k in range(n)) or "void", ", ".join(f"a{k}" for k in range(n))
        lines.append(f"long (*to_{name})({types});\nlong _mlir_ciface_{name}({types}) {{ return to_{name}({values}); }}")
    return "\n".join(lines) + "\n"


def array(address, dtype):
    """The array of a pointer to `{rank, descriptor}`."""
    rank, words = (ctypes.c_int64 * 2).from_address(address)
    words = (ctypes.c_int64 * (3 + rank)).from_address(words)
    sizes = list(words[3:])
    count = int(np.prod(sizes, dtype=np.int64))
    buffer = (ctypes.c_char * max(count * np.dtype(dtype).itemsize, 1)).from_address(words[1] + words[2])
    return np.frombuffer(buffer, dtype, count).reshape(sizes)


class Devices:
    def __init__(self, count, partitions):
        self.count, self.partitions = count, partitions
        self.barrier = threading.Barrier(count)
        self.shown = [None] * count
        self.own = threading.local()

    def enter(self, number):
        self.own.number = number

    def install(self, library, names):
        """Puts functions behind the names; they are to be kept as long as the library is used."""
        kept = []
        for name in names:
            function = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_long] * arity(name))(self.function(name))
            ctypes.c_void_p.in_dll(library, f"to_{name}").value = ctypes.cast(function, ctypes.c_void_p).value
            kept.append(function)
        return kept

    def function(self, name):
        if name == "partition_id":
            return lambda: self.own.number % self.partitions
        if name == "replica_id":
            return lambda: self.own.number // self.partitions
        kind, dtype = name.rsplit("_", 1)
        dtype = TYPES[dtype]

        def called(operand, result, *more):
            *lists, dim, groups, _ = more
            try:
                self.shown[self.own.number] = [array(operand, dtype), *(array(x, np.int64) for x in lists)]
                self.barrier.wait()
                groups = [[int(d) for d in row if d >= 0] for row in array(groups, np.int64)]
                out = array(result, dtype)
                self.take(kind, out, dim, groups)
                self.barrier.wait()
            except BaseException:
                self.barrier.abort()
                raise
            return 0

        return called

    def take(self, kind, out, dim, groups):
        me = self.own.number
        if kind == "collective_permute":
            out[...] = next((self.shown[source][0] for source, target in groups if target == me), 0)
            return
        group = next((group for group in groups if me in group), None)
        if kind == "collective_broadcast":
            out[...] = 0 if group is None else self.shown[group[0]][0]
            return
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
