"""Small programs whose memory is compared with XLA's."""

import jax
import jax.numpy as jnp
from jax import lax

from bench.programs import Programs, put
from bench.programs.parts import array as floats

PROGRAMS: Programs = {}


def program(*arguments, donated=()):
    return put(PROGRAMS, arguments, options={"donate_argnums": donated})


def ints(*sizes):
    return floats(*sizes, of=jnp.int32)


@jax.custom_vjp
def clipg(x):
    return x * 2


clipg.defvjp(lambda x: (clipg(x), jnp.abs(x)), lambda r, g: (jnp.clip(g, -1, 1) * r,))


def mlp(ps, x):
    for w, b in ps:
        x = jnp.tanh(x @ w + b)
    return x


LAYERS = [(floats(256, 256), floats(256)) for _ in range(4)]
MORE_LAYERS = [(floats(128, 512), floats(512)), (floats(512, 512), floats(512)), (floats(512, 10), floats(10))]


@program(floats(200000, 64), ints(200000))
def segsum(x, i):
    return jax.ops.segment_sum(x, i, 200000)


@program(floats(20000, 64), ints(20000))
def segmax(x, i):
    return jax.ops.segment_max(x, i, 2000)


@program(floats(20000, 64), ints(20000))
def segsum2(x, i):
    return jnp.tanh(jax.ops.segment_sum(x * 2, i, 2000)) @ jnp.ones((64, 3))


@program(floats(1000, 64), ints(300), floats(300, 64))
def scat_add(x, i, u):
    return x.at[i].add(u)


@program(floats(1000, 64), ints(300), floats(300, 64), donated=(0,))
def scat_add_don(x, i, u):
    return x.at[i].add(u)


@program(floats(1000, 64), ints(300), floats(300, 64))
def scat_mul(x, i, u):
    return jnp.sin(x).at[i].multiply(u) + 1


@program(floats(1000, 64), ints(300), floats(300, 64))
def scat_set2(x, i, u):
    return (x.at[i].set(u).sum(), x.at[i].add(u))


@program(floats(100000))
def sort1(x):
    return jnp.sort(x)


@program(floats(1000, 100))
def argsort(x):
    return jnp.argsort(x, axis=0)


@program(floats(1000, 100), floats(1000, 100))
def sortkv(x, y):
    return lax.sort((x, y), num_keys=1)


@program(floats(1000, 100))
def sortsum(x):
    return jnp.sort(jnp.exp(x)).sum(0)


@program(floats(1000, 100))
def topk(x):
    return lax.top_k(x, 5)


@program(floats(100, 64, 64))
def dus_loop(x):

    def b(i, c):
        return lax.dynamic_update_slice(c, jnp.tanh(lax.dynamic_slice(c, (i, 0, 0), (1, 64, 64))) * 2, (i, 0, 0))
    return lax.fori_loop(0, 100, b, x)


@program(floats(100, 64, 64), donated=(0,))
def dus_loop_don(x):

    def b(i, c):
        return lax.dynamic_update_slice(c, jnp.tanh(lax.dynamic_slice(c, (i, 0, 0), (1, 64, 64))) * 2, (i, 0, 0))
    return lax.fori_loop(0, 100, b, x)


@program(floats(500, 500), floats(500, 500))
def while_swap(a, b):

    def body(c):
        i, a, b = c
        return (i + 1, b, a)
    return lax.while_loop(lambda c: c[0] < 10, body, (0, a, b))


@program(floats(500, 500), floats(500, 500))
def while_fib(a, b):

    def body(c):
        i, a, b = c
        return (i + 1, b, a + b)
    return lax.while_loop(lambda c: c[0] < 10, body, (0, a, b))


@program(floats(300, 300), floats(300, 300))
def while_mm(a, b):

    def body(c):
        i, a = c
        return (i + 1, jnp.tanh(a @ b))
    return lax.while_loop(lambda c: c[0] < 10, body, (0, a))


@program(floats(300, 300))
def while_data(a):
    return lax.while_loop(lambda c: jnp.sum(c) < 10, lambda c: c @ c + c, a)


@program(floats(128, 256), floats(256, 256), floats(50, 128, 256))
def rnn(h, w, xs):

    def s(h, x):
        h = jnp.tanh(h @ w + x)
        return (h, h)
    return lax.scan(s, h, xs)


@program(floats(128, 256), floats(256, 256), floats(50, 128, 256))
def rnn_grad(h, w, xs):

    def s(h, x):
        h = jnp.tanh(h @ w + x)
        return (h, h)
    return jax.grad(lambda h, w, xs: lax.scan(s, h, xs)[1].sum(), argnums=(0, 1))(h, w, xs)


@program(floats(64, 128), floats(128, 512), floats(128, 512), floats(20, 64, 128))
def lstm_grad(h, w, u, xs):

    def s(c, x):
        h, c = c
        z = x @ w + h @ u
        i, f, g, o = jnp.split(z, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return ((h, c), h)
    return jax.grad(lambda w, u: (lax.scan(s, (h, h), xs)[1] ** 2).sum(), argnums=(0, 1))(w, u)


@program(floats(), floats(400, 400))
def cond1(p, x):
    return lax.cond(p > 0, lambda x: jnp.sin(x) @ x, lambda x: x + 1, x)


@program(floats(), floats(400, 400))
def cond2(p, x):
    y = jnp.exp(x) @ x
    return lax.cond(p > 0, lambda y: (y @ y, y), lambda y: (y.T, y @ x), y)


@program(ints(), floats(400, 400))
def switch(p, x):
    y = x @ x
    return lax.switch(p, [lambda y: y * 2, lambda y: jnp.sort(y), lambda y: jnp.cumsum(y, 0), lambda y: y @ y @ y], y)


@program(ints(), floats(100, 400, 4))
def switch_scan(p, xs):

    def s(c, x):
        c = lax.switch(p, [lambda c: c * x, lambda c: c @ (x.T @ x), lambda c: jnp.cumsum(c, 0)], c)
        return (c, c.sum())
    return lax.scan(s, jnp.ones((400, 4)), xs)


@program(floats(8, 28, 28, 16), floats(3, 3, 16, 32))
def conv(x, w):
    return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')))


@program(floats(8, 28, 28, 16), floats(3, 3, 16, 16), floats(3, 3, 16, 16))
def conv_grad(x, w, v):
    kinds = ('NHWC', 'HWIO', 'NHWC')
    c = lambda x, w: jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=kinds))
    return jax.grad(lambda w, v: (c(c(x, w), v) + x).sum(), argnums=(0, 1))(w, v)


@program(floats(1000, 1000))
def cumsum(x):
    return jnp.cumsum(x, axis=0)


@program(floats(1000, 1000))
def cumprod(x):
    return jnp.cumprod(x, axis=1) + x


@program(floats(16, 16), floats(16))
def newton(a, x0):
    f = lambda x: jnp.tanh(a @ x) - x

    def body(i, x):
        return x - jnp.linalg.solve(jax.jacfwd(f)(x), f(x))
    return lax.fori_loop(0, 20, body, x0)


@program(floats(500, 500), floats(500, 500))
def cvjp(x, w):
    return jax.grad(lambda w: (clipg(jnp.sin(x @ w)) ** 2).sum())(w)


@program(floats(1000, 300), donated=(0,))
def donate_chain(x):
    return jnp.sin(x) * 2 + 1


@program(floats(1000, 300), floats(1000, 300), donated=(0, 1))
def donate_swap(x, y):
    return (y + 1, x - 1)


@program(floats(1000, 300), floats(1000, 300), donated=(0,))
def donate_two(x, y):
    return ((x @ y.T).sum(1), x + y)


@program(floats(5000, 64), ints(700))
def gather(x, i):
    return jnp.take(x, i, axis=0) * 2


@program(floats(5000, 64), ints(7000))
def gathergrad(x, i):
    return jax.grad(lambda x: (jnp.take(x, i, axis=0) ** 2).sum())(x)


@program(floats(64, 1024))
def fft(x):
    return jnp.fft.ifft(jnp.fft.fft(x) * 2).real


@program(jax.ShapeDtypeStruct((2,), jnp.uint32))
def rng(k):
    a, b = jax.random.split(k)
    return (jax.random.normal(a, (500, 300)), jax.random.uniform(b, (300,)))


@program(jax.ShapeDtypeStruct((2,), jnp.uint32), floats(1000, 200))
def dropout(k, x):
    return jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x * 2, 0) @ x.T


@program(jax.ShapeDtypeStruct((2,), jnp.uint32))
def perm(k):
    return jax.random.permutation(k, 10000)


@program(floats(4, 128, 64), floats(64, 192), floats(64, 64))
def attn(x, w, o):
    q, k, v = jnp.split(x @ w, 3, -1)
    r = lambda t: t.reshape(4, 128, 8, 8).transpose(0, 2, 1, 3)
    q, k, v = map(r, (q, k, v))
    a = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 3)
    return (a @ v).transpose(0, 2, 1, 3).reshape(4, 128, 64) @ o + x


@program(floats(4, 128, 64), floats(64, 192), floats(64, 64))
def attn_grad(x, w, o):
    return jax.grad(lambda *a: (attn(*a) ** 2).sum(), argnums=(1, 2))(x, w, o)


@program(LAYERS, LAYERS, LAYERS, floats(128, 256), donated=(0, 1, 2))
def adam(ps, m, v, x):
    g = jax.grad(lambda p: (mlp(p, x) ** 2).mean())(ps)
    t = jax.tree.map
    m = t(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = t(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
    return (t(lambda p, m, v: p - 0.001 * m / (jnp.sqrt(v) + 1e-08), ps, m, v), m, v)


@program(LAYERS, floats(128, 256))
def sgd(ps, x):
    g = jax.grad(lambda p: (mlp(p, x) ** 2).mean())(ps)
    return jax.tree.map(lambda p, g: p - 0.1 * g, ps, g)


@program(LAYERS, floats(10, 128, 256), donated=(0,))
def sgd_scan(ps, xs):

    def s(p, x):
        l, g = jax.value_and_grad(lambda p: (mlp(p, x) ** 2).mean())(p)
        return (jax.tree.map(lambda p, g: p - 0.1 * g, p, g), l)
    return lax.scan(s, ps, xs)


@program(floats(64, 100, 100))
def vmap_solve(x):
    return jax.vmap(lambda a: jnp.linalg.solve(a, a[0]))(x)


@program(floats(200, 200))
def chol(x):
    return jnp.linalg.cholesky(x @ x.T)


@program(floats(100, 80))
def qr(x):
    return jnp.linalg.qr(x)


@program(floats(100, 80))
def svd(x):
    return jnp.linalg.svd(x, full_matrices=False)


@program(floats(100, 100))
def eigh(x):
    return jnp.linalg.eigh(x + x.T)


@program(floats(32, 1000))
def vmap_while(x):
    return jax.vmap(lambda r: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 1.5 + 1, r))(x)


@program(floats(100, 200), floats(200))
def nested_scan(x, h):

    def o(h, r):

        def i(h, e):
            h = jnp.sin(h * e)
            return (h, h.sum())
        return lax.scan(i, h, r)
    return lax.scan(o, h, x)


@program(floats(100, 200, 20))
def assoc(x):
    return lax.associative_scan(jnp.add, x)


@program(floats(1000, 1000))
def pads(x):
    y = jnp.pad(x, 1)
    return y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * x


@program(floats(1000, 1000))
def stencil(x):

    def b(i, x):
        y = jnp.pad(x, 1)
        return x + 0.1 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:] - 4 * x)
    return lax.fori_loop(0, 100, b, x)


@program(floats(4, 32, 32, 8))
def maxpool(x):
    return jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID').sum())(x)


@program(floats(300, 400), floats(400, 500), floats(500, 600))
def mm3(a, b, c):
    return a @ b @ c


@program(floats(300, 400, of=jnp.bfloat16), floats(400, 500, of=jnp.bfloat16))
def mmbf(a, b):
    return (a @ b).astype(jnp.float32).sum(0)


@program(floats(1000, 50))
def hist(x):
    return jnp.histogram(x, bins=100)[0]


@program(floats(2000))
def uniq(x):
    return jnp.unique(x, size=100)


@program(floats(3, 200, 200), floats(), ints())
def scan_cond(x, p, n):

    def s(c, r):
        c = lax.cond(r[0, 0] > p, lambda c: c @ r, lambda c: c + r, c)
        return (c, c[0])
    return lax.scan(s, x[0], x)


@program(floats(50, 40, 64), floats(64, 64))
def remat(x, w):
    return jax.grad(lambda w: lax.scan(jax.checkpoint(lambda h, r: (jnp.tanh(h @ w + r), None)), x[0], x)[0].sum())(w)


@program(
    floats(2, 16, 128, 32), floats(2, 16, 128, 32), floats(2, 16, 1, 32), floats(2, 16, 1, 32), ints(), donated=(0, 1)
)
def kvcache(kc, vc, k, v, i):
    kc = lax.dynamic_update_slice(kc, k, (0, 0, i, 0))
    vc = lax.dynamic_update_slice(vc, v, (0, 0, i, 0))
    a = jax.nn.softmax(jnp.einsum('bhqd,bhkd->bhqk', k, kc))
    return (a @ vc, kc, vc)


@program(floats(2, 16, 128, 32), floats(2, 16, 1, 32), ints())
def dus_plain(kc, k, i):
    return lax.dynamic_update_slice(kc, k, (0, 0, i, 0))


@program(floats(100, 100), floats(100), ints())
def dus_use(x, r, i):
    y = jnp.sin(x)
    z = y.at[i].set(r)
    return z @ y


@program(floats(100, 1000))
def convolve(x):
    return jax.vmap(lambda r: jnp.convolve(r, jnp.ones(9)))(x)


@program(floats(500, 500))
def bits(x):
    u = lax.bitcast_convert_type(x, jnp.uint32)
    return (lax.population_count(u ^ u >> 1), x.T.reshape(250, 1000))


@program(floats(1000, 3), floats(1000, 3))
def pdist(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1).min(1)


@program(floats(100, 784), ints(100), floats(784, 256), floats(256, 10), donated=(2, 3))
def mnist(x, y, w, v):

    def loss(w, v):
        l = jax.nn.log_softmax(jax.nn.relu(x @ w) @ v)
        return -jnp.take_along_axis(l, y[:, None], 1).mean()
    l, (a, b) = jax.value_and_grad(loss, (0, 1))(w, v)
    return (l, w - 0.1 * a, v - 0.1 * b)


@program(floats(50000, 32), ints(50000), floats(50000))
def seg_mean(x, i, w):
    return jax.ops.segment_sum(x * w[:, None], i, 500) / jax.ops.segment_sum(w, i, 500)[:, None]


@program(floats(300, 300))
def fori_pow(a):
    return lax.fori_loop(0, 8, lambda i, x: x @ a / 2, a)


@program(floats(300, 300))
def cg(a):
    b = jnp.ones(300)

    def body(c):
        x, r, p, k = c
        q = a @ p
        al = r @ r / (p @ q)
        x = x + al * p
        r2 = r - al * q
        return (x, r2, r2 + r2 @ r2 / (r @ r) * p, k + 1)
    return lax.while_loop(lambda c: (c[3] < 50) & (c[1] @ c[1] > 0.001), body, (b * 0, b, b, 0))[0]


@program(floats(500, 500), floats(500, 500))
def loop3(a, b):

    def body(i, c):
        x, y, z = c
        return (jnp.sin(y) + x, z * x, x @ y)
    return lax.fori_loop(0, 7, body, (a, b, a + b))


@program(floats(64, 64, 64))
def heat3(u):

    def b(u, _):
        v = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u
        return (u + 0.1 * v, v.max())
    return lax.scan(b, u, None, length=20)


@program(ints(), floats(300, 300), floats(300, 300))
def cond_in_loop(n, a, b):

    def body(i, c):
        x, y = c
        return lax.cond(i % 2 == 0, lambda x, y: (x @ y, y), lambda x, y: (x, jnp.tanh(y)), x, y)
    return lax.fori_loop(0, n, body, (a, b))


@program(ints(), floats(300, 300))
def switch2(p, x):
    sums = lambda x: (jnp.cumsum(jnp.exp(x), 1), x.max())
    return lax.switch(p, [lambda x: (jnp.sort(x @ x), x.sum()), lambda x: (x + 1, x.min()), sums], x)


@program(floats(2000, 2000), ints(100))
def rows(x, i):
    return (x[i] @ x.T, x.at[i].set(0.0))


@program(floats(100, 500), floats(500), donated=(0,))
def batchnorm(x, g):
    m = x.mean(0)
    v = ((x - m) ** 2).mean(0)
    return (x - m) / jnp.sqrt(v + 1e-05) * g


@program(floats(8, 64, 64, 3), floats(5, 5, 3, 8), floats(3, 3, 8, 8), floats(8192, 10))
def cnn(x, w, v, u):
    dn = ('NHWC', 'HWIO', 'NHWC')
    h = jax.nn.relu(lax.conv_general_dilated(x, w, (2, 2), 'SAME', dimension_numbers=dn))
    h = jax.nn.relu(lax.conv_general_dilated(h, v, (1, 1), 'SAME', dimension_numbers=dn))
    return jax.nn.softmax(h.reshape(8, -1) @ u)


@program(floats(8, 64, 64, 3), floats(5, 5, 3, 8), floats(3, 3, 8, 8), floats(8192, 10))
def cnn_grad(x, w, v, u):
    return jax.grad(lambda p: (cnn(x, *p) ** 2).sum())((w, v, u))


@program(floats(32, 64), floats(64, 64), floats(64, 64), floats(16, 32, 64))
def gru(h, w, u, xs):

    def s(h, x):
        z = jax.nn.sigmoid(x @ w + h @ u)
        h = z * h + (1 - z) * jnp.tanh(x @ u)
        return (h, h)
    return lax.scan(s, h, xs)


@program(floats(32, 64), floats(64, 64), floats(64, 64), floats(16, 32, 64))
def gru_grad(h, w, u, xs):
    return jax.value_and_grad(lambda w, u: gru(h, w, u, xs)[1].sum(), (0, 1))(w, u)


@program(MORE_LAYERS, MORE_LAYERS, floats(64, 128), ints(64), donated=(0, 1))
def momentum(ps, m, x, y):

    def loss(p):
        h = x
        for w, b in p[:-1]:
            h = jax.nn.gelu(h @ w + b)
        l = jax.nn.log_softmax(h @ p[-1][0] + p[-1][1])
        return -jnp.take_along_axis(l, y[:, None], 1).mean()
    l, g = jax.value_and_grad(loss)(ps)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
    return (jax.tree.map(lambda p, m: p - 0.1 * m, ps, m), m, l)


@program(MORE_LAYERS, floats(5, 64, 128), ints(5, 64))
def train_scan(ps, xs, ys):

    def st(p, d):
        x, y = d

        def loss(p):
            h = x
            for w, b in p[:-1]:
                h = jax.nn.relu(h @ w + b)
            l = jax.nn.log_softmax(h @ p[-1][0] + p[-1][1])
            return -jnp.take_along_axis(l, y[:, None], 1).mean()
        l, g = jax.value_and_grad(loss)(p)
        return (jax.tree.map(lambda p, g: p - 0.1 * g, p, g), l)
    return lax.scan(st, ps, (xs, ys))


@program(floats(4, 256), ints(4))
def sample(l, k):

    def f(l, k):
        v, i = lax.top_k(l, 40)
        return i[jnp.argmax(v * jnp.sin(k * v))]
    return jax.vmap(f)(l, k)


@program(floats(1, 20, 8, 16), floats(1, 20, 8, 16), floats(64, 64), ints(), donated=(0, 1))
def decode(kc, vc, w, n):

    def b(i, c):
        kc, vc, h = c
        q = (h @ w)[:, :16].reshape(1, 1, 1, 16)
        kc = lax.dynamic_update_slice(kc, jnp.broadcast_to(q, (1, 1, 8, 16)), (0, i, 0, 0))
        vc = vc.at[:, i].add(q[0])
        a = jax.nn.softmax(jnp.einsum('bqhd,bkhd->bhqk', jnp.broadcast_to(q, (1, 1, 8, 16)), kc))
        o = jnp.einsum('bhqk,bkhd->bqhd', a, vc)
        return (kc, vc, h + o.reshape(1, 128)[:, :64])
    return lax.fori_loop(0, n, b, (kc, vc, jnp.ones((1, 64))))


@program(floats(1024, 1024))
def fft2(x):
    return jnp.abs(jnp.fft.fft2(x))


@program(floats(1024, 512))
def rfft_conv(x):
    return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(x[::-1]))


@program(floats(3000, 3), ints(4000, 2))
def graph(x, e):
    d = x[e[:, 0]] - x[e[:, 1]]
    f = d / (0.001 + (d ** 2).sum(1, keepdims=True))
    return jnp.zeros_like(x).at[e[:, 0]].add(f).at[e[:, 1]].add(-f)


@program(floats(3000, 3), floats(3000, 3), ints(4000, 2))
def md(x, v, e):

    def s(c, _):
        x, v = c
        v = v + 0.01 * graph(x, e)
        return ((x + 0.01 * v, v), (v ** 2).sum())
    return lax.scan(s, (x, v), None, length=10)


@program(floats(200, 64, 64))
def lu_batch(x):
    return jax.vmap(jnp.linalg.det)(x)


@program(floats(100, 100), floats(100, 5))
def trisolve(a, b):
    return jax.scipy.linalg.solve_triangular(a, b, lower=True) * 2


@program(jax.ShapeDtypeStruct((2,), jnp.uint32), floats(100, 100))
def mcmc(k, x):

    def s(c, k):
        x = c
        y = x + jax.random.normal(k, x.shape)
        a = jax.random.uniform(k) < jnp.exp((x ** 2).sum() - (y ** 2).sum())
        x = jnp.where(a, y, x)
        return (x, x.mean())
    return lax.scan(s, x, jax.random.split(k, 5))


@program(floats(1000, 100), floats(10, 100))
def kmeans(x, c):

    def b(i, c):
        a = ((x[:, None] - c) ** 2).sum(-1).argmin(1)
        return jax.ops.segment_sum(x, a, 10) / jax.ops.segment_sum(jnp.ones(1000), a, 10)[:, None]
    return lax.fori_loop(0, 5, b, c)


@program(floats(100, 100), floats(100, 100), floats(100, 100), donated=(0, 2))
def don3(a, b, c):
    return (c @ b, a + 1, (a * c).sum())


@program(floats(400, 400), floats(400, 400), donated=(0,))
def inchain(a, b):
    x = a + b
    y = jnp.exp(x) * b
    z = y @ b
    return jnp.tanh(z) + y


@program(floats(400, 400))
def multi(a):
    x = jnp.sin(a)
    return (x @ x, x + 1, x.sum(0), jnp.sort(x, axis=1))


@program(floats(64, 100, 32), floats(64, 100, 32))
def attn_scan(q, kv):

    def s(c, x):
        m, l, o = c
        sc = (q * x).sum(-1)
        m2 = jnp.maximum(m, sc)
        p = jnp.exp(sc - m2)
        a = jnp.exp(m - m2)
        return ((m2, l * a + p, o * a[..., None] + p[..., None] * x), None)
    first = (jnp.zeros((64, 100)), jnp.zeros((64, 100)), jnp.zeros((64, 100, 32)))
    c, _ = lax.scan(s, first, jnp.broadcast_to(kv[:5, None], (5, 64, 100, 32)))
    return c[2] / c[1][..., None]


@program(floats(50, 300), floats(50, 300))
def dtw(x, y):
    d = ((x[:, None] - y[None]) ** 2).sum(-1)

    def row(p, r):

        def c(l, v):
            m = jnp.minimum(jnp.minimum(l, v[0]), v[1]) + v[2]
            return (m, m)
        _, o = lax.scan(c, jnp.inf, (p, jnp.roll(p, 1), r))
        return (o, o)
    return lax.scan(row, d[0], d[1:])


@program(floats(5, 5, 100, 100))
def nested_map(x):
    return lax.map(lambda r: lax.map(lambda e: (e @ e).sum(0) + jnp.sort(e)[0], r), x)


@program(floats(300, 300), floats(300, 300))
def loops_two_deep(a, b):

    def inner(j, c):
        x, y = c
        return (x @ y, jnp.sin(x))

    def outer(i, c):
        x, y = lax.fori_loop(0, 3, inner, c)
        return (jnp.tanh(y) + x, x * 2)
    return lax.fori_loop(0, 5, outer, (a, b))


@program(floats(200, 200), floats(200, 200), floats(200, 200))
def loop_rotate(a, b, c):

    def body(i, s):
        x, y, z = s
        return (y @ z, jnp.cos(z) + x, x - y)
    return lax.fori_loop(0, 9, body, (a, b, c))


@program(ints(), floats(250, 250), floats(250, 250))
def branch_in_loop(n, a, b):

    def body(i, c):
        x, y = c
        return lax.cond(i % 3 == 0, lambda x, y: (jnp.sin(x) @ y, x), lambda x, y: (y, jnp.exp(x) @ jnp.cos(y)), x, y)
    return lax.fori_loop(0, n, body, (a, b))


@program(ints(), floats(250, 250), floats(250, 250))
def loop_in_branch(n, a, b):

    def t(x, y):
        return lax.fori_loop(0, 4, lambda i, c: (c[1] @ c[0], c[0] + c[1]), (x, y))

    def f(x, y):
        return (y, jnp.sort(x, axis=0))
    return lax.cond(n > 0, t, f, a, b)


@program(floats(20, 128, 128), floats(128, 128))
def scan_with_loop(xs, w):

    def step(c, x):
        c = lax.fori_loop(0, 3, lambda i, s: jnp.tanh(s @ w) + x, c)
        return (c, c.sum(0))
    return lax.scan(step, jnp.zeros((128, 128)), xs)


@program(floats(150, 150), floats(150, 150))
def while_four_states(a, b):

    def body(s):
        x, y, z, k = s
        u = x @ y
        v = jnp.sin(z) + u
        return (v, u - x, y @ v, k + 1)
    return lax.while_loop(lambda s: s[3] < 6, body, (a, b, a * b, 0))[:3]


@program(ints(), floats(100, 400), floats(400, 100))
def switch_sizes(n, a, b):
    both = lambda a, b: jnp.cos(a) @ jnp.sin(b) + a @ b
    return lax.switch(n, [lambda a, b: a @ b, lambda a, b: jnp.sin(a)[:, :100], both], a, b)


@program(floats(128, 128))
def scan_grad(w):

    def loss(w):

        def s(c, _):
            c = jnp.tanh(c @ w) * 0.5 + c
            return (c, c.mean())
        c, l = lax.scan(s, jnp.ones((128, 128)), None, length=6)
        return l.sum() + c.sum()
    return jax.grad(loss)(w)


@program(floats(300, 300), floats(300, 300), donated=(0, 1))
def donated_loop(a, b):

    def body(i, c):
        x, y = c
        z = x @ y
        return (z, jnp.where(z > 0, x, y))
    return lax.fori_loop(0, 5, body, (a, b))


@program(floats(64, 64), floats(64, 64))
def three_deep(a, b):

    def l3(k, c):
        return (c[0] @ c[1], c[0] - c[1])

    def l2(j, c):
        x, y = lax.fori_loop(0, 2, l3, c)
        return (y @ x, jnp.sin(x))

    def l1(i, c):
        x, y = lax.fori_loop(0, 2, l2, c)
        return (jnp.cos(y), x + y)
    return lax.fori_loop(0, 2, l1, (a, b))


@program(floats(400, 400), floats(400, 400))
def swap_mix(a, b):

    def body(i, c):
        x, y = c
        return (jnp.sort(y, axis=0), jnp.flip(x, 0) @ y)
    return lax.fori_loop(0, 5, body, (a, b))


@program(ints(), floats(300, 300))
def branches_nested(n, x):

    def t(x):
        return lax.cond(n > 5, lambda x: (x @ x).T @ x, lambda x: jnp.sin(x) @ x, x)

    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: jnp.cos(c) @ c + c, x)
    return lax.cond(n > 0, t, f, x) + 1


@program(floats(200, 200), floats(200, 200))
def loop_smaller(a, b):

    def body(i, c):
        x, y, s = c
        u = x @ y
        v = u[:100] * 2
        return (u, jnp.concatenate([v, y[100:]]), s + v.sum(1))
    return lax.fori_loop(0, 5, body, (a, b, jnp.zeros(100)))


@program(floats(1000, 64), floats(1, 64), ints())
def dus_reshape(x, u, i):
    return lax.dynamic_update_slice(jnp.sin(x), u, (i, 0)).reshape(64000)


@program(floats(1000, 64), floats(1, 64), ints())
def dus_bf16(x, u, i):
    return lax.dynamic_update_slice(jnp.sin(x), u, (i, 0)).astype(jnp.bfloat16)


@program(jax.ShapeDtypeStruct((1000, 64), jnp.bfloat16), floats(1, 64), ints(), donated=(0,))
def dus_convert_loop(x, u, i):
    return lax.fori_loop(0, 5, lambda k, x: lax.dynamic_update_slice(x.astype(jnp.float32), u * 2, (i + k, 0)).astype(jnp.bfloat16), x)


@program(floats(1000, 64), ints(300), floats(300, 64))
def two_scatters(x, i, u):
    y = jnp.cos(x)
    return (y.at[i].add(u), y.at[i].mul(u + 1))


@program(floats(1000, 64), ints(300), floats(300, 64))
def scatter_then_use(x, i, u):
    y = jnp.sort(x, axis=0)
    z = y.at[i].add(u)
    return z @ y.T


@program(floats(1000, 64), ints(300), floats(300, 64))
def scatter_alone(x, i, u):
    y = jnp.sort(x, axis=0)
    z = y.at[i].add(u)
    return z @ z.T


@program(floats(20000, 64), ints(20000), floats(20000))
def seg_two(x, i, w):
    return (jax.ops.segment_sum(x, i, 2000), jax.ops.segment_sum(w, i, 2000))


@program(floats(20000, 64), ints(20000))
def seg_then_div(x, i):
    s = jax.ops.segment_sum(x, i, 2000)
    return s / jnp.maximum(jax.ops.segment_sum(jnp.ones(20000), i, 2000), 1)[:, None] @ jnp.ones((64, 64))


@program(floats(1000, 64), ints(50), floats(50, 64))
def scatter_in_loop(x, i, u):
    return lax.fori_loop(0, 7, lambda k, c: (c[0].at[i].add(u * k), c[1] + c[0].sum(0)), (x, jnp.zeros(64)))


@program(floats(1000, 64), floats(1, 64), ints())
def dus_twice(x, u, i):
    y = jnp.sin(x) @ jnp.ones((64, 64))
    return lax.dynamic_update_slice(y, u, (i, 0)) + lax.dynamic_update_slice(y, u * 2, (i + 1, 0))


@program(floats(64, 1000), floats(1, 64), ints())
def dus_transposed(x, u, i):
    return lax.dynamic_update_slice(jnp.cos(x).T, u, (i, 0)).T


@program(floats(8, 100, 16), floats(8, 1, 16), ints(), donated=(0,))
def kv_bf16(c, u, i):
    c = lax.dynamic_update_slice(c, u, (0, i, 0))
    return (c, jnp.einsum('bsd,btd->bst', c, c))


@program(ints(), floats(1000, 201), ints(50), floats(50, 201))
def scatter_in_branch(p, x, i, u):
    return lax.cond(p > 0, lambda x: x.at[i].add(u), lambda x: x * 2, x)


@program(ints(), floats(300, 300), floats(1, 300))
def branch_updates_state(n, a, u):
    def body(k, x):
        return lax.cond(k > n, lambda x: lax.dynamic_update_slice(x, u, (k, 0)), lambda x: -x, x)

    return lax.fori_loop(0, 5, body, a)
