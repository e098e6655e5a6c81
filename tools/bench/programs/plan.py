"""Programs whose plans are measured: those beside which the planner was made, and those written after it, of other kinds."""

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


def interleaved(x, factor):
    """Depth to space: blocks of features become blocks of rows and columns."""
    b, h, v, _ = x.shape
    y = x.reshape(b, h, v, factor, factor, -1).transpose(0, 1, 3, 2, 4, 5)
    return y.reshape(b, factor * h, factor * v, -1)


def space_to_depth(x, w):
    b, h, v, c = x.shape
    return x.reshape(b, h // 4, 4, v // 4, 4, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h // 4, v // 4, 16 * c) @ w


def mahalanobis(x, m, s):
    d = x - m
    return jnp.sqrt(jnp.einsum("ni,ij,nj->n", d, s, d))


def rotary(x, c, s):
    a, b = x[..., ::2], x[..., 1::2]
    return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


def causal(q, k):
    s = jnp.einsum("bthd,bshd->bhts", q, k)
    i = lax.broadcasted_iota(jnp.int32, s.shape[-2:], 0)
    j = lax.broadcasted_iota(jnp.int32, s.shape[-2:], 1)
    return jax.nn.softmax(jnp.where(j <= i, s, -1e9), -1)


def group_norm(x, g, b):
    n, h, w, c = x.shape
    y = x.reshape(n, h * w, 6, c // 6)
    m, v = y.mean((1, 3), keepdims=True), y.var((1, 3), keepdims=True)
    return ((y - m) * lax.rsqrt(v + 1e-5)).reshape(x.shape) * g + b


def im2col(x, w):
    return lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) @ w


def stacked_windows(x, w):
    b, h, v, c = x.shape
    p = jnp.stack([x[:, i : h - 2 + i, j : v - 2 + j] for i in range(3) for j in range(3)], 3)
    return p.reshape(b, h - 2, v - 2, 9 * c) @ w


def butterfly(x):
    n = x.shape[-1]
    for k in (2, 8, 32):
        y = x.reshape(-1, n // (2 * k), 2, k)
        x = jnp.stack([y[:, :, 0] + y[:, :, 1], y[:, :, 0] - y[:, :, 1]], 2).reshape(-1, n)
    return x


def int8_mix(x, w, s):
    y = lax.dot_general(x, w, (((2,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return (y.astype(jnp.bfloat16) * s).transpose(0, 2, 1)


def split_heads(x, w):
    b, t, _ = x.shape
    y = (x @ w).reshape(b, t, 3, 8, -1).transpose(2, 0, 3, 1, 4)
    return y[0], y[1] * y[2]


def channel_shuffle(x):
    b, h, w, c = x.shape
    return x.reshape(b, h, w, 3, c // 3).swapaxes(3, 4).reshape(x.shape)


def batch_norm(x, g, b):
    m = x.mean((0, 2, 3), keepdims=True)
    v = ((x - m) ** 2).mean((0, 2, 3), keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g[:, None, None] + b[:, None, None]


def causal_depthwise(x, w):
    y = conv(x, w, padding=[(3, 0)], groups=x.shape[-1])
    return y * jax.nn.sigmoid(x)


def experts(x, r, w):
    p = jax.nn.softmax(x @ r, -1)
    m = jax.nn.one_hot(p.argmax(-1), r.shape[1], dtype=x.dtype)
    h = jnp.einsum("nd,ne,edf->nef", x, m, w)
    return jnp.einsum("nef,ne->nf", h, m)


def linear_attention(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    s = jnp.einsum("bthd,bthe->bhde", k, v)
    n = jnp.einsum("bthd,bhd->bth", q, k.sum(1))
    return jnp.einsum("bthd,bhde->bthe", q, s) / (n[..., None] + 1e-6)


def windows(x):
    summed = lax.reduce_window(x, 0.0, lax.add, (1, 5, 1), (1, 2, 1), "SAME")
    return summed, lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 4), (1, 1, 4), "VALID")


def relative(x, e):
    s = jnp.einsum("bhtd,sd->bhts", x, e)
    b, h, t, u = s.shape
    s = jnp.pad(s, ((0, 0), (0, 0), (0, 0), (1, 0))).reshape(b, h, u + 1, t)[:, :, 1:]
    return s.reshape(b, h, t, u)


def cosines(a, b):
    a = a * lax.rsqrt((a * a).sum(-1, keepdims=True))
    b = b * lax.rsqrt((b * b).sum(-1, keepdims=True))
    return a @ b.T


def moving_average(x):
    return jnp.stack([jnp.pad(x, ((0, 0), (2, 2), (0, 0)))[:, i : i + x.shape[1]] for i in range(5)], 2).mean(2)


def axial(x, a, b):
    return jax.nn.softmax(jnp.einsum("bhwc,bgwc->bwhg", x @ a, x @ b), -1)


def squeeze_excite(x, a, b):
    return x * jax.nn.sigmoid(jax.nn.relu(x.mean((1, 2)) @ a) @ b)[:, None, None]


def unfolded(x, w, p):
    b, h, v, c = x.shape
    return x.reshape(b, h // 8, 8, v // 8, 8, c).transpose(0, 1, 3, 5, 2, 4).reshape(b, -1, c * 64) @ w + p


def power(a, v):
    for _ in range(3):
        v = a @ v
        v = v / jnp.linalg.norm(v)
    return v


def normalised(x):
    x = x.astype(jnp.float32) / 255.0
    x = (x - jnp.array([0.48, 0.45, 0.4])) / jnp.array([0.2, 0.2, 0.2])
    return x.transpose(0, 3, 1, 2).astype(jnp.bfloat16)


def median(x):
    return jnp.sort(x, 1)[:, x.shape[1] // 2]


def unseen() -> Programs:
    half, whole, byte = jnp.bfloat16, jnp.int32, jnp.int8
    scores = "bqhgd,bkhd->bhgqk"
    return {
        "pixel_shuffle": (lambda x, w: interleaved(x @ w, 2), [array(2, 30, 30, 48), array(48, 64)]),
        "pixel_shuffle2": (lambda x: interleaved(x, 2), [array(4, 32, 32, 64)]),
        "gqa_scores": (
            lambda q, k: jax.nn.softmax(jnp.einsum(scores, q, k) * 0.125, -1),
            [array(2, 256, 4, 4, 64, of=half), array(2, 256, 4, 64, of=half)],
        ),
        "gqa_f32": (lambda q, k: jnp.einsum(scores, q, k), [array(2, 128, 2, 4, 64), array(2, 128, 2, 64)]),
        "gather1": (lambda x, i: jnp.take(x, i, 1), [array(64, 1000, 32), array(50, of=whole)]),
        "gather1b": (lambda x, i: jnp.take(x, i, 1), [array(200, 500), array(77, of=whole)]),
        "mahalanobis": (mahalanobis, [array(1000, 40), array(40), array(40, 40)]),
        "depth_to_space": (lambda x: interleaved(x, 3), [array(2, 20, 20, 72)]),
        "space_to_depth": (space_to_depth, [array(3, 48, 48, 5), array(80, 100)]),
        "rotary": (rotary, [array(2, 70, 6, 48), array(70, 1, 24), array(70, 1, 24)]),
        "causal_mask": (causal, [array(2, 100, 4, 40), array(2, 100, 4, 40)]),
        "group_norm": (group_norm, [array(3, 20, 20, 54), array(54), array(54)]),
        "dilated": (lambda x, w: conv(x, w, dilation=2), [array(3, 40, 40, 20), array(3, 3, 20, 36)]),
        "conv3d": (lambda x, w: conv(x, w), [array(2, 12, 20, 20, 8), array(3, 3, 3, 8, 24)]),
        "im2col": (im2col, [array(2, 30, 30, 16), array(144, 40)]),
        "im2col2": (stacked_windows, [array(2, 30, 30, 16), array(144, 40)]),
        "tri_mask": (
            lambda a, b: jnp.einsum("bij,bjk->bik", jnp.tril(a), jnp.triu(b)),
            [array(6, 90, 90), array(6, 90, 70)],
        ),
        "butterfly": (butterfly, [array(50, 512)]),
        "sort_rows": (lambda x, y: (jnp.sort(x, axis=0), jnp.argsort(y, axis=1)), [array(60, 200), array(100, 300)]),
        "one_hot_mm": (
            lambda i, t: jax.nn.one_hot(i, t.shape[0], dtype=t.dtype) @ t,
            [array(333, of=whole), array(190, 70, of=half)],
        ),
        "int8_mix": (int8_mix, [array(3, 100, 200, of=byte), array(200, 90, of=byte), array(90, of=half)]),
        "outer": (lambda a, b: jnp.einsum("bi,bj->bij", a, b), [array(20, 130), array(20, 50)]),
        "reduce_mid": (lambda x: (x.sum(1), x.max((0, 2))), [array(40, 90, 70)]),
        "concat_mid": (
            lambda x, y, z: jnp.concatenate([x, y, z], 1) * 2,
            [array(5, 30, 200), array(5, 17, 200), array(5, 8, 200)],
        ),
        "roll_flip": (lambda x: (jnp.roll(x, 3, 1) + jnp.flip(x, 2), jnp.roll(x, 1, 0)), [array(10, 60, 200)]),
        "scatter_add": (lambda x, i, u: x.at[i].add(u), [array(1000, 40), array(300, of=whole), array(300, 40)]),
        "scatter_cols": (lambda x, i, u: x.at[:, i].set(u), [array(40, 1000), array(30, of=whole), array(40, 30)]),
        "gather0": (lambda x, i: jnp.take(x, i, 0) * 2, [array(2000, 30), array(500, of=whole)]),
        "gather_last": (lambda x, i: jnp.take(x, i, 2), [array(8, 60, 400), array(33, of=whole)]),
        "take_along": (lambda x, i: jnp.take_along_axis(x, i, 1), [array(300, 50), array(300, 7, of=whole)]),
        "einsum_odd": (
            lambda a, b, c: jnp.einsum("aij,jkb,bl->iakl", a, b, c),
            [array(9, 40, 30), array(30, 17, 50), array(50, 60)],
        ),
        "einsum_t": (lambda a, b: jnp.einsum("bhwc,cdh->bdwh", a, b), [array(4, 12, 40, 32), array(32, 48, 12)]),
        "split_heads": (split_heads, [array(2, 90, 192), array(192, 576)]),
        "channel_shuffle": (channel_shuffle, [array(2, 28, 28, 60)]),
        "topk_mid": (lambda x: lax.top_k(x.swapaxes(1, 2), 4), [array(6, 40, 90)]),
        "cumsum0": (
            lambda x: jnp.cumsum(x, 0) / (1 + jnp.arange(x.shape[0])[:, None, None]),
            [array(50, 20, 60)],
        ),
        "batch_norm_train": (batch_norm, [array(4, 48, 25, 25), array(48), array(48)]),
        "nchw_conv": (
            lambda x, w: jax.nn.relu(conv(x, w, stride=2, order="NCHW")),
            [array(4, 16, 50, 50), array(32, 16, 3, 3)],
        ),
        "depthwise1d": (causal_depthwise, [array(3, 300, 100), array(4, 1, 100)]),
        "moe_dispatch": (experts, [array(200, 64), array(64, 6), array(6, 64, 48)]),
        "linear_attention": (linear_attention, [array(2, 300, 4, 32)] * 3),
        "window_sum": (windows, [array(6, 100, 60)]),
        "upsample": (
            lambda x, w: conv(jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), w),
            [array(2, 16, 16, 24), array(3, 3, 24, 12)],
        ),
        "conv_transpose": (
            lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            [array(3, 20, 20, 30), array(3, 3, 30, 18)],
        ),
        "rel_pos": (relative, [array(2, 4, 100, 48), array(100, 48)]),
        "cosine_sim": (cosines, [array(400, 70), array(300, 70)]),
        "kron": (
            lambda a, b: jnp.einsum("ij,kl->ikjl", a, b).reshape(a.shape[0] * b.shape[0], -1),
            [array(30, 20), array(10, 40)],
        ),
        "pad_windows": (moving_average, [array(6, 80, 50)]),
        "axial": (axial, [array(2, 24, 24, 40), array(40, 32), array(40, 32)]),
        "squeeze_excite": (squeeze_excite, [array(4, 20, 20, 96), array(96, 24), array(24, 96)]),
        "bilinear": (
            lambda x, w, y: jnp.einsum("bi,oij,bj->bo", x, w, y),
            [array(60, 30), array(50, 30, 40), array(60, 40)],
        ),
        "triangle_update": (lambda a, b: jnp.einsum("bikc,bjkc->bijc", a, b), [array(1, 40, 40, 24)] * 2),
        "median_rows": (median, [array(30, 45, 60)]),
        "patch_unfold": (unfolded, [array(3, 64, 64, 3), array(192, 100), array(64, 100)]),
        "embed_grad": (
            lambda i, g: jnp.zeros((3000, g.shape[-1])).at[i].add(g),
            [array(200, of=whole), array(200, 60)],
        ),
        "lora": (
            lambda x, w, a, b: x @ w + (x @ a) @ b,
            [array(5, 70, 200, of=half), array(200, 200, of=half), array(200, 8, of=half), array(8, 200, of=half)],
        ),
        "power_iter": (power, [array(300, 300), array(300)]),
        "rgb_norm": (normalised, [array(4, 60, 60, 3, of=jnp.uint8)]),
        "ctc_like": (
            lambda x: (jax.nn.logsumexp(x, 1), x - jax.nn.logsumexp(x, 0, keepdims=True)),
            [array(30, 40, 50)],
        ),
    }
