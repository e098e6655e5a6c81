"""Programs that were written after the rules of the planner, and planned once: KEPT_APART maps a name to a function and its
arguments."""

import jax
import jax.numpy as jnp
from jax import lax


def array(*sizes, of=jnp.float32):
    return jax.ShapeDtypeStruct(sizes, of)


def windowed_attention(q, k, v, bias):
    s = jnp.einsum("bthd,bshd->bhts", q, k).astype(jnp.float32) + bias
    i = jnp.arange(q.shape[1])
    s = jnp.where(jnp.abs(i[:, None] - i) < 9, s, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(s, -1).astype(v.dtype), v)


def gated_unit(xs, wf, wh, h):
    def step(h, x):
        f = jax.nn.sigmoid(jnp.concatenate([x, h], -1) @ wf)
        h = (1 - f) * h + f * jnp.tanh(jnp.concatenate([x, f * h], -1) @ wh)
        return h, h.sum(-1)

    return lax.scan(step, h, xs)


def smoothed_loss(x, y):
    p = jax.nn.log_softmax(x.astype(jnp.float32), -1)
    t = jax.nn.one_hot(y, x.shape[-1]) * 0.9 + 0.1 / x.shape[-1]
    return -(t * p).sum(-1).mean()


def gated_line(x, w, v, p):
    def wide(k):
        numbers = ("NWC", "WIO", "NWC")
        return lax.conv_general_dilated(x, k, (1,), [(4, 0)], rhs_dilation=(2,), dimension_numbers=numbers)

    return x + (jnp.tanh(wide(w)) * jax.nn.sigmoid(wide(v))) @ p


def normed_heads(x, wq, wk, g):
    def heads(w):
        y = (x @ w).reshape(*x.shape[:2], 5, -1)
        return y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6) * g

    return jnp.einsum("bthd,bshd->bhts", heads(wq), heads(wk))


def triplet(a, p, n):
    def far(u, v):
        return ((u - v) ** 2).sum(-1)

    return jnp.maximum(far(a, p) - far(a, n) + 0.3, 0).mean()


def linear_system(us, a, b, x):
    def step(x, u):
        x = jnp.einsum("ij,nj->ni", a, x) + u @ b
        return x, x[:, :3]

    return lax.scan(step, x, us)


def fourier(x, b, w):
    y = x @ b
    return jnp.concatenate([jnp.sin(y), jnp.cos(y)], -1) @ w


def soft_experts(x, r, w):
    g = jax.nn.softmax(jnp.einsum("btd,de->bte", x, r), -1)
    return jnp.einsum("bte,btef->btf", g, jnp.einsum("btd,edf->btef", x, w))


def dice(x, m):
    p, t = jax.nn.sigmoid(x), m.astype(x.dtype)
    return 1 - (2 * (p * t).sum((2, 3)) + 1) / (p.sum((2, 3)) + t.sum((2, 3)) + 1)


def generated(x, z, g):
    w = (z @ g).reshape(z.shape[0], x.shape[-1], -1)
    return jax.nn.relu(jnp.einsum("bnd,bde->bne", x, w))


def chain_field(x, t, y):
    def step(a, e):
        return jax.nn.logsumexp(a[:, :, None] + t, 1) + e, None

    a = lax.scan(step, x[0], x[1:])[0]
    gold = jnp.take_along_axis(x, y[..., None], 2).sum((0, 2))
    return jax.nn.logsumexp(a, 1) - gold


def kept_apart():
    half, whole = jnp.bfloat16, jnp.int32
    return {
        "windowed_attention": (windowed_attention, [array(3, 75, 5, 40, of=half)] * 3 + [array(5, 75, 75)]),
        "gated_unit": (gated_unit, [array(21, 14, 37), array(37 + 45, 45), array(37 + 45, 45), array(14, 45)]),
        "smoothed_loss": (jax.value_and_grad(smoothed_loss), [array(330, 75, of=half), array(330, of=whole)]),
        "gated_line": (gated_line, [array(5, 210, 36), array(3, 36, 36), array(3, 36, 36), array(36, 36)]),
        "normed_heads": (
            normed_heads,
            [array(3, 85, 160, of=half), array(160, 160, of=half), array(160, 160, of=half), array(32)],
        ),
        "triplet_grad": (jax.grad(triplet, (0, 1, 2)), [array(450, 6, 20)] * 3),
        "linear_system": (linear_system, [array(25, 30, 7), array(52, 52), array(7, 52), array(30, 52)]),
        "fourier": (fourier, [array(7, 90, 11), array(11, 75), array(150, 28)]),
        "soft_experts": (soft_experts, [array(3, 55, 36), array(36, 7), array(7, 36, 45)]),
        "dice": (dice, [array(5, 6, 33, 47), array(5, 6, 33, 47, of=jnp.uint8)]),
        "generated": (generated, [array(9, 65, 24), array(9, 20), array(20, 24 * 35)]),
        "chain_field": (chain_field, [array(26, 18, 29), array(29, 29), array(26, 18, of=whole)]),
    }


KEPT_APART = kept_apart()
