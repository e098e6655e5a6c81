{% from "macros.mlir" import generic, fill %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
{{ fill("%e", r, start) }}
  %r = {% call generic(inputs, operand("%e", r, kept), rank) %}
    %c = arith.constant {{ literal(sign, t) }} : {{ t }}
    %q = {{ arith("mul", t) }} %x0, %x0 : {{ t }}
    %y = {{ arith("mul", t) }} %q, %c : {{ t }}
    %z = {{ arith(op, t) }} %y, %x1 : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
