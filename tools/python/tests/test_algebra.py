"""The algebra of layouts beside pycute, as far as it is installed, and by the definition of each operation."""

import math
import os
import random
import sys
import unittest
from collections import Counter
from importlib.util import find_spec

import tensor_layout as tl


def values(layout):
    """The places of all indices, also of a layout of pycute."""
    return [layout(index) for index in range(size(layout))]


def size(layout):
    """The number of elements, also of a layout of pycute."""
    return layout.size if isinstance(layout, tl.LayoutFunction) else layout.size()


def room(layout, other):
    """A size that has room for a layout, and for as many places as another one has elements."""
    return max(values(layout)) + 1 + size(other)


def random_text(rng):
    """A layout with modes in modes, of at most 64 elements: at times with the strides of a chain, at times with any."""
    extents = [64, 2]
    while math.prod(extents) > 64:
        extents = [rng.choice([1, 2, 2, 3, 4, 4, 6, 8]) for _ in range(rng.randint(1, 4))]
    strides = [rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 12, 16]) for _ in extents]
    if rng.random() < 0.7:
        end = 1
        for k in rng.sample(range(len(extents)), len(extents)):
            end *= rng.choice([1, 1, 1, 2, 3])
            strides[k] = end
            end *= extents[k]
    nest = len(extents) > 2 and rng.random() < 0.5
    shape, stride = (((tuple(n[:2]), *n[2:]) if nest else tuple(n)) for n in (extents, strides))
    return (shape[0], stride[0]) if len(shape) == 1 else (shape, stride)


def spelled(pair):
    return ":".join(str(part).replace(" ", "").replace(",)", ")") for part in pair)


def covers(parts):
    """Whether sums of distinct places, one of each list, are all numbers from 0 on, each once."""
    sums = [0]
    for part in parts:
        sums = [a + b for a in sums for b in set(part)]
    return sorted(sums) == list(range(len(sums)))


# For each operation: ours, pycute's, and whether a result is one by the definition, of the places of all three.
def after(a, b, r):
    return len(r) == len(b) and all(at < len(a) and a[at] == place for at, place in zip(b, r))


OPERATIONS = {
    "compose": (lambda a, b: a.compose(b), lambda p, a, b: p.composition(a, b), after),
    "coalesce": (lambda a, b: a.coalesce(), lambda p, a, b: p.coalesce(a), lambda a, b, r: a == r),
    "complement": (
        lambda a, b: a.complement(room(a, b)),
        lambda p, a, b: p.complement(a, room(a, b)),
        lambda a, b, r: covers([a, r]) and len(set(a)) * len(r) > max(a),
    ),
    "right_inverse": (
        lambda a, b: a.right_inverse(),
        lambda p, a, b: p.right_inverse(a),
        lambda a, b, r: all(at < len(a) and a[at] == place for place, at in enumerate(r)),
    ),
    "left_inverse": (
        lambda a, b: a.left_inverse(),
        lambda p, a, b: p.left_inverse(a),
        lambda a, b, r: all(place < len(r) and r[place] == at for at, place in enumerate(a)),
    ),
    "logical_divide": (
        lambda a, b: a.logical_divide(b),
        lambda p, a, b: p.logical_divide(a, b),
        lambda a, b, r: len(r) == len(a) and after(a, b[: len(r)], r[: len(b)]) and Counter(r) == Counter(a),
    ),
    "logical_product": (
        lambda a, b: a.logical_product(b),
        lambda p, a, b: p.logical_product(a, b),
        lambda a, b, r: len(r) == len(a) * len(b) and r[: len(a)] == a and len(set(r)) == len(set(a)) * len(set(b)),
    ),
    "zipped_divide": (
        lambda a, b: a.zipped_divide([b]),
        lambda p, a, b: p.zipped_divide(a, (b,)),
        lambda a, b, r: len(r) == len(a) and Counter(r) == Counter(a),
    ),
    "tiled_product": (
        lambda a, b: a.tiled_product(b),
        lambda p, a, b: p.tiled_product(a, b),
        lambda a, b, r: len(r) == len(a) * len(b) and r[: len(a)] == a and len(set(r)) == len(set(a)) * len(set(b)),
    ),
}


def answer(operation, *layouts):
    try:
        return operation(*layouts)
    except (tl.LayoutError, AssertionError, ZeroDivisionError, TypeError, IndexError, ValueError):
        return None


def compared(name, pycute, cases, seed):
    """How many answers are the same, different, by one side alone, and by pycute against the definition."""
    ours, theirs, law = OPERATIONS[name]
    rng = random.Random(seed)
    found = Counter()
    for _ in range(cases):
        pairs = [random_text(rng) for _ in range(2)]
        own = [tl.LayoutFunction(spelled(pair)) for pair in pairs]
        places = [values(layout) for layout in own]
        mine = answer(ours, *own)
        if mine is not None and not law(*places, values(mine)):
            raise AssertionError(f"{name} of {own}: {mine}")
        other = answer(theirs, pycute, *(pycute.Layout(*pair) for pair in pairs))
        if other is not None:
            same = mine is not None and str(mine) == spelled((other.shape, other.stride))
            other = values(mine if same else other)
            right = same or law(*places, other)
        if mine is None or other is None:
            kind = ("neither" if other is None else "pycute alone") if mine is None else "ours alone"
            found[kind + ("" if mine is not None or other is None or right else ", wrong")] += 1
        elif values(mine) == other or name == "right_inverse" and right and mine.size >= len(other):
            found["same"] += 1
        else:
            found["pycute wrong" if not right else "different"] += 1
            if right:
                print(name, own, mine, other, file=sys.stderr)
    return found


def sample(cases):
    """The share of the cases that LAYOUT_SAMPLE=SEED/SHARE asks for, and the seed."""
    seed, share = map(int, os.environ.get("LAYOUT_SAMPLE", "0/1").split("/"))
    return max(1, cases // share), seed


class Algebra(unittest.TestCase):
    def test_operations_follow_their_definitions(self):
        for name, (ours, _, law) in OPERATIONS.items():
            rng = random.Random(name)
            for _ in range(300):
                own = [tl.LayoutFunction(spelled(random_text(rng))) for _ in range(2)]
                found = answer(ours, *own)
                self.assertTrue(found is None or law(*map(values, own), values(found)), f"{name} of {own}: {found}")

    @unittest.skipUnless(find_spec("pycute"), "pycute is not installed")
    def test_pycute_answers_the_same(self):
        import pycute

        cases, seed = sample(6000)
        for name in OPERATIONS:
            found = compared(name, pycute, cases, seed)
            self.assertEqual((found["different"], found["same"] > cases // 12), (0, True), f"{name}: {found}")

    def test_operators_and_arguments(self):
        layout = tl.LayoutFunction("(4,8):(8,1)")
        self.assertEqual(str(layout / [2, None]), "((2,2),8):((8,16),1)")
        self.assertEqual(str(tl.LayoutFunction("4:2") * 3), "(4,3/(2,2)):(2,(1,8))")
        self.assertEqual(layout((1, 2)), 10)
        self.assertEqual(tl.LayoutFunction("(4,2):(1@lane,1)")(5), (1, 1))
        self.assertIn("<svg", layout._repr_svg_())
        with self.assertRaises(tl.LayoutError) as caught:
            tl.LayoutFunction("(4,2):(1,2,3)")
        self.assertEqual(caught.exception.at, 6)
        with self.assertRaises(tl.LayoutError):
            layout((1, 9))
