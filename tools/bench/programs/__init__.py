"""The programs that are measured, each in one of the sets that benchmarks use.

- `import`: whole models, with numbers as arguments, which are imported, lowered, run and raced;
- `own`, `regression`: programs for the planner; `fresh`: random ones, whose names are seeds;
- `devices`: a step of training over many devices;
- `memory`: small programs whose memory is compared with XLA's;
- `cpu`: programs that run in planned and in row-major layouts.

The programs for processes, in `processes`, are text of MLIR.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from bench.run import Failed

# The module of each set, whose function of the name of the set, or whose PROGRAMS, are the programs.
SETS = {
    "import": "models",
    "own": "plan",
    "regression": "regression",
    "fresh": "fresh",
    "devices": "devices",
    "memory": "small",
    "cpu": "cpu",
}
PLANNED = ("own", "regression")
# How many devices the CPU stands for.
DEVICES = {"devices": 4096}


class Program(NamedTuple):
    """A function that JAX traces, and its arguments: their shapes, or a function that makes them of a random generator.

    `options` are those of `jax.jit`. `shardings` gives a mesh of 8 devices and the shardings of the arguments. JAX lowers
    for `platform`: a TPU's program has `cholesky` where a CPU's has a call of LAPACK. `kinds` are those of the operations of a
    random program.
    """

    function: Callable[..., Any]
    arguments: Sequence[Any] | Callable[[Any], Sequence[Any]]
    options: Mapping[str, Any] = {}
    shardings: Callable[[], Any] | None = None
    platform: str = "cpu"
    kinds: Sequence[str] = ()

    def numbers(self, seed: int) -> Sequence[Any]:
        """The arguments, of a random generator with this seed."""
        import numpy as np

        return self.arguments(np.random.default_rng(seed)) if callable(self.arguments) else self.arguments


Programs: TypeAlias = dict[str, tuple[Any, ...]]


def put(programs: Programs, arguments: Any, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Puts the function that follows among programs, by its name."""

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        programs[function.__name__] = Program(function, arguments, **more)
        return function

    return named


def programs_of(name: str, names: Sequence[str] = ()) -> dict[str, Program]:
    """The programs of a set by name: those of some names, or all. Of random programs there are those of some names."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    flag = f"--xla_force_host_platform_device_count={DEVICES.get(name, 8)}"
    os.environ["XLA_FLAGS"] = f"{flag} {os.environ.get('XLA_FLAGS', '')}"
    module = importlib.import_module(f"bench.programs.{SETS[name]}")
    if name == "fresh":
        return {key: module.program(key) for key in names}
    programs: Programs = getattr(module, name)() if hasattr(module, name) else module.PROGRAMS
    unknown = [key for key in names if key not in programs]
    if unknown:
        raise Failed(f"the set {name} has no program {unknown[0]}, but {', '.join(programs)}")
    return {key: Program(*programs[key]) for key in names or programs}


def lowered(program: Program, arguments: Sequence[Any], **options: Any) -> Any:
    """A program as JAX lowers it for its platform."""
    import jax

    jitted = jax.jit(program.function, **program.options, **options)
    return jitted.trace(*arguments).lower(lowering_platforms=(program.platform,))
