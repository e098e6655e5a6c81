{% from "macros.mlir" import generic, cast, cast_name %}
{% set t = r.element %}
{% set number = cast_name("%w", "%x0", a0.element, t) %}
{% set value = "%v" if scaled else number %}
{% set sum = "%x2" if scaled else "%x1" %}
func.func @{{ name }}{{ signature }} {
  %r = {% call generic([operand("%a0", a0, dims)] + ([operand("%a2", a2, row)] if scaled else []), operand("%a1", r, kept), rank) %}
{{ cast("%w", "%x0", a0.element, t) }}
{% if scaled %}
    %v = {{ arith("mul", t) }} {{ number }}, %x1 : {{ t }}
{% endif %}
{% if op == "digits" %}
    %three = arith.constant 3 : {{ t }}
    %u = arith.muli {{ sum }}, %three : {{ t }}
    %z = {{ arith("add", t) }} %u, {{ value }} : {{ t }}
{% elif sum_last %}
    %z = {{ arith(op, t) }} {{ value }}, {{ sum }} : {{ t }}
{% else %}
    %z = {{ arith(op, t) }} {{ sum }}, {{ value }} : {{ t }}
{% endif %}
    linalg.yield %z : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
