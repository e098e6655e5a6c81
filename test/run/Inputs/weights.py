"""A module with a constant of each type in several layouts, and functions that read their elements as bits; and C that prints
them all. `weights.py mlir PREFIX` and `weights.py c PREFIX..` print the two."""

import sys

ROWS, COLUMNS = 40, 33
# The type, the bits of an element, and element number k.
TYPES = {
    "f32": (32, lambda k: f"{k}.25"),
    "bf16": (16, lambda k: f"0x{k * 31 % 0x7F00:04X}"),
    "f8E4M3FN": (8, lambda k: f"0x{k % 0x7F:02X}"),
    "f4E2M1FN": (4, lambda k: f"0x{k % 16:X}"),
    "i1": (1, lambda k: str(k * k // 3 % 2)),
    "i4": (4, lambda k: str(k % 16 - 8)),
    "i24": (24, lambda k: str(k * 6151 % 2**24 - 2**23)),
    "i64": (64, lambda k: str(k * k * 12345678901 - 7)),
    "index": (64, lambda k: str(k * 3)),
    "complex<f32>": (32, lambda k: f"({k}.5,-{k}.125)"),
}
LAYOUTS = {"plain": "", "tiled": "{1,0:T(8,128)}", "columns": "{0,1}", "small": "{1,0:T(4,8)(2,1)}"}


def functions(prefix):
    return [(f"{prefix}_{number}_{layout}", name, layout) for number, name in enumerate(TYPES) for layout in LAYOUTS]


def elements(name):
    rows = ([TYPES[name][1](i * COLUMNS + j) for j in range(COLUMNS)] for i in range(ROWS))
    return ", ".join(f"[{', '.join(row)}]" for row in rows)


def function(name, of, layout):
    bits = TYPES[of][0]
    encoding = f", #layout.tiled<{LAYOUTS[layout]}>" if LAYOUTS[layout] else ""
    turned = [f"tensor<{COLUMNS}x{ROWS}x{of}{end}>" for end in ("", encoding)]
    lines = [f"func.func @{name}(%i: index, %j: index) -> i64 {{"]
    lines.append(f"  %c = arith.constant dense<[{elements(of)}]> : tensor<{ROWS}x{COLUMNS}x{of}>")
    lines.append(f"  %e = tensor.empty() : {turned[0]}")
    into = f"ins(%c : tensor<{ROWS}x{COLUMNS}x{of}>) outs(%e : {turned[0]})"
    lines.append(f"  %t = linalg.transpose {into} permutation = [1, 0]")
    lines.append(f"  %l = layout.convert %t : {turned[0]} to {turned[1]}")
    lines.append(f"  %x = tensor.extract %l[%j, %i] : {turned[1]}")
    if of.startswith("complex"):
        lines.append("  %re = complex.re %x : complex<f32>\n  %im = complex.im %x : complex<f32>")
        lines.append("  %a = arith.bitcast %re : f32 to i32\n  %b = arith.bitcast %im : f32 to i32")
        lines.append("  %s = arith.extui %a : i32 to i64\n  %u = arith.extui %b : i32 to i64")
        lines.append("  %n = arith.constant 32 : i64\n  %h = arith.shli %s, %n : i64\n  %r = arith.ori %h, %u : i64")
    elif of == "index":
        lines.append("  %r = arith.index_cast %x : index to i64")
    else:
        lines.append(f"  %b = arith.bitcast %x : {of} to i{bits}")
        lines.append("  %r = arith.ori %b, %b : i64" if bits == 64 else f"  %r = arith.extui %b : i{bits} to i64")
    return "\n".join([*lines, "  return %r : i64", "}"])


if sys.argv[1] == "mlir":
    print("\n".join(function(*each) for each in functions(sys.argv[2])))
else:
    print("#include <stdio.h>")
    names = [name for prefix in sys.argv[2:] for name, _, _ in functions(prefix)]
    print("\n".join(f"long {name}(long, long);" for name in names))
    print("int main() {")
    for name in names:
        print(f'  puts("{name}");')
        print(f"  for (long i = 0; i < {ROWS}; ++i) for (long j = 0; j < {COLUMNS}; ++j) printf(\"%lx\\n\", {name}(i, j));")
    print("}")
