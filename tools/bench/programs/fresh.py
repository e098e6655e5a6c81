"""Random programs as users write them, each of a seed, so that no rule of the planner can be made for them.

A program is a chain of operations with a side branch at times. Each kind of operation is a function that draws one for an
array of some sizes: what it computes, and what further arguments it takes; none where the sizes do not fit.
"""

import math
import string
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from bench.programs import Program
from bench.programs.parts import array, conv

SMALL = (1, 2, 3, 4, 5, 7, 8, 12, 16, 24)
LARGE = (5, 8, 12, 16, 24, 32, 48, 64, 65, 77, 96, 100, 128, 192, 196, 256, 320, 384, 512, 768, 1000, 1024)
# The elements of the first array, of any array, and of any result; multiplications of a product.
FIRST, MOST, LEAST, PRODUCTS = range(2**10, 2**21), 2**22, 2**6, 2**32
STEPS = (1, 1, 2, 2, 3, 3, 4, 5, 6)


class Operation(NamedTuple):
    """A function of an array and of further arguments: their sizes, and their type if it is not the array's."""

    function: Callable[..., Any]
    arguments: Sequence[Sequence[int]] = ()
    type: Any = None


Sizes: TypeAlias = tuple[int, ...]
Kind: TypeAlias = Callable[[Random, Sizes], Operation | None]
KINDS: dict[str, tuple[int, Kind]] = {}


def kind(weight: int) -> Callable[[Kind], Kind]:
    """Puts a kind of operation among those that are drawn, so often."""

    def named(draw: Kind) -> Kind:
        KINDS[draw.__name__] = weight, draw
        return draw

    return named


def drawn_sizes(random: Random) -> Sizes:
    """Sizes of a first array: the last two large, if these are not shuffled."""
    rank = random.choice((2, 2, 3, 3, 3, 4, 4))
    while True:
        sizes = [random.choice(SMALL if dim < rank - 2 else LARGE) for dim in range(rank)]
        if random.random() < 0.3:
            random.shuffle(sizes)
        if math.prod(sizes) in FIRST:
            return tuple(sizes)


def drawn_axis(random: Random, sizes: Sizes) -> int:
    """The last dimension mostly."""
    return random.randrange(len(sizes)) if random.random() < 0.35 else len(sizes) - 1


@kind(7)
def einsum(random: Random, sizes: Sizes) -> Operation | None:
    """A product with another array: dimensions that are summed, batch dimensions and new ones, in any order."""
    names = string.ascii_lowercase[: len(sizes)]
    size = dict(zip(names, sizes, strict=True))
    summed = random.sample(names, random.choice((1, 1, 1, 2)) if len(names) > 2 else 1)
    free = [name for name in names if name not in summed]
    batch = random.sample(free, min(random.choice((0, 0, 0, 1, 1, 2)), max(0, len(free) - 1)))
    new = list("xyz"[: random.choice((0, 1, 1, 1, 1, 1, 1, 1, 2, 2))])
    size |= {name: random.choice(LARGE if k == 0 else SMALL) for k, name in enumerate(new)}
    other, result = batch + summed + new, batch + [name for name in free if name not in batch] + new
    for names_of, share in ((other, 0.4), (result, 0.4)):
        if random.random() < share:
            random.shuffle(names_of)
    if not 0 < len(result) < 6 or math.prod(size.values()) > PRODUCTS:
        return None
    left, right, made = names, "".join(other), "".join(result)
    first = random.random() < 0.7
    equation = f"{left},{right}->{made}" if first else f"{right},{left}->{made}"
    return Operation(lambda x, w: jnp.einsum(equation, *((x, w) if first else (w, x))), [[size[name] for name in other]])


@kind(2)
def unary(random: Random, sizes: Sizes) -> Operation:
    return Operation(random.choice((jnp.tanh, jax.nn.relu, jax.nn.gelu, jax.nn.sigmoid, jnp.square, jnp.exp)))


@kind(2)
def binary(random: Random, sizes: Sizes) -> Operation:
    return Operation(random.choice((jnp.add, jnp.multiply, jnp.maximum)), [sizes])


@kind(2)
def bias(random: Random, sizes: Sizes) -> Operation:
    axis = drawn_axis(random, sizes)
    along = [-1 if dim == axis else 1 for dim in range(len(sizes))]
    return Operation(lambda x, b: x + b.reshape(along), [[sizes[axis]]])


@kind(2)
def reduce(random: Random, sizes: Sizes) -> Operation | None:
    if len(sizes) < 2:
        return None
    axes = tuple(sorted(random.sample(range(len(sizes)), random.choice((1, 1, 2)) if len(sizes) > 2 else 1)))
    combine = random.choice((jnp.sum, jnp.max, jnp.mean))
    return Operation(lambda x: combine(x, axis=axes))


@kind(2)
def norm(random: Random, sizes: Sizes) -> Operation:
    axis = drawn_axis(random, sizes)

    def normed(x):
        centred = x - x.mean(axis, keepdims=True)
        return centred * lax.rsqrt((centred * centred).mean(axis, keepdims=True) + 1e-5)

    return Operation(normed)


@kind(1)
def softmax(random: Random, sizes: Sizes) -> Operation:
    axis = drawn_axis(random, sizes)
    return Operation(lambda x: jax.nn.softmax(x, axis))


@kind(2)
def transpose(random: Random, sizes: Sizes) -> Operation | None:
    rank = len(sizes)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    dims = swapped if random.random() < 0.4 else random.sample(range(rank), rank)
    return None if rank < 2 or dims == sorted(dims) else Operation(lambda x: jnp.transpose(x, dims))


@kind(2)
def reshape(random: Random, sizes: Sizes) -> Operation | None:
    """Two neighbouring dimensions become one, or one becomes two."""
    dim = random.randrange(len(sizes))
    if random.random() < 0.5:
        if dim + 1 == len(sizes) or len(sizes) < 3:
            return None
        made = [*sizes[:dim], sizes[dim] * sizes[dim + 1], *sizes[dim + 2 :]]
    else:
        parts = [part for part in range(2, 65) if sizes[dim] % part == 0 and part < sizes[dim]]
        if not parts or len(sizes) > 4:
            return None
        part = random.choice(parts)
        made = [*sizes[:dim], sizes[dim] // part, part, *sizes[dim + 1 :]]
    return Operation(lambda x: x.reshape(made))


@kind(3)
def heads(random: Random, sizes: Sizes) -> Operation | None:
    """The features of a sequence in parts, and these in front, as attention has them."""
    counts = [count for count in (2, 4, 8, 12, 16) if sizes[-1] % count == 0 and sizes[-1] >= 8 * count]
    if len(sizes) != 3 or not counts:
        return None
    count, dims = random.choice(counts), random.choice(((0, 2, 1, 3), (0, 2, 1, 3), (0, 2, 3, 1), (2, 0, 1, 3)))
    return Operation(lambda x: x.reshape(*sizes[:2], count, -1).transpose(dims))


@kind(1)
def concat(random: Random, sizes: Sizes) -> Operation:
    axis = random.randrange(len(sizes))
    other = [*sizes[:axis], random.choice(SMALL), *sizes[axis + 1 :]]
    return Operation(lambda x, y: jnp.concatenate([x, y], axis), [other])


@kind(1)
def pad(random: Random, sizes: Sizes) -> Operation | None:
    widths = [(random.choice((0, 0, 1, 2)), random.choice((0, 0, 1, 3))) for _ in sizes]
    return Operation(lambda x: jnp.pad(x, widths)) if any(map(any, widths)) else None


@kind(1)
def slices(random: Random, sizes: Sizes) -> Operation | None:
    ends = tuple(max(1, size - random.choice((0, 0, 1, size // 2))) for size in sizes)
    return Operation(lambda x: x[tuple(map(slice, ends))]) if ends != sizes else None


@kind(5)
def convolution(random: Random, sizes: Sizes) -> Operation | None:
    """Of images, features last or second; depthwise at times."""
    if len(sizes) != 4:
        return None
    order = random.choice(("NHWC", "NHWC", "NHWC", "NCHW"))
    features = sizes[order.index("C")]
    groups = features if features > 1 and random.random() < 0.25 else 1
    made = features * random.choice((1, 2)) if groups > 1 else random.choice(LARGE)
    window, stride = random.choice((1, 3, 3, 5)), random.choice((1, 1, 2))
    if made > 1024 or math.prod(sizes) * window**2 * made // groups > PRODUCTS:
        return None
    kernel = (window, window, features // groups, made)
    turned = (made, features // groups, window, window)
    return Operation(lambda x, w: conv(x, w, stride, groups=groups, order=order), [kernel if order == "NHWC" else turned])


@kind(2)
def pool(random: Random, sizes: Sizes) -> Operation | None:
    if len(sizes) != 4 or min(sizes[1:3]) < 2:
        return None
    window = (1, 2, 2, 1)
    return Operation(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID"))


@kind(1)
def window(random: Random, sizes: Sizes) -> Operation:
    """Sums of neighbours along a dimension."""
    axis = random.randrange(len(sizes))
    extent = tuple(min(3, size) if dim == axis else 1 for dim, size in enumerate(sizes))
    return Operation(lambda x: lax.reduce_window(x, 0.0, lax.add, extent, (1,) * len(sizes), "SAME"))


@kind(1)
def gather(random: Random, sizes: Sizes) -> Operation:
    axis = random.randrange(len(sizes))
    places = [random.choice(LARGE)] if random.random() < 0.6 else random.choices(SMALL, k=2)
    return Operation(lambda x, at: jnp.take(x, at, axis), [places], jnp.int32)


@kind(1)
def scatter(random: Random, sizes: Sizes) -> Operation:
    """One is added to slices at places along a dimension."""
    axis = random.randrange(len(sizes))
    before = (slice(None),) * axis
    return Operation(lambda x, at: x.at[(*before, at)].add(1), [[random.choice(LARGE)]], jnp.int32)


@kind(1)
def cast(random: Random, sizes: Sizes) -> Operation:
    return Operation(lambda x: x.astype(jnp.bfloat16 if x.dtype == jnp.float32 else jnp.float32))


@kind(1)
def cumsum(random: Random, sizes: Sizes) -> Operation:
    axis = random.randrange(len(sizes))
    return Operation(lambda x: jnp.cumsum(x, axis))


@kind(1)
def sort(random: Random, sizes: Sizes) -> Operation | None:
    axis = random.randrange(len(sizes))
    return Operation(lambda x: jnp.sort(x, axis)) if math.prod(sizes) <= 2**18 else None


class Draft:
    """A program as far as it is drawn: its arguments, and the values that it computes, the first argument before them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        of = random.choice((jnp.float32, jnp.float32, jnp.float32, jnp.bfloat16))
        self.arguments = [array(*drawn_sizes(random), of=of)]
        self.values = list(self.arguments)
        # The value that an operation reads, what it computes, and the places of its arguments.
        self.steps: list[tuple[int, Callable[..., Any], range]] = []
        self.kinds: list[str] = []

    def draw(self, only: str | None = None) -> None:
        """Puts an operation below the others, of one kind or of any, where one that is drawn fits."""
        random, last = self.random, len(self.values) - 1
        source = last if random.random() < 0.85 else random.randrange(last + 1)
        name = only or random.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
        read = self.values[source]
        operation = KINDS[name][1](random, read.shape)
        if operation is None:
            return
        new = [array(*sizes, of=operation.type or read.dtype) for sizes in operation.arguments]
        made = jax.eval_shape(operation.function, read, *new)
        if made.ndim and LEAST <= made.size and max(each.size for each in (made, *new)) <= MOST:
            self.steps.append((source, operation.function, range(len(self.arguments), len(self.arguments) + len(new))))
            self.arguments += new
            self.values.append(made)
            self.kinds.append(name)

    def results(self) -> list[int]:
        """The values that nothing reads, and at times others."""
        read = {source for source, *_ in self.steps}
        return [k for k in range(1, len(self.values)) if k not in read or self.random.random() < 0.08]


def program(name: str) -> Program:
    """The program of a seed; of one operation of a kind where the name is `KIND.SEED`."""
    *kind, seed = name.split(".")
    draft = drawn(Random(int(seed)), *kind)
    kept = draft.results()

    def run(*arguments):
        values = [arguments[0]]
        for source, function, places in draft.steps:
            values.append(function(values[source], *(arguments[k] for k in places)))
        return tuple(values[k] for k in kept)

    return Program(run, draft.arguments, kinds=sorted(set(draft.kinds)))


def drawn(random: Random, only: str | None = None) -> Draft:
    """A draft of some operations, or of one of a kind for which first arrays are drawn until it fits one."""
    if only is None:
        draft = Draft(random)
        count = random.choice(STEPS)
        while len(draft.steps) < count:
            draft.draw()
        return draft
    while True:
        draft = Draft(random)
        draft.draw(only)
        if draft.steps:
            return draft
