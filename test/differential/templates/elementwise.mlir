{% from "macros.mlir" import generic %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %e = tensor.empty() : {{ r }}
  %r = {% call generic(inputs, operand("%e", r, dims), rank) %}
    %y = {{ arith(first, t) }} %x0, %x1 : {{ t }}
    %z = {{ arith(second, t) }} %y, %x{{ inputs | length - 1 }} : {{ t }}
    linalg.yield %z : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
