"""From the text of a program to a function of this process.

A program is a module with one function `@kernel` on memrefs, its result in the last. `Build.tiled` lowers it with the
project's pipeline; `Build.stock` with upstream's passes only, which bring layouts to memrefs by `normalize-memrefs`.
Both go through clang to a shared library, with the same flags.
"""

import ctypes
import os
import pathlib
import platform
import re
import shutil
import subprocess

# From affine loops on plain memrefs to the LLVM dialect.
STOCK = [
    "--lower-affine", "--convert-scf-to-cf", "--expand-strided-metadata", "--lower-affine", "--convert-math-to-llvm",
    "--convert-math-to-libm", "--convert-to-llvm", "--reconcile-unrealized-casts",
]  # fmt: skip


class Failure(Exception):
    """A tool failed; the message is what it wrote."""


def run(command, text=None, both=False):
    """What a command writes, given `text`; with `both`, its messages as well."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    # convert-to-llvm reports some operations that it cannot convert, and succeeds; mlir-translate refuses them.
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout + done.stderr if both else done.stdout


class Argument:
    """A memref argument as the lowered function declares it: sizes, and strides in elements."""

    def __init__(self, text):
        inner = re.match(r"memref<((?:\d+x)*)(\w+)(?:, strided<\[([\d, ]*)\]>)?(?:, .*)?>$", text)
        if not inner:
            raise Failure(f"the lowered function takes {text}")
        self.sizes = [int(size) for size in inner[1].split("x")[:-1]]
        self.strides = [int(s) for s in inner[3].split(", ") if s] if inner[3] is not None else row_major(self.sizes)

    def descriptor(self, buffer):
        """What `llvm.emit_c_interface` takes for it. The function must stay inside the buffer."""
        reach = 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides))
        if reach > buffer.size:
            raise Failure(f"the lowered function takes {reach} elements where the layout has {buffer.size}")
        address = buffer.ctypes.data
        return (ctypes.c_int64 * (3 + 2 * len(self.sizes)))(address, address, 0, *self.sizes, *self.strides)


def row_major(sizes):
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides[: len(sizes)]


def split(text):
    """The parts of a list between its outermost commas."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


class Build:
    """Builds programs in a folder, with options for `--layout-to-llvm` beside `form`."""

    def __init__(self, folder, options=""):
        self.folder, self.options = pathlib.Path(folder), options
        self.tool = os.environ.get("LAYOUT_OPT", "target/release/layout-opt")
        self.llvm = os.environ["LLVM"]
        self.clang = shutil.which(os.environ.get("CLANG", self.llvm + "/bin/clang"))
        if not self.clang:
            raise Failure("there is no clang; CLANG names one")
        # glibc's maths on vectors, which Debian 12 has for x86-64 only.
        library = " -fveclib=libmvec" if platform.machine() == "x86_64" else ""
        self.flags = os.environ.get("KERNEL_FLAGS", "-O3 -march=native" + library).split()
        self.made = {}

    def pipeline(self, form):
        """The option that lowers to the LLVM dialect."""
        return f"--layout-to-llvm={' '.join([f'form={form}', *self.options.split()])}"

    def run(self, option, text):
        """What layout-opt writes."""
        return run([self.tool, option], text)

    def tiled(self, name, text, form):
        signature = run([self.tool, f"--layout-to-memref=form={form}"], text)
        return self.function(name, signature, run([self.tool, self.pipeline(form)], text))

    def stock(self, name, text):
        # The compiler may do to these what the options let the project's passes do.
        liberties = {"reassoc": "reassociate", "contract": "contract"}
        flags = [flag for flag, option in liberties.items() if re.search(rf"\b{option}(=true)?( |$)", self.options)]
        if flags:
            text = re.sub(r"(arith\.(?:add|mul|sub|div)f .*?) :", rf"\1 fastmath<{', '.join(flags)}> :", text)
        steps = ["--convert-linalg-to-affine-loops", "--normalize-memrefs", "--canonicalize", "--cse"]
        loops = run([self.tool, *steps], text)
        return self.function(name, loops, run([self.tool, *STOCK], loops))

    def function(self, name, signature, lowered):
        """The function of a lowered module, and what it takes."""
        # Other functions may be there, such as exp for lanes.
        head = re.search(r"func\.func @kernel\((.*?)\) (?:attributes .*)?{$", signature, re.MULTILINE)
        if not head:
            raise Failure("the lowered module has no @kernel")
        arguments = [Argument(part.split(": ", 1)[1].split(" {")[0]) for part in split(head[1])]
        if lowered not in self.made:
            self.made[lowered] = self.library(name, lowered)
        return Function(self.made[lowered], arguments)

    def library(self, name, lowered):
        base = str(self.folder.resolve() / name)
        pathlib.Path(base + ".ll").write_text(run([f"{self.llvm}/bin/mlir-translate", "--mlir-to-llvmir"], lowered))
        # With glibc, -lm brings libmvec too. Loops of upstream round to bf16 by a function where the machine cannot.
        libraries = ["-lm", f"-L{self.llvm}/lib", "-lmlir_float16_utils", f"-Wl,-rpath,{self.llvm}/lib"]
        shared = ["-Wno-override-module", "-shared", "-fPIC", base + ".ll", "-o", base + ".so", *libraries]
        run([self.clang, *self.flags, *shared])
        try:
            return ctypes.CDLL(base + ".so")._mlir_ciface_kernel
        except OSError as error:
            raise Failure(error) from error


class Function:
    """A compiled program."""

    def __init__(self, call, arguments):
        self.call, self.arguments = call, arguments

    def on(self, buffers):
        """The call with these buffers, all in memory order."""
        descriptors = [a.descriptor(b) for a, b in zip(self.arguments, buffers, strict=True)]
        addresses = [ctypes.byref(d) for d in descriptors]
        call = self.call
        # `descriptors` must live as long as the addresses.
        return lambda keep=descriptors: call(*addresses)
