{% from "macros.mlir" import generic, fill %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
{{ fill("%e", r, 0) }}
  %s = tensor.extract_slice %a0[{{ starts | join(", ") }}] [{{ lengths | join(", ") }}] {{ ones }} : {{ a0 }} to {{ s }}
  %r = {% call generic([operand("%s", s, dims)], operand("%e", r, []), rank) %}
    %y = {{ arith("add", t) }} %x0, %x1 : {{ t }}
    linalg.yield %y : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
