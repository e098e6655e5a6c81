"""Runs the functions of a program on random numbers, for tools/mutants.py: what the program of a mutant computes, and what that
of the tool without mutants does.

What calls the functions is a module of its own, lowered without mutants. It makes arguments in their layouts, and prints the
elements of results and of memrefs that are arguments as integers of their bits. Elements of i64 are from 0 to 4, as they may
be indices.
"""
import functools
import os
import random
import re
import struct
import subprocess
import tempfile

LLVM = os.environ.get("LLVM", "/usr/lib/llvm-22")


class LoweringFails(Exception):
    """A program that cannot be lowered."""


def split(text):
    """The parts of a text between the commas that are outside of brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += c in "<({["
        depth -= c in ">)}]"
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def functions(program):
    """The functions of a program: name, types of arguments, types of results."""
    found = []
    for name, arguments, results in re.findall(r"^func\.func @(\w+)\((.*?)\)(?: -> (.*))? \{$", program, re.M):
        results = results[1:-1] if results.startswith("(") else results
        found.append((name, [argument.split(": ", 1)[1] for argument in split(arguments)], split(results)))
    return found


def shape(t):
    """The sizes of a type, and its element."""
    *sizes, element = re.match(r"\w+<([\dx]*x?[a-z]+\d+)", t)[1].split("x") if "<" in t else [t]
    return [int(n) for n in sizes], element


def elements(source, sizes, element):
    """Random elements, as the text of a dense constant."""
    if sizes:
        return "[" + ", ".join(elements(source, sizes[1:], element) for _ in range(sizes[0])) + "]"
    if element[0] in "fb":
        return f"{source.uniform(-2, 2):.6f}"
    bits = int(element[1:])
    if bits == 1:
        return source.choice(["true", "false"])
    most = 1 << min(bits, 8) - 1
    return str(source.randrange(5) if bits == 64 else source.randrange(-most, most))


def caller(program):
    """The module that calls all functions of a program, and the elements that it prints."""
    lines = [line for line in program.split("\n") if line.startswith("#")]
    lines += ["func.func private @printI64(i64)", "func.func private @printNewline()"]
    body, printed, random_numbers, fresh = [], [], random.Random(1), iter(range(10**6))

    def loops(sizes, inside, indent="  "):
        names = [f"%i{next(fresh)}" for _ in sizes]
        for i, n in zip(names, sizes):
            body.append(f"  affine.for {i} = 0 to {n} {{")
        inside(", ".join(names))
        body.extend("  }" for _ in sizes)

    def element_printed(load, element):
        def inside(at):
            v, w, x = (f"%v{next(fresh)}" for _ in range(3))
            body.append("  " + load(v, at))
            bits = int(element.strip("bfi"))
            if element[0] in "bf":
                body.append(f"  {w} = arith.bitcast {v} : {element} to i{bits}")
            else:
                w = v
            body.append(f"  {x} = arith.extui {w} : i{bits} to i64" if bits < 64 else f"  {x} = arith.addi {w}, {w} : i64")
            body.append(f"  func.call @printI64({x}) : (i64) -> ()\n  func.call @printNewline() : () -> ()")
        return inside

    for name, arguments, results in functions(program):
        lines.append(f"func.func private @{name}({', '.join(arguments)}) -> ({', '.join(results)})")
        operands, memrefs = [], []
        for t in arguments:
            sizes, element = shape(t)
            c, v = f"%c{next(fresh)}", f"%a{next(fresh)}"
            plain = f"tensor<{'x'.join(map(str, sizes + [element]))}>" if sizes else element
            text = elements(random_numbers, sizes, element)
            body.append(f"  {c} = arith.constant {f'dense<{text}>' if sizes else text} : {plain}")
            if t.startswith("memref"):
                body.append(f"  {v} = memref.alloc() : {t}")
                loops(sizes, lambda at, c=c, v=v, plain=plain, t=t: body.append(
                    f"  %e{v[1:]} = tensor.extract {c}[{at}] : {plain}\n  memref.store %e{v[1:]}, {v}[{at}] : {t}"))
                memrefs.append((v, t))
            elif t != plain:
                body.append(f"  {v} = layout.convert {c} : {plain} to {t}")
            else:
                v = c
            operands.append(v)
        made = f"%r{next(fresh)}"
        call = f"func.call @{name}({', '.join(operands)}) : ({', '.join(arguments)}) -> ({', '.join(results)})"
        body.append(f"  {made}:{len(results)} = {call}" if results else f"  {call}")
        for k, t in enumerate(results):
            sizes, element = shape(t)
            plain, v = f"tensor<{'x'.join(map(str, sizes + [element]))}>", f"%p{next(fresh)}"
            if t != plain:
                body.append(f"  {v} = layout.convert {made}#{k} : {t} to {plain}")
            else:
                v = f"{made}#{k}"
            loops(sizes, element_printed(lambda e, at, v=v, plain=plain: f"{e} = tensor.extract {v}[{at}] : {plain}", element))
        for v, t in memrefs:
            sizes, element = shape(t)
            loops(sizes, element_printed(lambda e, at, v=v, t=t: f"{e} = memref.load {v}[{at}] : {t}", element))
        for t in results + [t for _, t in memrefs]:
            sizes, element = shape(t)
            count = functools.reduce(lambda a, b: a * b, sizes, 1)
            printed += [(name, element)] * count
    body.append("  %zero = arith.constant 0 : i32\n  return %zero : i32")
    return "\n".join(lines + ["func.func @main() -> i32 {"] + body + ["}"]) + "\n", printed


def llvm(tool, program, options, mutant):
    """A program as LLVM IR; none where it cannot be lowered."""
    environment = dict(os.environ, LAYOUT_MUTANT=str(mutant))
    lowered = subprocess.run([tool, "-", f"--layout-to-llvm={options}"], input=program, env=environment,
                             capture_output=True, text=True, timeout=60)
    if lowered.returncode != 0:
        return None
    translated = subprocess.run([f"{LLVM}/bin/mlir-translate", "--mlir-to-llvmir"], input=lowered.stdout,
                                capture_output=True, text=True)
    return translated.stdout if translated.returncode == 0 else None


@functools.lru_cache(maxsize=None)
def called(tool, program, options):
    """What calls the functions of a program, as LLVM IR, and the elements that it prints."""
    text, printed = caller(program)
    made = llvm(tool, text, options, 0)
    assert made, "what calls the program cannot be lowered:\n" + text
    return made, printed


def run(tool, base, program, options, mutant):
    """The numbers that a program computes, as integers; none where it stops with an error. LoweringFails where it cannot be
    lowered to LLVM IR."""
    harness, printed = called(base, program, options)
    made = llvm(tool, program, options, mutant)
    if made is None:
        raise LoweringFails
    with tempfile.TemporaryDirectory() as folder:
        for name, text in [("main.ll", harness), ("program.ll", made)]:
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        environment = dict(os.environ, MALLOC_PERTURB_="85", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        command = [f"{LLVM}/bin/lli", f"--load={LLVM}/lib/libmlir_c_runner_utils.so", f"--extra-module={folder}/program.ll",
                   f"{folder}/main.ll"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return None
    lines = done.stdout.split()
    return [int(n) for n in lines] if done.returncode == 0 and len(lines) == len(printed) else None


def value(bits, element):
    """The number of an element."""
    if element == "bf16":
        return struct.unpack("f", struct.pack("I", (bits & 0xFFFF) << 16))[0]
    return struct.unpack("f", struct.pack("I", bits & 0xFFFFFFFF))[0] if element == "f32" else bits


def differ(base, program, options, numbers_before, numbers_after):
    """The functions whose numbers differ: by more than rounding, where the options let it."""
    _, printed = called(base, program, options)
    if numbers_before is None or numbers_after is None:
        return {name for name, _ in printed}
    rounds = "reassociate" in options or "contract" in options
    found = set()
    for (name, element), before, after in zip(printed, numbers_before, numbers_after):
        if before != after:
            x, y = value(before, element), value(after, element)
            if not (rounds and element[0] in "bf" and abs(x - y) <= 1e-3 * max(abs(x), abs(y)) + 1e-5):
                found.add(name)
    return found
