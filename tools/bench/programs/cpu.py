"""Programs that run on a CPU in planned and in row-major layouts: most transpose, or reduce what is not minor."""

import jax
import jax.numpy as jnp

from bench.programs import Programs
from bench.programs.parts import array, conv


def axial(x):
    """A softmax along each dimension in turn."""

    def softmax(y):
        e = jnp.exp(y - y.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    x = x + softmax(x.transpose(1, 2, 0)).transpose(2, 0, 1)
    x = x + softmax(x.transpose(0, 2, 1)).transpose(0, 2, 1)
    return x + softmax(x)


def channels_first(x, w, u, g):
    y = jax.nn.relu(conv(x, w, order="NCHW"))
    mean = y.mean((0, 2, 3), keepdims=True)
    variance = ((y - mean) ** 2).mean((0, 2, 3), keepdims=True)
    y = (y - mean) * jax.lax.rsqrt(variance + 1e-5) * g[None, :, None, None]
    return x + conv(y, u, order="NCHW")


def grid(x):
    """Smooths along the middle dimension, three times."""
    for _ in range(3):
        y = x.transpose(2, 0, 1)
        y = 0.25 * jnp.roll(y, 1, -1) + 0.5 * y + 0.25 * jnp.roll(y, -1, -1)
        x = 0.5 * y.transpose(1, 2, 0) + 0.5 * x
    return x


def heads(x, wq, wk, wv, wo):
    b, t, d = x.shape
    q, k, v = ((x @ w).reshape(b, t, 8, -1) for w in (wq, wk, wv))
    scores = q.transpose(0, 2, 1, 3) @ k.transpose(0, 2, 3, 1) / 8.0
    y = jax.nn.softmax(scores, -1) @ v.transpose(0, 2, 1, 3)
    return y.transpose(0, 2, 1, 3).reshape(b, t, d) @ wo


def kron(x, a, b, c):
    """A matrix for each dimension of an array."""
    for w in (a, b, c):
        x = jnp.tensordot(x, w, (0, 0))
    return x


def mixer(x, a, b, c, d):
    x = x + (jax.nn.silu(x.transpose(0, 2, 1) @ a) @ b).transpose(0, 2, 1)
    return x + jax.nn.silu(x @ c) @ d


def mlp_grad(x, y, w, v):
    def loss(w, v):
        h = jax.lax.logistic(x @ w.T)
        return ((h @ v.T - y) ** 2).mean()

    dw, dv = jax.grad(loss, (0, 1))(w, v)
    return w - 0.1 * dw, v - 0.1 * dv


def power(x, v):
    for _ in range(4):
        v = x.T @ (x @ v)
        v = v / jnp.sqrt((v * v).sum(0, keepdims=True))
    return v.T


def transposes(x, y, z):
    a = jnp.exp(x.T)
    a = a / a.sum(1, keepdims=True)
    b = y * a.T
    b = b - b.mean(0, keepdims=True)
    c = b.T * z
    c = c / (jnp.abs(c).max(1, keepdims=True) + 1)
    return c.T + x, c * a


def cpu() -> Programs:
    square = array(512, 512)
    return {
        "axial": (axial, [array(96, 128, 80)]),
        "channels_first": (
            channels_first,
            [array(4, 32, 56, 56), array(32, 32, 3, 3), array(32, 32, 3, 3), array(32)],
        ),
        "grid": (grid, [array(64, 96, 128)]),
        "heads": (heads, [array(2, 256, 512), square, square, square, square]),
        "kron": (kron, [array(96, 64, 128), array(96, 96), array(64, 64), array(128, 128)]),
        "mixer": (mixer, [array(8, 196, 256), array(196, 384), array(384, 196), array(256, 512), array(512, 256)]),
        "mlp_grad": (mlp_grad, [array(128, 512), array(128, 256), array(768, 512), array(256, 768)]),
        "power": (power, [array(1024, 512), array(512, 32)]),
        "transposes": (transposes, [array(768, 1024), array(768, 1024), array(1024, 768)]),
    }
