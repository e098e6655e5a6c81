"""Programs whose plans are measured: those beside which the planner was made."""

import jax
import jax.numpy as jnp
from jax import lax

from bench.programs import Programs
from bench.programs.parts import array, conv


def decode_bhsd(q, k, v):
    a = jax.nn.softmax(jnp.einsum("bhgd,bhsd->bhgs", q, k) / 8.0, -1)
    return jnp.einsum("bhgs,bhsd->bhgd", a, v)


def decode_bshd(q, k, v):
    a = jax.nn.softmax(jnp.einsum("bhd,bshd->bhs", q, k) / 8.0, -1)
    return jnp.einsum("bhs,bshd->bhd", a, v)


def gru(x, w, u):
    def step(h, z):
        a, b = z @ w, h @ u
        r = jax.nn.sigmoid(a[:, :96] + b[:, :96])
        y = jax.nn.sigmoid(a[:, 96:192] + b[:, 96:192])
        n = jnp.tanh(a[:, 192:] + r * b[:, 192:])
        h = (1 - y) * n + y * h
        return h, h

    return lax.scan(step, jnp.zeros((x.shape[1], 96)), x)


def groupnorm(x, w, g, b):
    y = conv(x, w)
    z = y.reshape(*y.shape[:3], 8, y.shape[3] // 8)
    m, v = z.mean((1, 2, 4), keepdims=True), z.var((1, 2, 4), keepdims=True)
    return jax.nn.silu(((z - m) * lax.rsqrt(v + 1e-5)).reshape(y.shape) * g + b)


def mixer(x, a, b, c, d):
    y = jax.nn.gelu(jnp.swapaxes(x, 1, 2) @ a) @ b
    x = x + jnp.swapaxes(y, 1, 2)
    return x + jax.nn.gelu(x @ c) @ d


def logreg(w, b, x, y):
    def loss(p):
        logits = jax.nn.log_softmax(x @ p[0] + p[1])
        return -jnp.mean(jnp.take_along_axis(logits, y[:, None], 1))

    g = jax.grad(loss)((w, b))
    return w - 0.1 * g[0], b - 0.1 * g[1]


def kmeans(x, c):
    i = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
    o = jax.nn.one_hot(i, c.shape[0])
    return (o.T @ x) / (o.sum(0)[:, None] + 1e-6), i


def swin(x, w):
    b, h, v, c = x.shape
    y = x.reshape(b, h // 7, 7, v // 7, 7, c).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 49, c)
    a = jax.nn.softmax(y @ jnp.swapaxes(y, 1, 2), -1) @ y @ w
    return a.reshape(b, h // 7, v // 7, 7, 7, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h, v, c)


def rms_mlp(x, w, a, b, c):
    h = (x * lax.rsqrt((x.astype(jnp.float32) ** 2).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * w
    return x + (jax.nn.silu(h @ a) * (h @ b)) @ c


def rope(x, c, s):
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def unet(x, w, u):
    z = jnp.repeat(jnp.repeat(jax.nn.relu(conv(x, w, 2)), 2, 1), 2, 2)
    return conv(jnp.concatenate([x, z], -1), u)


def stem_pool(x, w):
    y = lax.reduce_window(conv(x, w, 2), -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return y.mean((1, 2))


def adam(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def own() -> Programs:
    half, whole = jnp.bfloat16, jnp.int32
    cache = array(8, 8, 2048, 64, of=half)
    heads = array(4, 1024, 16, 64, of=half)
    wide = array(512, 1376, of=half)
    return {
        "decode_bhsd": (decode_bhsd, [array(8, 8, 4, 64, of=half), cache, cache]),
        "decode_bshd": (decode_bshd, [array(4, 16, 64, of=half), heads, heads]),
        "stem7": (lambda x, w: conv(x, w, 2), [array(8, 224, 224, 3, of=half), array(7, 7, 3, 64, of=half)]),
        "gru": (gru, [array(20, 8, 50), array(50, 288), array(96, 288)]),
        "groupnorm": (groupnorm, [array(2, 32, 32, 40), array(3, 3, 40, 64), array(64), array(64)]),
        "mixer": (
            mixer,
            [array(4, 196, 256), array(196, 384), array(384, 196), array(256, 1024), array(1024, 256)],
        ),
        "logreg": (logreg, [array(300, 17), array(17), array(500, 300), array(500, of=whole)]),
        "kmeans": (kmeans, [array(1000, 20), array(33, 20)]),
        "conv1d": (
            lambda x, w, v: conv(jax.nn.relu(conv(x, w)), v),
            [array(4, 1000, 12), array(5, 12, 32), array(5, 32, 24)],
        ),
        "swin": (swin, [array(2, 28, 28, 96), array(96, 96)]),
        "sortk": (lambda x: (jnp.sort(x, axis=1), lax.top_k(x, 5)), [array(50, 300)]),
        "rms_mlp": (
            rms_mlp,
            [array(2, 100, 512, of=half), array(512, of=half), wide, wide, array(1376, 512, of=half)],
        ),
        "depthwise": (
            lambda x, w, p: conv(jax.nn.relu6(conv(x, w, groups=x.shape[-1])), p),
            [array(2, 30, 30, 72), array(3, 3, 1, 72), array(1, 1, 72, 24)],
        ),
        "softmax0": (lambda x: jax.nn.softmax(x, 0), [array(40, 30, 7)]),
        "transp": (lambda x, y: (x.transpose(2, 0, 1) + y, x.sum(1)), [array(20, 50, 300), array(300, 20, 50)]),
        "rope": (rope, [array(2, 100, 8, 64), array(100, 1, 32), array(100, 1, 32)]),
        "bmm_thin": (
            lambda a, b: jnp.einsum("bik,bkj->bij", a, b),
            [array(32, 8, 64, of=half), array(32, 64, 300, of=half)],
        ),
        "unet": (unet, [array(1, 64, 64, 8), array(3, 3, 8, 16), array(3, 3, 24, 8)]),
        "stem_pool": (stem_pool, [array(4, 64, 64, 3), array(3, 3, 3, 48)]),
        "cumsum": (lambda x: (jnp.cumsum(x, 1), x.argmax(-1)), [array(30, 100, 40)]),
        "adam": (adam, [array(100, 30, 3)] * 4),
    }
