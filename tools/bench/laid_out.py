"""Compiles a program of HLO with layouts of its arguments, results and values, and times it.

    program = LaidOut(text, {"in": ["{0,1}"], "out": ["{1,0}"]})
    with timed(program, PLANNED) as library:
        library.seconds(0.1), library.results()

The text gets the layouts: arguments by their instructions, results by a `copy` where they are made in another one. Its own
go, so that what is not given is row-major, unless it has bitcasts, which say with layouts what they do. Arguments are small
random numbers, the same for each compilation. Seconds are of the processor, for a call and for freeing its results; memory
is that of earlier calls.
"""

import contextlib
import ctypes
import pathlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bench import library
from bench.calls import TYPES, Array, Program, free
from bench.library import FLAGS, OPTIONS, REPEAT, How
from bench.run import Failed

# The pass chooses what the text leaves open, and converts where layouts meet.
PLANNED = "plan machine=cpu entry=fixed"

INSTRUCTION = re.compile(r"^(\s*(?:ROOT )?%?([\w.-]+) = )(\(.*?\)|\w+\[[\d,]*\](?:\{[^}]*\})?)( [\w-]+\(.*)$")
ARRAY = re.compile(r"(\w+)\[([\d,]*)\](?:\{([^}]*)\})?")

# The layouts of arguments and of results, or those of values by name.
Entry = Mapping[str, Sequence[str]]


def order(layout: str) -> list[int]:
    """The minor-to-major order of `{1,0}`, whose tiles and memory space are not looked at."""
    return [int(n) for n in layout.strip("{}").split(":")[0].split(",") if n]


class Type:
    """An array's type: of elements, sizes, and the order of its dimensions in memory."""

    def __init__(self, text: str) -> None:
        found = ARRAY.match(text)
        self.element, sizes, layout = found.groups() if found else (text, "", "")
        if self.element not in TYPES:
            raise Failed(f"an argument or result is of type {self.element}, which NumPy has not")
        self.sizes = [int(n) for n in sizes.split(",") if n]
        self.order = order(layout) if layout else list(range(len(self.sizes)))[::-1]

    def __str__(self) -> str:
        layout = f"{{{','.join(map(str, self.order))}}}" if self.sizes else ""
        return f"{self.element}[{','.join(map(str, self.sizes))}]{layout}"

    def laid_out(self, layout: str | None) -> "Type":
        """The same in the order of a layout."""
        other = Type(str(self))
        other.order = order(layout) if layout else self.order
        if sorted(other.order) != list(range(len(self.sizes))):
            raise Failed(f"{layout} is no layout of {self}")
        return other

    def empty(self) -> Array:
        return np.empty(self.sizes, TYPES[self.element])

    def random(self, rng: np.random.Generator) -> Array:
        """Small numbers: integers that index most arrays, floats around 0."""
        dtype = TYPES[self.element]
        if dtype.kind in "biu":
            return np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 8, self.sizes), dtype)
        return np.asarray(rng.standard_normal(self.sizes) * 0.5, dtype)


class LaidOut:
    """A text with layouts, and the types of the arguments and results of its entry."""

    def __init__(self, text: str, entry: Entry | None = None, values: Entry | None = None) -> None:
        entry, values = entry or {}, values or {}
        keeps = " bitcast(" in text
        # The layouts of the instructions are those of the entry.
        text = re.sub(r", entry_computation_layout=\{.*?\}(?=, [a-z_]+=|\n)", "", text, count=1)
        lines, inside, root = [], False, ("", "")
        arguments: dict[int, Type] = {}
        found: dict[str, str] = {}
        for line in text.splitlines():
            inside = (inside or line.startswith("ENTRY")) and line != "}"
            instruction = INSTRUCTION.match(line)
            if instruction:
                head, name, shape, rest = instruction.groups()
                if not keeps:
                    shape = re.sub(r"\{[^}]*\}", "", shape)
                if name in values and not shape.startswith("(") and not rest.startswith((" bitcast(", " parameter(")):
                    shape = str(Type(shape).laid_out(values[name][0]))
                parameter = re.match(r" parameter\((\d+)\)", rest)
                if inside and parameter:
                    if shape.startswith("("):
                        raise Failed("an argument is a tuple")
                    number = int(parameter[1])
                    arguments[number] = Type(shape).laid_out(nth(entry.get("in"), number))
                    shape = str(arguments[number])
                if inside:
                    found[name] = shape
                    root = (name, rest) if "ROOT " in head else root
                line = head + shape + rest
            elif inside and not root[0] and "ROOT " in line:
                raise Failed(f"the root has a type that is not read: {line.strip()[:80]}")
            lines.append(line)
        self.arguments = [arguments[k] for k in sorted(arguments)]
        made = [root[0]]
        if root[1].startswith(" tuple("):
            operands = root[1][7 : root[1].index(")")].split(",")
            made = [operand.split()[-1].lstrip("%") for operand in operands]
        self.results = [Type(found[name]).laid_out(nth(entry.get("out"), k)) for k, name in enumerate(made)]
        self.text = "\n".join(self.with_results(lines, root[0], made, found)) + "\n"

    def with_results(self, lines: list[str], root: str, made: list[str], found: dict[str, str]) -> list[str]:
        """The lines, with a copy of each result that is made in another layout."""
        at = next(k for k, line in enumerate(lines) if (m := INSTRUCTION.match(line)) and m[2] == root and "ROOT " in m[1])
        end = lines.index("}", at)
        copies = [f"  out.{k} = {type} copy({name})" for k, (name, type) in enumerate(zip(made, self.results, strict=True))]
        changed = [str(Type(found[name])) != str(type) for name, type in zip(made, self.results, strict=True)]
        if not any(changed):
            return lines
        if made == [root]:
            plain = lines[at].replace("ROOT ", "", 1)
            return [*lines[:at], plain, *lines[at + 1 : end], copies[0].replace("out.0", "ROOT out.0"), *lines[end:]]
        names = [f"out.{k}" if other else name for k, (name, other) in enumerate(zip(made, changed, strict=True))]
        last = f"  ROOT {root} = ({', '.join(map(str, self.results))}) tuple({', '.join(names)})"
        kept = [copy for copy, other in zip(copies, changed, strict=True) if other]
        return [*lines[:at], *lines[at + 1 : end], *kept, last, *lines[end:]]


def nth(layouts: Sequence[str] | None, k: int) -> str | None:
    return layouts[k] if layouts and k < len(layouts) else None


class Timed:
    """A program that can be called, with its arguments."""

    def __init__(self, program: LaidOut, path: pathlib.Path, code: str) -> None:
        self.likes, self.program = [type.empty() for type in program.results], Program(path)
        # Without where it is from.
        self.code = re.sub(r"^(source_filename|; ModuleID).*\n", "", code, flags=re.MULTILINE)
        rng = np.random.default_rng(0)
        self.arguments = [type.random(rng) for type in program.arguments]
        self.packed = self.program.pack(self.arguments)
        self.out, self.pointers = self.program.pointers("run", self.packed)
        places = np.cumsum([0, *(3 + 2 * rank for rank in self.program.ranks["run"])])[:-1]
        self.places = (ctypes.c_long * len(places))(*map(int, places))
        self.program.library.repeat.restype = ctypes.c_double

    def call(self, times: int) -> float:
        """The seconds of so many calls."""
        count = ctypes.c_long(len(self.places))
        taken = self.program.library.repeat(self.pointers, self.out, self.places, count, ctypes.c_long(times))
        self.program.library.release(self.out, self.places, count)
        return float(taken)

    def seconds(self, most: float) -> float:
        """The seconds of a call, of as many as fit in so many seconds, at least one."""
        times = 1
        while True:
            taken = self.call(times)
            if taken > most / 2 or times >= 1 << 20:
                return taken / times
            times *= 2

    def results(self) -> list[Array]:
        """What a call gives."""
        given = self.program.call("run", self.packed)
        found = self.program.unpack(given, self.likes)
        free(given)
        wrong = next((array for array in found if isinstance(array, str)), None)
        if wrong:
            raise Failed(f"a result has {wrong}")
        return [array for array in found if not isinstance(array, str)]


@contextlib.contextmanager
def timed(program: LaidOut, plan: str = "") -> Iterator[Timed]:
    """A program as a library; `plan` are the options of `--layout-to-llvm` for it."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        hlo, mlir = work / "program.hlo", work / "program.imported.mlir"
        hlo.write_text(program.text)
        library.imported(hlo, mlir)
        how = How([f"--layout-to-llvm={plan} {OPTIONS}"], FLAGS, [REPEAT])
        path, code = library.library("program.hlo", mlir.read_text(), work, how)
        yield Timed(program, path, code.llvm.read_text())
