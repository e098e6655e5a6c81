"""Compares temporaries with those of XLA:CPU: compare_memory.py INSPECT FOLDER [NAME...].

Compiles the programs of small.py, or those of these names, with the JAX that runs this, writes each as FOLDER/NAME.hlo, and
prints those whose `temporaries` of `INSPECT hlo` are more than 2 % and 2 KiB off `temp_size_in_bytes`, which has gaps
between buffers and tables of tuples in it.
"""

import json
import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import small


def main():
    inspect, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    off = 0
    for name in names or small.PROGRAMS:
        own = small.PROGRAMS[name]
        compiled = jax.jit(own.function, donate_argnums=own.donated).lower(*own.arguments).compile()
        xla = compiled.memory_analysis().temp_size_in_bytes
        file = folder / f"{name}.hlo"
        file.write_text(compiled.as_text())
        command = [inspect, "hlo", file, "--json", "--summary"]
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        found = sum(space["temporaries"] for space in report["spaces"] if space["space"] == 0)
        if abs(found - xla) > max(0.02 * max(found, xla), 2048):
            off += 1
            print(f"{name}: {found} bytes, XLA {xla}")
    print(f"{len(names or small.PROGRAMS)} programs, {off} off")


main()
