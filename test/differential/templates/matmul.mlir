{% from "macros.mlir" import fill %}
func.func @{{ name }}{{ signature }} {
{{ fill("%e", r, start) }}
  %r = {{ op }} ins(%a0, %a1 : {{ a0 }}, {{ a1 }}) outs(%e : {{ r }}) -> {{ r }}
  return %r : {{ r }}
}
