"""Arrays into memory and back, against the meaning of a layout written in NumPy."""

import random
import unittest
from importlib.util import find_spec

import numpy as np
import tensor_layout as tl


def laid_out(array, order, tile):
    """The memory of an array whose last dimensions in memory order are cut into one tile."""
    array = array.transpose(order)
    leading = array.ndim - len(tile)
    array = np.pad(array, [(0, 0)] * leading + [(0, -n % t) for n, t in zip(array.shape[leading:], tile)])
    cut = list(array.shape[:leading])
    for size, t in zip(array.shape[leading:], tile):
        cut += [size // t, t]
    outer, inner = range(leading, len(cut), 2), range(leading + 1, len(cut), 2)
    return array.reshape(cut).transpose([*range(leading), *outer, *inner]).reshape(-1)


class Packing(unittest.TestCase):
    def test_as_numpy_does(self):
        rng = random.Random(5)
        for _ in range(200):
            rank = rng.randint(1, 4)
            sizes = [rng.randint(1, 20) for _ in range(rank)]
            order = rng.sample(range(rank), rank)
            tile = [rng.choice([1, 2, 4, 8]) for _ in range(rng.randint(0, rank))]
            dtype, element = rng.choice([("int8", "s8"), ("float16", "f16"), ("float32", "f32"), ("float64", "f64"), ("complex128", "c128")])
            array = (np.arange(np.prod(sizes)) % 100 + 1).astype(dtype).reshape(sizes)
            tiles = f":T({','.join(map(str, tile))})" if tile else ""
            text = f"{element}[{','.join(map(str, sizes))}]{{{','.join(map(str, reversed(order)))}{tiles}}}"
            memory = tl.pack(array, text)
            np.testing.assert_array_equal(memory, laid_out(array, order, tile), text)
            self.assertEqual(memory.dtype, array.dtype)
            np.testing.assert_array_equal(tl.unpack(memory, text), array, text)
            np.testing.assert_array_equal(memory[tl.offsets(text)], array, text)
            self.assertEqual(tl.offsets(text)[tuple(n - 1 for n in sizes)], tl.Shape(text).offset([n - 1 for n in sizes]))

    def test_padding(self):
        for padding in (7, -1.5, float("inf")):
            memory = tl.pack(np.zeros((3, 5), np.float32), "f32[3,5]{1,0:T(2,2)}", padding)
            self.assertEqual((memory == padding).sum(), 9)

    def test_views_of_arrays(self):
        array = np.arange(60, dtype=np.int32).reshape(6, 10)
        for view in (array[::2], array.T, array[:, ::-1], np.broadcast_to(array[0], (4, 10))):
            shape = tl.Shape.of("s32", view.shape, tl.Layout("{1,0:T(2,4)}"))
            np.testing.assert_array_equal(shape.unpack(shape.pack(view)), view)
        big = np.arange(6, dtype=">i4").reshape(2, 3)
        np.testing.assert_array_equal(tl.pack(big, "s32[2,3]"), np.arange(6))

    def test_ends(self):
        self.assertEqual(tl.pack(np.float32(3), "f32[]{:T(128)}").tolist(), [3] + [0] * 127)
        self.assertEqual(tl.pack(np.zeros((0, 3), np.float32), "f32[0,3]{1,0:T(8,128)}").size, 0)
        self.assertEqual(tl.unpack(np.zeros(0, np.float32), "f32[0,3]").shape, (0, 3))
        self.assertEqual(tl.pack(np.array([True, False, True]), "pred[3]{0:E(1)}").tolist(), [5])
        self.assertEqual(tl.pack(np.array([True, False]), "pred[2]{0:E(32)}").tolist(), [1, 0, 0, 0, 0, 0, 0, 0])
        self.assertEqual(tl.unpack(b"\x05", "pred[3]{0:E(1)}").tolist(), [True, False, True])

    def test_errors(self):
        array = np.zeros((3, 5), np.float32)
        memory = tl.pack(array, "f32[3,5]{1,0:T(2,2)}")
        for function, arguments, message in (
            (tl.pack, (array, "f32[5,3]"), "the sizes (5, 3), found (3, 5)"),
            (tl.pack, (array, "s32[3,5]"), "elements of type s32, found float32"),
            (tl.pack, (array, "f32[3,5]{1,0:SC(0:1)}"), "cut across memories"),
            (tl.pack, (array, "f32[3,5]{1,0:M(64)}"), "metadata"),
            (tl.pack, (array, "f32[3,5]{1,0:E(16)}"), "does not hold"),
            (tl.pack, (array, "{0}"), "list 2 dimensions"),
            (tl.pack, (np.array(["a"]), "{0}"), "no element type"),
            (tl.unpack, (memory[1:], "f32[3,5]{1,0:T(2,2)}"), "must have 96 bytes, found 92"),
            (tl.unpack, (memory, "{1,0}"), "a layout alone"),
            (tl.pack, (array, "(f32[3,5])"), "expected an array"),
        ):
            with self.assertRaises(tl.LayoutError) as caught:
                function(*arguments)
            self.assertIn(message, str(caught.exception))

    @unittest.skipUnless(find_spec("ml_dtypes"), "ml_dtypes is not installed")
    def test_small_floats_and_integers(self):
        import ml_dtypes

        for name, element in (
            ("bfloat16", "bf16"),
            ("float8_e4m3fn", "f8e4m3fn"),
            ("float8_e5m2", "f8e5m2"),
            ("float8_e4m3b11fnuz", "f8e4m3b11fnuz"),
            ("float4_e2m1fn", "f4e2m1fn"),
            ("int4", "s4"),
            ("uint4", "u4"),
            ("int2", "s2"),
        ):
            array = (np.arange(17 * 9) % 2 * 2 - 1 if element[0] != "u" else np.arange(17 * 9) % 9)
            array = array.astype(getattr(ml_dtypes, name)).reshape(17, 9)
            for layout in ("{1,0:T(8,4)(2,1)}", "{0,1:T(8,4)E(4)}") if element in ("s4", "u4", "f4e2m1fn") else ("{1,0:T(8,4)(2,1)}",):
                shape = tl.Shape.of(element, array.shape, tl.Layout(layout))
                memory = shape.pack(array)
                self.assertEqual(memory.nbytes, shape.padded_bytes)
                again = shape.unpack(memory)
                self.assertEqual(again.dtype, array.dtype)
                np.testing.assert_array_equal(again.astype(np.float32), array.astype(np.float32), str(shape))


if __name__ == "__main__":
    unittest.main()
