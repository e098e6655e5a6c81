"""Runs an HLO module with XLA's CPU backend: reference.py MODULE NUMBERS RESULTS [REPLICAS].

The module's entry takes one f64 array and gives one; both files hold such numbers in the machine's byte order, those
of replica 0 first.
"""

import os
import re
import sys

replicas = int(sys.argv[4]) if len(sys.argv) > 4 else 1
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={replicas}"

import jax
import numpy
from jax._src import xla_bridge
from jaxlib import _jax, xla_client

try:
    from jaxlib import _hlo
except ImportError:  # jaxlib 0.8 has what reads and prints HLO in another module.
    _hlo = _jax

module, numbers, results = sys.argv[1:4]
jax.config.update("jax_enable_x64", True)
with open(module, encoding="utf-8") as file:
    text = file.read()
# XLA's own reader of this version knows no source tables, which say nothing of numbers anyway.
text = re.sub(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*", "", text, flags=re.MULTILINE)
text = re.sub(r", metadata=\{[^}]*\}", "", text)
computation = xla_client.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
client = xla_bridge.get_backend("cpu")
program = _jax.mlir.xla_computation_to_mlir_module(computation)
devices = client.devices()[:replicas]
options = xla_client.CompileOptions()
options.num_replicas = replicas
options.device_assignment = xla_client.DeviceAssignment.create(numpy.arange(replicas).reshape(replicas, 1))
executable = client.compile_and_load(program, _jax.DeviceList(tuple(devices)), options)
each = numpy.fromfile(numbers).reshape(replicas, -1)
parts = [jax.device_put(part, device) for part, device in zip(each, devices)]
argument = parts[0] if replicas == 1 else jax.make_array_from_single_device_arrays(
    (each.size,), jax.sharding.NamedSharding(jax.sharding.Mesh(devices, "d"), jax.sharding.PartitionSpec("d")), parts
)
(result,) = executable.execute_sharded([argument]).disassemble_into_single_device_arrays()
numpy.concatenate([numpy.asarray(part) for part in result]).tofile(results)
