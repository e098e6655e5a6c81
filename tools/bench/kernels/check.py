"""Buffers for a kernel, and whether what it leaves in them is what NumPy has.

Inputs have a NaN in their padding, so that a sum that reads it is NaN; outputs are filled with another NaN, so that
padding that is written to differs, even if with padding. Integers have 0x5A and 0xA5. All is compared in memory order,
bit for bit where bits are only moved.
"""

import zlib
from collections.abc import Callable

import numpy as np

from bench.calls import Array
from bench.kernels import tiles
from bench.kernels.programs import DTYPES, Kernel, Operand
from bench.run import Failed

# What the padding of inputs and whole outputs are filled with: NaNs that no computation makes.
INPUT: dict[str, np.generic] = {"f32": np.uint32(0x7FDA5A5A), "bf16": np.uint16(0x7FDA), "i8": np.uint8(0x5A)}
OUTPUT: dict[str, np.generic] = {"f32": np.uint32(0x7FE5A5A5), "bf16": np.uint16(0x7FE5), "i8": np.uint8(0xA5)}

# Bytes on both sides of a buffer that must stay as they are.
ROOM = 4096


class Wrong(Failed):
    """A result is not what NumPy has."""


class Buffer:
    """Elements in memory order, aligned to 64 bytes, with room around them that nobody may write to."""

    def __init__(self, elements: Array) -> None:
        size = elements.nbytes
        whole = np.full(size + 2 * ROOM + 64, 0xA5, np.uint8)
        start = ROOM + -(whole.ctypes.data + ROOM) % 64
        self.around = whole[start - ROOM : start], whole[start + size : start + size + ROOM]
        self.elements: Array = whole[start : start + size].view(elements.dtype)
        self.elements[:] = elements

    def room_is_untouched(self) -> bool:
        return all((side == 0xA5).all() for side in self.around)


def bits(elements: Array, dtype: str) -> Array:
    return elements.view(OUTPUT[dtype].dtype)


def packed(operand: Operand, array: Array, layout: str | None, padding: dict[str, np.generic]) -> Array:
    """The bits of an operand in memory order."""
    return tiles.pack(bits(np.ascontiguousarray(array), operand.dtype), layout, padding[operand.dtype])


class Output:
    """The buffer of an output in a layout, and what must be in it."""

    def __init__(self, operand: Operand, array: Array, layout: str | None) -> None:
        self.dtype = operand.dtype
        self.expected = packed(operand, array, layout, OUTPUT)
        self.padding = ~tiles.pack(np.ones(operand.shape, bool), layout, False)
        self.buffer = Buffer(np.empty_like(self.expected).view(DTYPES[operand.dtype]))

    def clear(self) -> None:
        bits(self.buffer.elements, self.dtype)[:] = OUTPUT[self.dtype]

    def check(self, moves: bool, tolerance: float) -> None:
        differs = bits(self.buffer.elements, self.dtype) != self.expected
        if not moves and differs.any():
            # Zeros of both signs are equal, and so is what is near enough; NaN is not.
            got, expected = self.buffer.elements.astype(np.float64), self.expected.view(DTYPES[self.dtype])
            expected = expected.astype(np.float64)
            differs &= self.padding | ~(np.abs(got - expected) <= tolerance * np.abs(expected))
        if differs.any():
            elements, places = np.count_nonzero(differs & ~self.padding), np.count_nonzero(differs & self.padding)
            first = f"the first at place {differs.argmax()}"
            raise Wrong(f"{elements} elements are wrong and {places} places of padding were written to, {first}")


class Data:
    """The buffers of a kernel, in its layouts and row-major; an operand without a layout has one for both."""

    def __init__(self, kernel: Kernel, random: np.random.Generator) -> None:
        self.kernel = kernel
        *inputs, output = kernel.operands
        arrays = kernel.data(random)
        result = np.asarray(kernel.expected(*arrays), DTYPES[output.dtype])
        # Inputs by number and layout; outputs by layout.
        self.inputs: dict[tuple[int, str | None], Buffer] = {}
        self.outputs: dict[str | None, Output] = {}
        for plain in (False, True):
            for i, (operand, array) in enumerate(zip(inputs, arrays, strict=True)):
                layout = None if plain else operand.layout
                if (i, layout) not in self.inputs:
                    elements = packed(operand, array, layout, INPUT).view(DTYPES[operand.dtype])
                    self.inputs[i, layout] = Buffer(elements)
            layout = None if plain else output.layout
            if layout not in self.outputs:
                self.outputs[layout] = Output(output, result, layout)
        self.sums = {key: zlib.crc32(buffer.elements.tobytes()) for key, buffer in self.inputs.items()}

    def buffers(self, plain: bool) -> list[Array]:
        """Elements in memory order, the output last."""
        *inputs, output = self.kernel.operands
        found = [self.inputs[i, None if plain else o.layout] for i, o in enumerate(inputs)]
        return [b.elements for b in [*found, self.outputs[None if plain else output.layout].buffer]]

    def check(self, call: Callable[[], object], plain: bool) -> None:
        """Calls, and compares what there is then."""
        output = self.outputs[None if plain else self.kernel.operands[-1].layout]
        output.clear()
        call()
        output.check(self.kernel.moves(), self.kernel.tolerance)
        if not all(b.room_is_untouched() for b in [*self.inputs.values(), *(o.buffer for o in self.outputs.values())]):
            raise Wrong("something outside of a buffer was written to")

    def check_inputs(self) -> None:
        for (i, layout), buffer in self.inputs.items():
            if zlib.crc32(buffer.elements.tobytes()) != self.sums[i, layout]:
                raise Wrong(f"input {i} was written to")

    def total_bytes(self) -> int:
        return sum(b.elements.nbytes for b in [*self.inputs.values(), *(o.buffer for o in self.outputs.values())])
