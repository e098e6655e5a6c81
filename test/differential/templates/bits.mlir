{% from "macros.mlir" import generic %}
{% set t = r.element %}
func.func @{{ name }}{{ signature }} {
  %c = arith.constant {{ number }} : {{ t }}
  %e = tensor.empty() : {{ r }}
  %r = {% call generic([operand("%a0", a0, dims), operand("%a1", a1, dims)], operand("%e", r, dims), rank) %}
    %d = arith.constant {{ other }} : {{ t }}
    %y = arith.{{ first }} %x0, %x1 : {{ t }}
    %z = arith.{{ second }} %y, %c : {{ t }}
    %w = arith.{{ third }} %z, %d : {{ t }}
    linalg.yield %w : {{ t }}
{% endcall %}
  return %r : {{ r }}
}
