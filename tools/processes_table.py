"""Runs programs in 1 and in 2 processes and prints benches/processes.md. processes_table.py TOOLS"""
import glob
import os
import subprocess
import sys
import tempfile

import processes_programs as programs

TOOLS = os.path.abspath(sys.argv[1])
LLVM = subprocess.run(["tools/llvm.sh"], capture_output=True, text=True, check=True).stdout.strip()
MPI = glob.glob("/usr/lib/*/libmpi.so.40")[0]
RUNNER = [f"{LLVM}/lib/lib{name}.so" for name in ("mlir_runner_utils", "mlir_c_runner_utils")]
PASSES = "--layout-to-llvm=vectorize=avx2 reassociate contract arena=kept"
# Each time is the least of so many runs.
RUNS = 3

# A name, and a function of the number of processes and of the steps that gives the text of a program, and the bytes that
# all processes have to get as a sum in each step.
PROGRAMS = [
    ("product, 1024 x 1024 x 1024, rows spread", lambda n, steps: programs.product(n, 1024, steps), 10),
    ("the same, the sum spread", lambda n, steps: programs.product_of_parts(n, 1024, steps), 10),
    ("attention, 512 positions, 8 heads of 64", lambda n, steps: programs.attention(n, 512, 8, 64, steps), 10),
    ("training, 2048 rows, 256 to 512 to 256", lambda n, steps: programs.training(n, 2048, 256, 512, steps), 10),
]


def lowered(folder, text):
    source, name = os.path.join(folder, "in.mlir"), os.path.join(folder, "out.mlir")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run([f"{TOOLS}/layout-opt", source, PASSES, "-o", name], stderr=subprocess.PIPE, check=True)
    return name


def run(folder, n, text):
    """The seconds of a step, and the bytes that each process sent."""
    name = lowered(folder, text)
    libraries = ",".join([*RUNNER, os.path.join(folder, "bytes.so"), MPI])
    runner = [f"{LLVM}/bin/mlir-runner", name, "-O3", "-e", "main", "-entry-point-result=void", f"-shared-libs={libraries}"]
    command = runner if n == 1 else ["tools/mpirun.sh", str(n), *runner]
    output = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(RUNS)]
    sent = [int(line.split()[4]) for line in output[0].stderr.splitlines() if line.startswith("sent ")]
    return min(float(one.stdout.split()[0]) for one in output), max(sent, default=0)


def overlap(folder):
    """A product beside a message of 4 MiB, and the two after one another: seconds."""
    size, words = 768, 1 << 20
    made = programs.tensor(size, size)
    head = programs.numbers("%a", made, 2) + programs.numbers("%b", made, 2) + programs.filled("%c", made)
    head += f"  %m = tensor.splat %zero : tensor<{words}xf32>\n"
    gather = "%g = shard.all_gather %y on @g grid_axes = [0] gather_axis = 0 : tensor<{0}xf32> -> tensor<{1}xf32>"
    gather = "  " + gather.format(words, 2 * words) + "\n"
    half = f"  %n = tensor.extract_slice %g[{words // 2}] [{words}] [1] : tensor<{2 * words}xf32> to tensor<{words}xf32>\n"
    work = f"  %d = linalg.matmul ins(%a, %b : {made}, {made}) outs(%x : {made}) -> {made}\n"
    carried = [("x", "%c", made), ("y", "%m", f"tensor<{words}xf32>")]
    # What is sent is used before the product, or after it: the product reads nothing of it.
    used = "  %first = tensor.extract %n[%c0] : tensor<{0}xf32>\n".format(words)
    used += f"  %s = tensor.insert %first into %n[%c1] : tensor<{words}xf32>\n"
    bodies = {"the product": (work, ["%d", "%y"]), "the message": (gather + half + used, ["%x", "%s"]),
              "one after the other": (gather + half + used + work, ["%d", "%s"]),
              "the product in between": (gather + work + half + used, ["%d", "%s"])}
    for what, (body, gives) in bodies.items():
        text = programs.program(1, 20, head, carried, body, gives).replace("module {\n", "module {\nshard.grid @g(shape = 2)\n")
        yield what, run(folder, 2, text)[0]


def main():
    print("# Processes\n\nMade by `make bench-processes`: programs of one process, and of two on the machine's cores, with vector code for AVX2. A")
    print(f"time is the least of {RUNS} runs, of a step. Bytes are those that each process sends in a step, counted at `MPI_Isend`;")
    print("the least are those that two processes must send for each to have the sum, half of it twice.\n")
    print("| program | one process, ms | two, ms | times as fast | bytes sent | the least |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        shim = ["cc", "-shared", "-fPIC", "-O2", "test/run/processes/Inputs/bytes.c", "-o", f"{folder}/bytes.so"]
        subprocess.run(shim, check=True)
        for name, make, steps in PROGRAMS:
            one, _ = run(folder, 1, make(1, steps)[0])
            text, least = make(2, steps)
            two, sent = run(folder, 2, text)
            # What is sent before and after the steps is in both.
            sent = run(folder, 2, make(2, 2 * steps)[0])[1] - sent
            print(f"| {name} | {one * 1e3:.1f} | {two * 1e3:.1f} | {one / two:.2f} | {sent // steps:,} | {least:,} |", flush=True)
        print("\nA product of 768 x 768 x 768 and a message of 4 MiB to the other process, in two processes:\n")
        print("| what | ms |\n|---|---|")
        for what, seconds in overlap(folder):
            print(f"| {what} | {seconds * 1e3:.1f} |", flush=True)
    print("\nOpen MPI moves a long message while a process is inside of one of its functions, so that on one machine little of a")
    print("message is moved while something else is computed.")


main()
