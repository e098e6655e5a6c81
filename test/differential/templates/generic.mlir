{% from "macros.mlir" import generic, fill %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
{{ fill("%e", r, -3) }}
  %r = {% call generic(inputs, operand("%e", r, dims), rank) %}
    %y = {{ arith("mul", t) }} %x0, %x1 : {{ t }}
    %z = {{ arith(op, t) }} %y, %x2 : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
