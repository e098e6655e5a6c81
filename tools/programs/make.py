"""Makes the programs of models.py: make.py FOLDER [NAME...], or make.py --of OTHER FOLDER [NAME...].

Writes NAME.unopt.hlo as JAX hands it over, NAME.opt.hlo as XLA's CPU backend compiles it, and NAME.npz: the arguments
`a0`, `a1`, ... and XLA's results `r0`, `r1`, ... of the entry. Types that NumPy lacks are stored as their bits; `types`
names those of all arguments, then of all results. A program for several devices has NAME.shards.npz for the optimised
form, whose arrays have one more dimension in front, the device.

Where a program has floats of less than 32 bits, `w0`, `w1`, ... are the results of the same program with 32: they tell
which of two results that differ by rounding is nearer.

With `--of`, programs are those of another folder, NAME.unopt.hlo and further forms of the same function: each is linked,
and NAME.opt.hlo and NAME.npz are made, with small numbers as arguments. NAME.v5e.npz has the results that a TPU v5e gives, which rounds the
operands of products of f32 to bf16, and as `w0`, `w1`, ... those without: the text that its compiler leaves rounds some.
"""

import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")
os.environ["JAX_PLATFORMS"] = "cpu"

import time

import jax
import jax.numpy as jnp
import models
import numpy as np
from execute import difference
from jax._src import xla_bridge
from jax._src.lib import xla_client
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib import _jax

try:
    from jaxlib import _hlo
except ImportError:  # jaxlib 0.8 has what reads and prints HLO in another module.
    _hlo = _jax


def bits(array):
    """The array in a type that NumPy stores."""
    array = np.asarray(array)
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def save(path, arguments, results, wide=()):
    lists = {"a": arguments, "r": results, "w": wide}
    arrays = {f"{letter}{k}": bits(x) for letter, some in lists.items() for k, x in enumerate(some)}
    np.savez(path, types=np.array([str(np.asarray(x).dtype) for x in (*arguments, *results)]), **arrays)


def text(module):
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    options.print_metadata = False
    return module.to_string(options)


def executable_of(computation):
    """A program for any platform, compiled for the CPU."""
    client = xla_bridge.get_backend("cpu")
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    return client.compile_and_load(program, devices, xla_client.CompileOptions())


def called(executable, arguments):
    return [x[0] for x in executable.execute_sharded(arguments).disassemble_into_single_device_arrays()]


def on_device(arguments):
    return [jax.device_put(x, xla_bridge.get_backend("cpu").devices()[0]) for x in arguments]


def compiled(computation):
    """The optimised module of a program, and a function that calls it."""
    executable = executable_of(computation)
    return executable.hlo_modules()[0], lambda arguments: called(executable, on_device(arguments))


def run(computation, arguments):
    """The results of a program."""
    return compiled(computation)[1](arguments)


def steady(call, arguments, results):
    """Whether XLA's results stay near when the last bits of the arguments change.

    They do not where an argument puts a value of a `relu` nearly at 0: its gradient is 1 or 0 by the order of a sum.
    """
    rng = np.random.default_rng(1)
    other = lambda x: x * (1 + 1e-7 * rng.standard_normal(x.shape)).astype(np.float32) if x.dtype == np.float32 else x
    near = lambda e, f: difference(0, str(e.dtype), e, f) is None
    calls = (call([other(np.asarray(x)) for x in arguments]) for _ in range(8))
    return all(near(np.asarray(e), np.asarray(f)) for found in calls for e, f in zip(results, found))


LAST_SEED = 20
NARROW = re.compile(r"\b(bf16|f16)\[")


def wider(text, arguments):
    """The results of a program with all floats of 32 bits; nothing for one that has no others."""
    if not NARROW.search(text):
        return []
    widened = lambda x: x.astype(jnp.float32) if x.dtype in (jnp.bfloat16, jnp.float16) else x
    return run(computation_of(NARROW.sub("f32[", text)), [widened(jnp.asarray(x)) for x in arguments])


def computation_of(text):
    return xla_client.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())


def make(name, folder, seed=7):
    program = models.PROGRAMS[name]
    arguments = program.arguments(np.random.default_rng(seed))
    shardings = None
    if program.shardings:
        mesh, specs = program.shardings()
        shardings = jax.tree.map(lambda s: NamedSharding(mesh, s), specs, is_leaf=lambda s: isinstance(s, PartitionSpec))
        arguments = jax.device_put(arguments, shardings)
    jitted = jax.jit(program.function, keep_unused=True, **({"in_shardings": shardings} if shardings else {}))
    lowered = jitted.trace(*arguments).lower(lowering_platforms=(program.platform,))
    flat = jax.tree.leaves(arguments)
    given = text(lowered.compiler_ir("hlo").as_hlo_module())
    (folder / f"{name}.unopt.hlo").write_text(given)
    if program.shardings:
        executable = lowered.compile()
        results = jax.tree.leaves(executable(*arguments))
        optimised = executable.runtime_executable().hlo_modules()[0]
        shards = lambda xs: [np.stack([np.asarray(s.data) for s in sorted(x.addressable_shards, key=lambda s: s.device.id)]) for x in xs]
        save(folder / f"{name}.shards.npz", shards(flat), shards(results))
    else:
        optimised, call = compiled(lowered.compiler_ir("hlo"))
        results = call(flat)
        if not steady(call, flat, results):
            print(f"{name}: numbers of seed {seed} hang on the last bits of the arguments", flush=True)
            if seed == LAST_SEED:
                raise SystemExit(f"{name}: no seed up to {seed} gives numbers to compare with")
            return make(name, folder, seed + 1)
    (folder / f"{name}.opt.hlo").write_text(text(optimised))
    save(folder / f"{name}.npz", flat, results, () if program.shardings else wider(given, flat))


def number(rng, shape, scale):
    """An argument of a program that nothing is known of: small, so that it is an index wherever one is needed."""
    dtype, sizes = shape.numpy_dtype(), shape.dimensions()
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype.kind == "b" else 4, sizes).astype(dtype)
    return (rng.standard_normal(sizes) * scale).astype(dtype)


def rounded(given):
    """A program whose products and convolutions round operands of f32 to bf16 first."""
    types = dict(re.findall(r"^ *(?:ROOT )?([\w.-]+) = (\S+) ", given, re.MULTILINE))
    lines = []
    for line in given.splitlines():
        product = re.search(r"(.* (?:dot|convolution)\()(.*?)(\).*)", line)
        if product:
            operands = product[2].split(", ")
            for k, operand in enumerate(operands):
                if types[operand].startswith("f32["):
                    operands[k] = f"rounded.{len(lines)}"
                    lines.append(f"  {operands[k]} = {types[operand]} reduce-precision({operand}), exponent_bits=8, mantissa_bits=7")
            line = product[1] + ", ".join(operands) + product[3]
        lines.append(line)
    return "\n".join(lines) + "\n"


def known(name, other, folder):
    """Links the forms of a program and runs the first."""
    for form in other.glob(f"{name}.*.hlo"):
        link = folder / form.name
        link.unlink(missing_ok=True)
        link.symlink_to(form.resolve())
    given = (other / f"{name}.unopt.hlo").read_text()
    computation = computation_of(given)
    optimised, call = compiled(computation)
    (folder / f"{name}.opt.hlo").write_text(text(optimised))
    # Steps that feed back into themselves double differences by rounding where weights are not small.
    for scale in (0.1, 0.02):
        rng = np.random.default_rng(7)
        arguments = [jnp.asarray(number(rng, shape, scale)) for shape in computation.program_shape().parameter_shapes()]
        results = call(arguments)
        if steady(call, arguments, results):
            break
    else:
        raise SystemExit(f"{name}: no arguments give numbers to compare with")
    wide = wider(given, arguments)
    save(folder / f"{name}.npz", arguments, results, wide)
    # The text for the v5e has not all operands of bf16 where its hardware rounds them.
    save(folder / f"{name}.v5e.npz", arguments, run(computation_of(rounded(given)), arguments), wide or results)


def main():
    options = sys.argv[1:]
    other = pathlib.Path(options[1]) if options[0] == "--of" else None
    folder, *names = options[2:] if other else options
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if other:
        for name in names or sorted(file.name.removesuffix(".unopt.hlo") for file in other.glob("*.unopt.hlo")):
            known(name, other, folder)
        return
    for name in names or models.PROGRAMS:
        start = time.monotonic()
        make(name, folder)
        count = [(folder / f"{name}.{form}.hlo").read_text().count(" = ") for form in ("unopt", "opt")]
        print(f"{name}: {count[0]} and {count[1]} instructions, {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
