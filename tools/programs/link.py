"""A library of a program: lowered, translated, compiled, linked."""

import json

import devices
import given
import harness
from steps import HERE, LLVM, MOST, TOOLS, Step, ran

# How clang compiles what converts arrays, which nobody times.
BESIDE = ("-O1",)


def library(name, mlir, work, lowering="", flags=("-O1",), more=(), link=()):
    """The library of an imported module and of what converts its arrays, with a JSON file of what `execute.Program` needs
    beside it, and the seconds of the module's own steps; or the step that failed.

    `lowering` are options of `--layout-to-llvm`, `flags` those of clang; `more` are further options of `layout-opt`, and
    `link` further files and options of the linker.
    """
    stem = name.rsplit(".", 1)[0]
    exchanges = harness.exchanges(mlir)
    if stem in given.WITH_KERNEL:
        mlir = given.with_kernel(mlir, harness.plain)
    path, stubs = (work / f"{name}{end}" for end in (".so", ".c"))
    low, program = compiled(name, harness.alone(mlir), work, lowering, flags, more)
    if program.error:
        return None, program
    low_beside, beside = compiled(f"{name}.beside", harness.beside(mlir), work, "", BESIDE, ())
    if beside.error:
        return None, beside
    ranks = {**harness.ranks(low_beside.read_text(), ("pack", "unpack")), **harness.ranks(low.read_text(), ("run",))}
    masks = given.constants(mlir) if stem in given.WITH_MASKS else ""
    stubs.write_text(devices.source(exchanges, ranks) + masks)
    command = [
        LLVM / "bin/clang", "-w", "-shared", "-fPIC", stubs, work / f"{name}.o", work / f"{name}.beside.o", *link, "-o", path, "-lm",
        f"-L{LLVM}/lib", f"-Wl,-rpath,{LLVM}/lib", "-lmlir_c_runner_utils",
    ]  # fmt: skip
    linked = ran(command)
    if linked.error:
        return None, linked
    (work / f"{name}.so.json").write_text(json.dumps({"ranks": ranks, "exchanges": exchanges}))
    return path, program


def compiled(name, mlir, work, lowering, flags, more):
    """The lowered text of a module of which an object file was made, and its seconds; or the step that failed."""
    source, low, code = (work / f"{name}{end}" for end in (".mlir", ".llvm.mlir", ".ll"))
    source.write_text(mlir)
    to_llvm = f"--layout-to-llvm={lowering}" if lowering else "--layout-to-llvm"
    seconds = {}
    for step, command in (
        ("lowered", [TOOLS / "layout-opt", to_llvm, *more, source, "-o", low]),
        ("translated", [LLVM / "bin/mlir-translate", "--mlir-to-llvmir", low, "-o", code]),
        ("compiled", [LLVM / "bin/clang", *flags, "-w", "-c", "-fPIC", "-x", "ir", code, "-o", work / f"{name}.o"]),
    ):
        done = ran(command, None, 4 * MOST)
        if done.error:
            return None, done
        seconds[step] = done.seconds
    return low, Step(sum(seconds.values()), text=json.dumps(seconds))
