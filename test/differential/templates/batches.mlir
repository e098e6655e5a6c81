{% from "macros.mlir" import generic, fill, cast, cast_name %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
{{ fill("%e", r, 1) }}
  %r = {% call generic(inputs, operand("%e", r, dims), rank) %}
{{ cast("%w0", "%x0", a0.element, t) }}
{{ cast("%w1", "%x1", a1.element, t) }}
    %m = {{ arith("mul", t) }} {{ cast_name("%w0", "%x0", a0.element, t) }}, {{ cast_name("%w1", "%x1", a1.element, t) }} : {{ t }}
    %z = {{ arith("add", t) }} %x2, %m : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
