"""Runs an HLO module with XLA's CPU backend: reference.py MODULE NUMBERS RESULTS.

The module's entry takes one f64 array and gives one; both files hold such numbers in the machine's byte order.
"""

import re
import sys

import jax
import numpy
from jax._src import xla_bridge
from jaxlib import _jax, xla_client

module, numbers, results = sys.argv[1:]
jax.config.update("jax_enable_x64", True)
with open(module, encoding="utf-8") as file:
    text = file.read()
# XLA's own reader of this version knows no source tables, which say nothing of numbers anyway.
text = re.sub(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*", "", text, flags=re.MULTILINE)
text = re.sub(r", metadata=\{[^}]*\}", "", text)
computation = xla_client.XlaComputation(_jax.hlo_module_from_text(text).as_serialized_hlo_module_proto())
client = xla_bridge.get_backend("cpu")
program = _jax.mlir.xla_computation_to_mlir_module(computation)
executable = client.compile_and_load(program, client.devices()[:1], xla_client.CompileOptions())
argument = jax.device_put(numpy.fromfile(numbers), client.devices()[0])
(result,) = executable.execute_sharded([argument]).disassemble_into_single_device_arrays()
numpy.asarray(result[0]).tofile(results)
