"""Whole models. Each builds its arguments from a random generator, so that numbers are of a size that keeps errors of
rounding small."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from bench.programs import Programs, put
from bench.programs.parts import conv

PROGRAMS: Programs = {}
BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32


def program(arguments, **more):
    return put(PROGRAMS, arguments, options={"keep_unused": True}, **more)


# Parts.


def weights(rng, *sizes, dtype=F32, scale=None):
    scale = scale or 1 / np.sqrt(sizes[0] if len(sizes) == 1 else np.prod(sizes[:-1]))
    return jnp.asarray(rng.standard_normal(sizes) * scale, dtype)


def ids(rng, high, *sizes):
    return jnp.asarray(rng.integers(0, high, sizes), I32)


def key(rng):
    return jnp.asarray(rng.integers(0, 2**32, 2), jnp.uint32)


def rms_norm(x, g):
    wide = x.astype(F32)
    return (wide * lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * g


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b


def group_norm(x, groups, g, b):
    parts = x.reshape(*x.shape[:-1], groups, -1)
    mean = parts.mean((1, 2, 4), keepdims=True)
    parts = (parts - mean) * lax.rsqrt(parts.var((1, 2, 4), keepdims=True) + 1e-5)
    return parts.reshape(x.shape) * g + b


def max_pool(x, size, stride):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), "SAME")


def rotary(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1], dtype=F32)[:, None] * 10000.0 ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = (f(angle)[None, :, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def attention(q, k, v, mask=None):
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1).astype(q.dtype), v)


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits.astype(F32)), labels[..., None], -1))


def adam(p, m, v, g, step, rate=1e-3, decay=1e-2):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    scaled = (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return p - rate * (scaled + decay * p), m, v


def adam_tree(params, first, second, grads, step):
    new = jax.tree.map(lambda p, m, v, g: adam(p, m, v, g, step), params, first, second, grads)
    return jax.tree.transpose(jax.tree.structure(params), jax.tree.structure((0, 0, 0)), new)


def state(params):
    return params, jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params), jnp.asarray(3.0)


# Language models.


def llama_parameters(rng, layers, d=32, f=64, heads=4, kv=2, vocabulary=64, dtype=F32):
    w = functools.partial(weights, rng, dtype=dtype)
    one = lambda: dict(
        n1=jnp.ones(d, dtype), q=w(d, d), k=w(d, d // heads * kv), v=w(d, d // heads * kv), o=w(d, d),
        n2=jnp.ones(d, dtype), gate=w(d, f), up=w(d, f), down=w(f, d),
    )  # fmt: skip
    return dict(embedding=w(vocabulary, d, scale=1), layers=[one() for _ in range(layers)], norm=jnp.ones(d, dtype))


def llama_layer(x, p, mask, heads=4):
    b, t, d = x.shape
    split = lambda y: y.reshape(b, t, -1, d // heads)
    h = rms_norm(x, p["n1"])
    q, k, v = rotary(split(h @ p["q"])), rotary(split(h @ p["k"])), split(h @ p["v"])
    x = x + attention(q, k, v, mask).reshape(b, t, d) @ p["o"]
    h = rms_norm(x, p["n2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def llama(p, tokens):
    x = p["embedding"][tokens]
    mask = jnp.tril(jnp.ones((tokens.shape[1],) * 2, bool))
    for layer in p["layers"]:
        x = llama_layer(x, layer, mask)
    return rms_norm(x, p["norm"]) @ p["embedding"].T


@program(lambda rng: (llama_parameters(rng, 32), ids(rng, 64, 2, 16)))
def llama32(p, tokens):
    return llama(p, tokens)


@program(lambda rng: (llama_parameters(rng, 32, dtype=BF16), ids(rng, 64, 2, 16)))
def llama32_bf16(p, tokens):
    return llama(p, tokens)


@program(lambda rng: (*state(llama_parameters(rng, 44)), ids(rng, 64, 2, 9)))
def llama_train(p, m, v, step, tokens):
    loss, grads = jax.value_and_grad(lambda p: cross_entropy(llama(p, tokens[:, :-1]), tokens[:, 1:]))(p)
    return loss, adam_tree(p, m, v, grads, step)


def encoder_parameters(rng, layers, d, f):
    w = functools.partial(weights, rng)
    one = lambda: dict(
        q=w(d, d), k=w(d, d), v=w(d, d), o=w(d, d), g1=jnp.ones(d), b1=w(d, scale=0.1), w1=w(d, f), c1=w(f, scale=0.1),
        w2=w(f, d), c2=w(d, scale=0.1), g2=jnp.ones(d), b2=w(d, scale=0.1),
    )  # fmt: skip
    return [one() for _ in range(layers)]


def encoder(x, layers, mask=None, heads=4):
    b, t, d = x.shape
    split = lambda y: y.reshape(b, t, heads, -1)
    for p in layers:
        h = layer_norm(x, p["g1"], p["b1"])
        x = x + attention(split(h @ p["q"]), split(h @ p["k"]), split(h @ p["v"]), mask).reshape(b, t, d) @ p["o"]
        h = layer_norm(x, p["g2"], p["b2"])
        x = x + jax.nn.gelu(h @ p["w1"] + p["c1"], approximate=False) @ p["w2"] + p["c2"]
    return x


def bert_arguments(rng, d=32):
    params = dict(
        word=weights(rng, 100, d, scale=1), place=weights(rng, 24, d, scale=0.5), layers=encoder_parameters(rng, 12, d, 64)
    )
    return *state(params), ids(rng, 100, 4, 24), jnp.asarray(rng.random((4, 24)) < 0.8), ids(rng, 100, 4, 24)


@program(bert_arguments)
def bert_train(p, m, v, step, tokens, mask, labels):
    def loss(p):
        x = encoder(p["word"][tokens] + p["place"], p["layers"], mask[:, None, None])
        return cross_entropy(x @ p["word"].T, labels)

    value, grads = jax.value_and_grad(loss)(p)
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
    return value, norm, adam_tree(p, m, v, grads, step)


def moe_arguments(rng, d=32, experts=8, f=48):
    one = lambda: dict(router=weights(rng, d, experts), up=weights(rng, experts, d, f), down=weights(rng, experts, f, d))
    return [one() for _ in range(4)], weights(rng, 2, 32, d, scale=1)


@program(moe_arguments)
def mixture_of_experts(layers, x):
    """Each token goes to two of eight experts, each of which takes 20 tokens: sorted, or by one-hot matrices."""

    def by_matrices(x, p, capacity=20):
        gates, chosen = lax.top_k(jax.nn.softmax(x @ p["router"]), 2)
        one_hot = jax.nn.one_hot(chosen, 8)
        place = (jnp.cumsum(one_hot.reshape(-1, 8), 0).reshape(one_hot.shape) - 1) * one_hot
        slots = jax.nn.one_hot(place.sum(-1).astype(I32), capacity)
        dispatch = jnp.einsum("nke,nkc->nec", one_hot, slots)
        combine = jnp.einsum("nke,nkc,nk->nec", one_hot, slots, gates / gates.sum(-1, keepdims=True))
        h = jax.nn.silu(jnp.einsum("nec,nd,edf->ecf", dispatch, x, p["up"]))
        return x + jnp.einsum("ecf,efd,nec->nd", h, p["down"], combine)

    def by_sorting(x, p):
        gates, chosen = lax.top_k(jax.nn.softmax(x @ p["router"]), 2)
        flat = chosen.reshape(-1)
        order = jnp.argsort(flat)
        rows = x[order // 2]
        h = jax.nn.silu(jnp.einsum("nd,ndf->nf", rows, p["up"][flat[order]]))
        out = jnp.einsum("nf,nfd->nd", h, p["down"][flat[order]]) * gates.reshape(-1)[order][:, None]
        return x + jnp.zeros_like(x).at[order // 2].add(out)

    shape, x = x.shape, x.reshape(-1, x.shape[-1])
    for k, p in enumerate(layers):
        x = by_sorting(x, p) if k % 2 else by_matrices(x, p)
    return x.reshape(shape)


def decode_arguments(rng, layers=6):
    cache = [jnp.zeros((2, 2, 24, 2, 8)) for _ in range(layers)]
    return llama_parameters(rng, layers), cache, weights(rng, 2, 64, scale=1), jnp.asarray(5, I32)


@program(decode_arguments)
def decode(p, cache, logits, start):
    """A beam of two, a cache of keys and values, and sampling from the most likely, in a loop."""
    places = jnp.arange(24)

    def step(carry):
        at, tokens, scores, cache, logits, history = carry
        both = scores[:, None] + jax.nn.log_softmax(logits)
        scores, flat = lax.top_k(both.reshape(-1), 2)
        beam, tokens = flat // 64, flat % 64
        history = lax.dynamic_update_slice(history[beam], tokens[:, None], (0, at))
        x, new = p["embedding"][tokens][:, None], []
        for layer, old in zip(p["layers"], cache):
            h = rms_norm(x, layer["n1"])
            k, v = (h @ layer[n] for n in "kv")
            old = lax.dynamic_update_slice(old[:, beam], jnp.stack([k, v]).reshape(2, 2, 1, 2, 8), (0, 0, at, 0, 0))
            q = (h @ layer["q"]).reshape(2, 1, 4, 8)
            x = x + attention(q, old[0], old[1], places <= at).reshape(2, 1, 32) @ layer["o"]
            h = rms_norm(x, layer["n2"])
            x = x + (jax.nn.silu(h @ layer["gate"]) * (h @ layer["up"])) @ layer["down"]
            new.append(old)
        logits = (rms_norm(x, p["norm"]) @ p["embedding"].T)[:, 0]
        sorted_logits = jnp.sort(logits, -1)[:, ::-1]
        kept = jnp.sum(jnp.cumsum(jax.nn.softmax(sorted_logits), -1) < 0.9, -1)
        least = jnp.take_along_axis(sorted_logits, kept[:, None], -1)
        return at + 1, tokens, scores, new, jnp.where(logits < least, -1e9, logits), history

    go_on = lambda carry: (carry[0] < 20) & jnp.any(carry[1] != 63)
    first = (start, jnp.zeros(2, I32), jnp.asarray([0.0, -1.0]), cache, logits, jnp.zeros((2, 24), I32))
    at, tokens, scores, _, _, history = lax.while_loop(go_on, step, first)
    return at, tokens, scores, history


# Images.


def resnet_parameters(rng, counts, width=4):
    w = functools.partial(weights, rng)
    unit = lambda k, i, o: dict(w=w(k, k, i, o, scale=1.5 / np.sqrt(k * k * i)), g=jnp.ones(o), b=w(o, scale=0.1))
    stages, last = [], width
    for n, wide in zip(counts, (width, 2 * width, 4 * width, 8 * width)):
        blocks = []
        for k in range(n):
            block = dict(a=unit(1, last, wide), b=unit(3, wide, wide), c=unit(1, wide, 4 * wide))
            if k == 0:
                block["d"] = unit(1, last, 4 * wide)
            last = 4 * wide
            blocks.append(block)
        stages.append(blocks)
    return dict(stem=unit(7, 3, width), stages=stages, out=w(last, 10))


def resnet(p, x, unit):
    x = max_pool(jax.nn.relu(unit(x, p["stem"], 2)), 3, 2)
    for s, blocks in enumerate(p["stages"]):
        for k, block in enumerate(blocks):
            stride = 2 if s > 0 and k == 0 else 1
            y = jax.nn.relu(unit(x, block["a"]))
            y = unit(jax.nn.relu(unit(y, block["b"], stride)), block["c"])
            x = jax.nn.relu(0.3 * y + (unit(x, block["d"], stride) if "d" in block else x))
    return x.mean((1, 2)) @ p["out"]


@program(lambda rng: (resnet_parameters(rng, (3, 8, 36, 3)), weights(rng, 2, 64, 64, 3, scale=1)))
def resnet152(p, x):
    return resnet(p, x, lambda x, q, stride=1: conv(x, q["w"], stride) * q["g"] + q["b"])


def batch_norm_conv(x, q, stride=1):
    y = conv(x, q["w"], stride)
    return (y - y.mean((0, 1, 2))) * lax.rsqrt(y.var((0, 1, 2)) + 1e-5) * q["g"] + q["b"]


@program(lambda rng: (resnet_parameters(rng, (3, 4, 6, 3)), weights(rng, 4, 32, 32, 3, scale=1), ids(rng, 10, 4)))
def resnet50_train(p, x, labels):
    """Batch normalisation as training has it, and pooling's gradient: `select-and-scatter`."""
    loss, grads = jax.value_and_grad(lambda p: cross_entropy(resnet(p, x, batch_norm_conv), labels))(p)
    return loss, jax.tree.map(lambda a, g: a - 0.01 * g, p, grads)


def vit_arguments(rng, d=48):
    params = dict(patch=weights(rng, 192, d), place=weights(rng, 17, d), layers=encoder_parameters(rng, 12, d, 96))
    return params | dict(token=weights(rng, 1, 1, d), out=weights(rng, d, 10)), weights(rng, 2, 32, 32, 3, scale=1)


@program(vit_arguments)
def vit(p, x):
    patches = x.reshape(2, 4, 8, 4, 8, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 16, 192) @ p["patch"]
    x = jnp.concatenate([jnp.broadcast_to(p["token"], (2, 1, 48)), patches], 1) + p["place"]
    return encoder(x, p["layers"])[:, 0] @ p["out"]


def unet_arguments(rng):
    w = functools.partial(weights, rng)
    block = lambda i, o: dict(
        g1=jnp.ones(i), b1=jnp.zeros(i), w1=w(3, 3, i, o), t=w(32, o), g2=jnp.ones(o), b2=jnp.zeros(o), w2=w(3, 3, o, o),
        s=w(1, 1, i, o),
    )  # fmt: skip
    attend = lambda c: dict(g=jnp.ones(c), b=jnp.zeros(c), q=w(c, c), k=w(c, c), v=w(c, c), o=w(c, c))
    params = dict(
        first=w(3, 3, 3, 8), down=[[block(8, 8), block(8, 8)], [block(8, 16), block(16, 16)], [block(16, 32), block(32, 32)]],
        attend=[attend(8), attend(16), attend(32)], shrink=[w(3, 3, c, c) for c in (8, 16, 32)],
        middle=[block(32, 32), block(32, 32)], grow=[w(3, 3, c, c) for c in (8, 16, 32)],
        up=[[block(16, 8), block(16, 8)], [block(32, 16), block(32, 16)], [block(64, 32), block(64, 32)]],
        time=w(16, 32), last=w(3, 3, 8, 3),
    )  # fmt: skip
    return params, w(2, 16, 16, 3, scale=1), jnp.asarray([10.0, 500.0])


@program(unet_arguments)
def unet(p, x, time):
    """A diffusion model's step: noise of an image and a time, by resampling, group normalisation and attention."""
    angle = time[:, None] * jnp.exp(-jnp.arange(8) * (np.log(10000) / 8))
    time = jax.nn.silu(jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1) @ p["time"])

    def block(x, q):
        h = conv(jax.nn.silu(group_norm(x, 4, q["g1"], q["b1"])), q["w1"]) + (time @ q["t"])[:, None, None]
        return conv(jax.nn.silu(group_norm(h, 4, q["g2"], q["b2"])), q["w2"]) + conv(x, q["s"])

    def attend(x, q):
        h = group_norm(x, 4, q["g"], q["b"])
        heads = [(h @ q[n]).reshape(x.shape[0], -1, 2, x.shape[-1] // 2) for n in "qkv"]
        return x + attention(*heads).reshape(x.shape) @ q["o"]

    x = conv(x, p["first"])
    noisy, skips = x, []
    for blocks, a, shrink in zip(p["down"], p["attend"], p["shrink"]):
        x = block(x, blocks[0])
        skips.append(x)
        x = attend(block(x, blocks[1]), a)
        skips.append(x)
        x = conv(x, shrink, 2)
    for q in p["middle"]:
        x = block(x, q)
    for blocks, grow in reversed(list(zip(p["up"], p["grow"]))):
        b, n, m, c = x.shape
        x = jax.image.resize(x, (b, 2 * n, 2 * m, c), "nearest")
        if c != grow.shape[2]:
            x = x[..., : grow.shape[2]] + x[..., grow.shape[2] :]
        x = conv(x, grow)
        for q in blocks:
            x = block(jnp.concatenate([x, skips.pop()], -1), q)
    noise = conv(x, p["last"])
    return noise, jnp.clip((noisy.mean() - 0.3 * noise) / 0.9, -1, 1)


def gan_arguments(rng):
    w = functools.partial(weights, rng)
    return dict(start=w(16, 256), a=w(4, 4, 8, 16), b=w(4, 4, 3, 8), c=w(3, 3, 3, 8), d=w(3, 3, 1, 16), out=w(256, 1)), w(4, 16, scale=1)


@program(gan_arguments)
def generator_step(p, z):
    """Transposed and dilated convolutions and their gradients, and resizing by a linear filter."""

    def score(p):
        x = jax.nn.leaky_relu(z @ p["start"]).reshape(4, 4, 4, 16)
        for n, name in ((8, "a"), (16, "b")):
            x = lax.conv_transpose(x, p[name], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=True)
            x = jnp.tanh(x) + jax.image.resize(x, (4, n, n, x.shape[-1]), "linear")
        h = jax.nn.leaky_relu(conv(x, p["c"], dilation=2))
        h = conv(h, p["d"], 2, groups=8)
        h = jnp.pad(h, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")[:, 1:-1, 1:-1].reshape(4, -1)
        return jnp.mean(jax.nn.softplus(-(h[:, :256] @ p["out"])))

    return jax.value_and_grad(score)(p)


def vae_arguments(rng):
    w = functools.partial(weights, rng)
    params = dict(e1=w(64, 32), em=w(32, 8), es=w(32, 8), d1=w(8, 32), d2=w(32, 64))
    return params, jnp.asarray(rng.random((16, 64)), F32), key(rng)


@program(vae_arguments)
def vae_train(p, x, seed):
    """Random numbers of a counter (threefry), in the loss and in its gradient."""

    def loss(p):
        h = jax.nn.relu(x @ p["e1"])
        mean, spread = h @ p["em"], h @ p["es"]
        z = mean + jnp.exp(0.5 * spread) * jax.random.normal(jax.random.wrap_key_data(seed), mean.shape)
        y = jax.nn.relu(z @ p["d1"]) @ p["d2"]
        near = jnp.mean(jnp.sum(jnp.maximum(y, 0) - y * x + jnp.log1p(jnp.exp(-jnp.abs(y))), -1))
        return near - 0.5 * jnp.mean(jnp.sum(1 + spread - mean**2 - jnp.exp(spread), -1))

    value, grads = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda a, g: a - 0.001 * g, p, grads)


@program(lambda rng: (encoder_parameters(rng, 4, 32, 64), weights(rng, 2, 16, 32, scale=1), jnp.asarray(rng.integers(0, 2**32, 4), jnp.uint32)))
def dropout_train(layers, x, seed):
    """Dropout by `rng-bit-generator`."""
    random = jax.random.wrap_key_data(seed, impl="rbg")

    def drop(x, k):
        keep = jax.random.bernoulli(jax.random.fold_in(random, k), 0.9, x.shape)
        return jnp.where(keep, x / 0.9, 0)

    def loss(layers):
        y = x
        for k, layer in enumerate(layers):
            y = drop(encoder(y, [layer]), k)
        return jnp.mean(y**2)

    return jax.value_and_grad(loss)(layers)


# Sequences.


def lstm_arguments(rng, h=24):
    w = functools.partial(weights, rng)
    cell = lambda i: dict(wx=w(i, 4 * h), wh=w(h, 4 * h), b=jnp.zeros(4 * h))
    return [cell(16), cell(h)], w(h, 5), w(20, 4, 16, scale=1), ids(rng, 5, 4)


@program(lstm_arguments)
def lstm_train(cells, out, x, labels):
    def loss(cells, out):
        y = x
        for p in cells:

            def step(carry, z):
                h, c = carry
                i, g, f, o = jnp.split(z + h @ p["wh"], 4, -1)
                c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h

            _, y = lax.scan(step, (jnp.zeros((4, 24)),) * 2, y @ p["wx"] + p["b"])
        return cross_entropy(y[-1] @ out, labels)

    return jax.value_and_grad(loss, (0, 1))(cells, out)


@program(lambda rng: (jnp.asarray(rng.random((4, 128, 16)) * 0.9, F32), weights(rng, 4, 128, 16), weights(rng, 2, 100, 8)))
def ssm_scan(a, x, y):
    """Scans as trees (`associative_scan`), both ways, and cumulative sums, products and maxima."""
    join = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
    _, h = lax.associative_scan(join, (a, x), axis=1)
    _, back = lax.associative_scan(join, (a, h), axis=1, reverse=True)
    return h, back, jnp.cumsum(y, 1), jnp.cumprod(1 + 0.1 * y, 1), lax.cummax(y, 1), lax.cumlogsumexp(y, 1)


def mamba_arguments(rng, d=16, inner=32, n=8):
    w = functools.partial(weights, rng)
    one = lambda: dict(
        norm=jnp.ones(d), into=w(d, 2 * inner), filter=w(4, 1, inner, scale=0.5), bc=w(inner, 2 * n), dt=w(inner, inner),
        a=jnp.log(jnp.tile(jnp.arange(1.0, n + 1), (inner, 1))), skip=jnp.ones(inner), out=w(inner, d),
    )  # fmt: skip
    return [one() for _ in range(4)], w(2, 32, d, scale=1)


@program(mamba_arguments)
def mamba(layers, x):
    """A selective state space: a short convolution along time and a scan whose coefficients depend on the data."""
    for p in layers:
        h, gate = jnp.split(rms_norm(x, p["norm"]) @ p["into"], 2, -1)
        h = jax.nn.silu(conv(h, p["filter"], padding=((3, 0),), groups=32))
        b, c = jnp.split(h @ p["bc"], 2, -1)
        dt = jax.nn.softplus(h @ p["dt"])

        def step(s, now):
            h, b, c, dt = now
            s = jnp.exp(-dt[..., None] * jnp.exp(p["a"])) * s + (dt * h)[..., None] * b[:, None]
            return s, jnp.einsum("bin,bn->bi", s, c)

        _, y = lax.scan(step, jnp.zeros((2, 32, 8)), tuple(jnp.moveaxis(z, 1, 0) for z in (h, b, c, dt)))
        x = x + ((jnp.moveaxis(y, 0, 1) + p["skip"] * h) * jax.nn.silu(gate)) @ p["out"]
    return x


@program(lambda rng: (weights(rng, 2, 60, 8, scale=1), weights(rng, 60, 8, scale=0.1), weights(rng, 2, 16, 16, scale=1), weights(rng, 5, 5, scale=1), weights(rng, 5, 5, scale=1)))
def fft_conv(x, h, image, real, imaginary):
    """Long convolutions by FFT, a Fourier operator on images, and a wave by complex steps."""
    n = 120
    y = jnp.fft.irfft(jnp.fft.rfft(x, n, axis=1) * jnp.fft.rfft(h, n, axis=0), n, axis=1)[:, :60]
    modes = jnp.fft.rfft2(image)
    kept = jnp.zeros_like(modes).at[:, :5, :5].set(modes[:, :5, :5] * lax.complex(real, imaginary))
    wave = jnp.exp(-((jnp.arange(64) - 20.0) ** 2) / 30) * jnp.exp(0.7j * jnp.arange(64))
    turn = jnp.exp(-0.5j * (2 * jnp.pi * jnp.fft.fftfreq(64)) ** 2)
    wave = lax.fori_loop(0, 10, lambda _, w: jnp.fft.ifft(jnp.fft.fft(w) * turn), wave)
    return y, jnp.fft.irfft2(kept), jnp.abs(wave), jnp.angle(wave[16:32]), wave


def conformer_arguments(rng, d=24):
    w = functools.partial(weights, rng)
    one = lambda: dict(up=w(d, 2 * d), depth=w(7, 1, d), down=w(d, d), encoder=encoder_parameters(rng, 1, d, 48))
    return dict(first=w(3, 8, d), layers=[one() for _ in range(3)], out=w(d, 11)), w(2, 40, 8, scale=1), ids(rng, 10, 2, 6) + 1


@program(conformer_arguments)
def speech(p, x, labels):
    """Convolutions in time, and a loss over alignments (CTC) by a scan."""
    x = jax.nn.relu(conv(x, p["first"], 2))
    for q in p["layers"]:
        a, b = jnp.split(x @ q["up"], 2, -1)
        h = conv(a * jax.nn.sigmoid(b), q["depth"], groups=24)
        x = encoder(x + jax.nn.silu(h) @ q["down"], q["encoder"])
    logs = jax.nn.log_softmax(x @ p["out"])
    b, n = labels.shape
    padded = jnp.zeros((b, 2 * n + 1), I32).at[:, 1::2].set(labels)
    skip = (padded != 0) & (padded != jnp.roll(padded, 2, 1)) & (jnp.arange(2 * n + 1) > 1)

    def step(alpha, now):
        one = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=-1e9)[:, :-1]
        two = jnp.where(skip, jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=-1e9)[:, :-2], -1e9)
        alpha = jnp.logaddexp(jnp.logaddexp(alpha, one), two) + jnp.take_along_axis(now, padded, 1)
        return alpha, None

    first = jnp.full((b, 2 * n + 1), -1e9).at[:, 0].set(0.0)
    alpha, _ = lax.scan(step, first, jnp.moveaxis(logs, 1, 0))
    return -jnp.logaddexp(alpha[:, -1], alpha[:, -2]), logs


# Tables, graphs, optimisers and numerics.


def dlrm_arguments(rng, d=16):
    w = functools.partial(weights, rng)
    tables = [w(n, d, scale=0.5) for n in (100, 37, 1000, 5, 64, 200, 12, 333)]
    params = dict(tables=tables, bottom=[w(13, 32), w(32, d)], top=[w(d + 36, 32), w(32, 1)])
    return params, w(16, 13, scale=1), jnp.stack([ids(rng, t.shape[0], 16, 3) for t in tables]), jnp.asarray(rng.integers(0, 2, 16), F32)


@program(dlrm_arguments)
def dlrm_train(p, dense, sparse, clicks):
    def loss(p):
        x = dense
        for w in p["bottom"]:
            x = jax.nn.relu(x @ w)
        bags = [t[i].sum(1) for t, i in zip(p["tables"], sparse)]
        features = jnp.stack([x, *bags], 1)
        pairs = jnp.einsum("bid,bjd->bij", features, features)[:, *jnp.tril_indices(9, -1)]
        x = jnp.concatenate([x, pairs], -1)
        logit = (jax.nn.relu(x @ p["top"][0]) @ p["top"][1])[:, 0]
        return jnp.mean(jax.nn.softplus(logit) - clicks * logit)

    value, grads = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda a, g: a - 0.1 * g, p, grads)


def adam_arguments(rng):
    params = [weights(rng, 8 + k % 7, 16 + k % 5, dtype=BF16) for k in range(120)]
    grads = [weights(rng, *p.shape, dtype=BF16) for p in params]
    zeros = lambda: [jnp.asarray(rng.random(p.shape) * 0.01, F32) for p in params]
    return params, grads, zeros(), zeros(), jnp.asarray(7, I32)


@program(adam_arguments)
def adam_step(params, grads, first, second, step):
    """120 parameters in bf16 with wide moments, clipped to a norm, at a rate that follows a cosine."""
    grads = [g.astype(F32) for g in grads]
    norm = jnp.sqrt(sum(jnp.sum(g * g) for g in grads))
    rate = jnp.where(step < 10, step / 10, 0.5 * (1 + jnp.cos(jnp.pi * (step - 10) / 90))) * 1e-2
    ok = jnp.isfinite(norm)
    out = []
    for p, g, m, v in zip(params, grads, first, second):
        new, m2, v2 = adam(p.astype(F32), m, v, g / jnp.maximum(norm, 1.0), step.astype(F32) + 1, rate)
        out.append([jnp.where(ok, a, b) for a, b in ((new.astype(BF16), p), (m2, m), (v2, v))])
    return norm, out


@program(lambda rng: (weights(rng, 40, 3, scale=1), weights(rng, 40, scale=1), weights(rng, 12, 3, scale=1), jnp.asarray([1.0, 0.1])), platform="tpu")
def gaussian_process(x, y, test, scales):
    """A Cholesky factor and triangular systems, and the gradient through them."""
    kernel = lambda a, b, s: jnp.exp(-0.5 * jnp.sum((a[:, None] - b[None]) ** 2, -1) / s[0] ** 2)

    def likelihood(s):
        factor = lax.linalg.cholesky(kernel(x, x, s) + (s[1] + 1e-3) * jnp.eye(40))
        alpha = lax.linalg.triangular_solve(factor, y[:, None], left_side=True, lower=True)
        return 0.5 * jnp.sum(alpha**2) + jnp.sum(jnp.log(jnp.diagonal(factor))), factor

    (value, factor), grads = jax.value_and_grad(likelihood, has_aux=True)(scales)
    across = kernel(test, x, scales)
    half = lax.linalg.triangular_solve(factor, across.T, left_side=True, lower=True)
    weights_ = lax.linalg.triangular_solve(factor, y[None], left_side=False, lower=True, transpose_a=True)
    return value, grads, half.T @ weights_[0], 1 - jnp.sum(half * half, 0)


def graph_arguments(rng, nodes=30, edges=120):
    w = functools.partial(weights, rng)
    return dict(into=w(6, 16), layers=[dict(w=w(16, 16), s=w(16), r=w(16)) for _ in range(4)], out=w(16, 3)), w(nodes, 6), ids(rng, nodes, edges), ids(rng, nodes, edges)


@program(graph_arguments)
def graph_network(p, x, senders, receivers):
    """Attention over edges: sums, maxima and counts by segment, and their gradients."""

    def nodes(p):
        h = x @ p["into"]
        for q in p["layers"]:
            z = h @ q["w"]
            score = jax.nn.leaky_relu((z @ q["s"])[senders] + (z @ q["r"])[receivers])
            score = jnp.exp(score - jax.ops.segment_max(score, receivers, 30)[receivers])
            score = score / jax.ops.segment_sum(score, receivers, 30)[receivers]
            h = jax.nn.elu(h + jax.ops.segment_sum(z[senders] * score[:, None], receivers, 30))
        degree = jnp.zeros(30, I32).at[receivers].add(1)
        least = jnp.full(30, 9.0).at[senders].min(h[senders, 0])
        return (h @ p["out"]) / jnp.maximum(degree, 1)[:, None] + least[:, None]

    return nodes(p), jax.grad(lambda p: jnp.sum(nodes(p) ** 2))(p)


def quantised_arguments(rng):
    ints = lambda low, high, *s: jnp.asarray(rng.integers(low, high, s), jnp.int8)
    return (
        weights(rng, 8, 32, scale=1), [ints(-127, 128, 32, 32) for _ in range(6)], weights(rng, 6, 32, scale=0.02),
        weights(rng, 32, 32, scale=1).astype(jnp.float8_e4m3fn), weights(rng, 32, 32, scale=1).astype(jnp.float8_e5m2),
        ints(-8, 8, 32, 32).astype(jnp.int4), ints(0, 127, 32, 16).astype(jnp.uint8),
    )  # fmt: skip


@program(quantised_arguments)
def quantised(x, layers, scales, e4m3, e5m2, s4, packed):
    """Products of int8, int4 and fp8, with scales found from the data, and two numbers in a byte."""
    for w, s in zip(layers, scales):
        most = jnp.max(jnp.abs(x), -1, keepdims=True) / 127
        small = jnp.clip(jnp.round(x / most), -127, 127).astype(jnp.int8)
        y = lax.dot_general(small, w, (((1,), (0,)), ((), ())), preferred_element_type=I32)
        x = jax.nn.gelu(y.astype(F32) * most * s * 0.05)
    wide = lambda w: w.astype(F32)
    x = x + wide(x.astype(jnp.float8_e4m3fn)) @ wide(e4m3) * 0.1
    x = x + wide(x.astype(jnp.float8_e5m2)) @ wide(e5m2) * 0.1
    x = x + x @ wide(s4) * 0.01
    low, high = (packed & 15).astype(jnp.int8) - 8, (packed >> 4).astype(jnp.int8) - 8
    unpacked = jnp.stack([low, high], -1).reshape(32, 32)
    return x + x @ wide(unpacked) * 0.01, lax.reduce_precision(x, 5, 10), x.astype(jnp.int4)


@program(lambda rng: (weights(rng, 24, 24, scale=1), weights(rng, 16, 3, scale=1), ids(rng, 3, 1)[0]))
def numerics(grid, bodies, branch):
    """Loops until something is so, choices, halos, ordering, histograms and bits."""

    def heat(carry):
        u, change, n = carry
        padded = jnp.pad(u, 1, mode="edge")
        new = u + 0.2 * (padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * u)
        return new, jnp.max(jnp.abs(new - u)), n + 1

    u, change, n = lax.while_loop(lambda c: (c[1] > 0.02) & (c[2] < 100), heat, (grid, jnp.inf, 0))
    chosen = lax.switch(branch, [jnp.sin, lambda x: x * x, lambda x: jnp.roll(x, 3, 0)], u)
    flow = lax.cond(n > 10, lambda x: x.T, lambda x: x + 1, chosen)

    def pull(_, s):
        p, v = s
        d = p[:, None] - p[None]
        return p + 0.01 * v, v - 0.01 * jnp.sum(d / (jnp.sum(d * d, -1, keepdims=True) + 0.1) ** 1.5, 1)

    bodies = lax.fori_loop(0, 20, pull, (bodies, jnp.zeros_like(bodies)))
    flat = grid.reshape(-1)
    counts = jnp.zeros(16, I32).at[jnp.clip((flat * 4 + 8).astype(I32), 0, 15)].add(1)
    words = lax.bitcast_convert_type(grid, jnp.uint32)
    bits = lax.population_count(words) + lax.clz(words) + (words >> 7 ^ words << 3) % 11
    order = jnp.lexsort((flat, jnp.round(flat)))
    pools = lax.reduce_window(grid, 0.0, lax.add, (3, 3), (2, 2), "SAME"), jnp.median(grid, 0), jnp.argmax(grid, 1)
    odd = jnp.sqrt(jnp.abs(flat)), jnp.arctan2(flat, 1 + flat**2), lax.erf_inv(0.5 * jnp.tanh(flat)), lax.lgamma(1.5 + flat**2), jnp.cbrt(flat)
    return u, change, n, flow, bodies, counts, bits, order, pools, odd, jnp.searchsorted(jnp.sort(flat), flat[:9])


# Programs for 8 devices.


def mesh(*sizes):
    return jax.make_mesh(sizes, ("data", "model")[: len(sizes)])


def over(tree, *names):
    return jax.tree.map(lambda _: PartitionSpec(*names), tree)


def sharded_mlp_arguments(rng):
    return [weights(rng, 16, 32), weights(rng, 32, 16), weights(rng, 16, 8)], weights(rng, 16, 16, scale=1), ids(rng, 8, 16)


def sharded_mlp_shardings():
    spec = PartitionSpec
    return mesh(2, 4), ([spec(None, "model"), spec("model", None), spec()], spec("data", None), spec("data"))


@program(sharded_mlp_arguments, shardings=sharded_mlp_shardings)
def sharded_mlp_train(layers, x, labels):
    """Data in two parts, weights in four."""

    def loss(layers):
        h = jax.nn.relu(x @ layers[0]) @ layers[1]
        return cross_entropy(h @ layers[2], labels)

    value, grads = jax.value_and_grad(loss)(layers)
    return value, [a - 0.1 * g for a, g in zip(layers, grads)]


def sharded_llama_shardings():
    spec = PartitionSpec
    columns, rows = spec(None, "model"), spec("model", None)
    layer = dict(n1=spec(), q=columns, k=columns, v=columns, o=rows, n2=spec(), gate=columns, up=columns, down=rows)
    params = dict(embedding=spec("model", None), layers=[layer] * 4, norm=spec())
    return mesh(4, 2), (params, params, params, spec(), spec("data", None))


@program(lambda rng: (*state(llama_parameters(rng, 4)), ids(rng, 64, 8, 9)), shardings=sharded_llama_shardings)
def sharded_llama_train(p, m, v, step, tokens):
    """Data in four parts, the layers of a Llama in two."""
    loss, grads = jax.value_and_grad(lambda p: cross_entropy(llama(p, tokens[:, :-1]), tokens[:, 1:]))(p)
    return loss, adam_tree(p, m, v, grads, step)


def fsdp_shardings():
    spec = PartitionSpec
    layer = {n: spec("data") for n in ("q", "k", "v", "o", "g1", "b1", "w1", "c1", "w2", "c2", "g2", "b2")}
    return mesh(8), ([layer] * 3, spec("data"))


@program(lambda rng: (encoder_parameters(rng, 3, 32, 64), weights(rng, 8, 12, 32, scale=1)), shardings=fsdp_shardings)
def fsdp_train(layers, x):
    """Everything in eight parts along its first dimension: gathered, and scattered after reducing."""
    value, grads = jax.value_and_grad(lambda layers: jnp.mean(encoder(x, layers) ** 2))(layers)
    new = jax.tree.map(lambda a, g: a - 0.1 * g, layers, grads)
    return value, jax.tree.map(lambda a: lax.with_sharding_constraint(a, NamedSharding(mesh(8), PartitionSpec("data"))), new)


def collective_shardings():
    spec = PartitionSpec("data", None)
    return mesh(8), (spec, spec, spec)


@program(lambda rng: (weights(rng, 64, 8, scale=1), weights(rng, 64, 8, scale=1), weights(rng, 64, 8, scale=1)), shardings=collective_shardings)
def collectives(q, k, v):
    """What a program of one device says itself: reduce, gather, scatter, exchange, permute, and attention in a ring."""
    spec = PartitionSpec("data", None)

    def local(q, k, v):
        me, ring = lax.axis_index("data"), [(n, (n + 1) % 8) for n in range(8)]

        def step(carry, _):
            k, v, most, total, out = carry
            scores = q @ k.T
            new = jnp.maximum(most, scores.max(-1, keepdims=True))
            part, scale = jnp.exp(scores - new), jnp.exp(most - new)
            k2, v2 = (lax.ppermute(z, "data", ring) for z in (k, v))
            return (k2, v2, new, total * scale + part.sum(-1, keepdims=True), out * scale + part @ v), None

        varying = lambda z: lax.pvary(z, "data")
        first = (k, v, varying(jnp.full((8, 1), -jnp.inf)), varying(jnp.zeros((8, 1))), varying(jnp.zeros((8, 8))))
        (_, _, _, total, out), _ = lax.scan(step, first, length=8)
        gathered = lax.all_gather(q[:2], "data", tiled=True)
        pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]
        grouped = lax.all_gather(k[:1], "data", axis_index_groups=pairs, tiled=True)
        exchanged = lax.all_to_all(v, "data", split_axis=0, concat_axis=1, tiled=True)
        scattered = lax.psum_scatter(q @ k.T, "data", tiled=True)
        return (
            out / total, gathered * me, jnp.sum(grouped, 0, keepdims=True) + 0 * q, exchanged.reshape(8, 8), scattered + 0 * q,
            lax.psum(v, "data") + q, lax.pmax(v, "data") - lax.pmin(v, "data") + q,
        )  # fmt: skip

    return jax.shard_map(local, mesh=mesh(8), in_specs=(spec,) * 3, out_specs=(spec,) * 7)(q, k, v)
