"""What the texts that a TPU's compiler leaves want from a runner: a kernel, and constants without their values.

`attention` calls one Mosaic kernel, `tpu_custom_call`, whose body in the text is of the dialect `tpu`: `softmax(x) @ v`.
Here the same is a function on tensors without layouts, with a product of f32 as the text has it elsewhere.

The constants of `conv` and `resnet_block` are masks. Convolutions over `w` columns are split into 8 parts of `w / 7`
columns, row `r` of a mask is that of part `r mod 8`, and the last part is padding.
"""

import re

from bench.entry import plain

WITH_KERNEL = {"attention"}
WITH_MASKS = {"conv", "resnet_block"}

KERNEL = """  func.func private @tpu_custom_call(%a0: {x}, %a1: {v}) -> {r} {{
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %x = layout.convert %a0 : {x} to {px}
    %v = layout.convert %a1 : {v} to {pv}
    %rows = tensor.empty() : {rows}
    %lows = linalg.fill ins(%low : f32) outs(%rows : {rows}) -> {rows}
    %most = linalg.reduce {{ arith.maximumf }} ins(%x : {px}) outs(%lows : {rows}) dimensions = [3]
    %all = tensor.empty() : {px}
    %power = linalg.generic {{indexing_maps = [{whole}, {row}, {whole}],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
        ins(%x, %most : {px}, {rows}) outs(%all : {px}) {{
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    }} -> {px}
    %zeros = linalg.fill ins(%zero : f32) outs(%rows : {rows}) -> {rows}
    %sum = linalg.reduce {{ arith.addf }} ins(%power : {px}) outs(%zeros : {rows}) dimensions = [3]
    %empty = tensor.empty() : {pr}
    %none = linalg.fill ins(%zero : f32) outs(%empty : {pr}) -> {pr}
    %product = linalg.generic {{indexing_maps = [affine_map<(b, h, q, d, k) -> (b, h, q, k)>,
        affine_map<(b, h, q, d, k) -> (b, h, k, d)>, affine_map<(b, h, q, d, k) -> (b, h, q, d)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}}
        ins(%power, %v : {px}, {pv}) outs(%none : {pr}) {{
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.mulf %a, %b : f32
      %e = arith.addf %c, %d : f32
      linalg.yield %e : f32
    }} -> {pr}
    %mean = linalg.generic {{indexing_maps = [{whole}, {row}, {whole}],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
        ins(%product, %sum : {pr}, {rows}) outs(%empty : {pr}) {{
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    }} -> {pr}
    %r = layout.convert %mean : {pr} to {r}
    return %r : {r}
  }}"""


def with_kernel(mlir: str) -> str:
    """The module of `attention` with a body for the kernel."""
    operand = r"(tensor<.*?>)(?: \{[^}]*\})?"
    pattern = rf"^ *func\.func private @tpu_custom_call\({operand}, {operand}\) -> \(?(tensor<.*?>)\)? attributes .*$"
    found = re.search(pattern, mlir, re.MULTILINE)
    if not found:
        return mlir
    x, v, r = found.groups()
    px, pv, pr = map(plain, (x, v, r))
    rows = re.sub(r"x\d+xf32>$", "xf32>", px)

    body = KERNEL.format(
        x=x, v=v, r=r, px=px, pv=pv, pr=pr, rows=rows,
        whole="affine_map<(b, h, q, d) -> (b, h, q, d)>", row="affine_map<(b, h, q, d) -> (b, h, q)>",
    )  # fmt: skip
    return mlir[: found.start()] + body + mlir[found.end() :]


def constants(mlir: str) -> str:
    """C that defines the masks of `conv` and `resnet_block`."""
    pattern = r"^ *memref\.global constant @(hlo_constant_\d+) : memref<(\d+)x(\d+)xi1> "
    found = re.findall(pattern, mlir, re.MULTILINE)

    def values(rows: int, columns: int) -> str:
        return ", ".join(str(int(r % 8 < 7)) for r in range(rows) for _ in range(columns))

    return "".join(f"const char {name}[] = {{{values(int(m), int(n))}}};\n" for name, m, n in found)
