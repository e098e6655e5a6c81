"""Layouts as attributes of MLIR, in the Python of any compiler that is built on MLIR.

The functions take the module `ir` of that compiler: `mlir.ir`, `jaxlib.mlir.ir`, `iree.compiler.ir`, `torch_mlir.ir`. Its context
either has this dialect or allows unregistered ones, and then MLIR keeps the text of an attribute.

| here | MLIR |
|---|---|
| :class:`Layout` | `#layout.tiled<..>` |
| :class:`TensorLayout` | `#layout.tensor_layout<..>` |
| :class:`Machine` | `#layout.machine<..>` |
| :class:`IndexingMap` | `#layout.indexing_map<..>` |
| :class:`Shape` of an array | `tensor<..>` whose encoding is the layout |
"""

from __future__ import annotations

import re
from typing import Any

from ._errors import LayoutError
from ._native import IndexingMap, Layout, Machine, Shape, TensorLayout

__all__ = ["attribute", "layout", "shape", "tensor_type"]

_MNEMONICS: dict[str, type[Any]] = {
    "tiled": Layout,
    "tensor_layout": TensorLayout,
    "machine": Machine,
    "indexing_map": IndexingMap,
}


def attribute(ir: Any, value: Layout | TensorLayout | Machine | IndexingMap, context: Any = None) -> Any:
    """The attribute of a value, in `context` or the current one."""
    mnemonic = next(mnemonic for mnemonic, kind in _MNEMONICS.items() if isinstance(value, kind))
    return ir.Attribute.parse(f"#layout.{mnemonic}<{value}>", context)


def layout(attribute: Any) -> Layout | TensorLayout | Machine | IndexingMap:
    """The value of an attribute of this dialect."""
    text = str(attribute)
    parts = re.fullmatch(r"#layout\.(\w+)<(.*)>", text, re.DOTALL)
    if not parts or parts[1] not in _MNEMONICS:
        raise LayoutError(f"expected an attribute of {', '.join(f'#layout.{name}' for name in _MNEMONICS)}, found {text}")
    value: Layout | TensorLayout | Machine | IndexingMap = _MNEMONICS[parts[1]](parts[2])
    return value


def tensor_type(ir: Any, shape: Shape | str, context: Any = None) -> Any:
    """The type of a tensor with the sizes, elements and layout of an array of static sizes; unsigned elements are `ui8`."""
    shape = shape if isinstance(shape, Shape) else Shape(shape)
    if "<=" in str(shape):
        raise LayoutError(f"expected static sizes, found {shape}")
    sizes = "".join(f"{size}x" for size in shape.sizes)
    return ir.Type.parse(f"tensor<{sizes}{_element_type(shape.element)}, #layout.tiled<{shape.layout}>>", context)


def shape(type: Any) -> Shape:
    """The shape of a ranked tensor of static sizes with a tiled layout, or without one, which is row-major."""
    if not type.has_static_shape:
        raise LayoutError(f"expected static sizes, found {type}")
    element, encoding = _element(str(type.element_type)), type.encoding
    tiled = None if encoding is None else layout(encoding)
    if tiled is not None and not isinstance(tiled, Layout):
        raise LayoutError(f"expected a tiled layout, found {encoding}")
    # A scalar is written without an empty layout.
    return Shape.of(element, list(type.shape), None if str(tiled) == "{}" else tiled)


def _element_type(element: str) -> str:
    """The type of MLIR for an element type of XLA: `i8` for `s8`, `f8E4M3FN` for `f8e4m3fn`."""
    named = {"pred": "i1", "bf16": "bf16", "c64": "complex<f32>", "c128": "complex<f64>"}
    integer = re.fullmatch(r"([su])(\d+)", element)
    if integer:
        return ("ui" if integer[1] == "u" else "i") + integer[2]
    return named.get(element) or element[0] + element[1:].upper()


def _element(type: str) -> str:
    """The element type of XLA for a type of MLIR."""
    named = {"i1": "pred", "index": "s64", "complex<f32>": "c64", "complex<f64>": "c128"}
    integer = re.fullmatch(r"(u?|s?)i(\d+)", type)
    if integer and type not in named:
        return ("u" if integer[1] == "u" else "s") + integer[2]
    return named.get(type) or type.lower()
