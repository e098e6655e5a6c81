"""Programs that were written after the rules of the planner and planned once: `later` has those written after the rules that
`kept_apart` led to. No rule is made from a program before it has been planned here."""

import jax
import jax.numpy as jnp
from jax import lax

from bench.programs import Programs
from bench.programs.parts import array, conv


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


def kept_apart() -> Programs:
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
    }


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


def later() -> Programs:
    half, whole = jnp.bfloat16, jnp.int32
    cache = array(6, 290, 2, 48, of=half)
    return {
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
