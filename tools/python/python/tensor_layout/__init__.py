"""Where each element of a tensor is: layouts, padding, and the memory of XLA programs.

>>> import tensor_layout as tl
>>> tl.Shape("f32[1000,3]{1,0:T(8,128)}").padded_bytes
512000
>>> tl.default_layout("f32[1000,3]")
Layout('{0,1:T(4,128)}')

Texts are XLA's and are read by one grammar; what is wrong in them is a :class:`LayoutError`.
"""

from __future__ import annotations

from typing import Any

from ._errors import LayoutError
from ._native import (
    IndexingMap,
    Layout,
    LayoutFunction,
    Machine,
    Movement,
    Relayout,
    Shape,
    TensorLayout,
    __version__,
    moves,
    relayout,
)
from ._programs import watch
from ._reports import Comparison, Exhausted, Plan, Report, plan, report

__all__ = [
    "Comparison",
    "Exhausted",
    "IndexingMap",
    "Layout",
    "LayoutError",
    "LayoutFunction",
    "Machine",
    "Movement",
    "Plan",
    "Relayout",
    "Report",
    "Shape",
    "TensorLayout",
    "__version__",
    "default_layout",
    "moves",
    "offsets",
    "pack",
    "plan",
    "relayout",
    "report",
    "unpack",
    "watch",
]


def default_layout(shape: Shape | str, machine: Machine | str = "tpu_v5e") -> Layout:
    """The layout that an array has on a machine where nobody says another.

    >>> default_layout("f32[1024,129]")
    Layout('{0,1:T(8,128)}')
    """
    return (machine if isinstance(machine, Machine) else Machine(machine)).default_layout(shape)


def pack(array: Any, shape: Shape | Layout | str, padding: Any = None) -> Any:
    """The memory of an array in a layout: an array of one dimension, with ``padding`` (0) where no element is.

    ``shape`` is a shape, or a layout for the shape that the array has.

    >>> import numpy as np
    >>> pack(np.arange(6, dtype=np.float32).reshape(2, 3), "{1,0:T(2,2)}")
    array([0., 1., 3., 4., 2., 0., 5., 0.], dtype=float32)
    """
    import numpy as np

    from . import _arrays

    array = np.asarray(array)
    return _arrays.pack(_arrays.shape_of(shape, array), array, padding)


def unpack(memory: Any, shape: Shape | str) -> Any:
    """The array that a memory in a layout holds: the inverse of :func:`pack`.

    >>> import numpy as np
    >>> unpack(np.float32([0, 1, 3, 4, 2, 9, 5, 9]), "f32[2,3]{1,0:T(2,2)}")
    array([[0., 1., 2.],
           [3., 4., 5.]], dtype=float32)
    """
    from . import _arrays

    return _arrays.unpack(_arrays.shape_of(shape), memory)


def offsets(shape: Shape | str) -> Any:
    """The offset of each element in memory, in elements.

    >>> offsets("f32[3,5]{1,0:T(2,2)}")
    array([[ 0,  1,  4,  5,  8],
           [ 2,  3,  6,  7, 10],
           [12, 13, 16, 17, 20]])
    """
    return (shape if isinstance(shape, Shape) else Shape(shape)).offsets()
