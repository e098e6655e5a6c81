"""Whether the results of two compilers are the same but for rounding."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# How far a result may be from XLA's: the part of the largest element, and of the element. Sums are in another order.
TOLERANCES = {"float64": (1e-9, 1e-8), "float32": (2e-4, 2e-3), "bfloat16": (2e-2, 4e-2), "float16": (5e-3, 1e-2)}


def as_near(expected: Array, found: Array, truth: Array) -> bool:
    """Whether a result is as near to that of more bits as what is expected is: roundings differ, and add up over layers.

    Of thousands of elements in bf16, the sum of squares of either error is known to some percent, the largest to a half.
    """
    errors = [np.abs(x.astype(np.float64) - truth.astype(np.float64)) for x in (found, expected)]
    if not all(np.isfinite(e).all() for e in errors):
        return False
    (ours, theirs), (most, their_most) = [np.sqrt((e**2).mean()) for e in errors], [np.max(e) for e in errors]
    return bool(ours <= 1.2 * theirs and most <= 1.5 * their_most)


def difference(name: str, expected: Array, found: Array, truth: Array | None = None) -> str | None:
    """What is wrong with a result of a type, if anything is. `truth` is the result with more bits."""
    if name not in TOLERANCES and not name.startswith(("complex", "float8")):
        wrong = np.asarray(expected != found)
    else:
        small, large = TOLERANCES.get(name, (2e-1, 3e-1) if name.startswith("float8") else (2e-4, 2e-3))
        wide = np.complex128 if name.startswith("complex") else np.float64
        e, f = expected.astype(wide), found.astype(wide)
        ends = np.isfinite(e)
        most = np.abs(e[ends]).max(initial=0)
        with np.errstate(invalid="ignore"):
            near = np.abs(e - f) <= small * most + large * np.abs(e)
        wrong = ~np.where(ends, near, (e == f) | (np.isnan(e) & np.isnan(f)))
    if not wrong.any() or (truth is not None and as_near(expected, found, truth)):
        return None
    at = tuple(int(n) for n in np.argwhere(wrong)[0])
    shape = f"{name}{list(expected.shape)}"
    return f"{shape}: {wrong.sum()} of {wrong.size} differ; at {list(at)} {found[at]}, not {expected[at]}"


def apart(expected: list[Array], found: list[Array]) -> float:
    """How far results are from each other, as a part of the largest of each."""
    most = 0.0
    for one, other in zip(expected, found, strict=True):
        a, b = one.astype(np.float64), other.astype(np.float64)
        if (np.isnan(a) != np.isnan(b)).any():
            return float("inf")
        scale = np.abs(a[np.isfinite(a)]).max(initial=1e-30)
        off = np.abs(a - b)
        most = max(most, float(off[np.isfinite(off)].max(initial=0) / scale))
    return most
