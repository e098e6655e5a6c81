"""Tiled layouts in NumPy, written from XLA's description and sharing no code with the dialect.

`pack` brings an array into the memory order of a layout such as `{1,0:T(8,128)(2,1)}`. A 3x5 array in `{1,0:T(2,2)}`
is padded to 4x6, cut to 2x2x3x2 and stored with both outer sizes first, as 2x3x2x2: element (2,3) is at place 17.
`moves` gives the strided copies that bring one layout to another without a detour, as in hand-written code.

Not handled: `*`, and in `moves` tiles that do not divide each other.
"""

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.calls import Array


def parse(layout: str) -> tuple[list[int], list[list[int]], int]:
    """The minor-to-major order, the tiles, and the number that the count of elements is padded to a multiple of."""
    order, _, rest = layout.strip("{}").partition(":")
    tiles, _, tail = rest.partition("L")
    groups = [[int(t) for t in group.split(",")] for group in re.findall(r"\(([\d,]+)\)", tiles)]
    return [int(d) for d in order.split(",")], groups, int(tail.strip("()") or 1)


def pack(array: Array, layout: str | None, fill: Any) -> Array:
    """The elements of `array` in memory order, with `fill` in the padding. `None` is row-major."""
    if layout is None:
        return np.ascontiguousarray(array).reshape(-1)
    minor_to_major, tiles, multiple = parse(layout)
    array = array.transpose(minor_to_major[::-1])
    for tile in tiles:
        array = array.reshape((1,) * (len(tile) - array.ndim) + array.shape)
        lead = array.ndim - len(tile)
        padding = [(0, 0)] * lead + [(0, -s % t) for s, t in zip(array.shape[lead:], tile, strict=True)]
        if any(after for _, after in padding):
            array = np.pad(array, padding, constant_values=fill)
        cut = [n for s, t in zip(array.shape[lead:], tile, strict=True) for n in (s // t, t)]
        outer = range(lead, lead + 2 * len(tile), 2)
        array = array.reshape(array.shape[:lead] + tuple(cut))
        array = array.transpose([*range(lead), *outer, *(axis + 1 for axis in outer)])
    array = np.ascontiguousarray(array).reshape(-1)
    return np.pad(array, (0, -array.size % multiple), constant_values=fill)


def cuts(shape: Sequence[int], layout: str | None) -> list[list[tuple[int, int]]]:
    """For each logical dimension its parts, most significant first: how many elements of the dimension a step of the
    part is, and how many places in memory."""
    minor_to_major, tiles, _ = parse(layout or "{" + ",".join(str(d) for d in reversed(range(len(shape)))) + "}")
    # What is expanded so far, major to minor: the dimension, its size, and the elements that a step of it is.
    parts = [(d, shape[d], 1) for d in reversed(minor_to_major)]
    for tile in tiles:
        assert len(tile) <= len(parts), "a tile longer than the shape"
        kept, tiled = parts[: len(parts) - len(tile)], parts[len(parts) - len(tile) :]
        outer = [(d, -(-size // t), step * t) for (d, size, step), t in zip(tiled, tile, strict=True)]
        inner = [(d, t, step) for (d, _, step), t in zip(tiled, tile, strict=True)]
        parts = kept + outer + inner
    found: list[list[tuple[int, int]]] = [[] for _ in shape]
    place = 1
    for d, size, step in reversed(parts):
        # Of the parts with one step, all but one have the size 1.
        if size > 1 or not any(step == s for s, _ in found[d]):
            found[d] = [(s, p) for s, p in found[d] if s != step] + [(step, place)]
        place *= size
    return [sorted(dimension, reverse=True) for dimension in found]


def boxes(steps: list[int], size: int) -> list[tuple[int, list[int]]]:
    """Cuts `size` elements into boxes of whole parts, full ones first: 15 by steps of 8 and 1 is 1x8 at 0 and 7 at 8.
    Each is (start, sizes, one for each step)."""
    if len(steps) == 1:
        return [(0, [size])]
    full, rest = divmod(size, steps[0])
    inner = [a // b for a, b in itertools.pairwise(steps)]
    found = [(0, [full, *inner])] if full else []
    if rest:
        found += [(full * steps[0] + start, [1, *sizes]) for start, sizes in boxes(steps[1:], rest)]
    return found


def moves(
    shape: Sequence[int], source: Array, source_layout: str | None, target: Array, target_layout: str | None
) -> list[tuple[Array, Array]]:
    """Pairs of views, of `target` and of `source`, whose copies bring all elements from one to the other."""
    sides = [(target, cuts(shape, target_layout)), (source, cuts(shape, source_layout))]
    steps: list[list[int]] = []
    for d in range(len(shape)):
        steps.append(sorted({step for _, cut in sides for step, _ in cut[d]}, reverse=True))
        assert all(a % b == 0 for a, b in itertools.pairwise(steps[d])), "tiles that do not divide each other"
    pairs = []
    for box in itertools.product(*(boxes(steps[d], shape[d]) for d in range(len(shape)))):
        views = []
        for buffer, cut in sides:
            sizes: list[int] = []
            strides: list[int] = []
            offset = 0
            for d, (start, counts) in enumerate(box):
                for step, place in cut[d]:
                    offset += start // step * place
                    start %= step
                for step, count in zip(steps[d], counts, strict=True):
                    whole, place = next((s, p) for s, p in cut[d] if s <= step)
                    sizes.append(count)
                    strides.append(step // whole * place * buffer.itemsize)
            views.append(np.lib.stride_tricks.as_strided(buffer[offset:], sizes, strides))
        pairs.append((views[0], views[1]))
    return pairs
