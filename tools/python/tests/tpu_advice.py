"""The advice of reports, applied: XLA:TPU's own peak falls by what was said, within 5 %.

Programs are compiled ahead of time for a v5e, without a device.
"""

import os

os.environ |= {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_MIN_LOG_LEVEL": "3",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_WORKER_HOSTNAMES": "localhost",
}

import subprocess
import sys
import unittest
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

import tensor_layout as tl

PLACE = SingleDeviceSharding(topologies.get_topology_desc(topology_name="v5e:2x2", platform="tpu").devices[0])


def array(dtype, *sizes):
    return jax.ShapeDtypeStruct(sizes, dtype, sharding=PLACE)


def lowered(function, *arguments, **options):
    return jax.jit(function, **options).lower(*arguments)


def table(t, i, y):
    """An embedding that is read and updated: it is copied into another layout and back."""
    return ((t[i] - y) ** 2).sum(), t.at[i].add(y)


def lookup(t, i, y):
    return ((t[i] - y) ** 2).sum()


def matrix(t, i):
    return jnp.take(t, i, axis=0).astype(jnp.bfloat16) @ jnp.ones((512, 8), jnp.bfloat16)


def cache(k, v, q, new, at):
    """A step over keys and values that are updated."""
    k, v = (jax.lax.dynamic_update_slice(own, new, (0, 0, at, 0)) for own in (k, v))
    scores = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(jnp.float32), axis=-1).astype(jnp.bfloat16)
    return jnp.einsum("bhqk,bhkd->bhqd", scores, v), k, v


def images(x, w, narrow=lambda y: y):
    """Three channels; `narrow` is applied to what the convolution makes."""

    def loss(w):
        y = narrow(jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.tanh(y).sum()

    return jax.value_and_grad(loss)(w)


def layers(checkpoint):
    """The gradient of six layers; `checkpoint` is applied to each."""

    def layer(x, w1, w2):
        h = jax.nn.gelu(x @ w1)
        return checkpoint_name(x + h @ w2, "kept")

    def loss(ws, x):
        for w1, w2 in ws:
            x = checkpoint(layer)(x, w1, w2)
        return (x.astype(jnp.float32) ** 2).sum()

    return jax.grad(loss)


def attention(checkpoint):
    """The gradient of six layers whose scores are kept."""

    def layer(h, k, v):
        s = jnp.einsum("bhqd,bhkd->bhqk", h, k) / 8
        p = jax.nn.softmax(s.astype(jnp.float32), axis=-1).astype(jnp.bfloat16)
        return jnp.einsum("bhqk,bhkd->bhqd", p, v)

    def loss(q, k, v):
        h = q
        for _ in range(6):
            h = checkpoint(layer)(h, k, v)
        return h.astype(jnp.float32).sum()

    return jax.grad(loss, (0, 1, 2))


def recurrent(w, u, xs):
    """The gradient of a loop that stacks what it carries."""

    def loss(w, u):
        def cell(h, x):
            h = jnp.tanh(h @ w + x @ u)
            return h, h

        _, hs = jax.lax.scan(cell, jnp.zeros((xs.shape[1], w.shape[0])), xs)
        return jnp.mean(hs**2)

    return jax.grad(loss, (0, 1))(w, u)


def convolutions(ws, x, narrow=lambda y: y):
    """A step of four convolutions; `narrow` is applied to what each makes."""

    def loss(ws):
        h = x
        for w in ws:
            y = jax.lax.conv_general_dilated(h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.relu(narrow(y))
        return jnp.mean(h**2)

    return jax.tree.map(lambda w, g: w - g, ws, jax.grad(loss)(ws))


def masked(x, mask):
    scores = jnp.where(mask, jnp.einsum("bqd,bkd->bqk", x, x), -1e9)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), x)


def adam(p, m, v, x, y, checkpoint=lambda layer: layer):
    """A step of Adam for layers with hidden values; `checkpoint` is applied to each."""

    def layer(h, w1, w2):
        return h + jax.nn.gelu(h @ w1) @ w2

    def loss(p):
        h = x
        for w1, w2 in p:
            h = checkpoint(layer)(h, w1, w2)
        return jnp.mean((h - y) ** 2)

    g = jax.grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v), m, v


F32, BF16, S32 = jnp.float32, jnp.bfloat16, jnp.int32
TABLE = (array(F32, 2000000, 300), array(S32, 8192), array(F32, 8192, 300))
CACHE = (*[array(BF16, 16, 32, 8192, 128)] * 2, *[array(BF16, 16, 32, 1, 128)] * 2, array(S32))
IMAGES = (array(F32, 256, 512, 512, 3), array(F32, 3, 3, 3, 8))
LAYERS = ([(array(BF16, 1024, 4096), array(BF16, 4096, 1024))] * 6, array(BF16, 65536, 1024))
RECURRENT = (array(F32, 1024, 1024), array(F32, 256, 1024), array(F32, 256, 256, 256))
WEIGHTS = [array(F32, 3, 3, *ends) for ends in ((3, 32), (32, 64), (64, 64), (64, 3))]
STATE = [(array(F32, 2048, 8192), array(F32, 8192, 2048))] * 3
ADAM = (STATE, STATE, STATE, array(F32, 4096, 2048), array(F32, 4096, 2048))
HEADS = [array(BF16, 4, 16, 2048, 64)] * 3


class Advice(unittest.TestCase):
    def check(self, before, after, kind, code):
        """The first advice of a kind has this code, and XLA's peak falls by what it says."""
        compiled = before.compile()
        found = tl.report(compiled)
        advice = next(own for own in found.advice if own.kind == kind)
        self.assertIn(code, advice.code)
        peak = compiled.memory_analysis().peak_memory_in_bytes
        self.assertAlmostEqual(found.peak.bytes / peak, 1, delta=0.05)
        fall = peak - after.compile().memory_analysis().peak_memory_in_bytes
        self.assertAlmostEqual(advice.saves / fall, 1, delta=0.05, msg=f"{advice} and {fall}")

    def check_fits(self, before, after, kind):
        """The first advice on a program that does not fit is of a kind, and XLA's peak then is what it says."""
        found = tl.report(before)
        self.assertGreater(found.peak.bytes, found.peak.capacity)
        advice, fell = found.advice[0], found.peak.bytes - after.compile().memory_analysis().peak_memory_in_bytes
        self.assertEqual(advice.kind, kind)
        self.assertAlmostEqual(advice.saves / fell, 1, delta=0.05, msg=f"{advice} and {fell}")

    def test_donation_of_a_cache(self):
        after = lowered(cache, *CACHE, donate_argnames=("k", "v"))
        self.check(lowered(cache, *CACHE), after, "donate", 'donate_argnames=("k", "v",)')

    def test_donation_of_a_table(self):
        self.check(lowered(table, *TABLE), lowered(table, *TABLE, donate_argnames=("t",)), "donate", '("t",)')

    def test_layout_of_an_argument(self):
        o = Format(Layout(major_to_minor=(0, 1)), PLACE)
        after = lowered(lookup, *TABLE, in_shardings=(o, None, None))
        self.check(lowered(lookup, *TABLE), after, "layout", "major_to_minor=(0, 1)")

    def test_type_of_an_argument(self):
        before, after = ((array(own, 1000000, 512), array(S32, 4096)) for own in (F32, BF16))
        widened = lowered(lambda t, i: matrix(t.astype(F32), i), *after)
        self.check(lowered(matrix, *before), widened, "type", "f(t.astype(jnp.bfloat16))")

    def test_type_of_an_argument_that_is_copied(self):
        narrow = (array(BF16, 2000000, 300), *TABLE[1:])
        after = lowered(lambda t, i, y: lookup(t.astype(F32), i, y), *narrow)
        self.check(lowered(lookup, *TABLE), after, "type", "f(t.astype(jnp.bfloat16))")

    def test_type_of_what_a_line_makes(self):
        after = lowered(lambda x, w: images(x, w, lambda y: y.astype(BF16)), *IMAGES)
        self.check(lowered(images, *IMAGES), after, "type", "conv_general_dilated")

    def test_type_of_what_a_loop_reads(self):
        """XLA converts it before the loop; what the loop carries and stacks has the type of its body."""
        before, (w, u, xs) = lowered(recurrent, *RECURRENT), RECURRENT
        after = lowered(lambda w, u, xs: recurrent(w, u, xs.astype(F32)), w, u, array(BF16, *xs.shape))
        self.check(before, after, "type", "f(xs.astype(jnp.bfloat16))")

    def test_type_of_what_a_convolution_reads(self):
        x = array(F32, 8, 256, 256, 3)
        widened = ".astype(jnp.bfloat16).astype(jnp.float32)"
        after = lowered(lambda ws, x: convolutions(ws, x, lambda y: y.astype(BF16).astype(F32)), WEIGHTS, x)
        self.check(lowered(convolutions, WEIGHTS, x), after, "type", widened)

    def test_no_type_of_what_a_kernel_reads(self):
        """XLA has a kernel for softmax of f32; of bf16 it copies the mask."""
        compiled = lowered(masked, array(F32, 8, 2048, 128), array(jnp.bool_, 8, 2048, 2048)).compile()
        self.assertNotIn("type", [own.kind for own in tl.report(compiled).advice])

    def test_donation_and_values_of_a_step_of_adam(self):
        before = lowered(adam, *ADAM)
        given = lowered(adam, *ADAM, donate_argnames=("p", "m", "v"))
        self.check(before, given, "donate", '("p", "m", "v",)')
        again = lowered(lambda *a: adam(*a, jax.checkpoint), *ADAM)
        self.check(before, again, "recompute", "g = jax.checkpoint(g)")

    def test_order_of_dimensions(self):
        """Numbers by rows of 8 by 4, and the same with the long dimension last."""
        for dtype, f in [(S32, lambda x, axis: (x % 7).sum(axis)), (BF16, lambda x, axis: jnp.tanh(x).max(axis))]:
            flat = array(dtype, 1 << 25)
            before = lowered(lambda x: f(x.reshape(1 << 20, 8, 4), 1), flat)
            after = lowered(lambda x: f(x.reshape(8, 4, 1 << 20), 0), flat)
            self.check(before, after, "order", ".reshape(8, 4, 1048576)")

    def test_order_of_channels(self):
        """A program that does not fit, whose pixels XLA stores in a smaller layout in between."""

        def statistics(pixels, shape, axis):
            rgb = pixels.reshape(shape).astype(F32) / 255.0
            linear = jnp.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
            return linear.mean(axis), linear.std(axis), rgb.max(axis)

        flat, many = array(jnp.uint8, 3 << 26), 1 << 26
        before = lowered(lambda x: statistics(x, (many, 3), 0), flat)
        self.check_fits(before, lowered(lambda x: statistics(x, (3, many), 1), flat), "order")

    def test_type_of_scores(self):
        """What softmax makes of scores, and the gradients, have their type."""

        def step(q, k, v, dtype):
            def loss(q, k):
                scores = jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(dtype)
                return jnp.square(jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)).mean()

            return jax.grad(loss, (0, 1))(q, k)

        heads = [array(F32, 8, 16, 4096, 64)] * 3
        self.check_fits(*(lowered(lambda *a, t=t: step(*a, t), *heads) for t in (F32, BF16)), "type")

    def test_orders_and_sizes_that_change_nothing(self):
        """XLA lays out what a product makes, and a dimension of 8 takes more than one of 3."""
        x, w = array(F32, 64, 4096, 512), array(F32, 512, 3)
        orders = [lowered(lambda x, w, to=to: jnp.einsum(f"btd,dh->{to}", x, w), x, w) for to in ("bth", "hbt", "bht")]
        self.assertEqual(len({own.compile().memory_analysis().peak_memory_in_bytes for own in orders}), 1)
        rows = [lowered(lambda p, i: jnp.sin(p[i]).sum(), array(F32, 1 << 20, n), array(S32, 1 << 22)) for n in (3, 8)]
        three, eight = (own.compile().memory_analysis().peak_memory_in_bytes for own in rows)
        self.assertLess(three, eight)

    def test_values_of_a_line_are_made_again(self):
        policy = jax.checkpoint_policies.save_only_these_names("kept")
        after = lowered(layers(lambda layer: jax.checkpoint(layer, policy=policy)), *LAYERS)
        self.check(lowered(layers(lambda layer: layer), *LAYERS), after, "recompute", "save_only_these_names(")

    def test_scores_are_made_again(self):
        after = lowered(attention(jax.checkpoint), *HEADS)
        self.check(lowered(attention(lambda layer: layer), *HEADS), after, "recompute", "g = jax.checkpoint(g)")


class TheWayIn(unittest.TestCase):
    def test_a_program_that_does_not_fit(self):
        large = (*[array(BF16, 64, 32, 8192, 128)] * 2, *[array(BF16, 64, 32, 1, 128)] * 2, array(S32))
        for program, arguments in [(lowered(cache, *large), ()), (cache, large)]:
            found = tl.report(program, *arguments)
            self.assertEqual(found.module, "jit_cache")
            self.assertGreater(found.peak.bytes, found.peak.capacity)
            self.assertEqual((found.advice[0].kind, found.advice[0].saves), ("donate", 8 << 30))
        with self.assertRaises(Exception) as raised, tl.watch():
            lowered(cache, *large).compile()
        # XLA has read before where to dump, so there is what the error says.
        self.assertGreater(raised.exception.report.needed, raised.exception.report.available)

    def test_watch_around_a_whole_script(self):
        script = """
import tensor_layout as tl
try:
    with tl.watch():
        from tpu_advice import BF16, S32, array, cache, lowered
        lowered(cache, *[array(BF16, 64, 32, 8192, 128)] * 2, *[array(BF16, 64, 32, 1, 128)] * 2, array(S32)).compile()
except Exception as error:
    print(error.report.module, error.report.advice[0].code)
"""
        done = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, capture_output=True, text=True)
        self.assertEqual(done.stdout, 'jit_cache jax.jit(f, donate_argnames=("k", "v",))\n', done.stderr)



if __name__ == "__main__":
    unittest.main()
