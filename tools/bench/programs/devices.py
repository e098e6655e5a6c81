"""A step of training of a transformer's block for many devices: `N.F.T` is the step for N devices, in a mesh of F along
`fsdp` and T along `tensor`.

Each value that has names of dimensions has the sharding that RULES give it, which are those of MaxText's configuration for
these axes. A device has one sequence of the batch.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from bench.programs import Programs

jax.config.update("jax_use_shardy_partitioner", False)

COUNTS = (8, 16, 64, 256, 1024, 4096)
TENSOR = (1, 4, 16)
LENGTH, EMBED, HEADS, HEAD, MLP = 2048, 4096, 32, 128, 14336

# From the names of dimensions to the axes of the mesh.
RULES = {
    "activation_batch": "fsdp",
    "activation_length": None,
    "activation_embed": "tensor",
    "activation_heads": "tensor",
    "activation_kv": None,
    "activation_mlp": "tensor",
    "embed": "fsdp",
    "heads": "tensor",
    "kv": None,
    "mlp": "tensor",
    "norm": "tensor",
}

WEIGHTS = {
    "norm1": ((EMBED,), ("norm",)),
    "query": ((EMBED, HEADS, HEAD), ("embed", "heads", "kv")),
    "key": ((EMBED, HEADS, HEAD), ("embed", "heads", "kv")),
    "value": ((EMBED, HEADS, HEAD), ("embed", "heads", "kv")),
    "out": ((HEADS, HEAD, EMBED), ("heads", "kv", "embed")),
    "norm2": ((EMBED,), ("norm",)),
    "gate": ((EMBED, MLP), ("embed", "mlp")),
    "up": ((EMBED, MLP), ("embed", "mlp")),
    "down": ((MLP, EMBED), ("mlp", "embed")),
}


def sharding(mesh, names):
    return NamedSharding(mesh, PartitionSpec(*[RULES[name] for name in names]))


def normed(x, scale):
    wide = x.astype(jnp.float32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)
    return (wide * scale).astype(jnp.bfloat16)


def block(mesh, weights, x):
    def held(value, *names):
        return jax.lax.with_sharding_constraint(value, sharding(mesh, names))

    embed = ("activation_batch", "activation_length", "activation_embed")
    heads = ("activation_batch", "activation_length", "activation_heads", "activation_kv")
    narrow = {name: weight.astype(jnp.bfloat16) for name, weight in weights.items()}
    y = held(normed(x, weights["norm1"]), *embed)
    q, k, v = (held(jnp.einsum("bse,ehd->bshd", y, narrow[name]), *heads) for name in ("query", "key", "value"))
    scores = jnp.einsum("bshd,bthd->bhst", q, k).astype(jnp.float32) * HEAD**-0.5
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    scores = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1).astype(jnp.bfloat16)
    z = held(jnp.einsum("bhst,bthd->bshd", scores, v), *heads)
    x = held(x + jnp.einsum("bshd,hde->bse", z, narrow["out"]), *embed)
    y = held(normed(x, weights["norm2"]), *embed)
    mlp = ("activation_batch", "activation_length", "activation_mlp")
    h = jax.nn.silu(held(jnp.einsum("bse,ef->bsf", y, narrow["gate"]), *mlp))
    h = held(h * held(jnp.einsum("bse,ef->bsf", y, narrow["up"]), *mlp), *mlp)
    return held(x + jnp.einsum("bsf,fe->bse", h, narrow["down"]), *embed)


def step(count, tensor):
    """The step for so many devices, its arguments and its options."""
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(count // tensor, tensor), ("fsdp", "tensor"))

    def loss(weights, x, target):
        y = block(mesh, weights, x).astype(jnp.float32)
        return jnp.mean((y - target.astype(jnp.float32)) ** 2)

    def step(weights, x, target):
        change = jax.grad(loss)(weights, x, target)
        return {name: weights[name] - 1e-3 * change[name] for name in weights}

    own = {name: sharding(mesh, names) for name, (_, names) in WEIGHTS.items()}
    weights = {name: jax.ShapeDtypeStruct(sizes, jnp.float32, sharding=own[name]) for name, (sizes, _) in WEIGHTS.items()}
    activations = ("activation_batch", "activation_length", "activation_embed")
    x = jax.ShapeDtypeStruct((count, LENGTH, EMBED), jnp.bfloat16, sharding=sharding(mesh, activations))
    return step, (weights, x, x), {"donate_argnums": 0, "out_shardings": own}


def devices() -> Programs:
    pairs = [(count, tensor) for count in COUNTS for tensor in TENSOR if tensor < count]
    return {f"{count}.{count // tensor}.{tensor}": step(count, tensor) for count, tensor in pairs}
