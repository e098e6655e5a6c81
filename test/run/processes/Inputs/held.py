"""Measures what processes hold: the most bytes of memory that each had at once, less those of the same program on a tensor of
few elements. Prints the largest by number of processes, and fails where more than a part as large as the number of processes
says is held.

held.py MPIRUN LIBRARIES PROGRAM SIZE NUMBER..
"""
import os
import re
import subprocess
import sys

# Runs a program, and writes afterwards how much memory it had, each process to a file of its own.
MEASURED = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
with open("held." + os.environ["OMPI_COMM_WORLD_RANK"], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(status)
"""
# Of a tensor that is held: what MPI has more for many processes than for one, and pages. Measured: 0.9 MB at most.
ALLOWED = 4 << 20


def held(mpirun, libraries, program, size, n):
    text = open(program).read().replace("N_Process", f"{n}_Process").replace("{SIZE/N}", str(size // n)).replace("SIZE", str(size))
    lowered = subprocess.run(["layout-opt", "-", "--layout-to-llvm"], input=text, capture_output=True, text=True, check=True)
    name = f"held.{os.getpid()}.mlir"
    with open(name, "w") as file:
        file.write(lowered.stdout)
    runner = ["mlir-runner", name, "-e", "main", "-entry-point-result=void", f"-shared-libs={libraries}"]
    output = subprocess.run([mpirun, str(n), sys.executable, "-c", MEASURED, *runner], capture_output=True, text=True)
    os.remove(name)
    if output.returncode != 0:
        sys.exit(output.stdout + output.stderr)
    assert re.search(r"\n\[?3\]?\n", output.stdout), output.stdout
    found = []
    for rank in range(n):
        with open(f"held.{rank}") as file:
            found.append(int(file.read()))
        os.remove(f"held.{rank}")
    return max(found)


mpirun, libraries, program, size, *numbers = sys.argv[1:]
whole = int(size) ** 2 * 4
for n in map(int, numbers):
    more = held(mpirun, libraries, program, int(size), n) - held(mpirun, libraries, program, 64, n)
    print(f"{n} processes: {more / 2**20:.1f} MiB each of two tensors of {whole / 2**20:.0f} MiB")
    # Both tensors are there at once.
    if not 2 * whole / n - ALLOWED <= more <= 2 * whole / n + ALLOWED:
        sys.exit(f"expected {2 * whole / n / 2**20:.1f} MiB")
