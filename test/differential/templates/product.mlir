{% from "macros.mlir" import fill %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %a0, %zero : {{ a0 }}
  %n = tensor.dim %a1, %one : {{ a1 }}
  %e = tensor.empty({{ sizes | join(", ") }}) : {{ r }}
  %number = arith.constant {{ literal(0, t) }} : {{ t }}
  %z = linalg.fill ins(%number : {{ t }}) outs(%e : {{ r }}) -> {{ r }}
  %r = linalg.matmul ins(%a0, %a1 : {{ a0 }}, {{ a1 }}) outs(%z : {{ r }}) -> {{ r }}
  return %r : {{ r }}
}
