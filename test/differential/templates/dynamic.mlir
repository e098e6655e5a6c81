{% from "macros.mlir" import generic %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %d = arith.constant {{ unknown }} : index
  %n = tensor.dim %a0, %d : {{ a0 }}
  %e = tensor.empty(%n) : {{ r }}
  %b = layout.convert %a1 : {{ a1 }} to {{ r }}
  %r = {% call generic([operand("%a0", a0, dims), operand("%b", r, dims)], operand("%e", r, dims), rank) %}
    %y = {{ arith("sub", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
