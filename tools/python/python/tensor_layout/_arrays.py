"""NumPy arrays into the memory of a layout, and out of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import LayoutError
from ._native import Layout, Shape

# The types of NumPy by the names that XLA has for them; ml_dtypes has the others under names of its own.
_OF_NUMPY = {"bool": "pred", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
_OF_NUMPY |= {f"{sign}int{bits}": f"{'u' if sign else 's'}{bits}" for sign in ("", "u") for bits in (1, 2, 4, 8, 16, 32, 64)}
_OF_NUMPY |= {"bfloat16": "bf16"}
_NUMPY_NAME = {element: name for name, element in _OF_NUMPY.items()}


def element_of(dtype: np.dtype) -> str:
    """The element type of a dtype."""
    name = dtype.name
    if name in _OF_NUMPY:
        return _OF_NUMPY[name]
    # float8_e4m3fn is f8e4m3fn.
    if name.startswith("float") and "_" in name:
        return "f" + name[len("float") :].replace("_", "")
    raise LayoutError(f"no element type is like the dtype {name}")


def dtype_of(element: str) -> np.dtype:
    """The dtype of an element type: NumPy's, or that of ml_dtypes."""
    name = _NUMPY_NAME.get(element)
    if name is None and element.startswith("f"):
        bits = element[1:].split("e")[0]
        name = f"float{bits}_{element[1 + len(bits) :]}"
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise LayoutError(f"{element} needs a dtype {name}, which neither NumPy nor ml_dtypes has here") from None


def shape_of(shape: Any, array: np.ndarray | None = None) -> Shape:
    """A shape, the text of one, or a layout for this array."""
    if isinstance(shape, Shape):
        return shape
    if isinstance(shape, Layout) or str(shape).lstrip().startswith("{"):
        if array is None:
            raise LayoutError("expected a shape, found a layout alone", str(shape), 0)
        layout = shape if isinstance(shape, Layout) else Layout(shape)
        return Shape.of(element_of(array.dtype), array.shape, layout)
    return Shape(shape)


def _fits(element: str, dtype: np.dtype) -> bool:
    """Whether arrays of the dtype may hold the elements: of their type, or without one as bytes."""
    try:
        return element_of(dtype) == element
    except LayoutError:
        return False


def _bytes(array: np.ndarray) -> np.ndarray:
    little = array.dtype.newbyteorder("<")
    return np.ascontiguousarray(array, dtype=little).reshape(-1).view(np.uint8)


def pack(shape: Shape, array: Any, padding: Any = None) -> np.ndarray:
    array = np.asarray(array)
    if not _fits(shape.element, array.dtype):
        raise LayoutError(f"the array must have elements of type {shape.element}, found {array.dtype.name}", str(shape), 0)
    if array.shape != shape.sizes:
        at = str(shape).index("[") + 1
        raise LayoutError(f"the array must have the sizes {shape.sizes}, found {array.shape}", str(shape), at)
    filler = np.zeros(1, array.dtype)
    if padding is not None:
        filler[0] = padding
    own = shape._memory_bytes == shape.padded_elements * array.dtype.itemsize
    memory = np.empty(shape._memory_bytes, np.uint8)
    shape._pack(_bytes(array), _bytes(filler).tobytes(), memory)
    return memory.view(array.dtype.newbyteorder("<")) if own else memory


def unpack(shape: Shape, memory: Any) -> np.ndarray:
    dtype = dtype_of(shape.element)
    memory = np.frombuffer(memory, np.uint8) if isinstance(memory, bytes | bytearray | memoryview) else np.asarray(memory)
    dense = np.empty(shape.sizes, dtype)
    shape._unpack(_bytes(memory), dense.reshape(-1).view(np.uint8))
    return dense


def offsets(shape: Shape) -> np.ndarray:
    found = np.empty(shape.sizes, np.int64)
    shape._offsets(found.reshape(-1))
    return found
