"""The algebra of layouts beside pycute and Triton: the tables of benches/algebra.md.

    pip install --no-deps --target target/pycute nvidia-cutlass==4.2.0.0 triton==3.9.0
    PYTHONPATH=target/wheel:target/pycute:tools/python/tests python benches/algebra.py 100000

The number is that of random layouts for each operation. Times are those of a call: the least of seven rounds, in this process
from Python, and in that of `cargo bench --bench algebra` from Rust.
"""

import ast
import pathlib
import random
import subprocess
import sys
import time
from collections import Counter

import pycute
import tensor_layout as tl
import test_algebra

HERE = pathlib.Path(__file__).parent


def seconds(run):
    """The least time of a call, of seven rounds."""
    count, best = 1, float("inf")
    for _ in range(7):
        took = 0.0
        while took < 0.02:
            start = time.perf_counter()
            for _ in range(count):
                run()
            took = time.perf_counter() - start
            best = min(best, took / count)
            count = count if took >= 0.02 else count * 2
    return best


def pair(text):
    """The shape and the strides of a text; without strides, a size."""
    return tuple(ast.literal_eval(part) for part in text.split(":"))


def random_lines(cases):
    """Pairs of random layouts that both sides have a result for, as many for each operation."""
    rng = random.Random(5)
    for name, (ours, theirs, _) in test_algebra.OPERATIONS.items():
        found = 0
        while found < cases:
            a, b = (test_algebra.random_text(rng) for _ in range(2))
            own = [tl.LayoutFunction(test_algebra.spelled(text)) for text in (a, b)]
            other = [pycute.Layout(*text) for text in (a, b)]
            if test_algebra.answer(ours, *own) is None or test_algebra.answer(theirs, pycute, *other) is None:
                continue
            other = str(test_algebra.room(*own)) if name == "complement" else test_algebra.spelled(b)
            found += 1
            yield f"{name} {test_algebra.spelled(a)} {other}"


def speeds(lines):
    """For each operation on some lines: nanoseconds of pycute, from Rust, and from Python."""
    file = HERE.parent / "target" / "algebra.txt"
    file.write_text("\n".join(lines))
    command = ["cargo", "bench", "--quiet", "--package", "tensor-layout", "--bench", "algebra", "--", file]
    rust = dict(line.split() for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines())
    for name, (ours, theirs, _) in test_algebra.OPERATIONS.items():
        if name == "complement":
            ours, theirs = (lambda a, b: a.complement(b.size)), (lambda p, a, b: p.complement(a, b.size()))
        operands = [line.split()[1:] for line in lines if line.startswith(name + " ")]
        own = [tuple(map(tl.LayoutFunction, texts)) for texts in operands]
        other = [tuple(pycute.Layout(*pair(text)) for text in texts) for texts in operands]
        pycutes = seconds(lambda: [theirs(pycute, *on) for on in other]) / len(operands)
        python = seconds(lambda: [ours(*on) for on in own]) / len(operands)
        yield name, 1e9 * pycutes, float(rust[name]), 1e9 * python


def triton(cases):
    """How many of Triton's attributes are the linear layouts that Triton makes of them."""
    from triton._C.libtriton import gluon_ir, ir
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.amd import AMDMFMALayout, AMDWMMALayout

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    rng = random.Random(3)

    def two(low, high):
        return 1 << rng.randint(low, high)

    def mma():
        version = rng.choice([2, 3])
        warps = [two(0, 2), two(0, 2)] if version == 2 else [4 * two(0, 1), two(0, 1)]
        shape = [16, 8] if version == 2 else [16, 8 * two(0, 4), 16]
        text = f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps}, instrShape = {shape}}}>"
        return gl.NVMMADistributedLayout(version=[version, 0], warps_per_cta=warps, instr_shape=shape), text, version

    def mfma():
        shape, transposed = rng.choice([([32, 32, 8], None), ([16, 16, 16], None), ([64, 4, 4], True), ([4, 64, 4], True)])
        transposed = rng.random() < 0.5 if transposed is None else transposed
        bits = rng.choice([32, 32, 64]) if shape[0] == 16 else 32
        warps, tiles = [two(0, 2), two(0, 2)], [two(0, 1), two(0, 1)]
        names = f"warpsPerCTA = {warps}, instrShape = {shape}, isTransposed = {str(transposed).lower()}, tilesPerWarp = {tiles}"
        text = f"#ttg.amd_mfma<{{version = 3, {names}, elementBitWidth = {bits}}}>"
        return AMDMFMALayout(3, shape, transposed, warps, bits, tiles), text

    def wmma():
        version = rng.randint(1, 3)
        depth = rng.choice([[16], [16, 32], [4, 32, 64, 128]][version - 1])
        shape, transposed = [32 if depth == 128 and rng.random() < 0.5 else 16, 16, depth], rng.random() < 0.5
        bases = [[1 << bit, 0] for bit in range(rng.randint(0, 2))] + [[0, 1 << bit] for bit in range(rng.randint(0, 2))]
        rng.shuffle(bases)
        registers = rng.randint(0, len(bases))
        registers, warps = bases[:registers], bases[registers:]
        tiles = f"ctaLayout = {{register = {registers}, warp = {warps}}}"
        text = f"#ttg.amd_wmma<{{version = {version}, isTranspose = {str(transposed).lower()}, {tiles}, instrShape = {shape}}}>"
        return AMDWMMALayout(version, transposed, warps, registers, shape), text

    def operand():
        parent, text, version = rng.choice([mma, lambda: (*mfma(), 2), lambda: (*wmma(), 1)])()
        # An operand of WMMA has at least 8 neighbours in some versions.
        index, width = rng.randint(0, 0 if version == 3 else 1), 8 * two(0, 1) if version == 1 else two(0, 2)
        return gl.DotOperandLayout(index, parent, width), f"#ttg.dot_op<{{opIdx = {index}, parent = {text}, kWidth = {width}}}>"

    def blocked_operand():
        (parent, text), index = blocked(), rng.randint(0, 1)
        return gl.DotOperandLayout(index, parent, 0), f"#ttg.dot_op<{{opIdx = {index}, parent = {text}}}>"

    def blocked():
        lanes = rng.randint(0, 5)
        lists = [two(0, 2), two(0, 2)], [1 << lanes, 32 >> lanes], [two(0, 1), two(0, 1)], rng.choice([[0, 1], [1, 0]])
        names = "sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"
        fields = ", ".join(f"{name} = {value}" for name, value in zip(names, lists))
        return gl.BlockedLayout(*lists), f"#ttg.blocked<{{{fields}}}>"

    def sliced():
        parent, text = rng.choice([blocked, operand, blocked_operand, mfma, wmma, lambda: mma()[:2]])()
        dim = rng.randint(0, 1)
        return gl.SliceLayout(dim, parent), f"#ttg.slice<{{dim = {dim}, parent = {text}}}>"

    def swizzled():
        vec, per_phase, max_phase, order = two(0, 3), two(0, 2), two(0, 3), rng.choice([[0, 1], [1, 0]])
        text = f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {order}}}>"
        return gl.SwizzledSharedLayout(vec, per_phase, max_phase, order), text

    def nvmma():
        # A row of 128 elements has as many bytes as are swizzled.
        width, bits, transposed = rng.choice([0, 32, 64, 128]), rng.choice([8, 16, 32, 64]), rng.random() < 0.5
        text = f"swizzlingByteWidth = {width}, transposed = {str(transposed).lower()}, elementBitWidth = {bits}"
        return gl.NVMMASharedLayout(width, bits, 2, transposed), f"#ttg.nvmma_shared<{{{text}}}>"

    makers = {
        "blocked": blocked,
        "nvidia_mma": lambda: mma()[:2],
        "amd_mfma": mfma,
        "amd_wmma": wmma,
        "dot_op": operand,
        "dot_op of blocked": blocked_operand,
        "slice": sliced,
        "swizzled_shared": swizzled,
        "nvmma_shared": nvmma,
    }
    for name, make in makers.items():
        found = Counter()
        for _ in range(cases):
            layout, text = make()
            sizes = (7, 10) if name == "nvmma_shared" else (3, 7)
            shape = [two(2, 7)] if name == "slice" else [two(*sizes), two(*sizes)]
            linear = builder.to_linear_layout(layout._to_ir(builder), shape)
            sizes = "x".join(map(str, shape)) + "xf16"
            if hasattr(linear, "offset_bases"):
                bases = f"#ttg.shared_linear<{{offset = {linear.offset_bases}}}, alignment = 16>"
                texts = [f"!ttg.memdesc<{sizes}, {own}, #ttg.shared_memory>" for own in (text, bases)]
            else:
                rows = linear.reg_bases, linear.lane_bases, linear.warp_bases, linear.block_bases
                rows = ", ".join(f"{input} = {row}" for input, row in zip(("register", "lane", "warp", "block"), rows))
                texts = [f"tensor<{sizes}, {own}>" for own in (text, f"#ttg.linear<{{{rows}}}>")]
            try:
                a, b = map(tl.LayoutFunction, texts)
                found["same" if a.equal(b) is None else "different"] += 1
            except tl.LayoutError:
                found["refused"] += 1
        yield name, found


def row(name, *cells):
    return f"| `{name}` | " + " | ".join(map(str, cells)) + " |"


def main(cases):
    kinds = ["same", "different", "ours alone", "pycute alone", "pycute alone, wrong", "pycute wrong", "neither"]
    print("| operation |", " | ".join(kinds), "|\n|---|" + "---:|" * len(kinds))
    for name in test_algebra.OPERATIONS:
        found = test_algebra.compared(name, pycute, cases, 11)
        print(row(name, *(found[kind] for kind in kinds)), flush=True)
    for lines in (HERE / "algebra.txt").read_text().splitlines(), list(random_lines(200)):
        print("\n| operation | pycute, ns | from Rust, ns | times | from Python, ns | times |\n|---|" + "---:|" * 5)
        for name, theirs, rust, python in speeds(lines):
            cells = f"{theirs:.0f}", f"{rust:.0f}", f"{theirs / rust:.0f}", f"{python:.0f}", f"{theirs / python:.0f}"
            print(row(name, *cells), flush=True)
    print("\n| attribute | same | different | refused |\n|---|---:|---:|---:|")
    for name, found in triton(cases // 100):
        print(row(name, *(found[kind] for kind in ("same", "different", "refused"))), flush=True)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
