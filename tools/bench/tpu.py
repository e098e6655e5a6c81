"""XLA's TPU compiler, ahead of time and without a TPU, as a judge of layouts.

    layout-inspect plan FILE --machine tpu_v5e --judge "tools/bench.sh tpu-judge SET NAME"

For each line it compiles the program of a set, of `fresh` that of a seed: with the orders of arguments and results in
`{"entry":{"in":[..],"out":[..]}}`, with its default ones if there is `"question":"default"` beside these, and with those that
it chooses for `{"question":"auto"}`; for `inner` the values inside have the orders of `values`, too. It answers
`{"cost":n,"entry":{..},"copies":[..]}`: the sum of the cycles that the compiler estimates, the body of a loop counted once, the
orders that the compiled program has, and the arguments that it only copies and the results that are copies, such as
`{"in":0,"from":"{1,0}","to":"{0,1}"}`.
"""

import argparse
import contextlib
import functools
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TypeAlias, TypeVar

from bench.programs import SETS, Program, lowered, programs_of
from bench.run import Failed, Unfinished, complaint

TARGET = "v5e:2x2"
PACKAGES = "jax[tpu]==0.10.2"
# What libtpu asks a machine with a TPU for, and that it may be loaded where another process has it.
ALONE = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_MIN_LOG_LEVEL": "3",
    "TPU_STDERR_LOG_LEVEL": "3",
}

Answer = TypeVar("Answer")
Order: TypeAlias = str | None
# The orders of `in` and of `out`, or one that holds for each array: `"{1,0}"`, `"AUTO"` for the compiler's choice, or none
# for its default.
Entry: TypeAlias = dict[str, Any]
AUTO: Entry = {"in": "AUTO", "out": "AUTO"}
DEFAULT: Entry = {"in": None, "out": None}


@dataclass
class Boundary:
    """An argument or a result of a compiled program: its sizes, its order from minor to major, its tiles, and the order of
    the only copy of an argument, or of what a result is a copy of."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    tiles: str
    copy: tuple[int, ...] | None = None

    def memory(self) -> tuple[tuple[int, ...], str]:
        """What layouts that are one in memory share: dimensions of size 1 have a place in tiles alone."""
        return tuple(dim for dim in self.order if self.sizes[dim] != 1), self.tiles


@dataclass(frozen=True)
class Compiled:
    """The cycles that the compiler estimates, the arguments and results, and the kinds of instructions that move data and have
    no estimate."""

    cycles: int
    arguments: list[Boundary]
    results: list[Boundary]
    uncounted: list[str]

    def entry(self) -> list[tuple[tuple[int, ...], str]]:
        """The layouts of arguments and results, to compare with another's."""
        return [array.memory() for array in (*self.arguments, *self.results)]

    def report(self) -> dict[str, Any]:
        """The answer of a judge."""
        sides = {"in": self.arguments, "out": self.results}
        entry = {side: [order_text(each.order) for each in arrays] for side, arrays in sides.items()}
        copies = []
        for side, arrays in sides.items():
            for k, each in enumerate(arrays):
                if each.copy is not None:
                    ends = (each.order, each.copy) if side == "in" else (each.copy, each.order)
                    copies.append({side: k, "from": order_text(ends[0]), "to": order_text(ends[1])})
        return {"cost": self.cycles, "entry": entry, "copies": copies}


def read(text: str) -> Compiled:
    """What a compiled text says of cycles and of the entry."""
    main = text[text.index("\nENTRY") :]
    found = re.search(r"entry_computation_layout=\{\((.*)\)->(.*?)\}(?:, [a-z_]+=|\n)", text)
    assert found, "XLA says the layouts of the entry"
    arguments, results = map(boundary, found.groups())
    made = re.findall(r"^ *(ROOT )?(%[\w.-]+) = (\(.*?\)|\S+) ([\w-]+)\((.*)$", main, re.MULTILINE)
    types = {name: type for _, name, type, _, _ in made}
    reads = {name: (kind, re.findall(r"%[\w.-]+", rest.split("), ")[0])) for _, name, _, kind, rest in made}
    for _, name, _, kind, rest in made:
        if kind == "parameter":
            users = [(user, own) for user, (own, operands) in reads.items() if name in operands]
            if [own for _, own in users] == ["copy"]:
                [arguments[int(rest.split(")")[0])].copy] = orders(types[users[0][0]])
    uncounted = {kind for _, name, type, kind, rest in made if "estimated_cycles" not in rest and moves(kind, type, rest, types)}
    root = next(name for first, name, *_ in made if first)
    for result, name in zip(results, reads[root][1] if reads[root][0] == "tuple" else [root] * len(results), strict=True):
        if reads[name][0] == "copy":
            [result.copy] = orders(types[reads[name][1][0]])
    cycles = sum(map(int, re.findall(r'"estimated_cycles":"(\d+)"', text)))
    return Compiled(cycles, arguments, results, sorted(uncounted))


# What costs nothing, or runs beside kernels.
UNMOVED = {"parameter", "bitcast", "tuple", "get-tuple-element", "constant", "iota", "broadcast"}


def moves(kind: str, type: str, rest: str, types: dict[str, str]) -> bool:
    """Whether an instruction moves data: one of these, or a copy within one layout, does not."""
    if kind == "copy":
        operand = types.get(re.findall(r"%[\w.-]+", rest)[0], "")
        return re.sub(r"S\(\d+\)", "", operand) != re.sub(r"S\(\d+\)", "", type)
    return kind not in UNMOVED and not kind.endswith(("-start", "-done"))


def boundary(shapes: str) -> list[Boundary]:
    """The arrays of one side of a type such as `f32[8,128]{1,0:T(8,128)}`."""
    found = re.findall(r"\w+\[([\d,]*)\](?:\{([\d,]*):?([^}]*)\})?", shapes)
    return [Boundary(whole(sizes), whole(order), tiles) for sizes, order, tiles in found]


def orders(shapes: str) -> list[tuple[int, ...]]:
    """The orders of the arrays of a type."""
    return [each.order for each in boundary(shapes)]


def order_text(order: Sequence[int]) -> str:
    return f"{{{','.join(map(str, order))}}}"


def whole(text: str) -> tuple[int, ...]:
    """The numbers of a list such as `1,0`."""
    return tuple(int(number) for number in text.split(",") if number)


def order_format(order: Order, rank: int, place: Any) -> Any:
    """What JAX takes for an order."""
    from jax.experimental.layout import Format, Layout

    if order is None or order == "AUTO":
        return Format(Layout.AUTO if order else None, place)
    dims = whole(order.strip("{}").split(":")[0])
    if sorted(dims) != list(range(rank)):
        raise Failed(f"{order} is no order of {rank} dimensions")
    return Format(Layout(tuple(reversed(dims))), place)


def formats(orders: Any, arrays: Any, place: Any) -> Any:
    """The formats of arguments or of results, in a tree as these are."""
    import jax

    leaves, tree = jax.tree.flatten(arrays)
    each = orders if isinstance(orders, list) else [orders] * len(leaves)
    if len(each) != len(leaves):
        raise Failed(f"{len(each)} orders for {len(leaves)} arrays")
    return tree.unflatten(order_format(order, len(leaf.shape), place) for order, leaf in zip(each, leaves, strict=True))


@functools.lru_cache(maxsize=1)
def program_of(collection: str, name: str) -> Program:
    return programs_of(collection, [name])[name]


def text_of(collection: str, name: str) -> tuple[str, Sequence[str]]:
    """A program as JAX hands it over, and its kinds of operations."""
    program = program_of(collection, name)
    return lowered(program, program.numbers(7)).compiler_ir("hlo").as_hlo_text(), program.kinds


@functools.cache
def device() -> Any:
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    return SingleDeviceSharding(topologies.get_topology_desc(topology_name=TARGET, platform="tpu").devices[0])


def compiled(collection: str, name: str, entry: Entry, values: dict[str, list[str]] | None = None) -> Compiled:
    """A program, compiled with orders of arguments and results, and perhaps with those of the values inside."""
    import jax

    from bench import inner

    program = program_of(collection, name)
    arguments, function = tuple(program.numbers(7)), program.function
    if values is not None:
        text = jax.jit(inner.laid_out(function, {}), **program.options).lower(*arguments).as_text("hlo", debug_info=True)
        function = inner.laid_out(function, inner.orders_of(text, values))
    given = formats(entry["in"], arguments, device())
    taken = formats(entry["out"], jax.eval_shape(function, *arguments), device())
    jitted = jax.jit(function, in_shardings=given, out_shardings=taken, **program.options)
    return read(jitted.lower(*arguments).compile().as_text())


def asked_of(question: dict[str, Any]) -> tuple[Any, ...]:
    """The orders that a question of a judge is about: of arguments and results, and of values."""
    match question.get("question"):
        case "auto":
            return (AUTO,)
        case "default":
            return (DEFAULT,)
        case "inner":
            return question["entry"], question["values"]
    return (question["entry"],)


def serve(line: Connection) -> None:
    """Answers questions in a process until the other end is closed: a function of this module, and its arguments."""
    os.environ |= ALONE
    with contextlib.suppress(EOFError):
        while True:
            function, *arguments = line.recv()
            try:
                answer = function(*arguments)
            except Failed as error:
                answer = error
            except Exception as error:
                answer = Failed(complaint(f"{type(error).__name__}: {error}"))
            line.send(answer)


class Compiler:
    """The compiler in a process of its own, which is ended where a compilation takes longer than so many seconds."""

    def __init__(self, seconds: float) -> None:
        if not all(importlib.util.find_spec(name) for name in ("jax", "libtpu")):
            raise Failed(f"XLA's TPU compiler is missing: pip install '{PACKAGES}', and PYTHON=.. for the Python that has it")
        self.seconds = seconds
        self.version = importlib.metadata.version("libtpu")
        self.process: Any = None

    def close(self) -> None:
        """Ends the process, which has nothing to leave in order."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def asked(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """The answer of a function of this module in that process."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.line, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        self.line.send((function, *arguments))
        late = Unfinished(f"more than {self.seconds:g} s")
        try:
            answer: Answer | Failed = self.line.recv() if self.line.poll(self.seconds) else late
        except EOFError:
            answer = Unfinished("the compiler's process ended")
        if isinstance(answer, Unfinished):
            self.close()
        if isinstance(answer, Failed):
            raise answer
        return answer


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--capped", metavar="SECONDS", type=float, default=60, help="the most that a compilation may take")
    parser.add_argument("set", choices=SETS)
    parser.add_argument("name", metavar="NAME", help="a program, or a seed of fresh")


def main(options: argparse.Namespace) -> None:
    with contextlib.closing(Compiler(options.capped)) as compiler:
        for line in sys.stdin:
            try:
                answer = compiler.asked(compiled, options.set, options.name, *asked_of(json.loads(line))).report()
            except Failed as error:
                answer = {"error": str(error)}
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                answer = {"error": f"the line is no question: {error}"}
            print(json.dumps(answer), flush=True)
