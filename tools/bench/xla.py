"""XLA's CPU backend: compiles and runs programs, whose numbers are what others are compared with.

A folder of programs has NAME.unopt.hlo as JAX hands it over, NAME.opt.hlo as XLA's CPU backend compiles it, and NAME.npz: the
arguments `a0`, `a1`, ... and XLA's results `r0`, `r1`, ... of the entry. Types that NumPy lacks are stored as their bits;
`types` names those of all arguments, then of all results. A program for several devices has NAME.shards.npz for the
optimised form, whose arrays have one more dimension in front, the device.

Where a program has floats of less than 32 bits, `w0`, `w1`, ... are the results of the same program with 32: they tell
which of two results that differ by rounding is nearer.

A folder that `known` made of another has further forms of each program, NAME.v5e.hlo for one, and small numbers as
arguments. NAME.v5e.npz has the results that a TPU v5e gives, which rounds the operands of products of f32 to bf16, and as
`w0`, `w1`, ... those without: the text that its compiler leaves rounds some.
"""

import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax._src.lib import xla_client
from jax.sharding import NamedSharding, PartitionSpec
from jaxlib import _jax

from bench.calls import Array
from bench.near import difference
from bench.programs import Program, lowered
from bench.run import Failed

try:
    from jaxlib import _hlo
except ImportError:  # jaxlib 0.8 has what reads and prints HLO in another module.
    _hlo = _jax

Arrays = Sequence[Any]


def bits(value: Any) -> Array:
    """The array in a type that NumPy stores."""
    array: Array = np.asarray(value)
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


def save(path: pathlib.Path, arguments: Arrays, results: Arrays, wide: Arrays = ()) -> None:
    lists = {"a": arguments, "r": results, "w": wide}
    arrays: dict[str, Any] = {f"{letter}{k}": bits(x) for letter, some in lists.items() for k, x in enumerate(some)}
    np.savez(path, types=np.array([str(np.asarray(x).dtype) for x in (*arguments, *results)]), **arrays)


def text(module: Any) -> str:
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    options.print_metadata = False
    return str(module.to_string(options))


def executable_of(computation: Any) -> Any:
    """A program for any platform, compiled for the CPU."""
    client = xla_bridge.get_backend("cpu")
    program = _jax.mlir.xla_computation_to_mlir_module(computation)
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    return client.compile_and_load(program, devices, xla_client.CompileOptions())


def called(executable: Any, arguments: Arrays) -> list[Any]:
    return [x[0] for x in executable.execute_sharded(arguments).disassemble_into_single_device_arrays()]


def on_device(arguments: Arrays) -> list[Any]:
    return [jax.device_put(x, xla_bridge.get_backend("cpu").devices()[0]) for x in arguments]


def compiled(computation: Any) -> tuple[Any, Callable[[Arrays], list[Any]]]:
    """The optimised module of a program, and a function that calls it."""
    executable = executable_of(computation)
    return executable.hlo_modules()[0], lambda arguments: called(executable, on_device(arguments))


def run(computation: Any, arguments: Arrays) -> list[Any]:
    """The results of a program."""
    return compiled(computation)[1](arguments)


def steady(call: Callable[[Arrays], list[Any]], arguments: Arrays, results: Arrays) -> bool:
    """Whether XLA's results stay near when the last bits of the arguments change.

    They do not where an argument puts a value of a `relu` nearly at 0: its gradient is 1 or 0 by the order of a sum.
    """
    rng = np.random.default_rng(1)

    def other(x: Array) -> Array:
        return x * (1 + 1e-7 * rng.standard_normal(x.shape)).astype(np.float32) if x.dtype == np.float32 else x

    def near(expected: Array, found: Array) -> bool:
        return difference(str(expected.dtype), expected, found) is None

    calls = (call([other(np.asarray(x)) for x in arguments]) for _ in range(8))
    return all(near(np.asarray(e), np.asarray(f)) for found in calls for e, f in zip(results, found, strict=True))


LAST_SEED = 20
NARROW = re.compile(r"\b(bf16|f16)\[")


def wider(text: str, arguments: Arrays) -> list[Any]:
    """The results of a program with all floats of 32 bits; nothing for one that has no others."""
    if not NARROW.search(text):
        return []
    given = [jnp.asarray(x) for x in arguments]
    widened = [x.astype(jnp.float32) if x.dtype in (jnp.bfloat16, jnp.float16) else x for x in given]
    return run(computation_of(NARROW.sub("f32[", text)), widened)


def computation_of(text: str) -> Any:
    return xla_client.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())


def shards(arrays: Arrays) -> list[Array]:
    """Arrays that devices hold in parts, with one more dimension in front, the device."""
    return [np.stack([np.asarray(s.data) for s in sorted(x.addressable_shards, key=lambda s: s.device.id)]) for x in arrays]


def with_numbers(name: str, program: Program, folder: pathlib.Path, seed: int = 7) -> None:
    """Writes the forms of a program and the numbers of its arguments and results."""
    arguments, options = program.numbers(seed), {}
    if program.shardings:
        mesh, specs = program.shardings()
        own = jax.tree.map(lambda s: NamedSharding(mesh, s), specs, is_leaf=lambda s: isinstance(s, PartitionSpec))
        arguments, options = jax.device_put(arguments, own), {"in_shardings": own}
    lower = lowered(program, arguments, **options)
    flat = jax.tree.leaves(arguments)
    given = text(lower.compiler_ir("hlo").as_hlo_module())
    (folder / f"{name}.unopt.hlo").write_text(given)
    if program.shardings:
        executable = lower.compile()
        results = jax.tree.leaves(executable(*arguments))
        optimised = executable.runtime_executable().hlo_modules()[0]
        save(folder / f"{name}.shards.npz", shards(flat), shards(results))
    else:
        optimised, call = compiled(lower.compiler_ir("hlo"))
        results = call(flat)
        if not steady(call, flat, results):
            print(f"{name}: numbers of seed {seed} hang on the last bits of the arguments", flush=True)
            if seed == LAST_SEED:
                raise Failed(f"{name}: no seed up to {seed} gives numbers to compare with")
            return with_numbers(name, program, folder, seed + 1)
    (folder / f"{name}.opt.hlo").write_text(text(optimised))
    save(folder / f"{name}.npz", flat, results, () if program.shardings else wider(given, flat))


def number(rng: np.random.Generator, shape: Any, scale: float) -> Array:
    """An argument of a program that nothing is known of: small, so that it is an index wherever one is needed."""
    dtype: np.dtype[Any] = shape.numpy_dtype()
    sizes: tuple[int, ...] = shape.dimensions()
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype.kind == "b" else 4, sizes).astype(dtype)
    return (rng.standard_normal(sizes) * scale).astype(dtype)


def rounded(given: str) -> str:
    """A program whose products and convolutions round operands of f32 to bf16 first."""
    types = dict(re.findall(r"^ *(?:ROOT )?([\w.-]+) = (\S+) ", given, re.MULTILINE))
    lines: list[str] = []
    for line in given.splitlines():
        product = re.search(r"(.* (?:dot|convolution)\()(.*?)(\).*)", line)
        if product:
            operands = product[2].split(", ")
            for k, operand in enumerate(operands):
                if types[operand].startswith("f32["):
                    operands[k] = f"rounded.{len(lines)}"
                    bf16 = f"reduce-precision({operand}), exponent_bits=8, mantissa_bits=7"
                    lines.append(f"  {operands[k]} = {types[operand]} {bf16}")
            line = product[1] + ", ".join(operands) + product[3]
        lines.append(line)
    return "\n".join(lines) + "\n"


def known(name: str, other: pathlib.Path, folder: pathlib.Path) -> None:
    """Links the forms of a program of another folder, runs the first and writes the numbers."""
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
        raise Failed(f"{name}: no arguments give numbers to compare with")
    wide = wider(given, arguments)
    save(folder / f"{name}.npz", arguments, results, wide)
    # The text for the v5e has not all operands of bf16 where its hardware rounds them.
    save(folder / f"{name}.v5e.npz", arguments, run(computation_of(rounded(given)), arguments), wide or results)
