"""Programs that rules of the planner were made after: what it has learned of them it should not lose."""

import jax
import jax.numpy as jnp
from jax import lax

from bench.programs import Programs
from bench.programs.parts import array, conv


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
        return conv(x, k, padding=[(4, 0)], dilation=2)

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


def down_up(x, a, b):
    y = jax.nn.relu(conv(x, a, stride=2))
    return conv(jnp.concatenate([x, jnp.repeat(jnp.repeat(y, 2, 1), 2, 2)], -1), b)


def overlap_add(x, w):
    y = (x @ w).reshape(x.shape[0], x.shape[1], 2, -1)
    first, second = jnp.pad(y[:, :, 0], ((0, 0), (0, 1), (0, 0))), jnp.pad(y[:, :, 1], ((0, 0), (1, 0), (0, 0)))
    return (first + second).reshape(len(x), -1)


def spectrum(x, w, c, s):
    y = x.reshape(x.shape[0], -1, 80)
    y = jnp.concatenate([y[:, :-1], y[:, 1:]], -1) * w
    return jnp.log((y @ c) ** 2 + (y @ s) ** 2 + 1e-6).swapaxes(1, 2)


def norm_silu_conv(x, g, w):
    b, c, h, v = x.shape
    y = x.reshape(b, 8, c // 8, h, v)
    y = (y - y.mean((2, 3, 4), keepdims=True)) * lax.rsqrt(y.var((2, 3, 4), keepdims=True) + 1e-5)
    return conv(jax.nn.silu(y.reshape(x.shape) * g[:, None, None]), w, order="NCHW")


def patch_merge(x, g, w):
    b, h, v, c = x.shape
    y = x.reshape(b, h // 2, 2, v // 2, 2, c).transpose(0, 1, 3, 4, 2, 5).reshape(b, -1, 4 * c)
    y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return (y * g) @ w


def packed_attention(x, w, o):
    b, t, d = x.shape
    q, k, v = (x @ w).reshape(b, t, 6, 3, d // 6).transpose(3, 0, 2, 1, 4)
    p = jax.nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, k) * 0.2, -1)
    return jnp.einsum("bhts,bhsd->bthd", p, v).reshape(b, t, d) @ o


def inverted(x, a, k, b):
    y = jax.nn.relu6(conv(x, a, order="NCHW"))
    y = jax.nn.relu6(conv(y, k, order="NCHW", groups=y.shape[1]))
    return x + conv(y, b, order="NCHW")


def gated(x, a, b):
    def one(k):
        return conv(x, k, order="NCW", dilation=4)

    return jnp.tanh(one(a)) * jax.nn.sigmoid(one(b)) + x


def unshuffle_conv(x, w):
    b, c, h, v = x.shape
    y = x.reshape(b, c, h // 2, 2, v // 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(b, 4 * c, h // 2, v // 2)
    return conv(y, w, order="NCHW")


def pyramid(x):
    b, h, v, c = x.shape
    y = x.reshape(b, h // 4, 4, v // 4, 4, c).mean((2, 4))
    return jnp.concatenate([x, jnp.repeat(jnp.repeat(y, 4, 1), 4, 2)], -1)


def chroma(x, m):
    y = x.astype(jnp.float32) @ m
    b, h, v, _ = y.shape
    return y[..., 0], y[..., 1:].reshape(b, h // 2, 2, v // 2, 2, 2).mean((2, 4))


def unpatchify(x, y):
    b, h, v, c = y.shape
    p = x.reshape(b, h // 8, v // 8, 8, 8, c).transpose(0, 1, 3, 2, 4, 5).reshape(y.shape)
    return p, ((p - y) ** 2).mean((1, 2, 3))


def decode_step(x, wq, wk, wv, wo, keys, values, at):
    b, _, groups, d = keys.shape
    k, v = ((x @ w).reshape(b, 1, groups, d) for w in (wk, wv))
    keys, values = (lax.dynamic_update_slice(old, new, (0, at, 0, 0)) for old, new in ((keys, k), (values, v)))
    s = jnp.einsum("bgnd,btgd->bgnt", (x @ wq).reshape(b, groups, -1, d), keys).astype(jnp.float32) * d**-0.5
    p = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= at, s, -1e9), -1).astype(x.dtype)
    return x + jnp.einsum("bgnt,btgd->bgnd", p, values).reshape(b, -1) @ wo, keys, values


def turned_heads(x, wq, wk, c, s):
    def heads(w, count):
        y = (x @ w).reshape(*x.shape[:2], count, -1, 2)
        a, b = y[..., 0], y[..., 1]
        c_, s_ = c[:, None], s[:, None]
        return jnp.stack([a * c_ - b * s_, a * s_ + b * c_], -1).reshape(*x.shape[:2], count, -1)

    q, k = heads(wq, 6), heads(wk, 2)
    return jnp.einsum("btgnd,bsgd->bgnts", q.reshape(*q.shape[:2], 2, 3, -1), k)


def routed(x, r, a, b):
    g, i = lax.top_k(jax.nn.softmax(x @ r, -1), 2)
    chosen = jnp.einsum("nk,nke->ne", g / g.sum(-1, keepdims=True), jax.nn.one_hot(i, r.shape[1]))
    y = jax.nn.gelu(jnp.einsum("nd,edf->enf", x, a))
    return jnp.einsum("enf,efd,ne->nd", y, b, chosen)


def tied_loss(e, x, y):
    z = jnp.einsum("btd,vd->btv", x, e)
    return (jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, y[..., None], 2)[..., 0]).mean()


def residual_down(x, a, b, p, w):
    y = jax.nn.relu(conv(x, a, stride=2, order="NCHW"))
    y = jax.nn.relu(conv(y, b, order="NCHW") + conv(x, p, stride=2, order="NCHW"))
    return y.mean((2, 3)) @ w


def mel(x, w, c, s, m, d):
    i = jnp.arange(0, x.shape[1] - len(w) + 1, 60)[:, None] + jnp.arange(len(w))
    y = x[:, i] * w
    return jnp.log((((y @ c) ** 2 + (y @ s) ** 2) @ m) + 1e-5) @ d


def polyphase(x, f):
    b, n, c = x.shape
    y = jnp.pad(x, ((0, 0), (4, 3), (0, 0)))
    y = jnp.stack([y[:, k : k + n] for k in range(8)], 1)
    return jnp.einsum("bknc,kp->bnpc", y, f).reshape(b, -1, c)


def bags(t, i, w, o):
    return jnp.tanh((jnp.take(t, i, 0) * w[..., None]).sum(1)) @ o


def padded_sparse(v, i, x, b):
    return jax.nn.relu(jnp.einsum("nk,nkm->nm", v, x[i]) + b)


def five(x, w):
    return jnp.einsum("abcde,cfe->bafd", x, w)


def network(a, b, c):
    return jnp.einsum("ijkl,klmn,jnp->imp", a, b, c)


def turned_norm(x, g, w):
    y = (x - x.mean(0)) * lax.rsqrt(x.var(0) + 1e-5) * g[:, None, None]
    return jnp.einsum("dtb,df->tbf", y, w), y.max(1)


def regression() -> Programs:
    half, whole, byte = jnp.bfloat16, jnp.int32, jnp.int8
    scores = "bqhgd,bkhd->bhgqk"
    cache = array(6, 290, 2, 48, of=half)
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
        "down_up": (down_up, [array(3, 36, 36, 12), array(3, 3, 12, 20), array(3, 3, 32, 10)]),
        "overlap_add": (overlap_add, [array(5, 70, 48), array(48, 120)]),
        "spectrum": (spectrum, [array(6, 4800), array(160), array(160, 81), array(160, 81)]),
        "norm_silu_conv": (norm_silu_conv, [array(2, 40, 26, 26), array(40), array(24, 40, 3, 3)]),
        "patch_merge": (patch_merge, [array(2, 28, 28, 48), array(192), array(192, 96)]),
        "packed_attention": (packed_attention, [array(3, 65, 120), array(120, 360), array(120, 120)]),
        "inverted": (
            inverted,
            [
                array(2, 24, 30, 30, of=half),
                array(96, 24, 1, 1, of=half),
                array(96, 1, 3, 3, of=half),
                array(24, 96, 1, 1, of=half),
            ],
        ),
        "gated": (gated, [array(4, 40, 500), array(40, 40, 3), array(40, 40, 3)]),
        "unshuffle_conv": (unshuffle_conv, [array(2, 12, 48, 48), array(40, 48, 3, 3)]),
        "pyramid": (pyramid, [array(2, 32, 40, 24)]),
        "chroma": (chroma, [array(3, 60, 80, 3, of=jnp.uint8), array(3, 3)]),
        "unpatchify": (unpatchify, [array(3, 64, 192), array(3, 64, 64, 3)]),
        "decode_step": (
            decode_step,
            [
                array(6, 288, of=half),
                array(288, 288, of=half),
                array(288, 96, of=half),
                array(288, 96, of=half),
                array(288, 288, of=half),
                cache,
                cache,
                array(of=whole),
            ],
        ),
        "turned_heads": (
            turned_heads,
            [array(2, 95, 180), array(180, 180), array(180, 60), array(95, 15), array(95, 15)],
        ),
        "routed": (routed, [array(230, 72), array(72, 9), array(9, 72, 110), array(9, 110, 72)]),
        "tied_loss_grad": (
            jax.value_and_grad(tied_loss, (0, 1)),
            [array(1300, 56), array(4, 45, 56), array(4, 45, of=whole)],
        ),
        "residual_down": (
            residual_down,
            [array(4, 20, 34, 34), array(44, 20, 3, 3), array(44, 44, 3, 3), array(44, 20, 1, 1), array(44, 15)],
        ),
        "mel": (mel, [array(3, 5000), array(150), array(150, 76), array(150, 76), array(76, 40), array(40, 13)]),
        "polyphase": (polyphase, [array(3, 420, 10), array(8, 3)]),
        "bags": (bags, [array(4000, 44), array(90, 12, of=whole), array(90, 12), array(44, 20)]),
        "padded_sparse": (padded_sparse, [array(350, 9), array(350, 9, of=whole), array(350, 33), array(33)]),
        "einsum_five": (five, [array(3, 5, 20, 33, 18), array(20, 28, 18)]),
        "network": (network, [array(14, 9, 12, 20), array(12, 20, 30, 11), array(9, 11, 50)]),
        "turned_norm": (turned_norm, [array(70, 45, 26), array(70), array(70, 100)]),
    }
