"""Compiles a program of HLO with layouts of its arguments, results and values, and times it.

    program = Program(text, {"in": ["{0,1}"], "out": ["{1,0}"]})
    with compiled(program, PLANNED) as library:
        library.seconds(0.1), library.results()

The text gets the layouts: arguments by their instructions, results by a `copy` where they are made in another one. Its own
go, so that what is not given is row-major, unless it has bitcasts, which say with layouts what they do. It is imported by
`layout-translate`, lowered by `layout-opt --layout-to-llvm` and compiled by clang for the processor that it runs on.
Arguments are small random numbers, the same for each compilation. Seconds are of the processor, for a call and for
freeing its results; memory is that of earlier calls.

In the environment: LLVM, its prefix; LAYOUT_TOOLS, the folder of the programs; KERNEL_OPTIONS, the options of
`--layout-to-llvm` beside those of the plan; KERNEL_FLAGS, clang's; PROGRAM_SECONDS, the most that a step may take.
"""

import contextlib
import ctypes
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

LLVM = pathlib.Path(os.environ.get("LLVM", "/usr/lib/llvm-22"))
TOOLS = pathlib.Path(os.environ.get("LAYOUT_TOOLS", pathlib.Path(__file__).parents[2] / "target/release"))
FLAGS = os.environ.get("KERNEL_FLAGS", "-O3 -march=native -fveclib=libmvec").split()
NUMPY = {"pred": np.bool_, "bf16": np.uint16} | {
    f"{kind}{8 * size}": np.dtype(f"{letter}{size}")
    for kind, letter, sizes in (("s", "i", (1, 2, 4, 8)), ("u", "u", (1, 2, 4, 8)), ("f", "f", (2, 4, 8)))
    for size in sizes
}
SECONDS = float(os.environ.get("PROGRAM_SECONDS", 120))

# The pass chooses what the text leaves open, and converts where layouts meet.
PLANNED = "plan machine=cpu entry=fixed"

INSTRUCTION = re.compile(r"^(\s*(?:ROOT )?%?([\w.-]+) = )(\(.*?\)|\w+\[[\d,]*\](?:\{[^}]*\})?)( [\w-]+\(.*)$")
ARRAY = re.compile(r"(\w+)\[([\d,]*)\](?:\{([^}]*)\})?")


class Failed(Exception):
    """A program that cannot be compiled or run, and why."""


def vector_options():
    """The widest vectors of this processor, as an option of lowering, and freedom to sum in any order."""
    known = pathlib.Path("/proc/cpuinfo")
    flags = known.read_text() if known.exists() else ""
    vectorize = "vectorize=avx512 " if "avx512f" in flags else "vectorize=avx2 " if "avx2" in flags else ""
    return vectorize + "reassociate contract"


OPTIONS = os.environ.get("KERNEL_OPTIONS", vector_options())


def order(layout):
    """The minor-to-major order of `{1,0}`."""
    return [int(n) for n in re.match(r"\{?([\d,]*)", layout)[1].split(",") if n]


class Array:
    """An array's type: of elements, sizes, and the order of its dimensions in memory."""

    def __init__(self, text):
        self.type, sizes, layout = ARRAY.match(text).groups()
        self.sizes = [int(n) for n in sizes.split(",") if n]
        self.order = order(layout) if layout else list(range(len(self.sizes)))[::-1]
        if self.type not in NUMPY:
            raise Failed(f"an argument or result is of type {self.type}, which NumPy has not")

    def __str__(self):
        layout = f"{{{','.join(map(str, self.order))}}}" if self.sizes else ""
        return f"{self.type}[{','.join(map(str, self.sizes))}]{layout}"

    def laid_out(self, layout):
        """The same in the order of a layout, whose memory space is not looked at."""
        other = Array(str(self))
        other.order = order(layout) if layout else self.order
        if sorted(other.order) != list(range(len(self.sizes))):
            raise Failed(f"{layout} is no layout of {self}")
        return other

    def put(self, values):
        """An array of NumPy with these values, whose strides are those of the layout."""
        major = self.order[::-1]
        return values.transpose(major).copy(order="C").transpose(np.argsort(major))


class Program:
    """A text with layouts, and the types of the arguments and results of its entry."""

    def __init__(self, text, entry=None, values=None):
        entry, values = entry or {}, values or {}
        keeps = " bitcast(" in text
        # The layouts of the instructions are those of the entry.
        text = re.sub(r", entry_computation_layout=\{.*?\}(?=, [a-z_]+=|\n)", "", text, count=1)
        lines, inside = [], False
        self.arguments, found, root = {}, {}, None
        for line in text.splitlines():
            inside = (inside or line.startswith("ENTRY")) and line != "}"
            instruction = INSTRUCTION.match(line)
            if instruction:
                head, name, shape, rest = instruction.groups()
                if not keeps:
                    shape = re.sub(r"\{[^}]*\}", "", shape)
                if name in values and not shape.startswith("(") and not rest.startswith((" bitcast(", " parameter(")):
                    shape = str(Array(shape).laid_out(values[name][0]))
                number = re.match(r" parameter\((\d+)\)", rest)
                if inside and number:
                    if shape.startswith("("):
                        raise Failed("an argument is a tuple")
                    number = int(number[1])
                    self.arguments[number] = Array(shape).laid_out(nth(entry.get("in"), number))
                    shape = str(self.arguments[number])
                if inside:
                    found[name] = shape
                    if "ROOT " in head:
                        root, rest_of_root = name, rest
                line = head + shape + rest
            elif inside and root is None and "ROOT " in line:
                raise Failed(f"the root has a type that is not read: {line.strip()[:80]}")
            lines.append(line)
        self.arguments = [self.arguments[k] for k in sorted(self.arguments)]
        made = [root]
        if rest_of_root.startswith(" tuple("):
            operands = rest_of_root[7 : rest_of_root.index(")")].split(",")
            made = [operand.split()[-1].lstrip("%") for operand in operands]
        self.results = [Array(found[name]).laid_out(nth(entry.get("out"), k)) for k, name in enumerate(made)]
        self.text = "\n".join(self.with_results(lines, root, made, found)) + "\n"

    def with_results(self, lines, root, made, found):
        """The lines, with a copy of each result that is made in another layout."""
        at = next(k for k, line in enumerate(lines) if (m := INSTRUCTION.match(line)) and m[2] == root and "ROOT " in m[1])
        end = lines.index("}", at)
        copies = [f"  out.{k} = {own} copy({name})" for k, (name, own) in enumerate(zip(made, self.results))]
        changed = [str(Array(found[name])) != str(own) for name, own in zip(made, self.results)]
        if not any(changed):
            return lines
        if made == [root]:
            plain = lines[at].replace("ROOT ", "", 1)
            return [*lines[:at], plain, *lines[at + 1 : end], copies[0].replace("out.0", "ROOT out.0"), *lines[end:]]
        names = [f"out.{k}" if other else name for k, (name, other) in enumerate(zip(made, changed))]
        last = f"  ROOT {root} = ({', '.join(map(str, self.results))}) tuple({', '.join(names)})"
        kept = [copy for copy, other in zip(copies, changed) if other]
        return [*lines[:at], *lines[at + 1 : end], *kept, last, *lines[end:]]


def nth(layouts, k):
    return layouts[k] if layouts and k < len(layouts) else None


def tool(command, **options):
    """Runs a command, whose complaint is the error."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{pathlib.Path(command[0]).name} took more than {SECONDS:g} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        raise Failed(f"{pathlib.Path(command[0]).name}: {(lines or ['no message'])[0].strip()[:300]}")
    return done.stdout


def harness(program):
    """C that calls the entry so many times: it gives the seconds of the processor, and leaves the last results."""
    results, arguments = program.results, program.arguments
    ranks = [len(result.sizes) for result in results]
    words = sum(3 + 2 * rank for rank in ranks)
    at = [sum(3 + 2 * rank for rank in ranks[:k]) for k in range(len(ranks))]
    parameters = ", ".join(["void *"] * (1 + len(arguments)))
    given = "".join(f", a[{k}]" for k in range(len(arguments)))
    # Two results may be one buffer.
    frees = "\n".join(
        f"  if (1{''.join(f' && r[{at[j]}] != r[{at[k]}]' for j in range(k))}) free((void *)r[{at[k]}]);" for k in range(len(at))
    )
    return f"""#include <malloc.h>
#include <stdlib.h>
#include <time.h>
void _mlir_ciface_main({parameters});
static double now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}}
void release(long *r) {{
{frees}
}}
double run(long *r, void **a, long n) {{
  // Memory that is freed stays here, so that no call waits for the system to clear pages.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  double start = now();
  for (long k = 0; k < n; k++) {{
    if (k) release(r);
    _mlir_ciface_main(r{given});
  }}
  return now() - start;
}}
long words(void) {{ return {words}; }}
"""


def random_values(array, rng):
    """Small numbers: integers that index most arrays, floats around 0."""
    if array.type == "bf16":
        wide = (rng.standard_normal(array.sizes) * 0.5).astype(np.float32)
        return (wide.view(np.uint32) >> 16).astype(np.uint16).reshape(array.sizes)
    dtype = np.dtype(NUMPY[array.type])
    if dtype.kind == "f":
        return np.asarray(rng.standard_normal(array.sizes) * 0.5, dtype)
    return np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 8, array.sizes), dtype)


def descriptor(array):
    """The words of a memref: two pointers, an offset, sizes and strides."""
    strides = [s // array.itemsize for s in array.strides]
    start = array.ctypes.data
    return (ctypes.c_int64 * (3 + 2 * array.ndim))(start, start, 0, *array.shape, *strides)


class Library:
    """A program that can be called."""

    def __init__(self, program, path, code):
        self.program, self.library = program, ctypes.CDLL(str(path))
        # Without where it is from.
        self.code = re.sub(r"^(source_filename|; ModuleID).*\n", "", code, flags=re.MULTILINE)
        self.library.run.restype = ctypes.c_double
        rng = np.random.default_rng(0)
        self.arrays = [own.put(random_values(own, rng)) for own in program.arguments]
        self.descriptors = [descriptor(array) for array in self.arrays]
        self.pointers = (ctypes.c_void_p * max(1, len(self.arrays)))(*map(ctypes.addressof, self.descriptors))
        self.words = (ctypes.c_int64 * max(1, self.library.words()))()

    def call(self, times):
        """The seconds of so many calls; the results are to be released."""
        return self.library.run(self.words, self.pointers, ctypes.c_long(times))

    def seconds(self, most):
        """The seconds of a call, of as many as fit in so many seconds, at least one."""
        times = 1
        while True:
            taken = self.call(times)
            self.library.release(self.words)
            if taken > most / 2 or times >= 1 << 20:
                return taken / times
            times *= 2

    def results(self):
        """What a call gives, as floats of 64 bits or as they are."""
        self.call(1)
        found, at = [], 0
        for own in self.program.results:
            rank = len(own.sizes)
            _, aligned, offset, *rest = self.words[at : at + 3 + 2 * rank]
            at += 3 + 2 * rank
            sizes, strides = rest[:rank], rest[rank:]
            if list(sizes) != own.sizes:
                raise Failed(f"a result has sizes {list(sizes)}, not {own.sizes}")
            dtype = np.dtype(NUMPY[own.type])
            span = 1 + sum((n - 1) * s for n, s in zip(sizes, strides)) if 0 not in sizes else 0
            array = np.zeros(sizes, dtype)
            if span:
                start = aligned + offset * dtype.itemsize
                flat = np.frombuffer((ctypes.c_char * (span * dtype.itemsize)).from_address(start), dtype)
                array = np.lib.stride_tricks.as_strided(flat, sizes, [s * dtype.itemsize for s in strides]).copy()
            if own.type == "bf16":
                array = (array.astype(np.uint32) << 16).view(np.float32)
            found.append(array)
        self.library.release(self.words)
        return found


@contextlib.contextmanager
def compiled(program, plan=""):
    """A program as a library; `plan` are the options of `--layout-to-llvm` for it."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        suffixes = (".hlo", ".mlir", ".llvm.mlir", ".ll", ".so", ".c")
        hlo, mlir, low, code, library, c = (work / f"program{suffix}" for suffix in suffixes)
        hlo.write_text(program.text)
        c.write_text(harness(program))
        tool([TOOLS / "layout-translate", "--import-hlo", hlo, "-o", mlir])
        mlir.write_text(with_interface(mlir.read_text()))
        tool([TOOLS / "layout-opt", f"--layout-to-llvm={plan} {OPTIONS}", mlir, "-o", low])
        tool([LLVM / "bin/mlir-translate", "--mlir-to-llvmir", low, "-o", code])
        tool([LLVM / "bin/clang", *FLAGS, "-w", "-shared", "-fPIC", "-x", "ir", code, "-x", "c", c, "-x", "none", "-o", library,
              "-lm", f"-L{LLVM}/lib", f"-Wl,-rpath,{LLVM}/lib", "-lmlir_c_runner_utils"])  # fmt: skip
        yield Library(program, library, code.read_text())


def with_interface(mlir):
    """The module whose entry, the only public function with a body, is `main` and has a C interface."""
    entry = next(m for m in re.finditer(r"func\.func @([\w.$-]+|\"[^\"]*\")\(.*\{$", mlir, re.MULTILINE))
    line = entry[0].replace(f"@{entry[1]}(", "@main(", 1)
    attributes = re.search(r" attributes \{", line)
    if attributes:
        line = line.replace(" attributes {", " attributes {llvm.emit_c_interface, ", 1)
    else:
        line = line[:-1] + "attributes {llvm.emit_c_interface} {"
    return mlir[: entry.start()] + line + mlir[entry.end() :]
