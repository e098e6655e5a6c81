"""What docs/out-of-memory.md does: from the error to a program that fits."""

import unittest

from tpu_advice import BF16, S32, array

import jax
import jax.numpy as jnp

import tensor_layout as tl


def step(k, v, new, at, q):
    k = jax.lax.dynamic_update_slice(k, new, (0, 0, at, 0))
    v = jax.lax.dynamic_update_slice(v, new, (0, 0, at, 0))
    scores = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(jnp.float32)).astype(jnp.bfloat16)
    return jnp.einsum("bhqk,bhkd->bhqd", scores, v), k, v


class Page(unittest.TestCase):
    def test_a_cache_that_does_not_fit(self):
        keys, one, at = array(BF16, 64, 32, 8192, 128), array(BF16, 64, 32, 1, 128), array(S32)

        found = tl.report(step, keys, keys, one, at, one)
        self.assertGreater(found.peak.bytes, found.peak.capacity)
        self.assertEqual(found.advice[0].code, 'jax.jit(f, donate_argnames=("k", "v",))')
        self.assertEqual(found.advice[0].saves, 8 << 30)

        fixed = tl.report(jax.jit(step, donate_argnames=("k", "v")), keys, keys, one, at, one)
        self.assertLess(fixed.peak.bytes, fixed.peak.capacity)


if __name__ == "__main__":
    unittest.main()
