"""`tensor_layout.pack` and `unpack` beside NumPy's reshape and transpose: the table of docs/python.md.

    python benches/pack.py

Each is the least of five times of CPU, so that other programs of the machine count little. The memories must be equal.
"""

import time
from collections.abc import Callable

import numpy as np

import tensor_layout as tl


def least(run: Callable[[], object]) -> float:
    """Milliseconds."""
    times = []
    for _ in range(5):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times) * 1e3


def tiled(array: np.ndarray, together: int = 1) -> np.ndarray:
    """Tiles of 8 by 128, and in them so many rows together."""
    rows, columns = (-(-size // tile) for size, tile in zip(array.shape[-2:], (8, 128), strict=True))
    ends = [(0, 0)] * (array.ndim - 2) + [(0, rows * 8 - array.shape[-2]), (0, columns * 128 - array.shape[-1])]
    whole = np.pad(array, ends) if any(end for _, end in ends) else array
    parts = whole.reshape(*array.shape[:-2], rows, 8 // together, together, columns, 128)
    first = array.ndim - 2
    order = [*range(first), *(first + k for k in (0, 3, 1, 4, 2))]
    return np.ascontiguousarray(parts.transpose(order)).reshape(-1)


CASES: list[tuple[type, tuple[int, ...], str, Callable[[np.ndarray], np.ndarray]]] = [
    (np.float32, (4096, 4096), "{1,0:T(8,128)}", tiled),
    (np.float32, (4100, 4100), "{1,0:T(8,128)}", tiled),
    (np.uint16, (4096, 4096), "{1,0:T(8,128)(2,1)}", lambda a: tiled(a, 2)),
    (np.uint8, (8192, 8192), "{1,0:T(8,128)(4,1)}", lambda a: tiled(a, 4)),
    (np.float32, (4096, 4096), "{0,1}", lambda a: np.ascontiguousarray(a.T).reshape(-1)),
    (np.float32, (4096, 4096), "{0,1:T(8,128)}", lambda a: tiled(a.T)),
    (np.float32, (64, 256, 1024), "{1,2,0:T(8,128)}", lambda a: tiled(a.transpose(0, 2, 1))),
]


def main() -> None:
    print("| array | layout | NumPy | `pack` | `unpack` | a plain copy |\n|---|---|---|---|---|---|")
    for dtype, sizes, layout, by_numpy in CASES:
        array = np.random.default_rng(0).integers(0, 200, sizes).astype(dtype)
        shape = tl.Shape.of({"float32": "f32", "uint16": "u16", "uint8": "u8"}[array.dtype.name], sizes, tl.Layout(layout))
        memory = shape.pack(array)
        assert np.array_equal(memory, by_numpy(array)), layout
        runs = (lambda: by_numpy(array), lambda: shape.pack(array), lambda: shape.unpack(memory), array.copy)
        times = " | ".join(f"{least(run):.1f}" for run in runs)
        print(f"| `{shape.element}[{','.join(map(str, sizes))}]` | `{layout}` | {times} |")


if __name__ == "__main__":
    main()
