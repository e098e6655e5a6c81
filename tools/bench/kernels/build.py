"""From the text of a kernel to a function of this process.

A kernel is a module with one function `@kernel` on memrefs, its result in the last. `Build.tiled` lowers it with the
project's pipeline; `Build.upstream` with upstream's passes only, which bring layouts to memrefs by `normalize-memrefs`.
Both go through clang to a shared library, with the same flags.
"""

import ctypes
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from bench import entry
from bench.calls import Array, descriptor
from bench.library import CLANG, FLAGS, LIBRARIES, How, compiled
from bench.run import TOOLS, Failed, run

# From affine loops on plain memrefs to the LLVM dialect.
UPSTREAM = [
    "--lower-affine", "--convert-scf-to-cf", "--expand-strided-metadata", "--lower-affine", "--convert-math-to-llvm",
    "--convert-math-to-libm", "--convert-to-llvm", "--reconcile-unrealized-casts",
]  # fmt: skip


class Argument:
    """A memref argument as the lowered function declares it: sizes, and strides in elements."""

    def __init__(self, text: str) -> None:
        inner = re.match(r"memref<((?:\d+x)*)(\w+)(?:, strided<\[([\d, ]*)\]>)?(?:, .*)?>$", text)
        if not inner:
            raise Failed(f"the lowered function takes {text}")
        self.sizes = [int(size) for size in inner[1].split("x")[:-1]]
        self.strides = [int(s) for s in inner[3].split(", ") if s] if inner[3] is not None else row_major(self.sizes)

    def descriptor(self, buffer: Array) -> Any:
        """What the C interface takes for it. The function must stay inside the buffer."""
        reach = 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True))
        if reach > buffer.size:
            raise Failed(f"the lowered function takes {reach} elements where the layout has {buffer.size}")
        return descriptor(buffer, self.sizes, self.strides)


def row_major(sizes: Sequence[int]) -> list[int]:
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides[: len(sizes)]


def parameters(module: str) -> list[str]:
    """The types of the arguments of the kernel of a module. Other functions may be there, such as exp for lanes."""
    head = re.search(r"func\.func @kernel\(", module)
    if not head:
        raise Failed("the lowered module has no @kernel")
    return entry.types(module, head.end() - 1)[0]


class Function:
    """A compiled kernel, and the seconds of the processor that lowering and compiling took."""

    def __init__(self, path: pathlib.Path, arguments: Sequence[Argument], seconds: float) -> None:
        try:
            self.call = ctypes.CDLL(str(path))._mlir_ciface_kernel
        except OSError as error:
            raise Failed(str(error)) from error
        self.path, self.arguments, self.seconds = path, arguments, seconds

    def on(self, buffers: Sequence[Array]) -> Callable[[], object]:
        """The call with these buffers, all in memory order."""
        descriptors = [a.descriptor(b) for a, b in zip(self.arguments, buffers, strict=True)]
        addresses = [ctypes.byref(d) for d in descriptors]
        call = self.call

        def called() -> None:
            call(*addresses)

        # They must live as long as the addresses.
        called.__dict__["descriptors"] = descriptors
        return called


class Build:
    """Builds kernels in a folder, with options for `--layout-to-llvm` beside `form`."""

    def __init__(self, folder: pathlib.Path, options: str) -> None:
        self.folder, self.options = folder.resolve(), options

    def pipeline(self, form: str) -> str:
        """The option that lowers to the LLVM dialect."""
        return f"--layout-to-llvm={' '.join([f'form={form}', *self.options.split()])}"

    def passes(self, text: str, *passes: str) -> str:
        """The module after some passes."""
        return run([TOOLS / "layout-opt", *passes], text).out

    def tiled(self, name: str, text: str, form: str) -> Function:
        types = parameters(self.passes(text, f"--layout-to-memref=form={form}"))
        return self.function(name, text, [Argument(type) for type in types], self.pipeline(form))

    def upstream(self, name: str, text: str) -> Function:
        # The compiler may do to these what the options let the project's passes do.
        liberties = {"reassoc": "reassociate", "contract": "contract"}
        flags = [flag for flag, option in liberties.items() if re.search(rf"\b{option}(=true)?( |$)", self.options)]
        if flags:
            text = re.sub(r"(arith\.(?:add|mul|sub|div)f .*?) :", rf"\1 fastmath<{', '.join(flags)}> :", text)
        loops = self.passes(text, "--convert-linalg-to-affine-loops", "--normalize-memrefs", "--canonicalize", "--cse")
        return self.function(name, loops, [Argument(type) for type in parameters(loops)], *UPSTREAM)

    def function(self, name: str, text: str, arguments: Sequence[Argument], *passes: str) -> Function:
        """The kernel of a module that some passes lower."""
        code, path = compiled(name, text, self.folder, How(passes, FLAGS)), self.folder / f"{name}.so"
        # With glibc, -lm brings libmvec too. Loops of upstream round to bf16 by a function where the machine cannot.
        run([CLANG, "-shared", *code.objects, "-o", path, *LIBRARIES, "-lmlir_float16_utils"])
        return Function(path, arguments, sum(code.seconds.values()))
