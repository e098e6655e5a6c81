"""Puts every program through everything: table.py [--write FILE [--keep]] --folder=FOLDER... [PART...].

A FOLDER holds what make.py writes. For each `*.hlo`, or those whose names contain a PART: `layout-inspect` analyses it,
`layout-translate` imports it, `layout-opt --layout-to-llvm` lowers it, clang compiles it, and it is called and compared
with XLA where `NAME.npz` has XLA's numbers. Seconds are of the processor, user and system, of each child, so that other
work on the machine changes them less than the clock.

FILE is written after each program, and keeps the tables of programs of other folders. With `--keep` it keeps its lines
of other programs too. A folder with `*.v5e.hlo` is one of `make.py --of`, which has a table of its own.

In the environment: LLVM, its prefix; LAYOUT_TOOLS, the folder of the three programs; PROGRAM_SECONDS, the most that a
step may take; PROGRAM_GIGABYTES, the most memory.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import devices
import given

HERE = pathlib.Path(__file__).parent
LLVM = pathlib.Path(os.environ.get("LLVM", "/usr/lib/llvm-22"))
TOOLS = pathlib.Path(os.environ.get("LAYOUT_TOOLS", HERE.parents[1] / "target/release"))
MOST = float(os.environ.get("PROGRAM_SECONDS", 120))
MEMORY = int(float(os.environ.get("PROGRAM_GIGABYTES", 6)) * 2**30)
INTRODUCTION = """# Programs

`make bench-import` writes this page. Programs of JAX, as it hands them over (`unopt`) and as XLA's CPU backend compiles them
(`opt`; those for 8 devices as one of 8 partitions): read and analysed by `layout-inspect hlo --json`, imported by
`layout-translate`, lowered by `layout-opt --layout-to-llvm`, compiled by `mlir-translate` and `clang -O1`, and called. Figures
are seconds of the processor, user and system, of the process of each step; of the call those of all its threads, the devices
of a program for 8. Work for others on the same cores makes them up to 1.6 times as large.

*Numbers* says whether they are near XLA's: integers are equal, floats within 2e-4 of the largest plus 2e-3 of the element for
f32, 2e-2 and 4e-2 for bf16; or, where the program computes with less than 32 bits, the root of the mean square of their
distance to the same program with 32 bits is at most 1.2 times that of XLA's numbers. A step with "no" is explained below the
table. A dash: a step that was ended after the seconds that are said below, or XLA has no numbers to compare with.
`collectives.unopt` is such a program: outside it has the arrays of all devices, inside those of one.
"""
TPU = """## Programs of a TPU's compiler

Twenty more, which are not in the repository, as JAX hands them over (`unopt`), before and after XLA:TPU assigns layouts, and as
it leaves them for a TPU v5e; `PROGRAM_FOLDERS` names a folder that `tools/programs/make.py --of` makes of them. Their text
has the layouts of a TPU, which the lowering keeps. Arguments are small random numbers, and the numbers are those of `unopt`
by XLA:CPU, for the v5e with operands of products rounded to bf16, as its text says. What the texts leave to a runner,
`tools/programs/given.py` defines: the kernel that `attention` calls, and masks in `conv` and `resnet_block`.

No vector code is asked for, and `clang -O1` makes none: `bert_layer.unopt` takes 10.6 s so, 4.0 s with `clang -O2`, and 0.9 s
with `vectorize=avx512 reassociate contract` and `-march=native`.
"""
TABLES = (INTRODUCTION, TPU)
STEPS = ("analysed", "imported", "lowered", "compiled", "called", "numbers")


@dataclasses.dataclass
class Step:
    """How a step went: seconds of the processor if they say something, and what it complained of."""

    seconds: float | None
    error: str | None = None
    text: str = ""
    unfinished: bool = False


def ran(command, output=None, most=MOST):
    """Runs a command into a file, or gives what it prints."""
    with tempfile.TemporaryFile() as errors, open(output, "wb") if output else tempfile.TemporaryFile() as out:
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors, preexec_fn=limited)
        end, used, status = time.monotonic() + 4 * most, None, None
        while used is None:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                used = usage.ru_utime + usage.ru_stime
            elif time.monotonic() > end or processor_seconds(process.pid) > most:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                return Step(most, f"ended after {most:g} s of the processor or {4 * most:g} s of the clock", unfinished=True)
            else:
                time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
        if output is None:
            out.seek(0)
        text = "" if output else out.read().decode(errors="replace")
        error = None
        if process.returncode != 0:
            lines = [line for line in said.splitlines() if "error" in line or "panicked" in line or "Assertion" in line]
            error = (lines or said.splitlines()[-1:] or [""])[0].strip()[:300]
            if process.returncode < 0:
                error = f"signal {-process.returncode}; {error}"
        return Step(used, error, text)


def processor_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def types(text, start):
    """The types between the parentheses that open at `start`, and where they end; names and locations left out."""
    depth, at, parts, begin = 0, start, [], start + 1
    quoted = False
    while True:
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "(<{[":
            depth += 1
        elif not quoted and (c in ")}]" or (c == ">" and text[at - 1] != "-")):
            depth -= 1
        if not quoted and (depth == 0 or (depth == 1 and c == ",")):
            parts.append(text[begin:at].strip())
            begin = at + 1
            if depth == 0:
                return [bare(p) for p in parts if p], at + 1
        at += 1


def bare(part):
    """The type of `%a0: tensor<..> {attributes} loc(..)`."""
    part = re.sub(r"^%\w+:\s*", "", part)
    depth = 0
    for at, c in enumerate(part):
        depth += (c == "<") - (c == ">" and part[at - 1] != "-")
        if depth == 0 and c == ">":
            return part[: at + 1]
    return part.split()[0]


def plain(type):
    """A type without its layout."""
    return re.sub(r", [#].*>$", ">", type) if type.startswith("tensor<") and ", " in type else type


def harnessed(mlir):
    """The module with a function `harness` around its entry, whose tensors are row-major and without encodings.

    Also the number of its arguments.
    """
    entry = next(m for m in re.finditer(r"func\.func (private )?@([^\s(]+)\(", mlir) if not m[1] and not declared(mlir, m.end()))
    arguments, at = types(mlir, entry.end() - 1)
    results = []
    arrow = re.match(r"\s*->\s*", mlir[at : at + 20])
    if arrow:
        at += arrow.end()
        results, at = types(mlir, at) if mlir[at] == "(" else ([bare(mlir[at:])], at)
    lines, names = [], []
    for k, t in enumerate(arguments):
        names.append(f"%a{k}" if plain(t) == t else f"%c{k}")
        if plain(t) != t:
            lines.append(f"    %c{k} = layout.convert %a{k} : {plain(t)} to {t}")
    call = f"func.call @{entry[2]}({', '.join(names)}) : ({', '.join(arguments)}) -> ({', '.join(results)})"
    lines.append("    " + (f"%r:{len(results)} = " if results else "") + call)
    names = []
    for k, t in enumerate(results):
        names.append(f"%r#{k}" if plain(t) == t else f"%p{k}")
        if plain(t) != t:
            lines.append(f"    %p{k} = layout.convert %r#{k} : {t} to {plain(t)}")
    plains = ", ".join(plain(t) for t in results)
    lines.append(f"    return {', '.join(names)} : {plains}" if names else "    return")
    parameters = ", ".join(f"%a{k}: {plain(t)}" for k, t in enumerate(arguments))
    head = f"  func.func @harness({parameters}) -> ({plains}) attributes {{llvm.emit_c_interface}} {{"
    end = mlir.rstrip().rindex("}")
    private = mlir[: entry.start()] + "func.func private @" + mlir[entry.start(2) : end]
    return "\n".join([private, head, *lines, "  }", "}", ""]), len(arguments)


def declared(mlir, at):
    """Whether the function whose parameters begin at `at` has no body."""
    line = mlir[at : mlir.index("\n", at)]
    return not line.rstrip().endswith("{")


def through(file, work):
    """The steps of one program, as far as it comes."""
    steps = {"analysed": ran([TOOLS / "layout-inspect", "hlo", file, "--json"], os.devnull)}
    mlir, low, code, library = (work / f"program{suffix}" for suffix in (".mlir", ".llvm.mlir", ".ll", ".so"))
    steps["imported"] = ran([TOOLS / "layout-translate", "--import-hlo", file, "-o", mlir])
    if steps["imported"].error:
        return steps
    own = ran([TOOLS / "layout-opt", "--layout-to-llvm", mlir, "-o", low])
    steps["lowered"] = own
    if own.error:
        return steps
    name = file.name.removesuffix(".hlo")
    arrays = next((p for p in arrays_of(file.parent, name) if p.exists()), None)
    if arrays is None:
        return steps
    text = mlir.read_text()
    functions = exchanges(text)
    if functions and not arrays.name.endswith(".shards.npz"):
        # It says itself what each device does, but its numbers are those of all.
        return steps
    stem = name.rsplit(".", 1)[0]
    if stem in given.WITH_KERNEL:
        text = given.with_kernel(text, plain)
    harness, count = harnessed(text)
    mlir.write_text(harness)
    stubs = work / "devices.c"
    masks = given.constants(text) if stem in given.WITH_MASKS else ""
    stubs.write_text(devices.source(functions, 1 + count) + masks)
    commands = [
        ([TOOLS / "layout-opt", "--layout-to-llvm", mlir, "-o", low], None),
        ([LLVM / "bin/mlir-translate", "--mlir-to-llvmir", low, "-o", code], None),
        ([LLVM / "bin/clang", "-O1", "-w", "-shared", "-fPIC", "-x", "ir", code, "-x", "c", stubs, "-x", "none",
          "-o", library, "-lm",
          f"-L{LLVM}/lib", f"-Wl,-rpath,{LLVM}/lib", "-lmlir_c_runner_utils"], None),
    ]  # fmt: skip
    used = 0.0
    for command, output in commands:
        step = ran(command, output, 4 * MOST)
        if step.error:
            steps["compiled"] = step
            return steps
        # The lowering of the module without a harness is a step of its own.
        used += 0.0 if command[0].name == "layout-opt" else step.seconds
    steps["compiled"] = Step(used)
    step = ran([sys.executable, "-B", HERE / "execute.py", library, arrays, *functions])
    steps["called"] = step
    if step.error:
        return steps
    report = json.loads(step.text.splitlines()[-1])
    steps["called"] = Step(report["seconds"])
    steps["numbers"] = Step(None)
    if report["differences"]:
        steps["numbers"].error = f"{len(report['differences'])} results: {report['differences'][0]}"
    return steps


def exchanges(mlir):
    """The functions by which devices exchange, which the module declares."""
    pattern = r"func\.func private @(\w+)\(.*\).* attributes \{llvm\.emit_c_interface\}$"
    return re.findall(pattern, mlir, re.MULTILINE)


def arrays_of(folder, name):
    """Where the numbers of a program may be: its own or those of each device first, then those of all forms."""
    stem = name.rsplit(".", 1)[0]
    own = [folder / f"{stem}.shards.npz"] if name.endswith(".opt") else []
    return [*own, folder / f"{name}.npz", folder / f"{stem}.npz"]


def row(name, size, steps):
    return f"| {name} | {size} | " + " | ".join(cell(steps.get(k)) for k in STEPS) + " |"


def cell(step):
    if step is None or step.unfinished:
        return "–"
    return "no" if step.error else "yes" if step.seconds is None else f"{step.seconds:.2f}"


class Page:
    """The lines of the tables and of their faults, by the number of the table and the name of the program.

    A page that is there keeps the lines of the tables that are not made, or of all.
    """

    def __init__(self, path, keep, made):
        self.path, self.rows, self.faults = path, [{} for _ in TABLES], [{} for _ in TABLES]
        parts = path.read_text().split("\n## ") if path and path.exists() else []
        headings = [introduction.splitlines()[0].lstrip("# ") for introduction in TABLES]
        for lines in (part.splitlines() for part in parts):
            k = headings.index(lines[0].lstrip("# "))
            if k in made and not keep:
                continue
            table = [line for line in lines if line.startswith("| ")][1:]
            self.rows[k] = {line.split("|")[1].strip(): line for line in table}
            for line in lines:
                if line.startswith("* "):
                    self.faults[k].setdefault(line[2:].split(",")[0], []).append(line)

    def put(self, k, name, row, faults):
        self.rows[k][name], self.faults[k][name] = row, faults
        if self.path:
            tables = zip(TABLES, self.rows, self.faults)
            self.path.write_text("\n".join(table(*each) for each in tables if each[1]))


def table(introduction, rows, faults):
    head = "| program | instructions | " + " | ".join(STEPS) + " |\n|---|--:|" + "--:|" * len(STEPS)
    faults = [fault for name in sorted(rows) for fault in faults.get(name, [])]
    lines = [introduction, head, *(rows[name] for name in sorted(rows)), *([""] if faults else []), *faults]
    return "\n".join([*lines, ""])


def table_of(folder):
    """The number of the table that the programs of a folder are in."""
    return int(any(folder.glob("*.v5e.hlo")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, action="append", required=True)
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    page = Page(options.write, options.keep, {table_of(folder) for folder in options.folder})
    for file in (file for folder in options.folder for file in sorted(folder.glob("*.hlo"))):
        name = file.name.removesuffix(".hlo")
        if options.parts and not any(part in name for part in options.parts):
            continue
        with tempfile.TemporaryDirectory() as work:
            steps = through(file, pathlib.Path(work))
        count = sum(" = " in line for line in file.read_text().splitlines())
        faults = [f"* {name}, {k}: {step.error}" for k, step in steps.items() if step.error]
        line = row(name, count, steps)
        page.put(table_of(file.parent), name, line, faults)
        print(line, *faults, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
