"""From a module of MLIR to a library: lowered, translated, compiled, linked.

In the environment: KERNEL_OPTIONS, the options of `--layout-to-llvm` for code that is timed; KERNEL_FLAGS, clang's.
"""

import json
import os
import pathlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass

from bench import entry, externals, machine
from bench.run import LLVM, MEMORY, PACKAGE, SECONDS, TOOLS, Argument, run

CLANG = pathlib.Path(os.environ.get("CLANG", LLVM / "bin/clang"))
# The C library's vector maths, where it has some.
VECTOR_MATHS = ("-fveclib=libmvec",) if platform.machine() == "x86_64" else ()
FLAGS = tuple(os.environ.get("KERNEL_FLAGS", " ".join(["-O3", "-march=native", *VECTOR_MATHS])).split())
OPTIONS = os.environ.get("KERNEL_OPTIONS", f"{machine.vectors()} reassociate contract")
REPEAT = PACKAGE / "repeat.c"
LIBRARIES = ("-lm", f"-L{LLVM}/lib", f"-Wl,-rpath,{LLVM}/lib")


@dataclass(frozen=True)
class How:
    """How a module is compiled: the passes that lower it, clang's flags, and further files and options of the linker."""

    passes: Sequence[str] = ("--layout-to-llvm",)
    flags: Sequence[str] = ("-O1",)
    link: Sequence[Argument] = ()


@dataclass(frozen=True)
class Code:
    """The files of a module that was compiled, and the seconds of the steps."""

    low: pathlib.Path
    llvm: pathlib.Path
    # The code, and the constants of many bytes.
    objects: Sequence[pathlib.Path]
    seconds: dict[str, float]


def step(*command: Argument) -> float:
    """The seconds of a step, which may take longer than others."""
    return run(command, most=4 * SECONDS, memory=MEMORY).seconds


def compiled(name: str, mlir: str, work: pathlib.Path, how: How) -> Code:
    """The code of a module."""
    source, low, llvm, made, weights = (work / f"{name}{end}" for end in (".mlir", ".llvm.mlir", ".ll", ".o", ".weights.o"))
    export = f"--layout-export-weights=file={{{weights}}}"
    source.write_text(mlir)
    seconds = {
        "lowered": step(TOOLS / "layout-opt", *how.passes, export, source, "-o", low),
        "translated": step(LLVM / "bin/mlir-translate", "--mlir-to-llvmir", low, "-o", llvm),
        "compiled": step(CLANG, *how.flags, "-w", "-c", "-fPIC", "-x", "ir", llvm, "-o", made),
    }
    return Code(low, llvm, (made, weights), seconds)


def imported(hlo: pathlib.Path, mlir: pathlib.Path) -> float:
    """Imports a text of HLO; gives the seconds."""
    return run([TOOLS / "layout-translate", "--import-hlo", hlo, "-o", mlir], memory=MEMORY).seconds


def library(name: str, mlir: str, work: pathlib.Path, how: How) -> tuple[pathlib.Path, Code]:
    """The library of an imported module and of the functions that convert its arrays, beside it a JSON file for
    `calls.Program`, and the code of the module alone."""
    stem = name.rsplit(".", 1)[0]
    exchanges = entry.exchanges(mlir)
    if stem in externals.WITH_KERNEL:
        mlir = externals.with_kernel(mlir)
    program = compiled(name, entry.alone(mlir), work, how)
    # Nobody times what converts arrays.
    beside = compiled(f"{name}.beside", entry.beside(mlir), work, How())
    lowered = {"pack": beside.low, "unpack": beside.low, "run": program.low}
    signatures = {function: entry.signature(low.read_text(), function) for function, low in lowered.items()}
    path, stubs = (work / f"{name}{end}" for end in (".so", ".c"))
    masks = externals.constants(mlir) if stem in externals.WITH_MASKS else ""
    stubs.write_text(source(exchanges, {function: taken for function, (taken, _) in signatures.items()}) + masks)
    objects = [stubs, *program.objects, *beside.objects, *how.link]
    run([CLANG, "-w", "-shared", "-fPIC", *objects, "-o", path, *LIBRARIES, "-lmlir_c_runner_utils"], memory=MEMORY)
    ranks = {function: ranks for function, (_, ranks) in signatures.items()}
    (work / f"{name}.so.json").write_text(json.dumps({"ranks": ranks, "exchanges": exchanges}))
    return path, program


def arity(exchange: str) -> int:
    """How many arguments a function by which devices exchange takes."""
    return 0 if exchange.endswith("_id") else 9 if exchange.startswith("ragged") else 5


def source(exchanges: Sequence[str], taken: dict[str, int]) -> str:
    """C of functions that call those of the C interface with an array of pointers, since ctypes passes no more than 1024,
    and of the functions by which devices exchange."""
    lines = []
    for function, count in taken.items():
        pointers = ", ".join(f"a[{k}]" for k in range(count))
        interface = f"_mlir_ciface_{function}"
        lines.append(f"void {interface}(); void call_{function}(void **a) {{ {interface}({pointers}); }}")
    for name in exchanges:
        n = arity(name)
        types, values = ", ".join(f"long a{k}" for k in range(n)) or "void", ", ".join(f"a{k}" for k in range(n))
        lines.append(f"long (*to_{name})({types});\nlong _mlir_ciface_{name}({types}) {{ return to_{name}({values}); }}")
    return "\n".join(lines) + "\n"
